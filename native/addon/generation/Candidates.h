// The likeliest next tokens, for whoever compares what two caches make of the same text.
#pragma once

#include "llama.h"

#include <vector>

namespace concertina {

struct Candidate {
    llama_token token = LLAMA_TOKEN_NULL;
    float probability = 0; // of the full softmax, before temperature, penalties and grammar
};

// at most `count`, likeliest first; of equal ones the lower token comes first
std::vector<Candidate> likeliest(const float * logits, int vocabulary, int count);

} // namespace concertina
