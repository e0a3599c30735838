#include "generation/Sampler.h"

#include "errors.h"

#include "json-schema-to-grammar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

Sampler::Sampler(const llama_model * model, const SamplingOptions & options, const GrammarOptions & grammar,
    const ChatPrompt & prompt) {
    params.seed = options.seed;
    params.temp = options.temperature;
    params.top_k = options.topK;
    params.top_p = options.topP;
    params.min_p = options.minP;
    params.penalty_repeat = options.repeatPenalty;
    params.no_perf = true;
    if (options.temperature <= 0) {
        params.top_k = 1;
        params.samplers = { COMMON_SAMPLER_TYPE_PENALTIES, COMMON_SAMPLER_TYPE_TOP_K };
    }
    params.grammar = grammarOf(grammar, prompt);
    if (!params.grammar.empty() && params.grammar.type == COMMON_GRAMMAR_TYPE_OUTPUT_FORMAT) {
        params.generation_prompt = prompt.generationPrompt;
    }
    for (const std::string & word : prompt.preserved) {
        const auto tokens = common_tokenize(llama_model_get_vocab(model), word, false, true);
        if (tokens.size() == 1) params.preserved_tokens.insert(tokens[0]);
    }
    try {
        sampler.reset(common_sampler_init(model, params));
    } catch (const std::exception & error) {
        if (params.grammar.empty()) throw CodedError("bad-request", std::string("Sampling: ") + error.what());
        throw CodedError(
            "bad-request", std::string("The grammar cannot be used: ") + error.what(), "Check the grammar.");
    }
}

void Sampler::see(const std::vector<llama_token> & promptTokens) {
    const size_t seen = std::min<size_t>(promptTokens.size(), params.n_prev);
    for (size_t i = promptTokens.size() - seen; i < promptTokens.size(); i++) {
        common_sampler_accept(sampler.get(), promptTokens[i], false);
    }
}

llama_token Sampler::next(llama_context * context) {
    const llama_token token = common_sampler_sample(sampler.get(), context, -1);
    // a grammar that allows nothing more: accepting the token would abort the process
    const llama_token_data_array * from = common_sampler_get_candidates(sampler.get(), false);
    if (from->selected >= 0 && from->data[from->selected].logit == -INFINITY) {
        throw CodedError("bad-request", "The grammar allows no further token", "Check the grammar or the schema.");
    }
    common_sampler_accept(sampler.get(), token, true);
    return token;
}

uint32_t Sampler::seed() const { return common_sampler_get_seed(sampler.get()); }

bool Sampler::isPreserved(llama_token token) const { return params.preserved_tokens.count(token) > 0; }

std::vector<Candidate> likeliest(const float * logits, int vocabulary, int count) {
    std::vector<llama_token> order(vocabulary);
    std::iota(order.begin(), order.end(), 0);
    const auto first = order.begin() + std::clamp(count, 1, vocabulary);
    std::partial_sort(order.begin(), first, order.end(),
        [&](llama_token a, llama_token b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); });
    const float top = logits[order[0]];
    double sum = 0;
    for (int i = 0; i < vocabulary; i++) sum += std::exp(static_cast<double>(logits[i]) - top);
    std::vector<Candidate> found;
    for (auto token = order.begin(); token != first; ++token) {
        found.push_back({ *token, static_cast<float>(std::exp(static_cast<double>(logits[*token]) - top) / sum) });
    }
    return found;
}

} // namespace concertina
