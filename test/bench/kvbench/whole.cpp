#include "whole.h"

#include "events.h"
#include "rounds.h"

#include <algorithm>
#include <random>

namespace {

std::vector<llama_token> random_tokens(int n, int n_vocab, unsigned seed) {
    std::mt19937 rng(seed);
    std::vector<llama_token> tokens(static_cast<size_t>(n));
    for (llama_token & token : tokens) { token = llama_token(rng() % unsigned(n_vocab)); }
    return tokens;
}

void report(const variant & one, int length, double seconds) {
    event("sample")
        .add("what", "prompt")
        .add("depth", length)
        .add("variant", one.name)
        .add("round", 1)
        .add("tokens", length)
        .add("seconds", seconds);
}

} // namespace

void prefill_prompts(const std::vector<variant> & variants, const std::vector<int> & lengths, int n_batch, int n_vocab,
    double patience_seconds) {
    for (const variant & one : variants) {
        if (!one.kv->cells.fill(one.kv->ctx.get(), 0)) { give_up(one.name + ": the cache could not be emptied."); }
    }
    std::vector<double> seconds(variants.size(), 0.0);
    std::vector<bool> running(variants.size(), true);
    int n_past = 0;
    for (const int length : lengths) {
        for (size_t turn = 0; n_past < length; ++turn) {
            std::vector<llama_token> batch =
                random_tokens(std::min(n_batch, length - n_past), n_vocab, unsigned(n_past));
            for (size_t at = 0; at < variants.size(); ++at) {
                const size_t i = (at + turn) % variants.size();
                if (running[i]) {
                    variants[i].select();
                    // variants of one context repeat the batch in the same cells
                    seconds[i] += prefill_turn(variants[i], n_past, batch);
                }
            }
            n_past += int(batch.size());
            event("progress").add("what", "prompt").add("done", n_past).add("total", lengths.back());
        }
        for (size_t i = 0; i < variants.size(); ++i) {
            if (running[i]) {
                report(variants[i], length, seconds[i]);
                running[i] = seconds[i] < patience_seconds;
            }
        }
    }
}
