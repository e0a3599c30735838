#include "plan-parts.h"

#include "ggml-turbo.h"

bool turbo_metal_involves(const ggml_tensor * op) {
    if (ggml_turbo_is_turbo(op->type)) { return true; }
    for (const ggml_tensor * src : op->src) {
        if (src != nullptr && ggml_turbo_is_turbo(src->type)) { return true; }
    }
    return false;
}

turbo_metal_plan turbo_metal_make_plan(const turbo_metal_device & device, const ggml_tensor * op) {
    if (!turbo_metal_involves(op)) { return {}; }
    switch (op->op) {
        case GGML_OP_SET_ROWS: return { turbo_metal_plan_set_rows(op) };
        case GGML_OP_CPY:
        case GGML_OP_DUP:
        case GGML_OP_CONT: return { turbo_metal_plan_copy(op) };
        case GGML_OP_FLASH_ATTN_EXT:
            if (turbo_metal_is_decode(op)) {
                return turbo_metal_plan_attention(turbo_metal_variant_of(device, op), op);
            }
            return {};
        default: return {};
    }
}
