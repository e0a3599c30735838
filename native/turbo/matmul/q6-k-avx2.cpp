// Products of q6_K weights for AVX2. Compiled with its own flags: the rules of decode-avx2.cpp apply.

#include "q6-k.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

#include "vec-avx2.inl"

struct lanes {
    typedef __m256i I;
    static constexpr int VECTORS = 8;

    // values 0 .. 127 of a block have their low four bits in the first 64 bytes, the next 128 in the others
    static INLINE void unpack(const block_q6_K & x, I * q) {
        const I low = _mm256_set1_epi8(15), high = _mm256_set1_epi8(48);
        UNROLL for (int half = 0; half < 2; ++half) {
            const I a = _mm256_loadu_si256((const I *) (x.ql + 64 * half));
            const I b = _mm256_loadu_si256((const I *) (x.ql + 64 * half + 32));
            const I h = _mm256_loadu_si256((const I *) (x.qh + 32 * half));
            I * out = q + 4 * half;
            out[0] = _mm256_or_si256(_mm256_and_si256(a, low), _mm256_and_si256(_mm256_slli_epi16(h, 4), high));
            out[1] = _mm256_or_si256(_mm256_and_si256(b, low), _mm256_and_si256(_mm256_slli_epi16(h, 2), high));
            out[2] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(a, 4), low), _mm256_and_si256(h, high));
            out[3] = _mm256_or_si256(
                _mm256_and_si256(_mm256_srli_epi16(b, 4), low), _mm256_and_si256(_mm256_srli_epi16(h, 2), high));
        }
    }
    // two scales of 16 bits for each vector, each in the lanes of its 16 values
    static INLINE void spread(__m256i scales, I * out) {
        const I halves = _mm256_set1_epi16(0x0100);
        const I pick = _mm256_add_epi8(halves, _mm256_set_m128i(_mm_set1_epi8(2), _mm_setzero_si128()));
        UNROLL for (int i = 0; i < VECTORS; ++i) {
            out[i] = _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(scales, _mm256_set1_epi32(i)), pick);
        }
    }
    static INLINE I widen(__m256i x) { return x; }
    static INLINE I products(I q, const int8_t * a) {
        return _mm256_maddubs_epi16(q, _mm256_loadu_si256((const I *) a));
    }
    static INLINE I add_dot(I sum, I a, I b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
    static INLINE vec to_float(I x) { return _mm256_cvtepi32_ps(x); }
};

#include "q6-k-x86.inl"

// The largest value by its size, the first of them; NaN is smaller than any.
INLINE float largest_of(const float * x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    vec most = _mm256_setzero_ps();
    for (int i = 0; i < QK_K; i += WIDTH) { most = _mm256_max_ps(_mm256_andnot_ps(sign, load(x + i)), most); }
    const vec all = set1(reduce_max(most));
    for (int i = 0; i < QK_K; i += WIDTH) {
        const int at = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_andnot_ps(sign, load(x + i)), all, _CMP_EQ_OQ));
        if (at != 0) { return x[i + __builtin_ctz(at)]; }
    }
    return 0.0f;
}

// 8 values as whole numbers; NaN is 0
INLINE __m256i rounded(const float * x, vec scale) {
    const vec y = _mm256_mul_ps(load(x), scale);
    return _mm256_and_si256(_mm256_cvtps_epi32(y), _mm256_castps_si256(_mm256_cmp_ps(y, y, _CMP_ORD_Q)));
}

// 32 values as bytes
INLINE __m256i bytes_of(const float * x, vec scale) {
    const __m256i first = _mm256_packs_epi32(rounded(x, scale), rounded(x + 8, scale));
    const __m256i second = _mm256_packs_epi32(rounded(x + 16, scale), rounded(x + 24, scale));
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(first, second), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE void quantize_block(const float * x, block_q8_K & out) {
    const float largest = largest_of(x);
    if (largest == 0.0f) {
        memset(&out, 0, sizeof(out));
        return;
    }
    const float scale = -127.0f / largest;
    for (int half = 0; half < QK_K; half += QK_K / 2) {
        __m256i four[4]; // sums of four values, those of 16 in one half of a register
        UNROLL for (int i = 0; i < 4; ++i) {
            const __m256i q = bytes_of(x + half + 32 * i, set1(scale));
            _mm256_storeu_si256((__m256i *) (out.qs + half + 32 * i), q);
            four[i] = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), q), _mm256_set1_epi16(1));
        }
        const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(four[0], four[1]), _mm256_hadd_epi32(four[2], four[3]));
        const __m128i even = _mm256_castsi256_si128(all), odd = _mm256_extracti128_si256(all, 1);
        _mm_storeu_si128((__m128i *) (out.bsums + half / 16),
            _mm_packs_epi32(_mm_unpacklo_epi32(even, odd), _mm_unpackhi_epi32(even, odd)));
    }
    out.d = 1 / scale;
}

} // namespace

void turbo_quantize_q8_k(const float * x, block_q8_K * out, int64_t n) {
    for (; n > 0; n -= QK_K, x += QK_K) { quantize_block(x, *out++); }
}

void turbo_q6_k_avx2(const turbo_q6_k_tile & t) { tile(t); }
