// Adds up what the SIMD-groups of a threadgroup have summed up, each over its split, so that one part is written for all.
#pragma once

#include "turbo-values.h"

// What a lane knows about its query (h = lane).
struct turbo_query {
    float m, s; // largest score so far, sum of weights relative to it
    float slope; // ALiBi
    uint mask; // offset of its row of mask, bytes
};

// Half of the SIMD-groups hand over to the other half until the first has all. memory: of the threadgroup, from its start; nobody
// needs what is in it any more. Sums of lanes that share values of V are equal.
template <short DV, short NQ>
static inline void turbo_join(thread turbo_query & me, thread float4 (&sum)[NQ][turbo_v_row<DV>::GROUPS],
    threadgroup char * memory, int simdgroups, ushort sgitg, ushort lane) {
    constexpr short NG = turbo_v_row<DV>::GROUPS;
    constexpr short LANES = turbo_v_row<DV>::LANES;
    constexpr short SIZE = NQ * NG * LANES; // float4 of one SIMD-group
    TURBO_STATIC_ASSERT(
        2 * NQ * (NG * LANES * 16 + 8) <= TURBO_METAL_SHARED_BYTES(DV, NQ) + 4 * TURBO_METAL_GROUP_BYTES(DV, NQ),
        "two of four SIMD-groups hand over within the memory that four have");

    for (ushort rest = simdgroups / 2; rest > 0; rest /= 2) {
        threadgroup float4 * base = (threadgroup float4 *) memory;
        threadgroup float4 * sums = base + sgitg % rest * SIZE;
        threadgroup float2 * states = (threadgroup float2 *) (base + rest * SIZE) + sgitg % rest * NQ;

        threadgroup_barrier(mem_flags::mem_threadgroup); // what the memory was used for before
        if (sgitg >= rest && sgitg < 2 * rest) {
            TURBO_UNROLL(short h = 0; h < NQ; ++h) {
                TURBO_UNROLL(short g = 0; g < NG; ++g) {
                    if (lane < LANES) { sums[(h * NG + g) * LANES + lane] = sum[h][g]; }
                }
            }
            if (lane < NQ) { states[lane] = float2(me.m, me.s); }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup); // sums of the other half
        if (sgitg < rest) {
            const float2 other = states[min((short) lane, (short) (NQ - 1))];
            const float m = max(me.m, other.x);
            const float mine = exp(me.m - m);
            const float theirs = exp(other.x - m);
            me.m = m;
            me.s = me.s * mine + other.y * theirs;
            TURBO_UNROLL(short h = 0; h < NQ; ++h) {
                const float a = simd_shuffle(mine, (ushort) h);
                const float b = simd_shuffle(theirs, (ushort) h);
                TURBO_UNROLL(short g = 0; g < NG; ++g) {
                    sum[h][g] = sum[h][g] * a + sums[(h * NG + g) * LANES + lane % LANES] * b;
                }
            }
        }
    }
}
