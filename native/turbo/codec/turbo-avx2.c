// Inner loops for AVX2 + FMA + F16C. Compiled with its own flags: only intrinsics and static functions here,
// because an inline function shared with another file could be kept in this file's version for all of them.
// Floating-point contraction is off (CMakeLists.txt): the quantizer must store the reference's bytes.

#include "turbo-codec.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#include "turbo-search-avx2.inl"

#define LEVEL  "avx2"
#define CHUNK  32
#define FLOATS 8

typedef __m256i levels;
typedef __m256 floats;
typedef __m256 sums;

INLINE float half(uint16_t bits) { return _cvtsh_ss(bits); }
INLINE floats loadu(const float * p) { return _mm256_loadu_ps(p); }
INLINE floats set1(float x) { return _mm256_set1_ps(x); }
INLINE floats mul(floats a, floats b) { return _mm256_mul_ps(a, b); }

INLINE void store_counts(floats v, const floats * threshold, int n, uint8_t * idx) {
    __m256i i = _mm256_setzero_si256();
    for (int k = 0; k < n; ++k) {
        i = _mm256_sub_epi32(i, _mm256_castps_si256(_mm256_cmp_ps(v, threshold[k], _CMP_GT_OQ)));
    }
    const __m128i i4 = _mm_packs_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
    _mm_storel_epi64((__m128i *) idx, _mm_packus_epi16(i4, i4));
}

//
// decoding
//

INLINE __m256i broadcast_table(__m128i table) { return _mm256_broadcastsi128_si256(table); }

INLINE __m256i table4(void) {
    const uint8_t m[8] = TURBO4_MAGNITUDES;
    return broadcast_table(_mm_setr_epi8(
        m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], -m[0], -m[1], -m[2], -m[3], -m[4], -m[5], -m[6], -m[7]));
}

INLINE __m256i table3(void) {
    const uint8_t m[4] = TURBO3_MAGNITUDES;
    return broadcast_table(_mm_setr_epi8(m[0], m[1], m[2], m[3], -m[0], -m[1], -m[2], -m[3], 0, 0, 0, 0, 0, 0, 0, 0));
}

// levels of values 32*i .. 32*i + 31 of a block
INLINE __m256i levels_turbo4(const block_turbo4 * b, int i) {
    const __m256i q = _mm256_loadu_si256((const __m256i *) (b->qs + 32 * (i & 1)));
    const __m256i n = _mm256_and_si256(i < 2 ? q : _mm256_srli_epi16(q, 4), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table4(), n);
}

INLINE __m256i levels_turbo4_64(const block_turbo4_64 * b, int i) {
    const __m256i q = _mm256_loadu_si256((const __m256i *) b->qs);
    const __m256i n = _mm256_and_si256(i == 0 ? q : _mm256_srli_epi16(q, 4), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table4(), n);
}

// Code k of each byte triple, in bits 0-2: of word k, or for k = 3 from bit 3 of all words. Other bits of the words are ignored.
INLINE __m256i code3(__m256i word0, __m256i word1, __m256i word2, int k) {
    if (k < 3) { return _mm256_and_si256(k == 0 ? word0 : k == 1 ? word1 : word2, _mm256_set1_epi8(7)); }
    const __m256i bit0 = _mm256_and_si256(_mm256_srli_epi16(word0, 3), _mm256_set1_epi8(1));
    const __m256i bit1 = _mm256_and_si256(_mm256_srli_epi16(word1, 2), _mm256_set1_epi8(2));
    const __m256i bit2 = _mm256_and_si256(_mm256_srli_epi16(word2, 1), _mm256_set1_epi8(4));
    return _mm256_or_si256(_mm256_or_si256(bit0, bit1), bit2);
}

INLINE __m256i levels_turbo3(const block_turbo3 * b, int i) {
    const __m256i first = _mm256_loadu_si256((const __m256i *) b->qs);
    const __m256i last = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) (b->qs + 32)));
    // each word twice, the second time with its high nibbles low
    const __m256i n = _mm256_setr_epi64x(0, 4, 0, 4);
    const __m256i word0 = _mm256_srlv_epi64(_mm256_unpacklo_epi64(first, first), n);
    const __m256i word1 = _mm256_srlv_epi64(_mm256_unpackhi_epi64(first, first), n);
    const __m256i word2 = _mm256_srlv_epi64(_mm256_permute4x64_epi64(last, 0x50), n);
    return _mm256_shuffle_epi8(table3(), code3(word0, word1, word2, i));
}

INLINE __m256i levels_turbo3_64(const block_turbo3_64 * b, int i) {
    const __m256i first = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) b->qs));
    const __m256i last = _mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *) (b->qs + 16)));
    // each word four times, every second time with its high nibbles low
    const __m256i n = _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4);
    const __m256i word0 =
        _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(first, _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2)), n);
    const __m256i word1 =
        _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(first, _mm256_setr_epi32(1, 1, 1, 1, 3, 3, 3, 3)), n);
    const __m256i word2 =
        _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(last, _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1)), n);
    const __m256i code =
        _mm256_blend_epi32(code3(word0, word1, word2, 2 * i), code3(word0, word1, word2, 2 * i + 1), 0xcc);
    return _mm256_shuffle_epi8(table3(), code);
}

INLINE void store_levels(levels level, const float * step, float * y) {
    const __m128i part[2] = { _mm256_castsi256_si128(level), _mm256_extracti128_si256(level, 1) };
    for (int h = 0; h < 2; ++h) {
        const floats s = set1(step[h]);
        _mm256_storeu_ps(y + 16 * h, mul(s, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(part[h]))));
        _mm256_storeu_ps(y + 16 * h + 8, mul(s, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(part[h], 8)))));
    }
}

INLINE sums clear(void) { return _mm256_setzero_ps(); }

// a level is at most 111, so a pair fits 16 bits
INLINE sums add_products(sums sum, int i, levels level, const turbo_block_q8 * q, const float * step) {
    (void) i;
    const __m256i qs = _mm256_loadu_si256((const __m256i *) q->qs);
    const __m256i pair = _mm256_maddubs_epi16(_mm256_abs_epi8(level), _mm256_sign_epi8(qs, level));
    const __m256 dot = _mm256_cvtepi32_ps(_mm256_madd_epi16(pair, _mm256_set1_epi16(1)));
    return _mm256_fmadd_ps(_mm256_set_m128(_mm_set1_ps(step[1]), _mm_set1_ps(step[0])), dot, sum);
}

INLINE float fold(sums s8) {
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

#include "turbo-simd.inl"

const struct turbo_kernels turbo_kernels_avx2 = KERNELS;
