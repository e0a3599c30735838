// Prefill kernels for AVX-512 with BW, VL and DQ. Compiled with its own flags: see prefill-kernels.inl for what may stand here.

#include "prefill.h"
#include "turbo-layout.h"

#include <immintrin.h>
#include <string.h>

namespace {

typedef __m512 vec;
constexpr int WIDTH = 16;
constexpr int MR    = 12; // 12 x 2 sums, 2 columns and 1 broadcast in 32 registers
constexpr int NV    = 2;

inline vec  load(const float * p)        { return _mm512_loadu_ps(p); }
inline void store(float * p, vec x)      { _mm512_storeu_ps(p, x); }
inline vec  set1(float x)                { return _mm512_set1_ps(x); }
inline vec  add(vec a, vec b)            { return _mm512_add_ps(a, b); }
inline vec  sub(vec a, vec b)            { return _mm512_sub_ps(a, b); }
inline vec  mul(vec a, vec b)            { return _mm512_mul_ps(a, b); }
inline vec  div(vec a, vec b)            { return _mm512_div_ps(a, b); }
inline vec  fma(vec a, vec b, vec c)     { return _mm512_fmadd_ps(a, b, c); }
inline vec  max2(vec a, vec b)           { return _mm512_max_ps(a, b); }
inline vec  min2(vec a, vec b)           { return _mm512_min_ps(a, b); }
inline float from_f16(uint16_t h)        { return _cvtsh_ss(h); }
inline vec  load_f16(const uint16_t * p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) p)); }

inline vec pow2(vec n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23));
}

inline vec keep_unless_hidden(vec x, vec s) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(s, set1(-__builtin_inff()), _CMP_NEQ_UQ), x);
}

inline vec hide(vec x, vec m) {
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(m, set1(-__builtin_inff()), _CMP_EQ_OQ), m);
}

inline float reduce_max(vec x) {
    const __m256 m8 = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 m4 = _mm_max_ps(_mm256_castps256_ps128(m8), _mm256_extractf128_ps(m8, 1));
    const __m128 m2 = _mm_max_ps(m4, _mm_movehl_ps(m4, m4));
    return _mm_cvtss_f32(_mm_max_ss(m2, _mm_movehdup_ps(m2)));
}

inline float reduce_add(vec x) {
    const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

// four values of rows i, i + 4, i + 8 and i + 12: the rest stays within 128-bit quarters
inline vec load_rows(const float * rows, int ld, int i) {
    const __m256 lo = _mm256_set_m128(_mm_loadu_ps(rows + (i + 4)*ld),  _mm_loadu_ps(rows + i*ld));
    const __m256 hi = _mm256_set_m128(_mm_loadu_ps(rows + (i + 12)*ld), _mm_loadu_ps(rows + (i + 8)*ld));
    return _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_castps_si256(lo)), _mm256_castps_si256(hi), 1));
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
        store(panel + (h + 0)*ld_panel, _mm512_shuffle_ps(t0, t2, 0x44));
        store(panel + (h + 1)*ld_panel, _mm512_shuffle_ps(t0, t2, 0xee));
        store(panel + (h + 2)*ld_panel, _mm512_shuffle_ps(t1, t3, 0x44));
        store(panel + (h + 3)*ld_panel, _mm512_shuffle_ps(t1, t3, 0xee));
    }
}

inline void store_int8(__m128i q, vec d, float * y) {
    store(y, mul(d, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q))));
}

void decode_f16(const void * x, float * y, int64_t n) {
    const uint16_t * h = (const uint16_t *) x;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        store(y + i, load_f16(h + i));
    }
    for (; i < n; ++i) {
        y[i] = from_f16(h[i]);
    }
}

void decode_q8_0(const void * x, float * y, int64_t n) {
    for (const turbo_block_q8 * b = (const turbo_block_q8 *) x; n > 0; n -= 32, ++b, y += 32) {
        const vec d = set1(from_f16(b->d));
        store_int8(_mm_loadu_si128((const __m128i *) b->qs),        d, y);
        store_int8(_mm_loadu_si128((const __m128i *) (b->qs + 16)), d, y + 16);
    }
}

void decode_q4_0(const void * x, float * y, int64_t n) {
    for (const turbo_block_q4 * b = (const turbo_block_q4 *) x; n > 0; n -= 32, ++b, y += 32) {
        const vec     d  = set1(from_f16(b->d));
        const __m128i q  = _mm_loadu_si128((const __m128i *) b->qs);
        const __m128i lo = _mm_and_si128(q, _mm_set1_epi8(15));
        const __m128i hi = _mm_and_si128(_mm_srli_epi16(q, 4), _mm_set1_epi8(15));
        store_int8(_mm_sub_epi8(lo, _mm_set1_epi8(8)), d, y);
        store_int8(_mm_sub_epi8(hi, _mm_set1_epi8(8)), d, y + 16);
    }
}

} // namespace

#include "prefill-kernels.inl"

const prefill_kernels prefill_kernels_avx512 = {
    "avx512", MR, NR, gemm, transpose, soft_cap, add_mask, view, max, exp2_sum, scale, finite,
    decode_f16, decode_q8_0, decode_q4_0,
};
