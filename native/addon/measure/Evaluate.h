// Teacher-forced evaluation, as llama-perplexity defines it: the tokens are cut into chunks of the context's length, each
// starts from an empty cache (and with BOS where the model wants it), and the second half of each chunk counts.
#pragma once

#include "fields.h"
#include "context/Context.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace concertina {

struct Evaluation {
    size_t tokens = 0;
    double perplexity = 0;
    // against a reference
    std::optional<double> meanKld, kld999, sameTop;
    std::optional<double> meanKldError; // standard error, tokens taken as independent (as llama-perplexity prints it)
    std::vector<float> klds; // nats, of each scored token, in the order of the text

    CONCERTINA_FIELDS(tokens, perplexity, meanKld, meanKldError, kld999, sameTop, klds)
};

struct EvaluateRequest {
    std::vector<Context *> contexts; // at least one, all of one model
    Context * reference = nullptr; // the distribution that KL divergence is measured from; null: perplexity only
    std::vector<llama_token> tokens;
    size_t chunk = 0; // tokens; 0: the shortest of the contexts
    size_t score = 0; // at most so many tokens at the end of each chunk count; 0: its second half
    // Files of log-probabilities of the scored tokens, for one context: `record` is written, `against`
    // stands in for the reference. Empty: none.
    std::string record, against;
    std::function<void(float)> progress; // 0..1

    CONCERTINA_FIELDS(chunk, score, record, against)
};

// In the order of the contexts; behind them the reference's own, where there is one. Chunk by chunk and batch by batch the
// reference runs once for all contexts. All caches end empty.
std::vector<Evaluation> evaluate(const EvaluateRequest & request);

} // namespace concertina
