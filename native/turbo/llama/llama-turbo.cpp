// llama_turbo_resolve and the hook of llama_init_from_model.

#include "llama-turbo.h"
#include "calibration-store.h"
#include "kv-mean.h"
#include "turbo-hooks.h"

#include "ggml-cpp.h"
#include "llama-arch.h"
#include "llama-hparams.h"
#include "llama-impl.h"
#include "llama-model.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

struct choice {
    ggml_type type;
    const char * reason;
};

constexpr const char * reason_group_64 = "head_dim is 64: the variant with 64-value groups is used";
constexpr const char * reason_head_dim = "head_dim is neither 64 nor a multiple of 128";
constexpr const char * reason_bias =
    "the model's K projection has a bias, which breaks turbo K, and its attention cannot take that off";
constexpr const char * reason_bias_device =
    "the model's K projection has a bias, which breaks turbo K, and only flash attention on the CPU takes that off";
constexpr const char * reason_bias_absent =
    "the model's K projection has a bias, which breaks turbo K until the model is calibrated";
constexpr const char * reason_mla = "the model uses latent attention (MLA), where V is a part of K";
constexpr const char * reason_recurrent = "the model is recurrent and keeps no KV cache";
constexpr const char * reason_indexer =
    "the model's sparse attention keeps an indexer cache, for which turbo is not made";
constexpr const char * reason_gemma4 = "turbo is known to do harm to Gemma 4 models";
constexpr const char * reason_gpu = "the GPU has no attention kernel for these cache types at this head_dim";
constexpr const char * reason_gpu_trellis =
    "the GPU has no kernels for trellis types: the type of the same size without a trellis is used";
constexpr const char * reason_fa_off = "V can be stored quantized only with flash attention, which is off";
constexpr const char * reason_fa_never =
    "V can be stored quantized only with flash attention, which this model cannot use";

template <typename F> bool every_kv_layer(const llama_hparams & hparams, F && holds) {
    for (uint32_t il = 0; il < hparams.n_layer_all; ++il) {
        if (hparams.has_kv(il) && !hparams.is_recr(il) && !holds(il)) { return false; }
    }
    return true;
}

// of all layers of an ordinary context
bool is_calibrated(const llama_model & model) {
    const auto calibration = turbo_attached_to(&model).calibration;
    if (model.hparams.no_alloc || !calibration) { return model.hparams.no_alloc; }
    return every_kv_layer(
        model.hparams, [&](uint32_t il) { return il >= model.hparams.n_layer() || calibration->find(il) != nullptr; });
}

// nullptr: K can be a turbo type
const char * refusal_of_bias(const llama_model & model, bool flash_attn, bool calibrated) {
    if (!turbo_k_has_bias(model)) { return nullptr; }
    if (!turbo_can_center(model)) { return reason_bias; }
    if (!turbo_centers_by_blocks(model, flash_attn)) { return reason_bias_device; }
    return calibrated ? nullptr : reason_bias_absent;
}

// llama_init_from_model turns flash attention off for Grok; a relative position bias has no flash kernel
bool flash_attn_impossible(const llama_model & model) {
    return model.arch == LLM_ARCH_GROK || model.hparams.n_rel_attn_bkts > 0;
}

// q8_0, or f16 where the heads do not divide into its blocks
ggml_type plain_type(const llama_hparams & hparams, bool is_k) {
    const bool fits_q8_0 = every_kv_layer(hparams, [&](uint32_t il) {
        return (is_k ? hparams.n_embd_head_k(il) : hparams.n_embd_head_v(il)) % ggml_blck_size(GGML_TYPE_Q8_0) == 0;
    });
    return fits_q8_0 ? GGML_TYPE_Q8_0 : GGML_TYPE_F16;
}

// A turbo type by the width of its groups: 128 and 64 values.
struct widths {
    ggml_type type_128;
    ggml_type type_64;
};

widths widths_of(ggml_type asked) {
    for (const widths & w : { widths{ GGML_TYPE_TURBO4, GGML_TYPE_TURBO4_64 },
             { GGML_TYPE_TURBO4_TCQ, GGML_TYPE_TURBO4_TCQ_64 }, { GGML_TYPE_TURBO3_TCQ, GGML_TYPE_TURBO3_TCQ_64 } }) {
        if (asked == w.type_128 || asked == w.type_64) { return w; }
    }
    return { GGML_TYPE_TURBO3, GGML_TYPE_TURBO3_64 };
}

// K or V of a model with ordinary attention
choice resolve_heads(const llama_hparams & hparams, ggml_type asked, bool is_k, const char * refusal) {
    const auto head_dim = [&](uint32_t il) { return is_k ? hparams.n_embd_head_k(il) : hparams.n_embd_head_v(il); };
    const bool wide = every_kv_layer(hparams, [&](uint32_t il) { return head_dim(il) % TURBO_GROUP == 0; });
    const bool narrow = every_kv_layer(hparams, [&](uint32_t il) { return head_dim(il) == TURBO_GROUP_64; });

    // what no calibration changes comes first
    if (!wide && !narrow) { return { plain_type(hparams, is_k), reason_head_dim }; }
    if (refusal) { return { plain_type(hparams, is_k), refusal }; }
    if (wide) { return { widths_of(asked).type_128, nullptr }; }
    return { widths_of(asked).type_64, reason_group_64 };
}

// Operations without a kernel would go to the CPU, with the cache copied for every token.
bool gpus_attend(const llama_model & model, ggml_type type_k, ggml_type type_v, bool flash_attn) {
    const llama_hparams & hparams = model.hparams;
    return every_kv_layer(hparams, [&](uint32_t il) {
        return turbo_gpu_attends(model.dev_layer(il),
            { hparams.n_embd_head_k(il), hparams.n_embd_head_v(il), hparams.n_head(il), hparams.n_head_kv(il) }, type_k,
            type_v, flash_attn && !flash_attn_impossible(model));
    });
}

choice resolve(
    const llama_model & model, ggml_type asked, ggml_type other, bool is_k, bool flash_attn, bool calibrated) {
    if (!ggml_turbo_is_turbo(asked)) { return { asked, nullptr }; }
    if (llm_arch_is_recurrent(model.arch)) { return { GGML_TYPE_F16, reason_recurrent }; }
    if (model.hparams.is_mla() || model.arch == LLM_ARCH_DEEPSEEK4) {
        // llama.cpp wants one type for both here
        return { ggml_turbo_is_turbo(other) ? GGML_TYPE_F16 : other, reason_mla };
    }
    if (!is_k && flash_attn_impossible(model)) { return { GGML_TYPE_F16, reason_fa_never }; }
    if (!is_k && !flash_attn) { return { GGML_TYPE_F16, reason_fa_off }; }
    const char * refusal = model.hparams.indexer_head_size > 0                                        ? reason_indexer
                           : model.arch == LLM_ARCH_GEMMA4 || model.arch == LLM_ARCH_GEMMA4_ASSISTANT ? reason_gemma4
                           : is_k ? refusal_of_bias(model, flash_attn, calibrated)
                                  : nullptr;
    return resolve_heads(model.hparams, asked, is_k, refusal);
}

} // namespace

bool turbo_is_worker(ggml_backend_dev_t dev) {
    return dev && strcmp(ggml_backend_reg_name(ggml_backend_dev_backend_reg(dev)), "RPC") == 0;
}

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

bool turbo_k_has_bias(const llama_model & model) {
    return !every_kv_layer(model.hparams, [&](uint32_t il) {
        const std::string layer = "blk." + std::to_string(il);
        return model.get_tensor((layer + ".attn_k.bias").c_str()) == nullptr &&
               model.get_tensor((layer + ".attn_qkv.bias").c_str()) == nullptr;
    });
}

llama_turbo_resolution llama_turbo_resolve(
    const llama_model * model, ggml_type type_k, ggml_type type_v, bool flash_attn) {
    return llama_turbo_resolve_as(model, type_k, type_v, flash_attn, is_calibrated(*model));
}

llama_turbo_resolution llama_turbo_resolve_as(
    const llama_model * model, ggml_type type_k, ggml_type type_v, bool flash_attn, bool calibrated) {
    choice k = resolve(*model, type_k, type_v, true, flash_attn, calibrated);
    choice v = resolve(*model, type_v, type_k, false, flash_attn, calibrated);
    const bool k_is_turbo = ggml_turbo_is_turbo(k.type);
    const bool v_is_turbo = ggml_turbo_is_turbo(v.type);
    const auto supported = [&] {
        return !(k_is_turbo || v_is_turbo) || gpus_attend(*model, k.type, v.type, flash_attn);
    };
    if (!supported()) {
        for (choice * side : { &k, &v }) {
            const ggml_type plain = ggml_turbo_without_trellis(side->type);
            if (plain != side->type) { *side = { plain, reason_gpu_trellis }; }
        }
    }
    if (!supported()) {
        // GPUs want one type for both: the other side's where that is no turbo type
        k = k_is_turbo ? choice{ v_is_turbo ? plain_type(model->hparams, true) : v.type, reason_gpu } : k;
        v = v_is_turbo ? choice{ k.type, reason_gpu } : v;
    }
    return { k.type, v.type, k.type != type_k ? k.reason : nullptr, v.type != type_v ? v.reason : nullptr };
}

bool llama_turbo_apply(const llama_model * model, llama_context_params * params) {
    const llama_turbo_resolution res = llama_turbo_resolve(
        model, params->type_k, params->type_v, params->flash_attn_type != LLAMA_FLASH_ATTN_TYPE_DISABLED);

    if (res.reason_k) {
        LLAMA_LOG_WARN("%s: K cache type %s -> %s: %s\n", __func__, ggml_type_name(params->type_k),
            ggml_type_name(res.type_k), res.reason_k);
    }
    if (res.reason_v) {
        LLAMA_LOG_WARN("%s: V cache type %s -> %s: %s\n", __func__, ggml_type_name(params->type_v),
            ggml_type_name(res.type_v), res.reason_v);
    }
    params->type_k = res.type_k;
    params->type_v = res.type_v;

    const char * rot_disable = getenv("LLAMA_ATTN_ROT_DISABLE");
    if (rot_disable && atoi(rot_disable) && (ggml_turbo_is_turbo(res.type_k) || ggml_turbo_is_turbo(res.type_v))) {
        LLAMA_LOG_ERROR("%s: turbo cache types need the attention rotation: unset LLAMA_ATTN_ROT_DISABLE or choose "
                        "another cache type\n",
            __func__);
        return false;
    }
    return true;
}
