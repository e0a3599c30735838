// What caches of a model are made with while one of these lives: the turbo library takes it by model, not by context. And what came of
// a window of recent tokens.
#pragma once

#include "context/effective.h"
#include "context/internals.h"

#include "layer-types.h"
#include "recent-window.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

// While it lives, caches that are made for the model have these types in their layers, if any are named.
class LayerTypes {
public:
    LayerTypes(const llama_model * model, const std::vector<ggml_type> & k, const std::vector<ggml_type> & v)
        : model(model) {
        llama_turbo_layer_types_set(model, k.data(), v.data(), static_cast<uint32_t>(k.size()));
    }
    ~LayerTypes() { llama_turbo_layer_types_set(model, nullptr, nullptr, 0); }
    LayerTypes(const LayerTypes &) = delete;
    LayerTypes & operator=(const LayerTypes &) = delete;

private:
    const llama_model * model;
};

// While it lives, caches that are made for the model have a window of so many recent tokens where they can.
class RecentWindow {
public:
    RecentWindow(const llama_model * model, int tokens, uint32_t ubatch) : model(model) {
        llama_turbo_recent_set(model, static_cast<uint32_t>(tokens), ubatch);
    }
    ~RecentWindow() { llama_turbo_recent_set(model, 0, 0); }
    RecentWindow(const RecentWindow &) = delete;
    RecentWindow & operator=(const RecentWindow &) = delete;

private:
    const llama_model * model;
};

// Of a context as it was made. unified: its sequences share the cells.
inline EffectiveRecent recentOf(
    const llama_context * context, const std::vector<CacheLayer> & layers, int asked, bool unified) {
    const auto isTurbo = [](const std::string & type) { return type.rfind("turbo", 0) == 0; };
    const auto isPlain = [](const std::string & type) { return type == "f16" || type == "bf16" || type == "f32"; };
    bool turbo = false, quantized = false;
    for (const auto & [_, k, v, bytesK, bytesV, recent] : layers) {
        if (recent) return { asked, asked, "" };
        turbo = turbo || isTurbo(k) || isTurbo(v);
        quantized = quantized || (!isPlain(k) && !isPlain(v) && (isTurbo(k) || isTurbo(v)));
    }
    if (asked == 0 || !turbo) return { asked, 0, "" };
    const char * refusal = llama_turbo_recent_refusal(llama_get_model(context), usesFlashAttention(context));
    if (refusal) return { asked, 0, refusal };
    if (!quantized) return { asked, 0, "it would be coarser than the side of the cache that is not quantized" };
    if (!unified && llama_n_seq_max(context) > 1) return { asked, 0, "the cells are divided among the sequences" };
    return { asked, 0, "with it a cache of so few cells would be no smaller than one in q8_0" };
}

} // namespace concertina
