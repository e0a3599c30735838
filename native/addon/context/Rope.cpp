#include "context/Rope.h"

#include "errors.h"

namespace concertina {
namespace {

constexpr uint32_t cellStep = 256; // upstream rounds contexts up to it

} // namespace

uint32_t trainedContext(const Model & model) {
    return model.info.nCtxTrain > 0 ? static_cast<uint32_t>(model.info.nCtxTrain) : 0;
}

RopeScaling ropeFor(const Model & model, const std::string & asked, uint32_t cells) {
    RopeScaling rope;
    if (asked != "model" && asked != "linear" && asked != "yarn") {
        throw CodedError("context-invalid", "There is no RoPE scaling \"" + asked + "\"", "Use model, linear or yarn.");
    }
    const uint32_t trained = trainedContext(model);
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
