// Centering: exact where nothing is quantized, in every way a cache is used; off where it would not be; calibrations as
// bytes. The quality that it brings is tested on a real model (test/engine/cache/centring.test.ts).

#include "centering.h"
#include "ggml-turbo.h"

#include <cstring>
#include <memory>
#include <string>
#include <tuple>

TEST("centering changes the cache, and the logits only by float noise") {
    for (uint32_t head_dim : { 64, 128, 256 }) {
        const llama_model_ptr model = make_tiny_model({ head_dim });
        check_exact(model.get(), {}, tolerance_f32);
        check_exact(model.get(), flash(), tolerance_f16);

        const llama_context_ptr plain = make_context(model.get(), {});
        decode(plain.get(), 0, 8);
        const calibration_ptr calibration = calibrate(model.get());
        const centered on(model.get(), *calibration);
        const llama_context_ptr ctx = make_context(model.get(), {});
        decode(ctx.get(), 0, 8);
        CHECK(state_of(plain.get()) != state_of(ctx.get()));
    }
}

TEST("centering: several sequences, in streams of their own and unified") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    for (bool unified : { false, true }) {
        check_exact(
            model.get(), { GGML_TYPE_F32, GGML_TYPE_F32, LLAMA_FLASH_ATTN_TYPE_DISABLED, 2, unified }, tolerance_f32);
        check_exact(model.get(), flash(GGML_TYPE_F16, GGML_TYPE_F16, 2, unified), tolerance_f16);
    }
}

TEST("centering is for turbo types, after a calibration") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const llama_turbo_centering before =
        llama_turbo_centering_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, true);
    CHECK(!before.k && !before.v && before.wanted);
    CHECK(!llama_turbo_centering_resolve(model.get(), GGML_TYPE_F16, GGML_TYPE_Q8_0, true).wanted);
    const calibration_ptr calibration = calibrate(model.get());
    const centered on(model.get(), *calibration, false);
    const llama_turbo_centering mixed =
        llama_turbo_centering_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_Q8_0, true);
    CHECK(mixed.k && !mixed.reason_k && !mixed.v && mixed.reason_v && !mixed.wanted);
    CHECK(mixed.k_blocks && !mixed.reason_blocks && mixed.hash != 0);
    // without flash attention one constant for all positions, in cells that mean other things
    const llama_turbo_centering constant =
        llama_turbo_centering_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_Q8_0, false);
    CHECK(constant.k && !constant.k_blocks && strstr(constant.reason_blocks, "flash attention"));
    CHECK(constant.hash == llama_turbo_calibration_hash(calibration.get()) && constant.hash != mixed.hash);
    const llama_model_ptr other = make_tiny_model({ 64 });
    CHECK(!llama_turbo_calibration_attach(other.get(), calibration.get()));
}

TEST("K-shift takes the constants back in and off again") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const auto shifted = [&](ggml_type type) {
        return shifted_logits(make_context(model.get(), flash(type, type)).get());
    };
    const std::vector<float> f16 = shifted(GGML_TYPE_F16);
    const double q8_0 = relative_mse(f16, shifted(GGML_TYPE_Q8_0));
    const calibration_ptr calibration = exaggerated(*calibrate(model.get()), 1.0f);
    const centered on(model.get(), *calibration);
    // the constants add as much energy as K has, so the error of q8_0 doubles; without the undoing it is near 1
    CHECK_LE(relative_mse(f16, shifted(GGML_TYPE_Q8_0)), 4 * q8_0);
}

TEST("a state continues under the same calibration and is refused under another or none") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const calibration_ptr calibration = calibrate(model.get());
    const calibration_ptr foreign = exaggerated(*calibration, 0.1f);
    const kv_setup setup = flash(GGML_TYPE_TURBO4, GGML_TYPE_TURBO4);
    const auto continues = [&](const std::vector<uint8_t> & state) {
        return restores(make_context(model.get(), setup).get(), state);
    };
    std::vector<uint8_t> state;
    std::vector<float> expected;
    {
        const centered on(model.get(), *calibration, false);
        const llama_context_ptr ctx = make_context(model.get(), setup);
        decode(ctx.get(), 0, 40);
        state = state_of(ctx.get());
        expected = decode(ctx.get(), 40, 1);

        const llama_context_ptr again = make_context(model.get(), setup);
        CHECK(restores(again.get(), state));
        CHECK(decode(again.get(), 40, 1) == expected);
    }
    CHECK(!continues(state));
    const llama_context_ptr plain = make_context(model.get(), setup);
    decode(plain.get(), 0, 40);
    const std::vector<uint8_t> uncentered = state_of(plain.get());
    CHECK(continues(uncentered));
    const centered on(model.get(), *foreign, false);
    CHECK(!continues(state));
    CHECK(!continues(uncentered));
}

TEST("contexts with and without centering live side by side") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const kv_setup setup = flash(GGML_TYPE_TURBO4, GGML_TYPE_TURBO4);
    const calibration_ptr calibration = calibrate(model.get());
    const llama_context_ptr before = make_context(model.get(), setup);
    llama_context_ptr within;
    {
        const centered on(model.get(), *calibration, false);
        within = make_context(model.get(), setup);
    }
    const llama_context_ptr after = make_context(model.get(), setup);
    const std::vector<float> plain = decode(before.get(), 0, 40);
    const std::vector<float> centered_logits = decode(within.get(), 0, 40);
    CHECK(decode(after.get(), 0, 40) == plain);
    CHECK(centered_logits != plain);
}

TEST("queries of another size scale the keys, and the logits stay") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const calibration_ptr calibration = calibrate(model.get());
    const calibration_ptr louder = exaggerated(*calibration, 0.0f);
    for (auto & layer : louder->layers) {
        for (size_t i = 0; i < layer.q_sq.size(); i += 3) { layer.q_sq[i] *= 100.0f; }
    }
    louder->seal();
    const auto run = [&](const llama_turbo_calibration & by, std::vector<uint8_t> & state) {
        const centered on(model.get(), by);
        const llama_context_ptr ctx = make_context(model.get(), {});
        const std::vector<float> logits = read_all(ctx.get());
        state = state_of(ctx.get());
        return logits;
    };
    std::vector<uint8_t> state_a, state_b;
    const std::vector<float> logits_a = run(*calibration, state_a);
    const std::vector<float> logits_b = run(*louder, state_b);
    const double error = relative_mse(logits_a, logits_b);
    CHECK_LE(error, tolerance_f32);
    // not only another hash
    size_t n_other = 0;
    for (size_t i = 0; i < state_a.size(); ++i) { n_other += state_a[i] != state_b[i]; }
    CHECK(n_other > state_a.size() / 4);
}

// Mean of each channel of rows of f16 values.
static std::vector<float> channel_means(const uint8_t * rows, int n, int width) {
    std::vector<float> means(width);
    for (int i = 0; i < n * width; ++i) {
        ggml_fp16_t value;
        memcpy(&value, rows + i * sizeof(value), sizeof(value));
        means[i % width] += ggml_fp16_to_fp32(value) / n;
    }
    return means;
}

// Reads 48 tokens of a text of one repeated token, whose key is the same everywhere but for RoPE and whose value is the same:
// what they say of a context of 512 must be the means of a cache that holds 512 of them.
static void check_means_of_long_context(const tiny_model_shape & shape, const llama_turbo_rope * rope = nullptr) {
    constexpr int n = 512;
    constexpr int width = 2 * 128;
    constexpr int n_layer = 2;
    const llama_model_ptr model = make_tiny_model(shape);
    const auto taken = [&] {
        const std::vector<llama_token> tokens(48, 5);
        return calibration_ptr(llama_turbo_calibrate(model.get(), tokens.data(), 48, n, 0, 1, rope, nullptr, nullptr),
            llama_turbo_calibration_free);
    };
    const calibration_ptr calibration = taken();
    CHECK(calibration && calibration->layers.size() == n_layer);
    CHECK(llama_turbo_calibration_n_tokens(calibration.get()) == 48);
    CHECK(llama_turbo_calibration_hash(taken().get()) == calibration->hash);

    // two sequences share the 512 cells
    const llama_context_ptr ctx = make_context(model.get(), flash(GGML_TYPE_F16, GGML_TYPE_F16, 2, true, rope));
    std::vector<llama_token> tokens(64, 5);
    for (int first = 0; first < n; first += 64) {
        CHECK(llama_decode(ctx.get(), llama_batch_get_one(tokens.data(), 64)) == 0);
    }
    // a state ends with K of all layers, then V of all layers, each as type, size of a row, rows
    const std::vector<uint8_t> state = state_of(ctx.get());
    constexpr size_t rows = n * width * sizeof(ggml_fp16_t);
    constexpr size_t layer = sizeof(int32_t) + sizeof(uint64_t) + rows;
    for (int il = 0; il < n_layer; ++il) {
        const uint8_t * v = state.data() + state.size() - rows - (n_layer - 1 - il) * layer;
        const uint8_t * k = v - n_layer * layer;
        CHECK_LE(relative_mse(channel_means(v, n, width), calibration->layers[il].v.mean), 1e-6);
        CHECK_LE(relative_mse(channel_means(k, n, width), calibration->layers[il].k.mean), 1e-6);
    }
}

TEST("the constants of a short text are the means of a long context") { check_means_of_long_context({ 128, true }); }

TEST("the constants of a long context are those of its own RoPE factors") {
    check_means_of_long_context({ 128, false, TINY_LONGROPE });
}

TEST("the constants of a stretched context hold YaRN's angles and its factor") {
    const llama_turbo_rope rope = { LLAMA_ROPE_SCALING_TYPE_YARN, 0.125f, 1.0f, 64 };
    check_means_of_long_context({ 128 }, &rope);
}

TEST("numbers that are not finite are refused") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    for (const float bad : { NAN, INFINITY }) {
        const calibration_ptr calibration = exaggerated(*calibrate(model.get(), 64), 0.0f);
        calibration->layers[1].q_sq[3] = bad;
        calibration->seal();
        CHECK(!llama_turbo_calibration_attach(model.get(), calibration.get()));
        std::vector<uint8_t> bytes(llama_turbo_calibration_get_size(calibration.get()));
        llama_turbo_calibration_get_data(calibration.get(), bytes.data());
        CHECK(llama_turbo_calibration_init_from_data(bytes.data(), bytes.size()) == nullptr);
    }
    // keys whose squares no float holds
    const llama_model_ptr loud = make_tiny_model({ 128, false, TINY_LLAMA, 1e25f });
    CHECK(calibrate(loud.get(), 64) == nullptr);
}

TEST("calibrations survive as bytes; damaged ones are refused") {
    const llama_model_ptr model = make_tiny_model({ 64 });
    const calibration_ptr calibration = calibrate(model.get(), 50);
    std::vector<uint8_t> bytes(llama_turbo_calibration_get_size(calibration.get()));
    llama_turbo_calibration_get_data(calibration.get(), bytes.data());
    const auto read = [&](size_t size) {
        return calibration_ptr(
            llama_turbo_calibration_init_from_data(bytes.data(), size), llama_turbo_calibration_free);
    };
    const calibration_ptr again = read(bytes.size());
    CHECK(again && again->hash == calibration->hash && again->n_tokens == 50 && again->layers.size() == 2);
    CHECK(again->layers[1].k_block.mean == calibration->layers[1].k_block.mean &&
          again->layers[1].v.var == calibration->layers[1].v.var);
    for (size_t size : { size_t(0), size_t(20), bytes.size() - 1 }) { CHECK(read(size) == nullptr); }
    for (size_t at = 0; at < bytes.size(); at += 97) {
        bytes[at] ^= 1;
        CHECK(read(bytes.size()) == nullptr);
        bytes[at] ^= 1;
    }
}

TEST("a calibration can be canceled, and reports its progress") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const std::vector<llama_token> tokens(100, 5);
    struct seen {
        int calls = 0;
        int stop;
        int last = -1;
    } data;
    const auto progress = [](int32_t n_done, int32_t n_total, void * self) {
        seen & s = *static_cast<seen *>(self);
        CHECK(n_total == 100 && n_done >= s.last);
        s.last = n_done;
        return ++s.calls < s.stop;
    };
    data.stop = 1000;
    const calibration_ptr whole(
        llama_turbo_calibrate(model.get(), tokens.data(), 100, 0, 0, 1, nullptr, progress, &data),
        llama_turbo_calibration_free);
    CHECK(whole && data.last == 100);
    for (int stop : { 1, 2, 4 }) {
        data = { 0, stop, -1 };
        CHECK(llama_turbo_calibrate(model.get(), tokens.data(), 100, 0, 0, 1, nullptr, progress, &data) == nullptr);
        CHECK(data.calls == stop);
    }
    CHECK(make_context(model.get(), flash(GGML_TYPE_TURBO4)) != nullptr);
}
