#include "kvbench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace {

constexpr double patience_seconds = 10.0; // of one turn of a part other than decode

constexpr double turn_seconds = 0.15; // of timed tokens, within the limits below
constexpr int min_tokens = 3;
constexpr int max_tokens = 16;
constexpr double slow_seconds = 0.4;  // of the untimed token: one timed token must do

// Decodes the tokens from position depth on, in place of what the cache holds there.
double decode_seconds(const variant & one, llama_token * tokens, int n, int depth) {
    llama_context * ctx = one.kv->ctx.get();
    if (!llama_memory_seq_rm(llama_get_memory(ctx), 0, depth, -1)) {
        give_up("Tokens cannot be taken out of this model's cache again (a recurrent one?): it cannot be measured.");
    }
    const double start = now();
    if (llama_decode(ctx, llama_batch_get_one(tokens, n)) != 0) {
        give_up(one.name + ": decoding failed at depth " + std::to_string(depth) + ".");
    }
    llama_synchronize(ctx);
    return now() - start;
}

void require_finite(const variant & one, int depth) {
    llama_context * ctx = one.kv->ctx.get();
    const float * logits = llama_get_logits_ith(ctx, -1);
    const int n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(ctx)));
    for (int i = 0; i < n_vocab; ++i) {
        if (!std::isfinite(logits[i])) {
            give_up(one.name + ": logits at depth " + std::to_string(depth) + " are not finite.");
        }
    }
}

std::vector<llama_token> random_tokens(int n, int n_vocab, unsigned seed) {
    std::mt19937 rng(seed);
    std::vector<llama_token> tokens(static_cast<size_t>(n));
    for (llama_token & token : tokens) { token = llama_token(rng() % unsigned(n_vocab)); }
    return tokens;
}

void report(const variant & one, int length, double seconds) {
    print_event({ { "event", "sample" }, { "what", "prompt" }, { "depth", length }, { "variant", one.name },
        { "round", 1 }, { "tokens", length }, { "seconds", seconds } });
}

} // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool in_time(const round_plan & plan, const std::string & what, int depth) {
    if (now() < plan.deadline) { return true; }
    print_event({ { "event", "cut" }, { "what", what }, { "depth", depth }, { "rounds", 0 } });
    return false;
}

void run_rounds(const round_plan & plan, const std::string & what, int depth, int n_tokens, const turn & measure) {
    const size_t n = plan.variants.size();
    const int n_needed = what == "decode" ? 1 : -1; // rounds, the warm-up is number 0
    std::vector<double> seconds(n, 0.0);
    std::vector<double> last(n, 0.0); // what the turn before took in all
    print_event({ { "event", "progress" }, { "what", what }, { "depth", depth } });
    for (int round = 0; round <= plan.n_rounds; ++round) {
        for (size_t at = 0; at < n; ++at) {
            const size_t i = (at + size_t(round)) % n;
            const variant & one = plan.variants[i];
            if (now() + last[i] > plan.deadline && round > n_needed) {
                print_event(
                    { { "event", "cut" }, { "what", what }, { "depth", depth }, { "rounds", std::max(0, round - 1) } });
                return;
            }
            const bool slow = what != "decode" && last[i] > patience_seconds;
            if (slow && round > 1) { continue; }
            if (!slow) {
                one.select();
                const double start = now();
                seconds[i] = measure(i);
                last[i] = now() - start;
            }
            if (round > 0) {
                print_event({ { "event", "sample" }, { "what", what }, { "depth", depth }, { "variant", one.name },
                    { "round", round }, { "tokens", n_tokens }, { "seconds", seconds[i] } });
            }
        }
    }
}

double decode_turn(const variant & one, int depth) {
    llama_token token = 1;
    // the variant before has left its own cache in L3
    const double first = decode_seconds(one, &token, 1, depth);
    require_finite(one, depth);
    const int n = first > slow_seconds ? 1 : std::clamp(int(turn_seconds / first), min_tokens, max_tokens);
    std::vector<double> seconds;
    for (int i = 0; i < n; ++i) { seconds.push_back(decode_seconds(one, &token, 1, depth)); }
    std::sort(seconds.begin(), seconds.end());
    return (seconds[size_t(n - 1) / 2] + seconds[size_t(n) / 2]) / 2;
}

double prefill_turn(const variant & one, int depth, std::vector<llama_token> & batch) {
    return decode_seconds(one, batch.data(), int(batch.size()), depth);
}

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
            print_event(
                { { "event", "progress" }, { "what", "prompt" }, { "done", n_past }, { "total", lengths.back() } });
        }
        for (size_t i = 0; i < variants.size(); ++i) {
            if (running[i]) {
                report(variants[i], length, seconds[i]);
                running[i] = seconds[i] < patience_seconds;
            }
        }
    }
}
