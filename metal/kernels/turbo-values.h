// Weights * V of 32 positions for all queries of a SIMD-group: every row of V is expanded once, four values per lane, and
// summed in fp32 (the inverse rotation after it would amplify the errors of half).
#pragma once

#include "turbo-lane.h"

template <short DV> struct turbo_v_row {
    enum {
        GROUP = DV == 64 ? 64 : 128,
        GROUPS = DV / GROUP, // float4 per lane and query
        LANES = GROUP / 4,
        ROWS = TURBO_METAL_LANES / LANES // at a time
    };
};

// Scales of the row of this lane's position. Of one that no query sees the scales are 0, so that whatever its bytes are
// they add nothing.
template <typename format, short DV>
static inline void turbo_stage(device const char * row, bool visible, threadgroup float4 * scales, ushort lane) {
    constexpr short NG = turbo_v_row<DV>::GROUPS;
    TURBO_UNROLL(short g = 0; g < NG; ++g) {
        float4 s = format::stage(row + g * format::BYTES);
        if (!visible) { s = float4(0.0f); }
        scales[lane * NG + g] = s;
    }
}

// v: the row of the first position; sum: [query][group]; weights: [query][position]. Four rows at a time, whose bytes are on their
// way together. Rows after `last` repeat it; their weights are 0. Rows of a format without scales count as zeros where nobody
// sees them: their bytes may be no numbers.
template <typename format, short DV, short NQ>
static inline void turbo_accumulate(device const char * v, uint nb_row, short last, threadgroup const float4 * scales,
    threadgroup const float * heavy, threadgroup const float * weights,
    thread float4 (&sum)[NQ][turbo_v_row<DV>::GROUPS], turbo_table table, ushort lane) {
    constexpr short NG = turbo_v_row<DV>::GROUPS;
    const short tx = lane % turbo_v_row<DV>::LANES;
    const short ty = lane / turbo_v_row<DV>::LANES;

    for (short r0 = 4 * ty; r0 < TURBO_METAL_POSITIONS; r0 += 4 * turbo_v_row<DV>::ROWS) {
        const float4 most = ((threadgroup const float4 *) heavy)[r0 / 4];
        bool skip = FC_turbo_skip_v && max(max(most.x, most.y), max(most.z, most.w)) < TURBO_METAL_NEGLIGIBLE;
        // the half with other rows would wait, and lanes of a table in registers must be there
        if (turbo_v_row<DV>::ROWS > 1) { skip = simd_all(skip); }
        if (skip) { continue; }
        TURBO_UNROLL(short g = 0; g < NG; ++g) {
            typename format::word bytes[4];
            float4 x[4];
            TURBO_UNROLL(short i = 0; i < 4; ++i) {
                bytes[i] = format::fetch(v + (uint) min((short) (r0 + i), last) * nb_row + g * format::BYTES, tx);
            }
            TURBO_UNROLL(short i = 0; i < 4; ++i) {
                const short at = (r0 + i) * NG + g;
                x[i] = format::values(bytes[i], tx, format::scales(scales[at], tx), table);
                if (format::UNSCALED) { // known to the compiler
                    x[i] = select(float4(0.0f), x[i], bool4(most[i] > 0.0f));
                }
            }
            TURBO_UNROLL(short h = 0; h < NQ; ++h) {
                const float4 w = ((threadgroup const float4 *) (weights + h * TURBO_METAL_POSITIONS))[r0 / 4];
                sum[h][g] += x[0] * w.x;
                sum[h][g] += x[1] * w.y;
                sum[h][g] += x[2] * w.z;
                sum[h][g] += x[3] * w.w;
            }
        }
    }
}

// out: the sums of one query in the order of V's values. Lanes with another row's part have been added before.
template <typename format, short DV>
static inline void turbo_store(device float * out, thread const float4 (&sum)[turbo_v_row<DV>::GROUPS], ushort lane) {
    TURBO_UNROLL(short g = 0; g < turbo_v_row<DV>::GROUPS; ++g) {
        TURBO_UNROLL(short i = 0; i < 4; ++i) { out[g * turbo_v_row<DV>::GROUP + format::at(lane, i)] = sum[g][i]; }
    }
}
