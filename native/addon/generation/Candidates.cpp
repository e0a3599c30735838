#include "generation/Candidates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace concertina {

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
