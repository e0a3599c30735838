// Which variants decode attention takes over the depth of a context, and why: for the app's status.
#pragma once

#include "dispatch.h"

struct turbo_metal_use {
    int64_t from; // positions in the cache
    std::string name;
    std::string why;
};

// override_text: of CONCERTINA_METAL_VARIANT, "" for none; throws as turbo_metal_choose_with. has_turbo4: as K or V. Empty where there
// is no kernel.
std::vector<turbo_metal_use> turbo_metal_uses(const turbo_metal_device & device, int dim_k, int dim_v, int gqa,
    int64_t n_ctx, const std::string & override_text, bool has_turbo4 = false);
