// Turbo types as KV cache types of whole (tiny, random) models: effective types, quality of logits, K-shift,
// save and restore.

#include "check.h"
#include "ggml-backend-impl.h"
#include "llama-turbo.h"
#include "samples.h"
#include "tiny-model.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

llama_context_ptr make_context(llama_model * model, ggml_type k, ggml_type v) {
    return make_context(model, { k, v, LLAMA_FLASH_ATTN_TYPE_AUTO });
}

void quiet() {
    llama_log_set(
        [](ggml_log_level level, const char * text, void *) {
            if (level == GGML_LOG_LEVEL_ERROR && !strstr(text, "LLAMA_ATTN_ROT_DISABLE") && !strstr(text, "state")) {
                fputs(text, stderr);
            }
        },
        nullptr);
}

} // namespace

TEST("effective types follow head_dim") {
    quiet();
    const struct {
        uint32_t head_dim;
        ggml_type k4;
        ggml_type v3;
    } rows[] = {
        { 128, GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 },
        { 256, GGML_TYPE_TURBO4, GGML_TYPE_TURBO3 },
        { 64, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 },
        { 96, GGML_TYPE_Q8_0, GGML_TYPE_Q8_0 },
        { 192, GGML_TYPE_Q8_0, GGML_TYPE_Q8_0 },
        { 80, GGML_TYPE_F16, GGML_TYPE_F16 },
    };
    for (const auto & row : rows) {
        const llama_model_ptr model = make_tiny_model({ row.head_dim });
        const llama_turbo_resolution res = llama_turbo_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, true);
        CHECK(res.type_k == row.k4);
        CHECK(res.type_v == row.v3);
        CHECK((res.reason_k == nullptr) == (res.type_k == GGML_TYPE_TURBO4));
        CHECK((res.reason_v == nullptr) == (res.type_v == GGML_TYPE_TURBO3));
        const llama_turbo_resolution trellis =
            llama_turbo_resolve(model.get(), GGML_TYPE_TURBO4_TCQ, GGML_TYPE_TURBO3_TCQ, true);
        CHECK(ggml_turbo_without_trellis(trellis.type_k) == row.k4);
        CHECK(ggml_turbo_without_trellis(trellis.type_v) == row.v3);
        CHECK((trellis.type_k == row.k4) == !ggml_turbo_is_turbo(row.k4));
        CHECK((trellis.reason_k == nullptr) == (trellis.type_k == GGML_TYPE_TURBO4_TCQ));
        CHECK(make_context(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3) != nullptr);
    }
}

TEST("types other than turbo are left alone") {
    const llama_model_ptr model = make_tiny_model({ 80 });
    const llama_turbo_resolution res = llama_turbo_resolve(model.get(), GGML_TYPE_Q4_0, GGML_TYPE_F16, false);
    CHECK(res.type_k == GGML_TYPE_Q4_0 && res.type_v == GGML_TYPE_F16);
    CHECK(res.reason_k == nullptr && res.reason_v == nullptr);
}

TEST("without flash attention V is f16 and K stays turbo") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    const llama_turbo_resolution res = llama_turbo_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, false);
    CHECK(res.type_k == GGML_TYPE_TURBO4 && res.reason_k == nullptr);
    CHECK(res.type_v == GGML_TYPE_F16 && res.reason_v != nullptr);
    const llama_context_ptr ctx =
        make_context(model.get(), { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, LLAMA_FLASH_ATTN_TYPE_DISABLED });
    CHECK(ctx != nullptr);
    decode(ctx.get(), 0, 8);
}

namespace {

// A GPU that does attention with 128-value heads only, and knows no q4_0.
bool stub_supports(ggml_backend_dev_t, const ggml_tensor * op) {
    return op->op == GGML_OP_FLASH_ATTN_EXT && op->src[1]->ne[0] == 128 && op->src[2]->type != GGML_TYPE_Q4_0;
}

enum ggml_backend_dev_type stub_type(ggml_backend_dev_t dev) {
    return *(const enum ggml_backend_dev_type *) dev->context;
}

} // namespace

TEST("a GPU, also an integrated one, is asked for each pair of types and head size, another device is not") {
    enum ggml_backend_dev_type type = GGML_BACKEND_DEVICE_TYPE_GPU;
    ggml_backend_device gpu = {};
    gpu.iface.get_type = stub_type;
    gpu.iface.supports_op = stub_supports;
    gpu.context = &type;
    CHECK(turbo_gpu_attends(&gpu, { 128, 128, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, true));
    CHECK(!turbo_gpu_attends(&gpu, { 128, 128, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_Q4_0, true));
    CHECK(!turbo_gpu_attends(&gpu, { 256, 256, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, true));
    CHECK(!turbo_gpu_attends(&gpu, { 128, 128, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_F16, false));
    type = GGML_BACKEND_DEVICE_TYPE_IGPU;
    CHECK(!turbo_gpu_attends(&gpu, { 256, 256, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, true));
    type = GGML_BACKEND_DEVICE_TYPE_CPU;
    CHECK(turbo_gpu_attends(&gpu, { 256, 256, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, true));
    CHECK(turbo_gpu_attends(nullptr, { 256, 256, 8, 2 }, GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, true));
}

// Of the process; an empty value removes it.
static void set_environment(const char * name, const char * value) {
#ifdef _WIN32
    _putenv_s(name, value);
#else
    if (*value)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

TEST("no context of turbo types while the rotation is disabled") {
    const llama_model_ptr model = make_tiny_model({ 128 });
    set_environment("LLAMA_ATTN_ROT_DISABLE", "1");
    CHECK(make_context(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_F16) == nullptr);
    CHECK(make_context(model.get(), GGML_TYPE_F16, GGML_TYPE_TURBO3) == nullptr);
    CHECK(make_context(model.get(), GGML_TYPE_F16, GGML_TYPE_F16) != nullptr);
    set_environment("LLAMA_ATTN_ROT_DISABLE", "");
}

// A random model multiplies any noise of its cache, so the bound is another type's error in the same model, on
// upstream's own path: turbo4 must not exceed q4_0, which spends more bits, and turbo3, whose mean squared error is
// 4.3 times that of turbo4, must not exceed five times q4_0. A wrong layout, scale or rotation gives an error near 1.
static void check_logits(bool shift) {
    for (uint32_t head_dim : { 64, 128, 256 }) {
        const llama_model_ptr model = make_tiny_model({ head_dim });
        const auto logits = [&](ggml_type k, ggml_type v) {
            const llama_context_ptr ctx = make_context(model.get(), flash(k, v));
            std::vector<float> all = shift ? shifted_logits(ctx.get()) : decode(ctx.get(), 0, 48);
            all.erase(all.begin(), all.end() - 16 * 64); // of the last tokens, which see most of the cache
            return all;
        };
        const std::vector<float> f16 = logits(GGML_TYPE_F16, GGML_TYPE_F16);
        const double q4_0 = relative_mse(f16, logits(GGML_TYPE_Q4_0, GGML_TYPE_Q4_0));
        CHECK_LE(q4_0, 0.1);
        CHECK_LE(relative_mse(f16, logits(GGML_TYPE_TURBO4, GGML_TYPE_TURBO4)), q4_0);
        CHECK_LE(relative_mse(f16, logits(GGML_TYPE_TURBO4, GGML_TYPE_Q8_0)), q4_0);
        CHECK_LE(relative_mse(f16, logits(GGML_TYPE_F16, GGML_TYPE_TURBO4)), q4_0);
        CHECK_LE(relative_mse(f16, logits(GGML_TYPE_TURBO3, GGML_TYPE_TURBO3)), 5 * q4_0);
        CHECK_LE(relative_mse(f16, logits(GGML_TYPE_TURBO4_TCQ, GGML_TYPE_TURBO4_TCQ)), q4_0);
        CHECK_LE(relative_mse(f16, logits(GGML_TYPE_TURBO3_TCQ, GGML_TYPE_TURBO3_TCQ)), 4 * q4_0);
    }
}

TEST("logits stay near those of f16 at head_dim 64, 128, 256") { check_logits(false); }

TEST("K-shift: logits stay near those of f16") { check_logits(true); }

TEST("a restored sequence continues with identical logits; another type refuses it") {
    for (uint32_t head_dim : { 64, 128 }) {
        const llama_model_ptr model = make_tiny_model({ head_dim });
        const llama_context_ptr a = make_context(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3);
        decode(a.get(), 0, 40);
        const std::vector<uint8_t> state = state_of(a.get());
        const std::vector<float> expected = decode(a.get(), 40, 1);

        const llama_context_ptr b = make_context(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3);
        CHECK(restores(b.get(), state));
        CHECK(decode(b.get(), 40, 1) == expected);

        const llama_context_ptr c = make_context(model.get(), GGML_TYPE_TURBO3, GGML_TYPE_TURBO3);
        CHECK(llama_state_seq_set_data(c.get(), state.data(), state.size(), 0) == 0);
    }
}
