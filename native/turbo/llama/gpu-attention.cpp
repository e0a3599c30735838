#include "gpu-attention.h"

#include "ggml-cpp.h"

#include <initializer_list>

bool turbo_gpu_attends(
    ggml_backend_dev_t dev, const turbo_attention_heads & heads, ggml_type type_k, ggml_type type_v, bool flash_attn) {
    const auto type = dev ? ggml_backend_dev_type(dev) : GGML_BACKEND_DEVICE_TYPE_CPU;
    if (type != GGML_BACKEND_DEVICE_TYPE_GPU && type != GGML_BACKEND_DEVICE_TYPE_IGPU) { return true; }
    const int64_t n_kv = 256;
    for (const int64_t n_tokens : { 1, 64 }) {
        const ggml_context_ptr ctx(ggml_init({ 8 * ggml_tensor_overhead(), nullptr, true }));
        ggml_tensor * q = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F32, heads.dim_k, n_tokens, heads.n_head);
        ggml_tensor * k = ggml_new_tensor_3d(ctx.get(), type_k, heads.dim_k, n_kv, heads.n_head_kv);
        ggml_tensor * v = ggml_new_tensor_3d(ctx.get(), type_v, heads.dim_v, n_kv, heads.n_head_kv);
        ggml_tensor * mask = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F16, n_kv, n_tokens);
        const ggml_tensor * op = flash_attn ? ggml_flash_attn_ext(ctx.get(), q, k, v, mask, 1.0f, 0.0f, 0.0f)
                                            : ggml_mul_mat(ctx.get(), k, q);
        if (!ggml_backend_dev_supports_op(dev, op)) { return false; }
    }
    return true;
}
