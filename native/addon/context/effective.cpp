#include "context/effective.h"

#include "context/internals.h"
#include "errors.h"

#include "llama-turbo.h"

#include <sstream>

namespace concertina {
namespace {

// what upstream's own tools allow for a KV cache, and ours
constexpr ggml_type knownTypes[] = { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q5_1,
    GGML_TYPE_Q5_0, GGML_TYPE_IQ4_NL, GGML_TYPE_Q4_1, GGML_TYPE_Q4_0, GGML_TYPE_TURBO4, GGML_TYPE_TURBO3,
    GGML_TYPE_TURBO4_TCQ, GGML_TYPE_TURBO3_TCQ };

ggml_type typeOf(const std::string & name, const char * side) {
    std::string names;
    for (const ggml_type known : knownTypes) {
        if (name == ggml_type_name(known)) return known;
        names += (names.empty() ? "" : ", ") + std::string(ggml_type_name(known));
    }
    throw CodedError("cache-type-unsupported", std::string("There is no cache type \"") + name + "\" for " + side,
        "Types: " + names + ".");
}

EffectiveType describe(const std::string & asked, ggml_type type, const char * reason) {
    const std::string name = ggml_type_name(type);
    return { asked, name, name == asked ? "" : (reason ? reason : "The model cannot use " + asked + ".") };
}

constexpr uint32_t cellStep = 256; // upstream rounds contexts up to it

struct TypeList {
    std::string name; // of the whole; empty: its types tell
    std::vector<std::string> types;
};

TypeList listOf(const std::string & side) {
    TypeList list;
    const size_t names = side.find('=');
    if (names != std::string::npos) list.name = side.substr(0, names);
    std::stringstream types(names == std::string::npos ? side : side.substr(names + 1));
    for (std::string type; std::getline(types, type, ',');) list.types.push_back(type);
    return list;
}

[[noreturn]] void refuseLists(const std::string & why, const std::string & hint) {
    throw CodedError("cache-type-unsupported", "The cache cannot have other types in other layers: " + why, hint);
}

// One of them decides for the cache: turbo types are centered, quantized ones rotated.
ggml_type decidingType(const std::vector<ggml_type> & types) {
    ggml_type found = types.front();
    for (const ggml_type type : types) {
        if (ggml_turbo_is_turbo(type)) return type;
        if (ggml_is_quantized(type)) found = type;
    }
    return found;
}

EffectiveType describe(const TypeList & asked, const std::vector<ggml_type> & types, const std::string & reason) {
    std::string names;
    for (const ggml_type type : types) names += (names.empty() ? "" : ",") + std::string(ggml_type_name(type));
    const std::string & whole = asked.name.empty() ? names : asked.name;
    return { whole, whole, reason };
}

EffectiveTypes resolveLists(const llama_model * model, const std::string & typeK, const std::string & typeV,
    llama_flash_attn_type flashAttention, std::optional<bool> calibrated) {
    const char * single = "Choose one type for K and one for V.";
    if (flashAttention == LLAMA_FLASH_ATTN_TYPE_DISABLED)
        refuseLists("flash attention is off", "Set flash attention to auto, or choose one type for K and one for V.");
    const CacheShape shape = cacheShape(model);
    if (shape.recurrent) refuseLists("the model keeps a recurrent state beside it, or in place of it", single);
    if (shape.latent) refuseLists("the model uses latent attention (MLA), where V is a part of K", single);
    if (shape.gpu)
        refuseLists("layers of the model are on a GPU or at a worker",
            "Set GPU layers to 0, or choose one type for K and one for V.");
    const TypeList k = listOf(typeK), v = listOf(typeV);
    const auto at = [&](const TypeList & list, size_t i) {
        if (list.types.size() != 1 && list.types.size() != shape.layers.size())
            refuseLists(std::to_string(list.types.size()) + " types were named, and " +
                            std::to_string(shape.layers.size()) + " layers have a cache",
                single);
        return list.types.size() == 1 ? list.types[0] : list.types[i];
    };
    EffectiveTypes types;
    std::vector<ggml_type> ofK, ofV;
    std::string reasonK, reasonV;
    const auto note = [](std::string & reason, const EffectiveType & of) {
        if (of.effective != of.asked && of.effective != of.asked + "_64") reason = of.reason;
    };
    types.layersK.resize(shape.all, GGML_TYPE_F16);
    types.layersV.resize(shape.all, GGML_TYPE_F16);
    for (size_t i = 0; i < shape.layers.size(); i++) {
        const EffectiveTypes here = resolveTypes(model, at(k, i), at(v, i), flashAttention, calibrated);
        note(reasonK, here.typeK);
        note(reasonV, here.typeV);
        ofK.push_back(types.layersK[shape.layers[i]] = here.k);
        ofV.push_back(types.layersV[shape.layers[i]] = here.v);
    }
    types.k = decidingType(ofK);
    types.v = decidingType(ofV);
    types.typeK = describe(k, ofK, reasonK);
    types.typeV = describe(v, ofV, reasonV);
    return types;
}

} // namespace

std::vector<std::string> cacheTypeNames() {
    std::vector<std::string> names;
    for (const ggml_type known : knownTypes) names.emplace_back(ggml_type_name(known));
    return names;
}

bool isTypeList(const std::string & side) { return side.find_first_of("=,") != std::string::npos; }

EffectiveTypes resolveTypes(const llama_model * model, const std::string & typeK, const std::string & typeV,
    llama_flash_attn_type flashAttention, std::optional<bool> calibrated) {
    if (isTypeList(typeK) || isTypeList(typeV)) return resolveLists(model, typeK, typeV, flashAttention, calibrated);
    const bool flash = flashAttention != LLAMA_FLASH_ATTN_TYPE_DISABLED;
    const ggml_type k = typeOf(typeK, "K"), v = typeOf(typeV, "V");
    const llama_turbo_resolution resolved =
        calibrated ? llama_turbo_resolve_as(model, k, v, flash, *calibrated) : llama_turbo_resolve(model, k, v, flash);
    EffectiveTypes types;
    types.k = resolved.type_k;
    types.v = resolved.type_v;
    types.typeK = describe(typeK, types.k, resolved.reason_k);
    types.typeV = describe(typeV, types.v, resolved.reason_v);
    if (!flash && ggml_is_quantized(types.v)) {
        throw CodedError("cache-type-unsupported",
            "V as " + types.typeV.effective + " needs flash attention, which is off",
            "Set flash attention to auto, or choose f16 for V.");
    }
    if (!headDimsFit(model, types.k, types.v)) {
        throw CodedError("cache-type-unsupported",
            "The heads of this model do not divide into the blocks of " + types.typeK.effective + " (K) and " +
                types.typeV.effective + " (V)",
            "Choose f16 or q8_0.");
    }
    return types;
}

RopeScaling ropeFor(const Model & model, const std::string & asked, uint32_t cells) {
    RopeScaling rope;
    if (asked != "model" && asked != "linear" && asked != "yarn") {
        throw CodedError("context-invalid", "There is no RoPE scaling \"" + asked + "\"", "Use model, linear or yarn.");
    }
    const uint32_t trained = model.trained;
    const bool turns = llama_model_rope_type(model.handle) != LLAMA_ROPE_TYPE_NONE;
    if (asked == "model" || !turns || trained == 0 || cells <= trained) return rope;
    // a model may have been stretched already: what it was made with is stretched once more
    const float own = llama_model_rope_freq_scale_train(model.handle);
    const uint32_t held = (cells + cellStep - 1) / cellStep * cellStep;
    rope.kind = asked;
    rope.factor = static_cast<float>(held) / static_cast<float>(trained);
    rope.freqScale = own / rope.factor;
    rope.originalCtx = static_cast<uint32_t>(static_cast<float>(trained) * own);
    return rope;
}

void applyRope(const RopeScaling & rope, llama_context_params & params) {
    if (rope.kind == "model") return;
    const bool yarn = rope.kind == "yarn";
    params.rope_scaling_type = yarn ? LLAMA_ROPE_SCALING_TYPE_YARN : LLAMA_ROPE_SCALING_TYPE_LINEAR;
    params.rope_freq_scale = rope.freqScale;
    if (yarn)
        params.yarn_orig_ctx = rope.originalCtx;
    else
        params.yarn_ext_factor = 0; // a model of YaRN's own brings one
}

} // namespace concertina
