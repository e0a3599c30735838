// Inner loops for AVX-512 with BW, VL, DQ and VNNI. The rules of turbo-avx2.c apply.

#include "turbo-codec.h"

#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#include "turbo-search-avx2.inl"

struct thresholds {
    __m512 t[7];
};

INLINE struct thresholds load_thresholds(const struct turbo_format * f, int n_levels) {
    struct thresholds th;
    for (int i = 0; i + 1 < n_levels; ++i) {
        th.t[i] = _mm512_set1_ps(0.5f*(f->levels[i] + f->levels[i + 1]));
    }
    return th;
}

// number of thresholds below v
INLINE __m512i nearest(__m512 v, const struct thresholds * th, int n_levels) {
    const __m512i one = _mm512_set1_epi32(1);
    __m512i i = _mm512_setzero_si512();
    for (int k = 0; k + 1 < n_levels; ++k) {
        i = _mm512_mask_add_epi32(i, _mm512_cmp_ps_mask(v, th->t[k], _CMP_GT_OQ), i, one);
    }
    return i;
}

INLINE float fold(__m512 lanes) {
    const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

static void assign_avx512(const struct turbo_format * f, const float * a, float scale, uint8_t * idx) {
    const struct thresholds th = load_thresholds(f, f->n_levels);
    const __m512 inv = _mm512_set1_ps(1.0f/scale);
    for (int i = 0; i < f->quarter; i += 16) {
        const __m512i n = nearest(_mm512_mul_ps(_mm512_loadu_ps(a + i), inv), &th, f->n_levels);
        _mm_storeu_si128((__m128i *) (idx + i), _mm512_cvtepi32_epi8(n));
    }
}

//
// decoding: 64 values at a time, as signed levels
//

INLINE __m512i table4(void) {
    const uint8_t m[8] = TURBO4_MAGNITUDES;
    return _mm512_broadcast_i32x4(_mm_setr_epi8( m[0],  m[1],  m[2],  m[3],  m[4],  m[5],  m[6],  m[7],
                                                -m[0], -m[1], -m[2], -m[3], -m[4], -m[5], -m[6], -m[7]));
}

INLINE __m512i table3(void) {
    const uint8_t m[4] = TURBO3_MAGNITUDES;
    return _mm512_broadcast_i32x4(_mm_setr_epi8(m[0], m[1], m[2], m[3], -m[0], -m[1], -m[2], -m[3], 0, 0, 0, 0, 0, 0, 0, 0));
}

INLINE __m512i join(__m256i lo, __m256i hi) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1);
}

INLINE __m512i lookup4(__m512i codes) {
    return _mm512_shuffle_epi8(table4(), _mm512_and_si512(codes, _mm512_set1_epi8(15)));
}

// bits 0-2 of word, and where the mask says so bit 3 of all words; other bits are ignored
INLINE __m512i lookup3(__m512i word, __mmask16 spread, __m512i word0, __m512i word1, __m512i word2) {
    const __m512i bit0 = _mm512_and_si512(_mm512_srli_epi16(word0, 3), _mm512_set1_epi8(1));
    const __m512i bit1 = _mm512_and_si512(_mm512_srli_epi16(word1, 2), _mm512_set1_epi8(2));
    const __m512i bit2 = _mm512_and_si512(_mm512_srli_epi16(word2, 1), _mm512_set1_epi8(4));
    const __m512i all  = _mm512_or_si512(_mm512_or_si512(bit0, bit1), bit2);
    return _mm512_shuffle_epi8(table3(), _mm512_mask_blend_epi32(spread, _mm512_and_si512(word, _mm512_set1_epi8(7)), all));
}

// levels of values 64*i .. 64*i + 63 of a block
INLINE __m512i levels4(const block_turbo4 * b, int i) {
    const __m512i q = _mm512_loadu_si512(b->qs);
    return lookup4(i == 0 ? q : _mm512_srli_epi16(q, 4));
}

INLINE __m512i levels4_64(const block_turbo4_64 * b, int i) {
    (void) i;
    const __m256i q = _mm256_loadu_si256((const __m256i *) b->qs);
    return lookup4(join(q, _mm256_srli_epi16(q, 4)));
}

// every second of 64 bits with its high nibbles low
INLINE __m512i words8(__m512i order, __m512i qs) {
    return _mm512_srlv_epi64(_mm512_permutexvar_epi64(order, qs), _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4));
}

INLINE __m512i levels3(const block_turbo3 * b, int i) {
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *) b->qs));
    const __m512i last  = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *) (b->qs + 32)));
    const __m512i word0 = words8(_mm512_setr_epi64(0, 0, 2, 2, 0, 0, 2, 2), first);
    const __m512i word1 = words8(_mm512_setr_epi64(1, 1, 3, 3, 1, 1, 3, 3), first);
    if (i == 0) {
        return lookup3(_mm512_mask_blend_epi32(0xff00, word0, word1), 0, word0, word1, word0);
    }
    const __m512i word2 = words8(_mm512_setr_epi64(0, 0, 1, 1, 0, 0, 1, 1), last);
    return lookup3(word2, 0xff00, word0, word1, word2);
}

// every second of 32 bits with its high nibbles low
INLINE __m512i words4(__m512i order, __m512i qs) {
    const __m512i n = _mm512_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4);
    return _mm512_srlv_epi32(_mm512_permutexvar_epi32(order, qs), n);
}

INLINE __m512i levels3_64(const block_turbo3_64 * b, int i) {
    (void) i;
    const __m128i first = _mm_loadu_si128((const __m128i *) b->qs);
    const __m128i last  = _mm_loadl_epi64((const __m128i *) (b->qs + 16));
    const __m512i qs    = _mm512_castsi256_si512(_mm256_set_m128i(last, first));
    const __m512i word  = words4(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5), qs);
    const __m512i word0 = words4(_mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2), qs);
    const __m512i word1 = words4(_mm512_setr_epi32(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3), qs);
    return lookup3(word, 0xcc00, word0, word1, word);
}

INLINE float unit_of(uint16_t d) {
    return _cvtsh_ss(d)*TURBO_UNIT;
}

INLINE float step_of(float unit, uint16_t sub, int i) {
    return unit*TURBO_MULT(sub >> 4*i & 15);
}

// 64 sums of level * q as 16 partial ones, four of each 16 values
INLINE __m512 dot_partial(__m512i level, const turbo_block_q8 * q) {
    const __m512i qs     = join(_mm256_loadu_si256((const __m256i *) q[0].qs), _mm256_loadu_si256((const __m256i *) q[1].qs));
    const __m512i signed_qs = _mm512_mask_sub_epi8(qs, _mm512_movepi8_mask(level), _mm512_setzero_si512(), qs);
    return _mm512_cvtepi32_ps(_mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_abs_epi8(level), signed_qs));
}

// step of each 16 values, spread to the four lanes that dot_partial gives them
INLINE __m512 spread_steps(float s0, float s1, float s2, float s3) {
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
                                 _mm512_castps128_ps512(_mm_setr_ps(s0, s1, s2, s3)));
}

// chunks of 64 values per block; a chunk has 2 quarters of 32 or 4 quarters of 16
#define DECODE_FUNCTIONS(name, levels_of, chunks)                                                                                 \
    static void to_float_##name(const void * x, float * y, int64_t k) {                                                           \
        for (const block_##name * b = x; k > 0; k -= 64*(chunks), ++b) {                                                          \
            const float unit = unit_of(b->d);                                                                                     \
            for (int i = 0; i < (chunks); ++i, y += 64) {                                                                         \
                const __m512i level = levels_of(b, i);                                                                            \
                const __m128i part[4] = { _mm512_castsi512_si128(level),         _mm512_extracti32x4_epi32(level, 1),             \
                                          _mm512_extracti32x4_epi32(level, 2),   _mm512_extracti32x4_epi32(level, 3) };           \
                for (int p = 0; p < 4; ++p) {                                                                                     \
                    const float step = step_of(unit, b->sub, (chunks) == 2 ? 2*i + p/2 : p);                                      \
                    _mm512_storeu_ps(y + 16*p, _mm512_mul_ps(_mm512_set1_ps(step), _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(part[p])))); \
                }                                                                                                                 \
            }                                                                                                                     \
        }                                                                                                                         \
    }                                                                                                                             \
    static void vec_dot_##name(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {    \
        (void) bs; (void) bx; (void) by; (void) nrc;                                                                              \
        const turbo_block_q8 * q8 = vy;                                                                                           \
        __m512 sum = _mm512_setzero_ps();                                                                                         \
        for (const block_##name * b = vx; n > 0; n -= 64*(chunks), ++b) {                                                         \
            const float unit = unit_of(b->d);                                                                                     \
            for (int i = 0; i < (chunks); ++i, q8 += 2) {                                                                         \
                const float u0 = unit*_cvtsh_ss(q8[0].d);                                                                         \
                const float u1 = unit*_cvtsh_ss(q8[1].d);                                                                         \
                const int   q0 = (chunks) == 2 ? 2*i : 0;                                                                         \
                const int   dq = (chunks) == 2 ? 0 : 1;                                                                           \
                const __m512 step = spread_steps(step_of(u0, b->sub, q0), step_of(u0, b->sub, q0 + dq),                           \
                    step_of(u1, b->sub, q0 + 1 + dq), step_of(u1, b->sub, q0 + 1 + 2*dq));                                        \
                sum = _mm512_fmadd_ps(step, dot_partial(levels_of(b, i), q8), sum);                                               \
            }                                                                                                                     \
        }                                                                                                                         \
        *s = fold(sum);                                                                                                           \
    }

DECODE_FUNCTIONS(turbo4,    levels4,    2)
DECODE_FUNCTIONS(turbo3,    levels3,    2)
DECODE_FUNCTIONS(turbo4_64, levels4_64, 1)
DECODE_FUNCTIONS(turbo3_64, levels3_64, 1)

const struct turbo_kernels turbo_kernels_avx512 = {
    .level    = "avx512",
    .search   = search_avx2,
    .assign   = assign_avx512,
    .to_float = { to_float_turbo4, to_float_turbo3, to_float_turbo4_64, to_float_turbo3_64 },
    .vec_dot  = { vec_dot_turbo4,  vec_dot_turbo3,  vec_dot_turbo4_64,  vec_dot_turbo3_64  },
};
