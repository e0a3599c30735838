// Which cache types a model gets when turbo types are asked for. For the addon and the tools.
#pragma once

#include "ggml-turbo.h"
#include "llama.h"

#include "ggml-backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct llama_turbo_resolution {
    enum ggml_type type_k; // effective type; the asked one when it is not a turbo type
    enum ggml_type type_v;
    const char * reason_k; // NULL when the type is the asked one; else one static sentence for the user
    const char * reason_v;
};

// The types that a context of this model would get for the asked ones. turbo4 and turbo3 become turbo4_64 and
// turbo3_64 for models with head_dim 64 (turbo4_tcq and turbo3_tcq alike), trellis types those without one where a layer is on a
// GPU that has no kernels for them, and all q8_0 or f16 where turbo cannot work or is known to do harm.
// flash_attn: false only when the context is made with LLAMA_FLASH_ATTN_TYPE_DISABLED; llama.cpp stores
// V quantized only with flash attention. llama_init_from_model makes the same call and logs the difference.
// A K projection with a bias is known to break turbo K, unless what it adds to the keys is taken off: where K is centered by blocks of
// positions (key-blocks.h). This takes the model as it is: calibrated or not. One without weights in memory (no_alloc) counts as
// calibrated, since it stands for one that will be.
LLAMA_API struct llama_turbo_resolution llama_turbo_resolve(
    const struct llama_model * model, enum ggml_type type_k, enum ggml_type type_v, bool flash_attn);

// The same, calibrated or not whatever the model is.
LLAMA_API struct llama_turbo_resolution llama_turbo_resolve_as(
    const struct llama_model * model, enum ggml_type type_k, enum ggml_type type_v, bool flash_attn, bool calibrated);

#ifdef __cplusplus
}

// A device of another machine, over upstream's RPC: what runs there knows no pointer of this process.
bool turbo_is_worker(ggml_backend_dev_t dev);

// Whether the keys of a layer of the model have a bias.
bool turbo_k_has_bias(const llama_model & model);

struct turbo_attention_heads {
    int64_t dim_k, dim_v, n_head, n_head_kv;
};

// Whether a GPU does attention with K and V of these types, for one token and for a prompt. flash_attn: in one operation; else the
// product of K and Q counts, as V is not quantized then. True for devices that are no GPU: the CPU does all of it.
bool turbo_gpu_attends(
    ggml_backend_dev_t dev, const turbo_attention_heads & heads, ggml_type type_k, ggml_type type_v, bool flash_attn);
#endif
