#include "uses.h"

#include "turbo-metal-impl.h"

#include <algorithm>

// Rows of the dispatch table begin at multiples of this.
static const int64_t STEP = 1024;

std::vector<turbo_metal_use> turbo_metal_uses(const turbo_metal_device & device, int dim_k, int dim_v, int gqa,
    int64_t n_ctx, const std::string & override_text, bool has_turbo4) {
    std::vector<turbo_metal_use> uses;
    if (!turbo_metal_has_sound_kernel(device, dim_k, dim_v)) { return uses; }
    const std::string family = device.family > 0 ? "Apple" + std::to_string(device.family) : "unknown chip family";
    for (int64_t from = 0; from < n_ctx; from += STEP) {
        const turbo_metal_shape shape = { std::max<int64_t>(1, from), dim_k, dim_v, gqa, 1, 1, has_turbo4 };
        const turbo_metal_variant v = turbo_metal_choose_with(device, shape, TURBO_METAL_MAX_SPLITS, override_text);
        const std::string name = turbo_metal_kernel_text(v);
        if (uses.empty() || uses.back().name != name) { uses.push_back({ from, name, family + ": " + v.source }); }
    }
    return uses;
}
