// Prefill kernels for AVX2 + FMA + F16C. Compiled with its own flags: see prefill-kernels.inl for what may stand here.

#include "prefill.h"

#include <immintrin.h>
#include <math.h>

#define INLINE inline __attribute__((always_inline))

namespace {

#include "vec-avx2.inl"

constexpr int MR = 6; // 6 x 2 sums, 2 columns and 1 broadcast in 16 registers
constexpr int NV = 2;

inline void transpose_tile(const float * rows, int ld, float * panel, int ld_panel) {
    __m256 r[8];
    __m256 t[8];
    for (int i = 0; i < 4; ++i) { // row i beside row i + 4: the rest stays within 128-bit halves
        for (int h = 0; h < 2; ++h) {
            r[i + 4 * h] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows + i * ld + 4 * h)),
                _mm_loadu_ps(rows + (i + 4) * ld + 4 * h), 1);
        }
    }
    for (int h = 0; h < 8; h += 4) {
        t[h] = _mm256_unpacklo_ps(r[h], r[h + 1]);
        t[h + 1] = _mm256_unpackhi_ps(r[h], r[h + 1]);
        t[h + 2] = _mm256_unpacklo_ps(r[h + 2], r[h + 3]);
        t[h + 3] = _mm256_unpackhi_ps(r[h + 2], r[h + 3]);
        store(panel + (h + 0) * ld_panel, _mm256_shuffle_ps(t[h], t[h + 2], 0x44));
        store(panel + (h + 1) * ld_panel, _mm256_shuffle_ps(t[h], t[h + 2], 0xee));
        store(panel + (h + 2) * ld_panel, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0x44));
        store(panel + (h + 3) * ld_panel, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0xee));
    }
}

#include "prefill-kernels.inl"
#include "prefill-decoders.inl"

} // namespace

const prefill_kernels prefill_kernels_avx2 = {
    "avx2",
    MR,
    NR,
    gemm,
    gemm_from,
    transpose,
    soft_cap,
    add_mask,
    view,
    max,
    exp2_sum,
    scale,
    finite,
    decode_f16,
    decode_q8_0,
    decode_q4_0,
};
