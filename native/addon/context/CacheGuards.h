// What caches of a model are made with while one of these lives: the turbo library takes it by model, not by context.
#pragma once

#include "layer-types.h"
#include "recent-window.h"

#include <cstdint>
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

} // namespace concertina
