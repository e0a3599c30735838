// Whether GPUs have attention kernels for the types of a cache. For llama_turbo_resolve.
#pragma once

#include "ggml-backend.h"

struct turbo_attention_heads {
    int64_t dim_k, dim_v, n_head, n_head_kv;
};

// Whether a GPU does attention with K and V of these types, for one token and for a prompt. flash_attn: in one operation; else the
// product of K and Q counts, as V is not quantized then. True for devices that are no GPU: the CPU does all of it.
bool turbo_gpu_attends(
    ggml_backend_dev_t dev, const turbo_attention_heads & heads, ggml_type type_k, ggml_type type_v, bool flash_attn);
