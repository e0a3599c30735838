// Prefill kernels for AVX-512 with BW, VL and DQ. Compiled with its own flags: see prefill-kernels.inl for what may stand here.

#include "prefill.h"

#include <immintrin.h>
#include <math.h>

#define INLINE inline __attribute__((always_inline))

namespace {

#include "vec-avx512.inl"

constexpr int MR = 12; // 12 x 2 sums, 2 columns and 1 broadcast in 32 registers
constexpr int NV = 2;

// four values of rows i, i + 4, i + 8 and i + 12: the rest stays within 128-bit quarters
inline vec load_rows(const float * rows, int ld, int i) {
    const __m256 lo = _mm256_set_m128(_mm_loadu_ps(rows + (i + 4) * ld), _mm_loadu_ps(rows + i * ld));
    const __m256 hi = _mm256_set_m128(_mm_loadu_ps(rows + (i + 12) * ld), _mm_loadu_ps(rows + (i + 8) * ld));
    return _mm512_castsi512_ps(
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_castps_si256(lo)), _mm256_castps_si256(hi), 1));
}

inline void transpose_tile(const float * rows, int ld, float * panel, int ld_panel) {
    for (int h = 0; h < 16; h += 4) {
        const vec r0 = load_rows(rows + h, ld, 0);
        const vec r1 = load_rows(rows + h, ld, 1);
        const vec r2 = load_rows(rows + h, ld, 2);
        const vec r3 = load_rows(rows + h, ld, 3);
        const vec t0 = _mm512_unpacklo_ps(r0, r1);
        const vec t1 = _mm512_unpackhi_ps(r0, r1);
        const vec t2 = _mm512_unpacklo_ps(r2, r3);
        const vec t3 = _mm512_unpackhi_ps(r2, r3);
        store(panel + (h + 0) * ld_panel, _mm512_shuffle_ps(t0, t2, 0x44));
        store(panel + (h + 1) * ld_panel, _mm512_shuffle_ps(t0, t2, 0xee));
        store(panel + (h + 2) * ld_panel, _mm512_shuffle_ps(t1, t3, 0x44));
        store(panel + (h + 3) * ld_panel, _mm512_shuffle_ps(t1, t3, 0xee));
    }
}

#include "prefill-kernels.inl"
#include "prefill-decoders.inl"

} // namespace

const prefill_kernels prefill_kernels_avx512 = {
    "avx512",
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
