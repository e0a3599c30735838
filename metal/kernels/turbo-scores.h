// Q*K of 32 positions for all queries of a SIMD-group: every row of K is expanded once, four values at a time in registers.
#pragma once

#include "turbo-unit.h"

// Lanes that share a row: the largest power of two that divides its units, at most 8.
template <short dim> struct turbo_row {
    enum { UNITS = dim / 32, LANES = UNITS % 8 == 0 ? 8 : UNITS % 4 == 0 ? 4 : UNITS % 2 == 0 ? 2 : 1 };
};

// k: the row of the first position; scores: [query][position], not scaled. Rows after `last` repeat it.
template <typename unit, short DK, short NQ>
static inline void turbo_scores(device const char * k, uint nb_row, short last, threadgroup const float4 * q,
    threadgroup float * scores, turbo_table table, ushort lane) {
    constexpr short NL = turbo_row<DK>::LANES;
    constexpr short NE = TURBO_METAL_LANES / NL; // rows at a time
    constexpr short NR =
        NE == 32 || NQ >= 8 ? 1 : 2; // rows per lane for one read of Q; more would not fit into registers

    const short tx = lane % NL;
    const short ty = lane / NL;

    for (short r0 = 0; r0 < TURBO_METAL_POSITIONS; r0 += NE * NR) {
        float sum[NR][NQ];
        TURBO_UNROLL(short r = 0; r < NR; ++r) {
            TURBO_UNROLL(short h = 0; h < NQ; ++h) { sum[r][h] = 0.0f; }
        }
        TURBO_UNROLL(short u = 0; u < turbo_row<DK>::UNITS / NL; ++u) {
            unit x[NR];
            TURBO_UNROLL(short r = 0; r < NR; ++r) {
                x[r].load(k + (uint) min((short) (r0 + r * NE + ty), last) * nb_row, u * NL + tx);
            }
            TURBO_UNROLL(short i = 0; i < 8; ++i) {
                float4 four[NR];
                TURBO_UNROLL(short r = 0; r < NR; ++r) { four[r] = x[r].piece(i, table); }
                const short at = x[0].at(i);
                TURBO_UNROLL(short h = 0; h < NQ; ++h) {
                    const float4 qh = q[h * (DK / 4) + at];
                    TURBO_UNROLL(short r = 0; r < NR; ++r) { sum[r][h] += dot(four[r], qh); }
                }
            }
        }
        TURBO_UNROLL(short r = 0; r < NR; ++r) {
            TURBO_UNROLL(short h = 0; h < NQ; ++h) {
                TURBO_UNROLL(short d = NL / 2; d > 0; d /= 2) { sum[r][h] += simd_shuffle_xor(sum[r][h], (ushort) d); }
            }
        }
        if (tx == 0) {
            TURBO_UNROLL(short r = 0; r < NR; ++r) {
                TURBO_UNROLL(short h = 0; h < NQ; ++h) {
                    scores[h * TURBO_METAL_POSITIONS + r0 + r * NE + ty] = sum[r][h];
                }
            }
        }
    }
}
