#include "generation/Sampler.h"

#include "errors.h"

#include "json-schema-to-grammar.h"

#include <algorithm>
#include <random>

namespace concertina {
namespace {

std::string grammarOfSchema(const std::string & schema) {
    try {
        return json_schema_to_grammar(common_json::parse(schema));
    } catch (const std::exception & error) {
        throw CodedError(
            "bad-request", std::string("The JSON schema cannot be used: ") + error.what(), "Check the schema.");
    }
}

common_grammar grammarOf(const GrammarOptions & options, const ChatPrompt & prompt) {
    if (!options.grammar.empty()) return { COMMON_GRAMMAR_TYPE_USER, options.grammar };
    if (options.jsonSchema.empty()) return {};
    if (!prompt.grammar.empty()) return { COMMON_GRAMMAR_TYPE_OUTPUT_FORMAT, prompt.grammar };
    return { COMMON_GRAMMAR_TYPE_USER, grammarOfSchema(options.jsonSchema) };
}

// The mark of thinking that is open at the end of `text`, and what stands behind it; empty: none is. No more tokens than the
// budget has: upstream takes each beyond it for one of the end that it forces (reasoning-budget.cpp, FORCING).
std::string openThinking(const llama_vocab * vocab, const ChatPrompt & prompt, const std::string & text, int budget) {
    const size_t start = text.rfind(prompt.thinkingStart);
    if (start == std::string::npos) return "";
    const std::string thought = text.substr(start + prompt.thinkingStart.size());
    for (const std::string & end : prompt.thinkingEnds) {
        if (thought.find(end) != std::string::npos) return "";
    }
    auto tokens = common_tokenize(vocab, thought, false, true);
    tokens.resize(std::min(tokens.size(), static_cast<size_t>(budget)));
    return prompt.thinkingStart + common_detokenize(vocab, tokens, true);
}

// A template without marks of thinking has no budget.
void limitThinking(common_params_sampling & params, const llama_vocab * vocab, int budget, const ChatPrompt & prompt,
    const std::string & written) {
    if (budget < 0 || prompt.thinkingStart.empty() || prompt.thinkingEnds.empty()) return;
    params.reasoning_budget_tokens = budget;
    params.reasoning_budget_start = common_tokenize(vocab, prompt.thinkingStart, false, true);
    for (const std::string & end : prompt.thinkingEnds)
        params.reasoning_budget_end.push_back(common_tokenize(vocab, end, false, true));
    params.reasoning_budget_forced = params.reasoning_budget_end.front();
    // a grammar needs all of it
    if (params.generation_prompt.empty())
        params.generation_prompt = openThinking(vocab, prompt, prompt.generationPrompt + written, budget);
}

} // namespace

void checkGrammar(const GrammarOptions & options) {
    if (!options.grammar.empty() && !options.jsonSchema.empty()) {
        throw CodedError("bad-request", "A grammar and a JSON schema were both given", "Give one of them.");
    }
    // upstream aborts the process for this prefix when it is built without llguidance
    if (options.grammar.rfind("%llguidance", 0) == 0) {
        throw CodedError("bad-request", "llguidance grammars are not supported", "Write the grammar as GBNF.");
    }
    if (!options.jsonSchema.empty()) grammarOfSchema(options.jsonSchema);
}

common_params_sampling samplingParams(const llama_model * model, const SamplingOptions & options,
    const GrammarOptions & grammar, const ChatPrompt & prompt, const std::string & written) {
    common_params_sampling params;
    params.seed = options.seed == LLAMA_DEFAULT_SEED ? std::random_device()() : options.seed;
    params.temp = options.temperature;
    params.top_k = options.topK;
    params.top_p = options.topP;
    params.min_p = options.minP;
    params.penalty_repeat = options.repeatPenalty;
    params.penalty_present = options.presencePenalty;
    params.penalty_freq = options.frequencyPenalty;
    params.penalty_last_n = options.penaltyTokens;
    params.dry_multiplier = options.dryMultiplier;
    params.dry_base = options.dryBase;
    params.dry_allowed_length = options.dryAllowed;
    params.dry_penalty_last_n = options.dryTokens;
    params.xtc_probability = options.xtcProbability;
    params.xtc_threshold = options.xtcThreshold;
    params.no_perf = true;
    if (options.temperature <= 0) {
        params.top_k = 1;
        params.samplers = { COMMON_SAMPLER_TYPE_PENALTIES, COMMON_SAMPLER_TYPE_DRY, COMMON_SAMPLER_TYPE_TOP_K };
    }
    params.grammar = grammarOf(grammar, prompt);
    if (!params.grammar.empty() && params.grammar.type == COMMON_GRAMMAR_TYPE_OUTPUT_FORMAT) {
        params.generation_prompt = prompt.generationPrompt;
    }
    limitThinking(params, llama_model_get_vocab(model), options.thinkingBudget, prompt, written);
    for (const std::string & word : prompt.preserved) {
        const auto tokens = common_tokenize(llama_model_get_vocab(model), word, false, true);
        if (tokens.size() == 1) params.preserved_tokens.insert(tokens[0]);
    }
    return params;
}

} // namespace concertina
