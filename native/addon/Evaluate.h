// Teacher-forced evaluation, as llama-perplexity defines it: the tokens are cut into chunks of the context's length, each
// starts from an empty cache (and with BOS where the model wants it), and the second half of each chunk counts.
#pragma once

#include "Context.h"

#include <vector>

namespace concertina {

struct Evaluation {
    size_t tokens = 0;
    double perplexity = 0;
    bool compared = false; // the figures below
    double meanKld = 0, kld999 = 0, sameTop = 0;
};

// `reference`: the distribution that KL divergence is measured from; null: perplexity only. Both caches end empty.
Evaluation evaluate(Context & context, Context * reference, const std::vector<llama_token> & tokens);

} // namespace concertina
