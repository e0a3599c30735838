// Decode kernels for AVX-512 with BW, VL, DQ and VNNI. Compiled with its own flags: the rules of decode-avx2.cpp apply, and
// so do its comments on the arithmetic, which is the same with registers of twice the width.

#include "decode-kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

#include "vec-avx512.inl"
#include "decode-rows.inl"

struct lanes {
    typedef __m512i I;
    typedef vec M;

    static INLINE I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
    static INLINE I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
    static INLINE I bit_xor(I a, I b) { return _mm512_xor_si512(a, b); }
    static INLINE I add_epi8(I a, I b) { return _mm512_add_epi8(a, b); }
    static INLINE I srli_epi16(I x, int n) { return _mm512_srli_epi16(x, n); }
    static INLINE I mulhrs_epi16(I a, I b) { return _mm512_mulhrs_epi16(a, b); }
    static INLINE I shuffle_epi8(I x, I i) { return _mm512_shuffle_epi8(x, i); }
    static INLINE I unpacklo_epi32(I a, I b) { return _mm512_unpacklo_epi32(a, b); }
    static INLINE I unpackhi_epi32(I a, I b) { return _mm512_unpackhi_epi32(a, b); }
    static INLINE I unpacklo_epi64(I a, I b) { return _mm512_unpacklo_epi64(a, b); }
    static INLINE I unpackhi_epi64(I a, I b) { return _mm512_unpackhi_epi64(a, b); }
    static INLINE I set1_epi8(char x) { return _mm512_set1_epi8(x); }
    static INLINE I set1_epi32(int x) { return _mm512_set1_epi32(x); }
    static INLINE I zero() { return _mm512_setzero_si512(); }
    static INLINE I each_quarter(__m128i x) { return _mm512_broadcast_i32x4(x); }
    static INLINE I broadcast(const void * p) { return _mm512_set1_epi32(dword(p)); }
    static INLINE I load_int(const void * p) { return _mm512_load_si512(p); }
    static INLINE void store_int(void * p, I x) { _mm512_store_si512(p, x); }
    static INLINE vec to_float(I x) { return _mm512_cvtepi32_ps(x); }
    static INLINE I to_int(vec x) { return _mm512_cvtps_epi32(x); }
    static INLINE vec swap_pairs(vec x) { return _mm512_shuffle_ps(x, x, 0xb1); }
    static INLINE vec reciprocal(vec x) { return _mm512_rcp14_ps(x); }
    static INLINE vec positive_part(vec w, vec x) {
        return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(w, set1(0.0f), _CMP_GT_OQ), x);
    }
    static INLINE I join(__m256i lo, __m256i hi) { return _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1); }
    static INLINE I quarters(__m128i a, __m128i b, __m128i c, __m128i d) {
        return join(_mm256_set_m128i(b, a), _mm256_set_m128i(d, c));
    }
    static INLINE I low_words(I a, I b) { return join(_mm512_cvtepi32_epi16(a), _mm512_cvtepi32_epi16(b)); }
    static INLINE I high_words(I a, I b) { return low_words(_mm512_srli_epi32(a, 16), _mm512_srli_epi32(b, 16)); }
    static INLINE I low_halves(I a, I b) { return join(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b)); }
    static INLINE I blend_quarters(I a, I b) { return _mm512_mask_blend_epi32(0xf0f0, a, b); }
    static INLINE void fill(const __m256i * y, int n, I * x) {
        *x = n == 2 ? join(y[0], y[1]) : _mm512_castsi256_si512(y[0]);
    }

    // bits of the mask from m, else from s
    static INLINE I select(I mask, I m, I s) { return _mm512_ternarylogic_epi32(mask, m, s, 0xca); }
    static INLINE I spread_codes3(I x0, I x1, I x2) {
        const I y = select(_mm512_set1_epi8(0x44), _mm512_srli_epi16(x0, 1), x1);
        return bit_and(
            _mm512_srli_epi16(select(_mm512_set1_epi8(0x66), _mm512_srli_epi16(y, 1), x2), 1), set1_epi8(0x77));
    }

    // not by way of memory: a load of what sixteen stores have just written waits for all of them
    static INLINE __m128i four_dwords(rows row) {
        return _mm_setr_epi32(dword(row[0]), dword(row[1]), dword(row[2]), dword(row[3]));
    }
    static INLINE I dwords(rows row) {
        return quarters(
            four_dwords(row), four_dwords(row.from(4)), four_dwords(row.from(8)), four_dwords(row.from(12)));
    }
    // 16 bytes of rows 0, 4, 8 and 12
    static INLINE I load_quarters(rows row, int offset) {
        return quarters(
            load16(row[0] + offset), load16(row[4] + offset), load16(row[8] + offset), load16(row[12] + offset));
    }
    static INLINE vec half_to_float(I header) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(header)); }
    static INLINE I multiplier_words(I sub, int i) {
        const I at3 = i == 0 ? _mm512_slli_epi16(sub, 3) : _mm512_srli_epi16(sub, 4 * i - 3);
        return _mm512_add_epi16(_mm512_and_si512(at3, _mm512_set1_epi16(0x78)), _mm512_set1_epi16(TURBO_MULT(0)));
    }
    static INLINE M one() { return set1(1.0f); }
    static INLINE M multiplier(I header, int i) {
        alignas(64) float mult[16];
        UNROLL for (int sub = 0; sub < 16; ++sub) { mult[sub] = TURBO_MULT(sub); }
        return _mm512_permutexvar_ps(
            _mm512_srli_epi32(header, 16 + 4 * i), _mm512_load_ps(mult)); // which looks at four bits
    }
    static INLINE I sixteen_where(I x, I mask) { return _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(x, mask), 16); }

    // sums of 32 bits have room for all
    static float sum_limit(int, int) { return INFINITY; }
    // what a sum begins with: the bias of the levels will add it
    static INLINE int32_t query_sum(int32_t sum, int level_max) { return -level_max * sum; }

    static INLINE int place(int g) { return g; }
    // a product of d that is not finite may have any sign
    static INLINE void store_u8(uint8_t * p, const I u[1]) {
        _mm256_storeu_si256((__m256i *) p, _mm512_cvtepi16_epi8(_mm512_max_epi16(u[0], zero())));
    }
    // the even lanes, as 16 bits
    static INLINE void store_pairs(int16_t * p, const vec pair[2], vec factor) {
        UNROLL for (int i = 0; i < 2; ++i) {
            _mm_storeu_si128((__m128i *) (p + 8 * i), _mm512_cvtepi64_epi16(to_int(mul(pair[i], factor))));
        }
    }
    template <typename WEIGHTS> static INLINE I add_weighted(I acc, I level, const WEIGHTS & w) {
        return _mm512_dpwssd_epi32(acc, _mm512_maddubs_epi16(w.u, level), w.s);
    }
    static INLINE void natural_order(float * x) {
        const vec a = load(x);
        const vec b = load(x + 16);
        store(x, _mm512_shuffle_f32x4(a, b, 0x88));
        store(x + 16, _mm512_shuffle_f32x4(a, b, 0xdd));
    }
};

#include "decode-x86.inl"
#include "decode-formats.inl"

// Dot products of a block of K with VNNI, which adds four products of bytes to a sum of 32 bits: each quarter has a sum of its
// own, which begins with what the bias of the levels will add to it, negated, and meets its multiplier as a float.

template <typename FMT, int NQ> struct dot_all {
    const int8_t * q[NQ];
    simd::I * acc; // [query][quarter]

    INLINE void operator()(simd::I a, simd::I b, int quarter, int dword_a, int dword_b) const {
        UNROLL for (int j = 0; j < NQ; ++j) {
            simd::I & sum = acc[j * FMT::QUARTERS + quarter];
            sum = _mm512_dpbusd_epi32(sum, a, simd::broadcast(q[j] + 4 * dword_a));
            sum = _mm512_dpbusd_epi32(sum, b, simd::broadcast(q[j] + 4 * dword_b));
        }
    }
};

// sum[j] += query j . a block of simd::W rows
template <typename FMT, int NQ> INLINE void dot_block(rows row, const int_query<FMT::GROUP> * const * q, vec * sum) {
    simd::I acc[NQ * FMT::QUARTERS];
    dot_all<FMT, NQ> dot = { {}, acc };
    UNROLL for (int j = 0; j < NQ; ++j) {
        dot.q[j] = q[j]->q;
        UNROLL for (int i = 0; i < FMT::QUARTERS; ++i) { acc[j * FMT::QUARTERS + i] = simd::broadcast(q[j]->sum + i); }
    }
    FMT::emit_k(row, dot);

    const simd::I header = FMT::header(row);
    const multipliers m = FMT::mult(header);
    const vec d = FMT::scale(header);
    UNROLL for (int j = 0; j < NQ; ++j) {
        vec x = mul(simd::to_float(acc[j * FMT::QUARTERS]), m.quarter[0]);
        UNROLL for (int i = 1; i < FMT::QUARTERS; ++i) {
            x = fma(simd::to_float(acc[j * FMT::QUARTERS + i]), m.quarter[i], x);
        }
        sum[j] = fma(mul(x, d), set1(q[j]->scale), sum[j]);
    }
}

#include "decode-body.inl"
#include "decode-exp.inl"
#include "decode-bias.inl"
#include "decode-softmax.inl"
#include "soft-cap.inl"

} // namespace

extern const decode_kernels decode_kernels_avx512 = DECODE_TABLE("avx512");
