// Inner loops for AVX-512 with BW, VL, DQ and VNNI. The rules of turbo-avx2.c apply.

#include "turbo-codec.h"
#include "turbo-trellis.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#include "turbo-search-avx2.inl"

INLINE __m512i error_squares(__m512i x, const int16_t * level) {
    const __m512i e = _mm512_abs_epi16(_mm512_sub_epi16(x, _mm512_loadu_si512(level)));
    const __m512i most = _mm512_min_epi16(e, _mm512_set1_epi16(252));
    return _mm512_mullo_epi16(most, most);
}

// two codes before in each register
INLINE __m256i least_sums(__m256i paths, const int16_t (*level)[TURBO_STATES], short x,
    const int16_t (*level2)[TURBO_STATES], short x2, int two) {
    __m512i best = _mm512_set1_epi16(-1);
    _Pragma("GCC unroll 8") for (int before = 0; before < TURBO_STATES; before += 2) {
        const __m512i both =
            _mm512_inserti64x4(_mm512_set1_epi16((short) before), _mm256_set1_epi16((short) (before + 1)), 1);
        const __m512i path = _mm512_permutexvar_epi16(both, _mm512_castsi256_si512(paths));
        __m512i sum = _mm512_adds_epu16(path, error_squares(_mm512_set1_epi16(x), level[before]));
        if (two) { sum = _mm512_adds_epu16(sum, error_squares(_mm512_set1_epi16(x2), level2[before])); }
        best = _mm512_min_epu16(best, sum);
    }
    return _mm256_min_epu16(_mm512_castsi512_si256(best), _mm512_extracti64x4_epi64(best, 1));
}

#include "turbo-path-x86.inl"

#define LEVEL  "avx512"
#define CHUNK  64
#define FLOATS 16

typedef __m512i levels;
typedef __m512 floats;
typedef __m512 sums;

INLINE float half(uint16_t bits) { return _cvtsh_ss(bits); }
INLINE floats loadu(const float * p) { return _mm512_loadu_ps(p); }
INLINE floats set1(float x) { return _mm512_set1_ps(x); }
INLINE floats mul(floats a, floats b) { return _mm512_mul_ps(a, b); }

INLINE void store_counts(floats v, const floats * threshold, int n, uint8_t * idx) {
    const __m512i one = _mm512_set1_epi32(1);
    __m512i i = _mm512_setzero_si512();
    for (int k = 0; k < n; ++k) {
        i = _mm512_mask_add_epi32(i, _mm512_cmp_ps_mask(v, threshold[k], _CMP_GT_OQ), i, one);
    }
    _mm_storeu_si128((__m128i *) idx, _mm512_cvtepi32_epi8(i));
}

//
// decoding
//

INLINE __m512i table4(void) {
    const uint8_t m[8] = TURBO4_MAGNITUDES;
    return _mm512_broadcast_i32x4(_mm_setr_epi8(
        m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], -m[0], -m[1], -m[2], -m[3], -m[4], -m[5], -m[6], -m[7]));
}

INLINE __m512i table3(void) {
    const uint8_t m[4] = TURBO3_MAGNITUDES;
    return _mm512_broadcast_i32x4(
        _mm_setr_epi8(m[0], m[1], m[2], m[3], -m[0], -m[1], -m[2], -m[3], 0, 0, 0, 0, 0, 0, 0, 0));
}

INLINE __m512i join(__m256i lo, __m256i hi) { return _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1); }

INLINE __m512i lookup4(__m512i codes) {
    return _mm512_shuffle_epi8(table4(), _mm512_and_si512(codes, _mm512_set1_epi8(15)));
}

// bits 0-2 of word, and where the mask says so bit 3 of all words; other bits are ignored
INLINE __m512i lookup3(__m512i word, __mmask16 spread, __m512i word0, __m512i word1, __m512i word2) {
    const __m512i bit0 = _mm512_and_si512(_mm512_srli_epi16(word0, 3), _mm512_set1_epi8(1));
    const __m512i bit1 = _mm512_and_si512(_mm512_srli_epi16(word1, 2), _mm512_set1_epi8(2));
    const __m512i bit2 = _mm512_and_si512(_mm512_srli_epi16(word2, 1), _mm512_set1_epi8(4));
    const __m512i all = _mm512_or_si512(_mm512_or_si512(bit0, bit1), bit2);
    return _mm512_shuffle_epi8(
        table3(), _mm512_mask_blend_epi32(spread, _mm512_and_si512(word, _mm512_set1_epi8(7)), all));
}

// levels of values 64*i .. 64*i + 63 of a block
INLINE __m512i levels_turbo4(const block_turbo4 * b, int i) {
    const __m512i q = _mm512_loadu_si512(b->qs);
    return lookup4(i == 0 ? q : _mm512_srli_epi16(q, 4));
}

INLINE __m512i levels_turbo4_64(const block_turbo4_64 * b, int i) {
    (void) i;
    const __m256i q = _mm256_loadu_si256((const __m256i *) b->qs);
    return lookup4(join(q, _mm256_srli_epi16(q, 4)));
}

// every second of 64 bits with its high nibbles low
INLINE __m512i words8(__m512i order, __m512i qs) {
    return _mm512_srlv_epi64(_mm512_permutexvar_epi64(order, qs), _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4));
}

INLINE __m512i levels_turbo3(const block_turbo3 * b, int i) {
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *) b->qs));
    const __m512i last = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *) (b->qs + 32)));
    const __m512i word0 = words8(_mm512_setr_epi64(0, 0, 2, 2, 0, 0, 2, 2), first);
    const __m512i word1 = words8(_mm512_setr_epi64(1, 1, 3, 3, 1, 1, 3, 3), first);
    if (i == 0) { return lookup3(_mm512_mask_blend_epi32(0xff00, word0, word1), 0, word0, word1, word0); }
    const __m512i word2 = words8(_mm512_setr_epi64(0, 0, 1, 1, 0, 0, 1, 1), last);
    return lookup3(word2, 0xff00, word0, word1, word2);
}

// every second of 32 bits with its high nibbles low
INLINE __m512i words4(__m512i order, __m512i qs) {
    const __m512i n = _mm512_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4);
    return _mm512_srlv_epi32(_mm512_permutexvar_epi32(order, qs), n);
}

INLINE __m512i levels_turbo3_64(const block_turbo3_64 * b, int i) {
    (void) i;
    const __m128i first = _mm_loadu_si128((const __m128i *) b->qs);
    const __m128i last = _mm_loadl_epi64((const __m128i *) (b->qs + 16));
    const __m512i qs = _mm512_castsi256_si512(_mm256_set_m128i(last, first));
    const __m512i word = words4(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5), qs);
    const __m512i word0 = words4(_mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2), qs);
    const __m512i word1 = words4(_mm512_setr_epi32(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3), qs);
    return lookup3(word, 0xcc00, word0, word1, word);
}

// Levels of 64 values of a type with a trellis: turbo-avx2.c.
INLINE __m512i lookup_trellis(
    const int8_t own[][16], const int8_t before[][16], int words, __m512i codes, __m512i codes_before) {
    __m512i level = _mm512_setzero_si512();
    for (int e = 0; e < (words == 4 ? 1 : 4); ++e) {
        const __m512i own_e = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) own[e]));
        const __m512i before_e = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) before[e]));
        const __m512i sum =
            _mm512_add_epi8(_mm512_shuffle_epi8(own_e, codes), _mm512_shuffle_epi8(before_e, codes_before));
        level = words == 4 ? sum : _mm512_mask_blend_epi32((__mmask16) (0x1111 << e), level, sum);
    }
    return level;
}

// wraps: dwords before which comes the lane before
INLINE __m512i levels_of_words(const int8_t own[][16], const int8_t before[][16], int words, __m512i codes,
    __m512i order, __m512i order_before, __mmask16 wraps) {
    const __m512i codes_before = _mm512_permutexvar_epi32(order_before, codes);
    return lookup_trellis(own, before, words, _mm512_permutexvar_epi32(order, codes),
        _mm512_mask_rol_epi32(codes_before, wraps, codes_before, 8));
}

INLINE __m512i low_codes(__m512i bytes) { return _mm512_and_si512(bytes, _mm512_set1_epi8(15)); }

INLINE __m512i levels_turbo4_tcq(const block_turbo4_tcq * b, int i) {
    const __m512i bytes = _mm512_loadu_si512(b->qs);
    return levels_of_words(turbo4_tcq_own, turbo4_tcq_before, 4,
        low_codes(i == 0 ? bytes : _mm512_srli_epi16(bytes, 4)),
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        _mm512_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14), 0x0101);
}

INLINE __m512i levels_turbo4_tcq_64(const block_turbo4_tcq_64 * b, int i) {
    (void) i;
    const __m256i bytes = _mm256_loadu_si256((const __m256i *) b->qs);
    return levels_of_words(turbo4_tcq_own, turbo4_tcq_before, 4, low_codes(join(bytes, _mm256_srli_epi16(bytes, 4))),
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        _mm512_setr_epi32(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14), 0x1111);
}

INLINE __m512i levels_turbo3_tcq(const block_turbo3_tcq * b, int i) {
    const __m512i bytes = _mm512_maskz_loadu_epi32(0x0fff, b->qs);
    return levels_of_words(turbo3_tcq_own, turbo3_tcq_before, 3,
        low_codes(i == 0 ? bytes : _mm512_srli_epi16(bytes, 4)),
        _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11),
        _mm512_setr_epi32(5, 0, 1, 1, 2, 3, 4, 4, 11, 6, 7, 7, 8, 9, 10, 10), 0x0101);
}

INLINE __m512i levels_turbo3_tcq_64(const block_turbo3_tcq_64 * b, int i) {
    (void) i;
    const __m256i bytes = _mm256_maskz_loadu_epi32(0x3f, b->qs);
    return levels_of_words(turbo3_tcq_own, turbo3_tcq_before, 3, low_codes(join(bytes, _mm256_srli_epi16(bytes, 4))),
        _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 8, 9, 10, 10, 11, 12, 13, 13),
        _mm512_setr_epi32(2, 0, 1, 1, 5, 3, 4, 4, 10, 8, 9, 9, 13, 11, 12, 12), 0x1111);
}

INLINE void store_levels(levels level, const float * step, float * y) {
    const __m128i part[4] = { _mm512_castsi512_si128(level), _mm512_extracti32x4_epi32(level, 1),
        _mm512_extracti32x4_epi32(level, 2), _mm512_extracti32x4_epi32(level, 3) };
    for (int p = 0; p < 4; ++p) {
        _mm512_storeu_ps(y + 16 * p, mul(set1(step[p]), _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(part[p]))));
    }
}

INLINE sums clear(void) { return _mm512_setzero_ps(); }

// four lanes for each 16 values
INLINE sums add_products(sums sum, int i, levels level, const turbo_block_q8 * q, const float * step) {
    (void) i;
    const __m512i qs =
        join(_mm256_loadu_si256((const __m256i *) q[0].qs), _mm256_loadu_si256((const __m256i *) q[1].qs));
    const __m512i signed_qs = _mm512_mask_sub_epi8(qs, _mm512_movepi8_mask(level), _mm512_setzero_si512(), qs);
    const __m512 dot =
        _mm512_cvtepi32_ps(_mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_abs_epi8(level), signed_qs));
    const __m512 steps = _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
        _mm512_castps128_ps512(_mm_setr_ps(step[0], step[1], step[2], step[3])));
    return _mm512_fmadd_ps(steps, dot, sum);
}

INLINE float fold(sums lanes) {
    const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

#include "turbo-simd.inl"

const struct turbo_kernels turbo_kernels_avx512 = KERNELS;
