// Inner loops for AVX2 + FMA + F16C. Compiled with its own flags: only intrinsics and static functions here,
// because an inline function shared with another file could be kept in this file's version for all of them.
// Floating-point contraction is off (CMakeLists.txt): the quantizer must store the reference's bytes.

#include "turbo-codec.h"
#include "turbo-trellis.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#include "turbo-search-avx2.inl"

INLINE __m256i error_squares(__m256i x, const int16_t * level) {
    const __m256i e = _mm256_abs_epi16(_mm256_sub_epi16(x, _mm256_loadu_si256((const __m256i *) level)));
    const __m256i most = _mm256_min_epi16(e, _mm256_set1_epi16(252));
    return _mm256_mullo_epi16(most, most);
}

INLINE __m256i least_sums(__m256i paths, const int16_t (*level)[TURBO_STATES], short x,
    const int16_t (*level2)[TURBO_STATES], short x2, int two) {
    const __m256i half[2] = { _mm256_permute4x64_epi64(paths, 0x44), _mm256_permute4x64_epi64(paths, 0xee) };
    __m256i best[2] = { _mm256_set1_epi16(-1), _mm256_set1_epi16(-1) };
    _Pragma("GCC unroll 16") for (int before = 0; before < TURBO_STATES; ++before) {
        const __m256i path = _mm256_shuffle_epi8(half[before / 8], _mm256_set1_epi16(before % 8 * 0x202 + 0x100));
        __m256i sum = _mm256_adds_epu16(path, error_squares(_mm256_set1_epi16(x), level[before]));
        if (two) { sum = _mm256_adds_epu16(sum, error_squares(_mm256_set1_epi16(x2), level2[before])); }
        best[before % 2] = _mm256_min_epu16(best[before % 2], sum);
    }
    return _mm256_min_epu16(best[0], best[1]);
}

#include "turbo-path-x86.inl"

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

// Levels of 32 values of a type with a trellis, from codes a byte each; `own` and `before`: its tables.
INLINE __m256i lookup_trellis(
    const int8_t own[][16], const int8_t before[][16], int words, __m256i codes, __m256i codes_before) {
    __m256i level = _mm256_setzero_si256();
    for (int e = 0; e < (words == 4 ? 1 : 4); ++e) {
        const __m256i sum =
            _mm256_add_epi8(_mm256_shuffle_epi8(broadcast_table(_mm_loadu_si128((const __m128i *) own[e])), codes),
                _mm256_shuffle_epi8(broadcast_table(_mm_loadu_si128((const __m128i *) before[e])), codes_before));
        const __m256i dword_e = _mm256_cmpeq_epi32(_mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3), _mm256_set1_epi32(e));
        level = words == 4 ? sum : _mm256_blendv_epi8(level, sum, dword_e);
    }
    return level;
}

// Words of 32 values out of a register, the codes in `shift` bits: own is the order of the words, before that of the words before,
// where those marked in `wraps` come from the lane before.
INLINE __m256i levels_of_words(const int8_t own[][16], const int8_t before[][16], int words, __m256i bytes, int shift,
    __m256i order, __m256i order_before, __m256i wraps) {
    const __m256i codes = _mm256_and_si256(_mm256_srli_epi16(bytes, shift), _mm256_set1_epi8(15));
    return lookup_trellis(own, before, words, _mm256_permutevar8x32_epi32(codes, order),
        _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(codes, order_before), wraps));
}

// bytes in place, those of some dwords rotated by one
INLINE __m256i wrap_dwords(int first, int fifth) {
    const __m128i in_place = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i wrapped = _mm_setr_epi8(3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm256_set_m128i(fifth ? wrapped : in_place, first ? wrapped : in_place);
}

INLINE __m256i levels_turbo4_tcq(const block_turbo4_tcq * b, int i) {
    return levels_of_words(turbo4_tcq_own, turbo4_tcq_before, 4,
        _mm256_loadu_si256((const __m256i *) (b->qs + i % 2 * 32)), i / 2 * 4,
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6), wrap_dwords(1, 0));
}

INLINE __m256i levels_turbo4_tcq_64(const block_turbo4_tcq_64 * b, int i) {
    return levels_of_words(turbo4_tcq_own, turbo4_tcq_before, 4, _mm256_loadu_si256((const __m256i *) b->qs), i * 4,
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(3, 0, 1, 2, 7, 4, 5, 6), wrap_dwords(1, 1));
}

// 24 bytes of codes, in six dwords from dword `at` on
INLINE __m256i levels_of_triples(
    __m256i bytes, int at, int shift, int wrap_first, int wrap_fourth, __m256i before_both) {
    return levels_of_words(turbo3_tcq_own, turbo3_tcq_before, 3, bytes, shift,
        _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5), _mm256_set1_epi32(at)),
        _mm256_add_epi32(before_both, _mm256_set1_epi32(at)), wrap_dwords(wrap_first, wrap_fourth));
}

INLINE __m256i levels_turbo3_tcq(const block_turbo3_tcq * b, int i) {
    // the 32 bytes that end, or begin, where the block does
    const __m256i bytes = _mm256_loadu_si256((const __m256i *) (i % 2 ? b->qs + 16 : (const uint8_t *) b));
    return levels_of_triples(bytes, i % 2 ? 2 : 1, i / 2 * 4, 1, 0, _mm256_setr_epi32(5, 0, 1, 1, 2, 3, 4, 4));
}

INLINE __m256i levels_turbo3_tcq_64(const block_turbo3_tcq_64 * b, int i) {
    const __m256i bytes =
        _mm256_set_m128i(_mm_loadl_epi64((const __m128i *) (b->qs + 16)), _mm_loadu_si128((const __m128i *) b->qs));
    return levels_of_triples(bytes, 0, i * 4, 1, 1, _mm256_setr_epi32(2, 0, 1, 1, 5, 3, 4, 4));
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
