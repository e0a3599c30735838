// Prefill kernels for AVX2 + FMA + F16C. Compiled with its own flags: see prefill-kernels.inl for what may stand here.

#include "prefill.h"
#include "turbo-layout.h"

#include <immintrin.h>
#include <string.h>

namespace {

typedef __m256 vec;
constexpr int WIDTH = 8;
constexpr int MR    = 6; // 6 x 2 sums, 2 columns and 1 broadcast in 16 registers
constexpr int NV    = 2;

inline vec  load(const float * p)        { return _mm256_loadu_ps(p); }
inline void store(float * p, vec x)      { _mm256_storeu_ps(p, x); }
inline vec  set1(float x)                { return _mm256_set1_ps(x); }
inline vec  add(vec a, vec b)            { return _mm256_add_ps(a, b); }
inline vec  sub(vec a, vec b)            { return _mm256_sub_ps(a, b); }
inline vec  mul(vec a, vec b)            { return _mm256_mul_ps(a, b); }
inline vec  div(vec a, vec b)            { return _mm256_div_ps(a, b); }
inline vec  fma(vec a, vec b, vec c)     { return _mm256_fmadd_ps(a, b, c); }
inline vec  max2(vec a, vec b)           { return _mm256_max_ps(a, b); }
inline vec  min2(vec a, vec b)           { return _mm256_min_ps(a, b); }
inline float from_f16(uint16_t h)        { return _cvtsh_ss(h); }
inline vec  load_f16(const uint16_t * p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) p)); }

inline vec pow2(vec n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}

inline vec keep_unless_hidden(vec x, vec s) {
    return _mm256_and_ps(x, _mm256_cmp_ps(s, set1(-__builtin_inff()), _CMP_NEQ_UQ));
}

inline vec hide(vec x, vec m) {
    return _mm256_blendv_ps(x, m, _mm256_cmp_ps(m, set1(-__builtin_inff()), _CMP_EQ_OQ));
}

inline float reduce_max(vec x) {
    const __m128 m4 = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 m2 = _mm_max_ps(m4, _mm_movehl_ps(m4, m4));
    return _mm_cvtss_f32(_mm_max_ss(m2, _mm_movehdup_ps(m2)));
}

inline float reduce_add(vec x) {
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

inline void transpose_tile(const float * rows, int ld, float * panel, int ld_panel) {
    __m256 r[8];
    __m256 t[8];
    for (int i = 0; i < 4; ++i) { // row i beside row i + 4: the rest stays within 128-bit halves
        for (int h = 0; h < 2; ++h) {
            r[i + 4*h] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows + i*ld + 4*h)), _mm_loadu_ps(rows + (i + 4)*ld + 4*h), 1);
        }
    }
    for (int h = 0; h < 8; h += 4) {
        t[h]     = _mm256_unpacklo_ps(r[h],     r[h + 1]);
        t[h + 1] = _mm256_unpackhi_ps(r[h],     r[h + 1]);
        t[h + 2] = _mm256_unpacklo_ps(r[h + 2], r[h + 3]);
        t[h + 3] = _mm256_unpackhi_ps(r[h + 2], r[h + 3]);
        store(panel + (h + 0)*ld_panel, _mm256_shuffle_ps(t[h],     t[h + 2], 0x44));
        store(panel + (h + 1)*ld_panel, _mm256_shuffle_ps(t[h],     t[h + 2], 0xee));
        store(panel + (h + 2)*ld_panel, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0x44));
        store(panel + (h + 3)*ld_panel, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0xee));
    }
}

inline void store_int8(__m128i q, vec d, float * y) {
    store(y,     mul(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q))));
    store(y + 8, mul(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(q, 8)))));
}

void decode_f16(const void * x, float * y, int64_t n) {
    const uint16_t * h = (const uint16_t *) x;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        store(y + i, load_f16(h + i));
    }
    for (; i < n; ++i) {
        y[i] = from_f16(h[i]);
    }
}

void decode_q8_0(const void * x, float * y, int64_t n) {
    for (const turbo_block_q8 * b = (const turbo_block_q8 *) x; n > 0; n -= 32, ++b, y += 32) {
        const vec d = set1(from_f16(b->d));
        store_int8(_mm_loadu_si128((const __m128i *) b->qs),       d, y);
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

const prefill_kernels prefill_kernels_avx2 = {
    "avx2", MR, NR, gemm, transpose, soft_cap, add_mask, view, max, exp2_sum, scale, finite,
    decode_f16, decode_q8_0, decode_q4_0,
};
