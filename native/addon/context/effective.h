// What a model gets for requested cache types (native/turbo decides for turbo types) and for a requested RoPE scaling, with which
// a context can be longer than the model was trained for: its positions are squeezed into those that it knows.
#pragma once

#include "fields.h"
#include "model/Model.h"

#include "llama.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace concertina {

struct EffectiveType {
    std::string asked;
    std::string effective;
    std::string reason; // empty when they agree

    CONCERTINA_FIELDS(asked, effective, reason)
};

// Constants taken off K and V before they are quantized; the reasons are empty where it is done. Those of K turn with the positions
// (blocks), or one serves all of them, for a reason.
struct EffectiveCentering {
    bool k = false;
    bool v = false;
    std::string reasonK, reasonV;
    bool blocks = false;
    std::string reasonBlocks;
    uint64_t hash = 0; // of the measurements in use and of how; 0: none

    CONCERTINA_FIELDS(k, v, reasonK, reasonV, blocks, reasonBlocks)
};

// Newest tokens whose K and V are held at 8 bits, too; the reason is empty where none were asked for, or no type is turbo.
struct EffectiveRecent {
    int asked = 0;
    int tokens = 0;
    std::string reason;

    CONCERTINA_FIELDS(asked, tokens, reason)
};

// The cache of one layer; without V where a model keeps both in one.
struct CacheLayer {
    uint32_t layer = 0;
    std::string typeK, typeV;
    uint64_t bytesK = 0, bytesV = 0;
    bool recent = false; // beside a window of recent cells, whose bytes are not among these

    CONCERTINA_FIELDS(layer, typeK, typeV, bytesK, bytesV)
};

struct EffectiveTypes {
    ggml_type k = GGML_TYPE_F16;
    ggml_type v = GGML_TYPE_F16;
    EffectiveType typeK;
    EffectiveType typeV;
    // of single layers, by their number, where they were named one by one; k and v are then those of them that decide how the cache
    // is rotated and centered
    std::vector<ggml_type> layersK, layersV;
};

// all that a KV cache can be asked to be
std::vector<std::string> cacheTypeNames();

// A side is a type, or a list of one for each layer that has a cache, from the first on: "turbo4,turbo3,turbo4". A name before
// it ("auto:3.5=turbo4,turbo3") is what the person asked for, and what the effective type is called.
bool isTypeList(const std::string & side);

// Throws `cache-type-unsupported`. calibrated: without a value, as the model is; a dry one counts as calibrated.
EffectiveTypes resolveTypes(const llama_model * model, const std::string & typeK, const std::string & typeV,
    llama_flash_attn_type flashAttention, std::optional<bool> calibrated = std::nullopt);

// Kind "model": nothing is changed, `factor` is 1. Otherwise `factor` is how many times longer than trained the context is.
struct RopeScaling {
    std::string kind = "model"; // "linear": all frequencies alike; "yarn": the fast ones are left as they are
    float factor = 1;
    float freqScale = 0; // for llama_context_params; 0: from the model
    uint32_t originalCtx = 0; // the same

    CONCERTINA_FIELDS(kind, factor)
};

// `asked`: a kind; cells: of the context. Kind "model" where the model is long enough or has no rotary positions. Throws
// `context-invalid` for an unknown kind.
RopeScaling ropeFor(const Model & model, const std::string & asked, uint32_t cells);

void applyRope(const RopeScaling & rope, llama_context_params & params);

} // namespace concertina
