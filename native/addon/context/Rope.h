// Contexts longer than a model was trained for: its positions are squeezed into those that it knows.
#pragma once

#include "model/Model.h"

#include "llama.h"

#include <cstdint>
#include <string>

namespace concertina {

// Kind "model": nothing is changed, `factor` is 1. Otherwise `factor` is how many times longer than trained the context is.
struct RopeScaling {
    std::string kind = "model"; // "linear": all frequencies alike; "yarn": the fast ones are left as they are
    float factor = 1;
    float freqScale = 0;       // for llama_context_params; 0: from the model
    uint32_t originalCtx = 0;  // the same
};

// tokens that the file of the model says it was trained for; 0: it does not say
uint32_t trainedContext(const Model & model);

// `asked`: a kind; cells: of the context. Kind "model" where the model is long enough or has no rotary positions. Throws
// `context-invalid` for an unknown kind.
RopeScaling ropeFor(const Model & model, const std::string & asked, uint32_t cells);

void applyRope(const RopeScaling & rope, llama_context_params & params);

} // namespace concertina
