// Flash attention of upstream (scalar and coopmat1) with the turbo types among those of K and V. Included at the end of
// flash_attn_dequant.glsl: what it redefines is used by the main programs only.

#include "blocks.glsl"

layout (binding = 1) readonly buffer K_TURBO { uint data[]; } k_turbo;
layout (binding = 2) readonly buffer V_TURBO { uint data[]; } v_turbo;

FLOAT_TYPEV4 turbo_dequantize4(uint ib, uint iqs, uint a_offset, uint binding_idx) {
    vec4 v;
    if (binding_idx == BINDING_IDX_K) {
        if (!turbo_is(FaTypeK)) {
            return dequantize4(ib, iqs, a_offset, binding_idx);
        }
        const uint base = (a_offset + ib)*turbo_words(FaTypeK);
        TURBO_EXPAND(k_turbo.data, base, FaTypeK, iqs, v)
    } else {
        if (!turbo_is(FaTypeV)) {
            return dequantize4(ib, iqs, a_offset, binding_idx);
        }
        const uint base = (a_offset + ib)*turbo_words(FaTypeV);
        TURBO_EXPAND(v_turbo.data, base, FaTypeV, iqs, v)
    }
    return FLOAT_TYPEV4(v);
}

uint turbo_block_elems(uint type) {
    return turbo_is(type) ? turbo_group(type) : fa_block_elems(type);
}

#define dequantize4 turbo_dequantize4
#undef  BLOCK_SIZE_K
#undef  BLOCK_SIZE_V
#define BLOCK_SIZE_K turbo_block_elems(FaTypeK)
#define BLOCK_SIZE_V turbo_block_elems(FaTypeV)
