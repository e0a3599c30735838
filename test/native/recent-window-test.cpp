// The window of recent cells in whole (tiny, random) models: what it holds, and when it is left.

#include "centering.h"
#include "recent-window.h"

#include "ggml-turbo.h"

#include <tuple>

namespace {

// Contexts that are made while it lives have a window of 32 cells, beside those of a micro-batch of 32: four tiles, the first included.
struct windowed {
    const llama_model * model;

    explicit windowed(const llama_model * model) : model(model) { llama_turbo_recent_set(model, 32, 32); }
    ~windowed() { llama_turbo_recent_set(model, 0, 0); }
};

llama_context_ptr with_window(llama_model * model, const kv_setup & setup) {
    const windowed on(model);
    return make_context(model, setup);
}

const kv_setup turbo = flash(GGML_TYPE_TURBO3, GGML_TYPE_TURBO3);

// of a text of so many tokens, in batches of 20 and then one by one; the logits from the first one on
std::vector<float> read_text(llama_context * ctx, int n) {
    std::vector<float> logits;
    for (int pos = 0; pos < n;) {
        const int step = pos + 20 < n ? 20 : 1;
        const std::vector<float> part = decode(ctx, pos, step);
        logits.insert(logits.end(), part.begin(), part.end());
        pos += step;
    }
    return logits;
}

double error_of(llama_model * model, const kv_setup & setup, bool window, int n) {
    const std::vector<float> exact = read_text(make_context(model, flash()).get(), n);
    const llama_context_ptr ctx = window ? with_window(model, setup) : make_context(model, setup);
    return relative_mse(exact, read_text(ctx.get(), n));
}

} // namespace

TEST("a text that the window holds is read as with q8_0") {
    for (const tiny_model_kind kind : { TINY_LLAMA, TINY_WINDOW, TINY_SOFTCAP, TINY_SINKS, TINY_PARTIAL }) {
        for (const uint32_t head_dim : { 64u, 128u, 256u }) {
            const llama_model_ptr model = make_tiny_model({ head_dim, false, kind });
            const double q8_0 = error_of(model.get(), flash(GGML_TYPE_Q8_0, GGML_TYPE_Q8_0), false, 90);
            CHECK_LE(error_of(model.get(), turbo, true, 90), 3 * q8_0);
            CHECK_LE(10 * q8_0, error_of(model.get(), turbo, false, 90));
        }
    }
}

TEST("a longer text is read better with a window than without") {
    for (const auto & [k, v] : { std::pair(GGML_TYPE_TURBO3, GGML_TYPE_TURBO3), { GGML_TYPE_Q4_0, GGML_TYPE_TURBO3 },
             { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 } }) {
        const llama_model_ptr model = make_tiny_model({ 128 });
        const kv_setup setup = flash(k, v);
        CHECK_LE(error_of(model.get(), setup, true, 250), 0.8 * error_of(model.get(), setup, false, 250));
    }
}

TEST("centering and the window together") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const double q8_0 = error_of(model.get(), flash(GGML_TYPE_Q8_0, GGML_TYPE_Q8_0), false, 90);
    const calibration_ptr calibration = calibrate(model.get());
    const centered on(model.get(), *calibration, false);
    CHECK_LE(error_of(model.get(), turbo, true, 90), 3 * q8_0);
}

TEST("cells that were taken out and written again, and sequences that share the cache, are read as they are") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const auto read = [](llama_context * ctx) {
        std::vector<float> logits;
        const auto add = [&](std::vector<float> part) { logits.insert(logits.end(), part.begin(), part.end()); };
        for (const auto [seq, pos, n] : { std::tuple(0, 0, 40), { 1, 0, 30 }, { 0, 40, 1 }, { 1, 30, 1 } }) {
            add(decode_sequence(ctx, seq, pos, n));
        }
        llama_memory_t memory = llama_get_memory(ctx);
        llama_memory_seq_rm(memory, 0, 20, -1);
        add(decode_sequence(ctx, 0, 20, 9));
        llama_memory_seq_rm(memory, 1, 0, -1);
        add(decode_sequence(ctx, 1, 0, 21));
        llama_memory_clear(memory, true);
        add(decode_sequence(ctx, 1, 0, 21));
        return logits;
    };
    const auto error = [&](llama_context_ptr ctx) {
        const std::vector<float> exact = read(make_context(model.get(), flash(GGML_TYPE_F16, GGML_TYPE_F16, 2)).get());
        return relative_mse(exact, read(ctx.get()));
    };
    const double q8_0 = error(make_context(model.get(), flash(GGML_TYPE_Q8_0, GGML_TYPE_Q8_0, 2)));
    CHECK_LE(error(with_window(model.get(), flash(GGML_TYPE_TURBO3, GGML_TYPE_TURBO3, 2))), 3 * q8_0);
}

TEST("restored and shifted cells are read from the cache") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const auto logits = [](llama_context * ctx) { return decode(ctx, 40, 1); };
    const llama_context_ptr plain = make_context(model.get(), turbo);
    decode(plain.get(), 0, 40);
    const std::vector<uint8_t> state = state_of(plain.get());
    const std::vector<float> want = logits(plain.get());

    // other cells than those of the window are in it first
    const llama_context_ptr ctx = with_window(model.get(), turbo);
    decode(ctx.get(), 0, 40, 1, 7);
    CHECK(restores(ctx.get(), state));
    const std::vector<float> got = logits(ctx.get());
    CHECK_LE(relative_mse(want, got), 1e-3);

    const std::vector<float> f16 = shifted_logits(make_context(model.get(), flash()).get());
    const double without = relative_mse(f16, shifted_logits(make_context(model.get(), turbo).get()));
    const std::vector<float> with = shifted_logits(with_window(model.get(), turbo).get());
    CHECK_LE(relative_mse(f16, with), 1.5 * without);
}

TEST("there is no window where nothing could use it") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    CHECK(llama_turbo_recent_refusal(model.get(), true) == nullptr);
    CHECK(llama_turbo_recent_refusal(model.get(), false) != nullptr);
    // a cache that is no longer than the window
    llama_turbo_recent_set(model.get(), 250, 64);
    const llama_context_ptr small = make_context(model.get(), turbo);
    llama_turbo_recent_set(model.get(), 0, 0);
    const llama_context_ptr none = make_context(model.get(), turbo);
    CHECK(read_text(small.get(), 60) == read_text(none.get(), 60));
    // a side that is finer than its rows: K of f16 is shifted without a hook, too
    for (const kv_setup & plain : { flash(GGML_TYPE_F16, GGML_TYPE_TURBO3), flash(GGML_TYPE_TURBO3, GGML_TYPE_F16) }) {
        const std::vector<float> want = read_text(make_context(model.get(), plain).get(), 60);
        CHECK(read_text(with_window(model.get(), plain).get(), 60) == want);
        CHECK(shifted_logits(with_window(model.get(), plain).get()) ==
              shifted_logits(make_context(model.get(), plain).get()));
    }
    // types that are as fine
    const kv_setup q8_0 = flash(GGML_TYPE_Q8_0, GGML_TYPE_Q8_0);
    CHECK(read_text(with_window(model.get(), q8_0).get(), 60) == read_text(make_context(model.get(), q8_0).get(), 60));
}
