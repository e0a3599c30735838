// Weights * V of 32 positions for all queries of a SIMD-group: every row of V is expanded once, four values per lane, and
// summed in fp32 (the inverse rotation after it would amplify the errors of half).
#pragma once

#include "turbo-lane.h"

template <short DV> struct turbo_v_row {
    enum {
        GROUP  = DV == 64 ? 64 : 128,
        GROUPS = DV/GROUP,               // float4 per lane and query
        LANES  = GROUP/4,
        ROWS   = TURBO_METAL_LANES/LANES // at a time
    };
};

// Scales and signs of the row of this lane's position.
template <typename format, short DV>
static inline void turbo_stage(device const char * row, threadgroup float4 * scales, threadgroup uint4 * signs, ushort lane) {
    constexpr short NG = turbo_v_row<DV>::GROUPS;
    TURBO_UNROLL (short g = 0; g < NG; ++g) {
        format::stage(row + g*format::BYTES, scales[lane*NG + g], signs[lane*NG + g]);
    }
}

// sum: [query][group]. Positions after `last` repeat its row; their weights are 0.
template <typename format, short DV, short NQ>
static inline void turbo_accumulate(device const char * v, ulong nb_row, int first, int last, threadgroup const float4 * scales,
        threadgroup const uint4 * signs, threadgroup const float * heavy, threadgroup const float * weights,
        thread float4 (& sum)[NQ][turbo_v_row<DV>::GROUPS], ushort lane) {
    constexpr short NG = turbo_v_row<DV>::GROUPS;
    const short tx = lane % turbo_v_row<DV>::LANES;
    const short ty = lane / turbo_v_row<DV>::LANES;

    for (short r = ty; r < TURBO_METAL_POSITIONS; r += turbo_v_row<DV>::ROWS) {
        if (FC_turbo_skip_v && heavy[r] < TURBO_METAL_NEGLIGIBLE) {
            continue;
        }
        device const char * row = v + (ulong) min(first + r, last)*nb_row;
        TURBO_UNROLL (short g = 0; g < NG; ++g) {
            const float4 x = format::read(row + g*format::BYTES, tx, format::scales(scales[r*NG + g], tx),
                format::signs(signs[r*NG + g]));
            TURBO_UNROLL (short h = 0; h < NQ; ++h) {
                sum[h][g] += x*weights[r*NQ + h];
            }
        }
    }
}

// out: the sums of one query in the order of V's values. Lanes with another row's part have been added before.
template <typename format, short DV>
static inline void turbo_store(device float * out, thread const float4 (& sum)[turbo_v_row<DV>::GROUPS], ushort lane) {
    TURBO_UNROLL (short g = 0; g < turbo_v_row<DV>::GROUPS; ++g) {
        TURBO_UNROLL (short i = 0; i < 4; ++i) {
            out[g*turbo_v_row<DV>::GROUP + format::at(lane, i)] = sum[g][i];
        }
    }
}
