// The types of the layers of caches that are about to be made, by model.

#include "layer-types.h"

#include <map>
#include <mutex>
#include <vector>

namespace {

struct layer_types {
    std::vector<ggml_type> k, v;
};

std::mutex mutex;

std::map<const llama_model *, layer_types> & models() {
    static std::map<const llama_model *, layer_types> table;
    return table;
}

} // namespace

void llama_turbo_layer_types_set(
    const llama_model * model, const ggml_type * type_k, const ggml_type * type_v, uint32_t n_layer) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (n_layer == 0) {
        models().erase(model);
    } else {
        models()[model] = { { type_k, type_k + n_layer }, { type_v, type_v + n_layer } };
    }
}

ggml_type turbo_layer_type(const llama_model & model, uint32_t il, ggml_type type, bool is_k) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = models().find(&model);
    if (found == models().end()) { return type; }
    const std::vector<ggml_type> & types = is_k ? found->second.k : found->second.v;
    return il < types.size() ? types[il] : type;
}
