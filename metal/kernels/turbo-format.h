// Reading blocks: scale and levels. The bytes are turbo-layout.h's.
#pragma once

#include "turbo-layout.h"
#include "turbo-metal-impl.h"

#include <metal_stdlib>
using namespace metal;

#define TURBO_UNROLL(x) _Pragma("clang loop unroll(full)") for (x)

constant int FC_turbo_table [[function_constant(FC_TURBO_TABLE)]];
constant int FC_turbo_type_k [[function_constant(FC_TURBO_TYPE_K)]];
constant int FC_turbo_type_v [[function_constant(FC_TURBO_TYPE_V)]];
constant int FC_turbo_mask [[function_constant(FC_TURBO_MASK)]];
constant bool FC_turbo_alibi [[function_constant(FC_TURBO_ALIBI)]];
constant bool FC_turbo_softcap [[function_constant(FC_TURBO_SOFTCAP)]];
constant bool FC_turbo_skip_v [[function_constant(FC_TURBO_SKIP_V)]];
constant bool FC_turbo_sinks [[function_constant(FC_TURBO_SINKS)]];
constant bool FC_turbo_half [[function_constant(FC_TURBO_HALF)]];
constant bool FC_turbo_long [[function_constant(FC_TURBO_LONG)]];
constant bool FC_turbo_same [[function_constant(FC_TURBO_SAME)]];
constant bool FC_turbo_recent [[function_constant(FC_TURBO_RECENT)]];

constant float turbo4_magnitudes[8] = TURBO4_MAGNITUDES;
constant float turbo3_magnitudes[4] = TURBO3_MAGNITUDES;
// the sign is the bit above the magnitude
constant float turbo4_levels[16] = { 5, 16, 27, 39, 52, 67, 85, 111, -5, -16, -27, -39, -52, -67, -85, -111 };
constant float turbo3_levels[8] = { 12, 37, 67, 111, -12, -37, -67, -111 };

// Block types by group, and what follows from them.
template <short group> struct turbo_blocks;
template <> struct turbo_blocks<128> {
    typedef block_turbo4 turbo4;
    typedef block_turbo3 turbo3;
};
template <> struct turbo_blocks<64> {
    typedef block_turbo4_64 turbo4;
    typedef block_turbo3_64 turbo3;
};

// d in the low half, sub-scales in the high one: one load of a block's first four bytes.
static inline uint turbo_header(device const char * block) { return *(device const uint *) block; }

// Factor of the levels in a quarter; exact in fp32.
static inline float turbo_scale(uint header, short quarter) {
    const float d = (float) as_type<half>((ushort) (header & 0xffff));
    return d * TURBO_UNIT * (float) TURBO_MULT(header >> (16 + 4 * quarter) & 15);
}

static inline float4 turbo_scales(uint header) {
    return float4(turbo_scale(header, 0), turbo_scale(header, 1), turbo_scale(header, 2), turbo_scale(header, 3));
}

// Flips the signs of v where bit 31 of flip is set.
static inline float4 turbo_flip(float4 v, uint4 flip) {
    return as_type<float4>(as_type<uint4>(v) ^ (flip & 0x80000000u));
}

// The functions below multiply each level by its scale at once: deferring the product was measured to be slower
// (TheTom/turboquant_plus, docs/decode-speed-hardware-analysis.md), as the multiplication hides the latency of the table.

// What this lane holds of a table in registers. philipturner/metal-benchmarks measured 2 cycles for a quad's shuffle, whatever lanes it
// reads, on the chips where a load from constant memory at an address of the lane's own takes many; and 4 for a shift, so that here
// signs are chosen and not shifted into place.
struct turbo_table {
    uint four; // half2: magnitudes i and i + 4 of turbo4, i = lane in the quad
    float three; // magnitude i of turbo3
};

static inline turbo_table turbo_table_of(ushort lane) {
    turbo_table t = { 0u, 0.0f };
    if (FC_turbo_table == TURBO_METAL_TABLE_SHUFFLE) {
        const short i = lane % 4;
        t.four = as_type<uint>(half2((half) turbo4_magnitudes[i], (half) turbo4_magnitudes[i + 4]));
        t.three = turbo3_magnitudes[i];
    }
    return t;
}

// Values of four codes of turbo4; other bits than the low four of each are ignored.
static inline float4 turbo4_values(uint4 code, float4 scale, turbo_table table) {
    if (FC_turbo_table == TURBO_METAL_TABLE_SHUFFLE) {
        float4 v;
        TURBO_UNROLL(short k = 0; k < 4; ++k) {
            const half2 m = as_type<half2>(quad_shuffle(table.four, (ushort) (code[k] & 3u)));
            const float of_code = (code[k] & 4u) != 0 ? (float) m.y : (float) m.x;
            v[k] = (code[k] & 8u) != 0 ? -of_code : of_code;
        }
        return v * scale;
    }
    if (FC_turbo_table == TURBO_METAL_TABLE_SIGNED) {
        const uint4 i = code & 15u;
        return float4(turbo4_levels[i.x], turbo4_levels[i.y], turbo4_levels[i.z], turbo4_levels[i.w]) * scale;
    }
    const uint4 i = code & 7u;
    const float4 v =
        float4(turbo4_magnitudes[i.x], turbo4_magnitudes[i.y], turbo4_magnitudes[i.z], turbo4_magnitudes[i.w]) * scale;
    return turbo_flip(v, code << 28u);
}

// Values of four codes of turbo3; other bits than the low three of each are ignored.
static inline float4 turbo3_values(uint4 code, float4 scale, turbo_table table) {
    if (FC_turbo_table == TURBO_METAL_TABLE_SHUFFLE) {
        float4 v;
        TURBO_UNROLL(short k = 0; k < 4; ++k) {
            const float of_code = quad_shuffle(table.three, (ushort) (code[k] & 3u));
            v[k] = (code[k] & 4u) != 0 ? -of_code : of_code;
        }
        return v * scale;
    }
    if (FC_turbo_table == TURBO_METAL_TABLE_SIGNED) {
        const uint4 i = code & 7u;
        return float4(turbo3_levels[i.x], turbo3_levels[i.y], turbo3_levels[i.z], turbo3_levels[i.w]) * scale;
    }
    const uint4 i = code & 3u;
    const float4 v =
        float4(turbo3_magnitudes[i.x], turbo3_magnitudes[i.y], turbo3_magnitudes[i.z], turbo3_magnitudes[i.w]) * scale;
    return turbo_flip(v, code << 29u);
}

// The codes in the bits that words of turbo3 leave over, in bits 0-2 and 4-6 of each byte like the others.
static inline uint turbo3_spread(uint word0, uint word1, uint word2) {
    return (word0 >> 3 & 0x11111111u) | (word1 >> 2 & 0x22222222u) | (word2 >> 1 & 0x44444444u);
}
