// Inner loops for AVX2 + FMA + F16C. Compiled with its own flags: only intrinsics and static functions here,
// because an inline function shared with another file could be kept in this file's version for all of them.
// Floating-point contraction is off (CMakeLists.txt): the quantiser must store the reference's bytes.

#include "turbo-codec.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#include "turbo-search-avx2.inl"

struct thresholds {
    __m256 t[7];
};

INLINE struct thresholds load_thresholds(const struct turbo_format * f, int n_levels) {
    struct thresholds th;
    for (int i = 0; i + 1 < n_levels; ++i) {
        th.t[i] = _mm256_set1_ps(0.5f*(f->levels[i] + f->levels[i + 1]));
    }
    return th;
}

// number of thresholds below v
INLINE __m256i nearest(__m256 v, const struct thresholds * th, int n_levels) {
    __m256i i = _mm256_setzero_si256();
    for (int k = 0; k + 1 < n_levels; ++k) {
        i = _mm256_sub_epi32(i, _mm256_castps_si256(_mm256_cmp_ps(v, th->t[k], _CMP_GT_OQ)));
    }
    return i;
}

// 16 lanes as two registers, folded 8, 4, 2, 1
INLINE float fold(__m256 lo, __m256 hi) {
    const __m256 s8 = _mm256_add_ps(lo, hi);
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

static void assign_avx2(const struct turbo_format * f, const float * a, float scale, uint8_t * idx) {
    const struct thresholds th = load_thresholds(f, f->n_levels);
    const __m256 inv = _mm256_set1_ps(1.0f/scale);
    for (int i = 0; i < f->quarter; i += 8) {
        const __m256i n  = nearest(_mm256_mul_ps(_mm256_loadu_ps(a + i), inv), &th, f->n_levels);
        const __m128i n4 = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
        _mm_storel_epi64((__m128i *) (idx + i), _mm_packus_epi16(n4, n4));
    }
}

//
// decoding: 32 values at a time, as signed levels
//

INLINE __m256i broadcast_table(__m128i table) {
    return _mm256_broadcastsi128_si256(table);
}

INLINE __m256i table4(void) {
    const uint8_t m[8] = TURBO4_MAGNITUDES;
    return broadcast_table(_mm_setr_epi8( m[0],  m[1],  m[2],  m[3],  m[4],  m[5],  m[6],  m[7],
                                         -m[0], -m[1], -m[2], -m[3], -m[4], -m[5], -m[6], -m[7]));
}

INLINE __m256i table3(void) {
    const uint8_t m[4] = TURBO3_MAGNITUDES;
    return broadcast_table(_mm_setr_epi8(m[0], m[1], m[2], m[3], -m[0], -m[1], -m[2], -m[3], 0, 0, 0, 0, 0, 0, 0, 0));
}

// levels of values 32*i .. 32*i + 31 of a block
INLINE __m256i levels4(const block_turbo4 * b, int i) {
    const __m256i q = _mm256_loadu_si256((const __m256i *) (b->qs + 32*(i & 1)));
    const __m256i n = _mm256_and_si256(i < 2 ? q : _mm256_srli_epi16(q, 4), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table4(), n);
}

INLINE __m256i levels4_64(const block_turbo4_64 * b, int i) {
    const __m256i q = _mm256_loadu_si256((const __m256i *) b->qs);
    const __m256i n = _mm256_and_si256(i == 0 ? q : _mm256_srli_epi16(q, 4), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table4(), n);
}

// Code k of each byte triple, in bits 0-2: of word k, or for k = 3 from bit 3 of all words. Other bits of the words are ignored.
INLINE __m256i code3(__m256i word0, __m256i word1, __m256i word2, int k) {
    if (k < 3) {
        return _mm256_and_si256(k == 0 ? word0 : k == 1 ? word1 : word2, _mm256_set1_epi8(7));
    }
    const __m256i bit0 = _mm256_and_si256(_mm256_srli_epi16(word0, 3), _mm256_set1_epi8(1));
    const __m256i bit1 = _mm256_and_si256(_mm256_srli_epi16(word1, 2), _mm256_set1_epi8(2));
    const __m256i bit2 = _mm256_and_si256(_mm256_srli_epi16(word2, 1), _mm256_set1_epi8(4));
    return _mm256_or_si256(_mm256_or_si256(bit0, bit1), bit2);
}

INLINE __m256i levels3(const block_turbo3 * b, int i) {
    const __m256i first = _mm256_loadu_si256((const __m256i *) b->qs);
    const __m256i last  = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) (b->qs + 32)));
    // each word twice, the second time with its high nibbles low
    const __m256i n = _mm256_setr_epi64x(0, 4, 0, 4);
    const __m256i word0 = _mm256_srlv_epi64(_mm256_unpacklo_epi64(first, first), n);
    const __m256i word1 = _mm256_srlv_epi64(_mm256_unpackhi_epi64(first, first), n);
    const __m256i word2 = _mm256_srlv_epi64(_mm256_permute4x64_epi64(last, 0x50), n);
    return _mm256_shuffle_epi8(table3(), code3(word0, word1, word2, i));
}

INLINE __m256i levels3_64(const block_turbo3_64 * b, int i) {
    const __m256i first = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) b->qs));
    const __m256i last  = _mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *) (b->qs + 16)));
    // each word four times, every second time with its high nibbles low
    const __m256i n = _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4);
    const __m256i word0 = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(first, _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2)), n);
    const __m256i word1 = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(first, _mm256_setr_epi32(1, 1, 1, 1, 3, 3, 3, 3)), n);
    const __m256i word2 = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(last,  _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1)), n);
    const __m256i code  = _mm256_blend_epi32(code3(word0, word1, word2, 2*i), code3(word0, word1, word2, 2*i + 1), 0xcc);
    return _mm256_shuffle_epi8(table3(), code);
}

INLINE float unit_of(uint16_t d) {
    return _cvtsh_ss(d)*TURBO_UNIT;
}

INLINE float step_of(float unit, uint16_t sub, int i) {
    return unit*TURBO_MULT(sub >> 4*i & 15);
}

INLINE void store_values(__m256i level, float step_lo, float step_hi, float * y) {
    const __m128i half[2] = { _mm256_castsi256_si128(level), _mm256_extracti128_si256(level, 1) };
    for (int h = 0; h < 2; ++h) {
        const __m256 step = _mm256_set1_ps(h == 0 ? step_lo : step_hi);
        _mm256_storeu_ps(y + 16*h,     _mm256_mul_ps(step, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(half[h]))));
        _mm256_storeu_ps(y + 16*h + 8, _mm256_mul_ps(step, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(half[h], 8)))));
    }
}

// eight partial sums of level * q, four of each 16-value half; level is at most 111, so a pair fits 16 bits
INLINE __m256 dot_partial(__m256i level, const turbo_block_q8 * q) {
    const __m256i qs   = _mm256_loadu_si256((const __m256i *) q->qs);
    const __m256i pair = _mm256_maddubs_epi16(_mm256_abs_epi8(level), _mm256_sign_epi8(qs, level));
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(pair, _mm256_set1_epi16(1)));
}

#define DECODE_FUNCTIONS(name, levels_of, chunks, quarters_per_chunk)                                                             \
    static void to_float_##name(const void * x, float * y, int64_t k) {                                                           \
        for (const block_##name * b = x; k > 0; k -= 32*(chunks), ++b) {                                                          \
            const float unit = unit_of(b->d);                                                                                     \
            for (int i = 0; i < (chunks); ++i, y += 32) {                                                                         \
                const int q = (quarters_per_chunk)*i;                                                                             \
                store_values(levels_of(b, i), step_of(unit, b->sub, q), step_of(unit, b->sub, q + (quarters_per_chunk) - 1), y);  \
            }                                                                                                                     \
        }                                                                                                                         \
    }                                                                                                                             \
    static void vec_dot_##name(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {    \
        (void) bs; (void) bx; (void) by; (void) nrc;                                                                              \
        const turbo_block_q8 * q8 = vy;                                                                                           \
        __m256 sum = _mm256_setzero_ps();                                                                                         \
        for (const block_##name * b = vx; n > 0; n -= 32*(chunks), ++b) {                                                         \
            const float unit = unit_of(b->d);                                                                                     \
            for (int i = 0; i < (chunks); ++i, ++q8) {                                                                            \
                const int    q    = (quarters_per_chunk)*i;                                                                       \
                const float  base = unit*_cvtsh_ss(q8->d);                                                                        \
                const __m256 step = _mm256_set_m128(                                                                              \
                    _mm_set1_ps(step_of(base, b->sub, q + (quarters_per_chunk) - 1)), _mm_set1_ps(step_of(base, b->sub, q)));     \
                sum = _mm256_fmadd_ps(step, dot_partial(levels_of(b, i), q8), sum);                                               \
            }                                                                                                                     \
        }                                                                                                                         \
        *s = fold(sum, _mm256_setzero_ps());                                                                                      \
    }

DECODE_FUNCTIONS(turbo4,    levels4,    4, 1)
DECODE_FUNCTIONS(turbo3,    levels3,    4, 1)
DECODE_FUNCTIONS(turbo4_64, levels4_64, 2, 2)
DECODE_FUNCTIONS(turbo3_64, levels3_64, 2, 2)

const struct turbo_kernels turbo_kernels_avx2 = {
    .level    = "avx2",
    .search   = search_avx2,
    .assign   = assign_avx2,
    .to_float = { to_float_turbo4, to_float_turbo3, to_float_turbo4_64, to_float_turbo3_64 },
    .vec_dot  = { vec_dot_turbo4,  vec_dot_turbo3,  vec_dot_turbo4_64,  vec_dot_turbo3_64  },
};
