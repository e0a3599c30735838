// Sampling through common/sampling, with an optional grammar; and the likeliest next tokens, for whoever compares what two
// caches make of the same text.
#pragma once

#include "fields.h"
#include "model/ChatFormat.h"

#include "llama.h"
#include "sampling.h"

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct SamplingOptions {
    float temperature = 0.7f;
    int topK = 40;
    float topP = 0.95f;
    float minP = 0.05f;
    float repeatPenalty = 1.0f;
    float presencePenalty = 0.0f;
    float frequencyPenalty = 0.0f;
    int penaltyTokens = 64; // how many of the last tokens the three penalties look at
    float dryMultiplier = 0.0f;
    float dryBase = 1.75f;
    int dryAllowed = 2;
    int dryTokens = 64;
    float xtcProbability = 0.0f;
    float xtcThreshold = 0.1f;
    uint32_t seed = LLAMA_DEFAULT_SEED;
    int thinkingBudget = -1; // tokens of thinking, then its end is forced; negative: no limit

    CONCERTINA_FIELDS(temperature, topK, topP, minP, repeatPenalty, presencePenalty, frequencyPenalty, penaltyTokens,
        dryMultiplier, dryBase, dryAllowed, dryTokens, xtcProbability, xtcThreshold, seed, thinkingBudget)
};

struct GrammarOptions {
    std::string jsonSchema;
    std::string grammar; // GBNF
};

// throws `bad-request` for a schema that cannot be used, or when there is more than one constraint
void checkGrammar(const GrammarOptions & options);

// What the server core samples with. Throws `bad-request` for a schema or grammar that cannot be used. A random seed is chosen
// here. `written`: of the answer behind the prompt, when it goes on.
common_params_sampling samplingParams(const llama_model * model, const SamplingOptions & options,
    const GrammarOptions & grammar, const ChatPrompt & prompt, const std::string & written);

struct Candidate {
    llama_token token = LLAMA_TOKEN_NULL;
    float probability = 0; // of the full softmax, before temperature, penalties and grammar

    CONCERTINA_FIELDS(token, probability)
};

} // namespace concertina
