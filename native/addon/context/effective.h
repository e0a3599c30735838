// Cache types: which names exist, and what a model gets for the asked ones (native/turbo decides for turbo types).
#pragma once

#include "llama.h"

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct EffectiveType {
    std::string asked;
    std::string effective;
    std::string reason; // empty when they agree
};

// Constants taken off K and V before they are quantized; the reasons are empty where it is done.
struct EffectiveCentering {
    bool k = false;
    bool v = false;
    std::string reasonK, reasonV;
    uint64_t hash = 0; // of the measurements in use; 0: none
};

struct EffectiveTypes {
    ggml_type k = GGML_TYPE_F16;
    ggml_type v = GGML_TYPE_F16;
    EffectiveType typeK;
    EffectiveType typeV;
};

std::vector<std::string> cacheTypeNames();

// throws `cache-type-unsupported`
EffectiveTypes resolveTypes(const llama_model * model, const std::string & typeK, const std::string & typeV,
    llama_flash_attn_type flashAttention);

} // namespace concertina
