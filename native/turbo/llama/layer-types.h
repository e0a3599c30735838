// Cache types of single layers: a KV cache whose layers, and whose K and V, need not be of one type. Which type each gets is decided
// elsewhere (electron/engine/cacheBudget); here they reach the constructor of upstream's cache, which has one type for all.
#pragma once

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// Caches that are made for the model from now on have these types, whatever their context asks for: two for each of n_layer layers,
// those without a cache included, which are not looked at. The types are effective ones (llama_turbo_resolve). n_layer 0: the
// context's again. Whoever sets them keeps others from making contexts of the model meanwhile.
// The context's own types should be among them, and quantized where one of them is: whether K and V are rotated follows from it.
LLAMA_API void llama_turbo_layer_types_set(
    const struct llama_model * model, const enum ggml_type * type_k, const enum ggml_type * type_v, uint32_t n_layer);

#ifdef __cplusplus
}

#include "turbo-hooks.h"

#include <algorithm>

// Called by llama_kv_cache's constructor: the type of a layer's K or V. `type`: the context's.
ggml_type turbo_layer_type(const llama_model & model, uint32_t il, ggml_type type, bool is_k);

// Width of the rotation of V, which is one for all layers of a cache: the widest that one of them needs.
// layers: upstream's list, whose type is private.
template <typename Layers> int turbo_v_rotation_of(const Layers & layers) {
    int width = 0;
    for (const auto & layer : layers) { width = std::max(width, layer.v ? turbo_v_rotation(layer.v->type) : 0); }
    return width;
}
#endif
