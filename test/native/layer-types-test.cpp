// Caches whose layers have types of their own.

#include "calibration-store.h"
#include "check.h"
#include "layer-types.h"
#include "samples.h"
#include "tiny-model.h"

#include <vector>

namespace {

struct types_of_layers {
    const llama_model * model;

    types_of_layers(const llama_model * model, std::vector<ggml_type> k, std::vector<ggml_type> v) : model(model) {
        llama_turbo_layer_types_set(model, k.data(), v.data(), uint32_t(k.size()));
    }
    ~types_of_layers() { llama_turbo_layer_types_set(model, nullptr, nullptr, 0); }
};

struct types_seen : turbo_cache_listener {
    std::vector<ggml_type> k, v;

    void on_layer(uint32_t, const ggml_tensor * key, const ggml_tensor * value) override {
        k.push_back(key->type);
        v.push_back(value->type);
    }
};

} // namespace

TEST("each layer and side gets its own type, and the cache answers, shifts its state and is restored") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const llama_context_ptr f16 = make_context(model.get(), flash());
    const std::vector<float> exact = decode(f16.get(), 0, 32);
    const std::vector<ggml_type> k = { GGML_TYPE_Q8_0, GGML_TYPE_TURBO4 }, v = { GGML_TYPE_TURBO3, GGML_TYPE_Q5_0 };
    llama_context_ptr mixed;
    types_seen seen;
    {
        const turbo_listening listening(model.get(), &seen);
        const types_of_layers types(model.get(), k, v);
        mixed = make_context(model.get(), flash(GGML_TYPE_TURBO4, GGML_TYPE_TURBO4));
    }
    CHECK(seen.k == k && seen.v == v);
    const std::vector<float> logits = decode(mixed.get(), 0, 32);
    CHECK(logits.size() == exact.size());
    CHECK(logits != exact);
    CHECK_LE(relative_mse(exact, logits), 0.1);

    const std::vector<uint8_t> state = state_of(mixed.get());
    CHECK(restores(mixed.get(), state));
    // types that were set are those of the caches that were made then
    const llama_context_ptr plain = make_context(model.get(), flash(GGML_TYPE_TURBO4, GGML_TYPE_TURBO4));
    CHECK(!restores(plain.get(), state));
}

TEST("V is rotated as wide as the widest of its types needs") {
    struct row {
        const ggml_tensor * v;
    };
    ggml_context * ctx = ggml_init({ 4 * ggml_tensor_overhead(), nullptr, true });
    const row q8_0 = { ggml_new_tensor_1d(ctx, GGML_TYPE_Q8_0, 128) };
    const row turbo4 = { ggml_new_tensor_1d(ctx, GGML_TYPE_TURBO4, 128) };
    CHECK(turbo_v_rotation_of(std::vector<row>{ q8_0, q8_0 }) == turbo_v_rotation(GGML_TYPE_Q8_0));
    CHECK(turbo_v_rotation_of(std::vector<row>{ q8_0, turbo4 }) == turbo_v_rotation(GGML_TYPE_TURBO4));
    CHECK(turbo_v_rotation(GGML_TYPE_TURBO4) == 128);
    ggml_free(ctx);
}

// the table of electron/engine/cacheBudget/chooser.ts
TEST("what types that a budget is spent on leave of the energy of a Gaussian") {
    const struct {
        ggml_type type;
        double error;
    } rows[] = {
        { GGML_TYPE_TURBO3, 0.02578 },
        { GGML_TYPE_TURBO4, 0.00603 },
        { GGML_TYPE_Q5_0, 0.00182 },
        { GGML_TYPE_Q8_0, 0.0000286 },
    };
    const int64_t n = 128 * 4096;
    const std::vector<float> values = gaussian(n);
    for (const auto & [type, expected] : rows) {
        std::vector<uint8_t> bytes(ggml_row_size(type, n));
        ggml_quantize_chunk(type, values.data(), bytes.data(), 0, 1, n, nullptr);
        std::vector<float> back(n);
        ggml_get_type_traits(type)->to_float(bytes.data(), back.data(), n);
        CHECK_LE(relative_mse(values, back), 1.03 * expected);
        CHECK_LE(0.97 * expected, relative_mse(values, back));
    }
}
