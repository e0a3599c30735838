// Decode kernels for AVX2 + FMA + F16C. Compiled with its own flags: intrinsics and this file's own functions only, because
// an inline function shared with another file could be kept in this file's version for all of them.

#include "decode-kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

#include "vec-avx2.inl"
#include "decode-rows.inl"

struct lanes {
    typedef __m256i I;
    typedef I M; // 16 bits in both halves of a lane

    static INLINE I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
    static INLINE I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
    static INLINE I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
    static INLINE I add_epi8(I a, I b) { return _mm256_add_epi8(a, b); }
    static INLINE I srli_epi16(I x, int n) { return _mm256_srli_epi16(x, n); }
    static INLINE I mulhrs_epi16(I a, I b) { return _mm256_mulhrs_epi16(a, b); }
    static INLINE I shuffle_epi8(I x, I i) { return _mm256_shuffle_epi8(x, i); }
    static INLINE I unpacklo_epi32(I a, I b) { return _mm256_unpacklo_epi32(a, b); }
    static INLINE I unpackhi_epi32(I a, I b) { return _mm256_unpackhi_epi32(a, b); }
    static INLINE I unpacklo_epi64(I a, I b) { return _mm256_unpacklo_epi64(a, b); }
    static INLINE I unpackhi_epi64(I a, I b) { return _mm256_unpackhi_epi64(a, b); }
    static INLINE I set1_epi8(char x) { return _mm256_set1_epi8(x); }
    static INLINE I set1_epi32(int x) { return _mm256_set1_epi32(x); }
    static INLINE I zero() { return _mm256_setzero_si256(); }
    static INLINE I each_quarter(__m128i x) { return _mm256_broadcastsi128_si256(x); }
    static INLINE I broadcast(const void * p) { return _mm256_set1_epi32(dword(p)); }
    static INLINE I load_int(const void * p) { return _mm256_load_si256((const I *) p); }
    static INLINE void store_int(void * p, I x) { _mm256_store_si256((I *) p, x); }
    static INLINE vec to_float(I x) { return _mm256_cvtepi32_ps(x); }
    static INLINE I to_int(vec x) { return _mm256_cvtps_epi32(x); }
    static INLINE vec swap_pairs(vec x) { return _mm256_permute_ps(x, 0xb1); }
    static INLINE vec reciprocal(vec x) { return _mm256_rcp_ps(x); }
    // x where w > 0
    static INLINE vec positive_part(vec w, vec x) { return _mm256_and_ps(x, _mm256_cmp_ps(w, set1(0.0f), _CMP_GT_OQ)); }
    static INLINE I low_words(I a, I b) { return _mm256_packs_epi32(a, b); }
    static INLINE I high_words(I a, I b) {
        return _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
    }
    static INLINE I low_halves(I a, I b) { return _mm256_permute2x128_si256(a, b, 0x20); }
    // b in the lanes in which `fill` puts values 16 .. of a chunk
    static INLINE I blend_quarters(I a, I b) { return _mm256_blend_epi32(a, b, 0xf0); }
    static INLINE void fill(const __m256i * y, int n, I * x) {
        UNROLL for (int i = 0; i < n; ++i) { x[i] = y[i]; }
    }

    // keeps GCC from turning a chain of sums into a tree, which takes more registers than there are
    static INLINE I in_order(I x) {
        __asm__("" : "+x"(x));
        return x;
    }

    static INLINE I spare_bits(I x) { return _mm256_andnot_si256(_mm256_set1_epi8(0x77), x); }
    // codes from bits 3 and 7 of three bytes
    static INLINE I spread_codes3(I x0, I x1, I x2) {
        const I y = _mm256_or_si256(_mm256_srli_epi16(spare_bits(x0), 1), spare_bits(x1));
        return _mm256_srli_epi16(_mm256_or_si256(_mm256_srli_epi16(y, 1), spare_bits(x2)), 1);
    }

    static INLINE I dwords(rows row) {
        return _mm256_setr_epi32(dword(row[0]), dword(row[1]), dword(row[2]), dword(row[3]), dword(row[4]),
            dword(row[5]), dword(row[6]), dword(row[7]));
    }
    // 16 bytes of rows 0 and 4
    static INLINE I load_quarters(rows row, int offset) {
        return _mm256_blend_epi32(_mm256_castsi128_si256(load16(row[0] + offset)),
            _mm256_broadcastsi128_si256(load16(row[4] + offset)), 0xf0);
    }
    static INLINE vec half_to_float(I header) {
        const I low = _mm256_and_si256(header, _mm256_set1_epi32(0xffff));
        return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
    }
    // TURBO_MULT of sub-scale i in the lowest bits of 16-bit lanes
    static INLINE I multiplier_words(I sub, int i) {
        const I at3 = i == 0 ? _mm256_slli_epi16(sub, 3) : _mm256_srli_epi16(sub, 4 * i - 3);
        return _mm256_add_epi16(_mm256_and_si256(at3, _mm256_set1_epi16(0x78)), _mm256_set1_epi16(TURBO_MULT(0)));
    }
    static INLINE M one() { return _mm256_set1_epi16(1); }
    static INLINE M multiplier(I header, int i) {
        const I high = _mm256_setr_epi8(2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15, 2, 3, 2, 3, 6, 7, 6, 7,
            10, 11, 10, 11, 14, 15, 14, 15);
        return multiplier_words(_mm256_shuffle_epi8(header, high), i);
    }
    // 16 where the byte has the bit of the mask
    static INLINE I sixteen_where(I x, I mask) {
        return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(x, mask), mask), _mm256_set1_epi8(16));
    }

    // of the integers of one sign in a 16-bit sum: half an addend less for each, since all may round up
    static float sum_limit(int level_max, int addends) { return 32767 / (2 * level_max) - addends / 2; }
    // its low 16 bits, for vpmaddwd
    static INLINE int32_t query_sum(int32_t sum, int) { return sum & 0xffff; }

    // what two packs within 128-bit lanes leave
    static INLINE int place(int g) { return g / 2 + g % 2 * 4; }
    static INLINE void store_u8(uint8_t * p, const I u[2]) { store_int(p, _mm256_packus_epi16(u[0], u[1])); }
    // pairs of positions in the order 0 1 4 5 | 2 3 6 7, and the same + 8
    static INLINE void store_pairs(int16_t * p, const vec pair[4], vec factor) {
        const I a = to_int(mul(_mm256_shuffle_ps(pair[0], pair[1], 0x88), factor));
        const I b = to_int(mul(_mm256_shuffle_ps(pair[2], pair[3], 0x88), factor));
        store_int(p, _mm256_packs_epi32(a, b));
    }
    template <typename WEIGHTS> static INLINE I add_weighted(I acc, I level, const WEIGHTS & w) {
        return in_order(_mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(w.u, level), w.s)));
    }
    static INLINE void natural_order(float * x) {
        const vec a = load(x);
        const vec b = load(x + 8);
        const vec c = load(x + 16);
        const vec d = load(x + 24);
        store(x, _mm256_permute2f128_ps(a, b, 0x20));
        store(x + 8, _mm256_permute2f128_ps(c, d, 0x20));
        store(x + 16, _mm256_permute2f128_ps(a, b, 0x31));
        store(x + 24, _mm256_permute2f128_ps(c, d, 0x31));
    }
};

#include "decode-x86.inl"
#include "decode-formats.inl"

// Dot products of a block of K by sums of 16 bits: no instruction adds up four products of bytes.
//
// Products of a quarter are multiplied by TURBO_MULT while still integers: for turbo types those of two registers are added up as 16
// bits first. That takes a bit off the query (query_step), an error of 1/80 of turbo4's own, and saves a sixth of the work per query
// vector. q8_0 would notice. Sums of two products, level*q <= 222*127, are together in -32768 .. 32767 by sum_limit.

INLINE __m256i products(__m256i level, const int8_t * q) { return _mm256_maddubs_epi16(level, simd::broadcast(q)); }

INLINE __m256i add_products(__m256i acc, __m256i products, __m256i mult) {
    return simd::in_order(_mm256_add_epi32(acc, _mm256_madd_epi16(products, mult)));
}

template <typename FMT, int NQ> struct dot_all {
    const int8_t * q[NQ];
    const multipliers & m;
    simd::I * acc;

    INLINE void operator()(simd::I a, simd::I b, int quarter, int dword_a, int dword_b) const {
        UNROLL for (int j = 0; j < NQ; ++j) {
            const __m256i pa = products(a, q[j] + 4 * dword_a);
            const __m256i pb = products(b, q[j] + 4 * dword_b);
            if (FMT::ADDENDS == 4) {
                acc[j] = add_products(acc[j], _mm256_add_epi16(pa, pb), m.quarter[quarter]);
            } else {
                acc[j] = add_products(acc[j], pa, m.quarter[quarter]);
                acc[j] = add_products(acc[j], pb, m.quarter[quarter]);
            }
        }
    }
};

// the sum without what the bias of the levels adds to it
INLINE __m256i unbias(__m256i acc, const __m256i * mult, const int32_t * sum, int quarters, int level_max) {
    __m256i s = _mm256_madd_epi16(mult[0], simd::broadcast(sum));
    for (int i = 1; i < quarters; ++i) {
        s = _mm256_add_epi32(s, _mm256_madd_epi16(mult[i], simd::broadcast(sum + i)));
    }
    return _mm256_sub_epi32(acc, _mm256_mullo_epi32(s, _mm256_set1_epi32(level_max)));
}

// sum[j] += query j . a block of simd::W rows
template <typename FMT, int NQ> INLINE void dot_block(rows row, const int_query<FMT::GROUP> * const * q, vec * sum) {
    const simd::I header = FMT::header(row);
    const multipliers m = FMT::mult(header);
    simd::I acc[NQ];
    dot_all<FMT, NQ> dot = { {}, m, acc };
    UNROLL for (int j = 0; j < NQ; ++j) {
        dot.q[j] = q[j]->q;
        acc[j] = simd::zero();
    }
    FMT::emit_k(row, dot);

    // at the end, so that the sums need not wait for it
    const vec d = FMT::scale(header);
    UNROLL for (int j = 0; j < NQ; ++j) {
        acc[j] = unbias(acc[j], m.quarter, q[j]->sum, FMT::QUARTERS, FMT::LEVEL_MAX);
        sum[j] = fma(mul(simd::to_float(acc[j]), d), set1(q[j]->scale), sum[j]);
    }
}

#include "decode-body.inl"
#include "decode-exp.inl"
#include "decode-bias.inl"
#include "decode-softmax.inl"
#include "soft-cap.inl"

} // namespace

extern const decode_kernels decode_kernels_avx2 = DECODE_TABLE("avx2");
