// Decode kernels for AVX-512 with BW, VL, DQ and VNNI. Compiled with its own flags: the rules of decode-avx2.cpp apply, and
// so do its comments on the arithmetic, which is the same with registers of twice the width.

#include "decode-kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

// Consecutive rows.
struct rows {
    const char * data;
    size_t       stride;

    INLINE const char * operator[](int p) const { return data + p*stride; }
    INLINE rows         from(int p)       const { return { data + p*stride, stride }; }
};

#include "decode-legacy-blocks.inl"

struct simd {
    static const int W     = 16;
    static const int CHUNK = 2; // registers of 32 values of four positions each

    typedef __m512i I;
    typedef __m512  F;
    typedef F       M; // multiplier of a quarter of a block

    // into L2: a tile of all heads, its successor beside it, is more than L1 holds
    static INLINE void prefetch(const char * p) { _mm_prefetch(p, _MM_HINT_T1); }

    //
    // integers
    //

    static INLINE I zero() { return _mm512_setzero_si512(); }
    static INLINE M one() { return set(1.0f); }
    static INLINE I broadcast(const void * p) {
        int32_t v;
        memcpy(&v, p, sizeof(v));
        return _mm512_set1_epi32(v);
    }
    static INLINE __m128i load16(const char * p) { return _mm_loadu_si128((const __m128i *) p); }
    static INLINE __m128i load8 (const char * p) { return _mm_loadl_epi64((const __m128i *) p); }
    static INLINE I join(__m256i lo, __m256i hi) { return _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1); }
    static INLINE I quarters(__m128i a, __m128i b, __m128i c, __m128i d) { return join(_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)); }
    static INLINE I each_quarter(__m128i x) { return _mm512_broadcast_i32x4(x); }

    static INLINE I low_nibbles (I x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
    static INLINE I high_nibbles(I x) { return low_nibbles(_mm512_srli_epi16(x, 4)); }
    static INLINE I lookup(I table, I index) { return _mm512_shuffle_epi8(table, index); }

    // bits of the mask from m, else from s
    static INLINE I select(I mask, I m, I s) { return _mm512_ternarylogic_epi32(mask, m, s, 0xca); }

    // Codes of turbo3, one in each nibble with bit 3 clear: of a byte, or from bits 3 and 7 of three bytes.
    static INLINE I codes3     (I x) { return _mm512_and_si512(x, _mm512_set1_epi8(0x77)); }
    static INLINE I high_codes3(I x) { return _mm512_srli_epi16(x, 4); }
    static INLINE I spread_codes3(I x0, I x1, I x2) {
        const I y = select(_mm512_set1_epi8(0x44), _mm512_srli_epi16(x0, 1), x1);
        return codes3(_mm512_srli_epi16(select(_mm512_set1_epi8(0x66), _mm512_srli_epi16(y, 1), x2), 1));
    }

    static INLINE I table4(int bias) {
        const uint8_t m[8] = TURBO4_MAGNITUDES;
        int8_t t[16];
        for (int i = 0; i < 8; ++i) {
            t[i]     = (int8_t) (bias + m[i]);
            t[i + 8] = (int8_t) (bias - m[i]);
        }
        return each_quarter(load16((const char *) t));
    }
    static INLINE I table3(int bias) {
        const uint8_t m[4] = TURBO3_MAGNITUDES;
        int8_t t[16];
        for (int i = 0; i < 16; ++i) { t[i] = (int8_t) (i/4 % 2 == 0 ? bias + m[i % 4] : bias - m[i % 4]); }
        return each_quarter(load16((const char *) t));
    }
    static INLINE I table_k4() { return table4(111); }
    static INLINE I table_v4() { return table4(0); }
    static INLINE I table_k3() { return table3(111); }
    static INLINE I table_v3() { return table3(0); }
    static INLINE I table_iq4() { return each_quarter(iq4_table(128)); }
    static INLINE I bias_q8(I x) { return _mm512_xor_si512(x, _mm512_set1_epi8(-128)); }

    //
    // block headers: fp16 d in the low half of a lane, four nibbles of sub-scales in the high half
    //

    // not by way of memory: a load of what sixteen stores have just written waits for all of them
    static INLINE int32_t dword(const char * p) {
        int32_t v;
        memcpy(&v, p, sizeof(v));
        return v;
    }
    static INLINE __m128i four_dwords(rows row) { return _mm_setr_epi32(dword(row[0]), dword(row[1]), dword(row[2]), dword(row[3])); }
    static INLINE I dwords(rows row) {
        return quarters(four_dwords(row), four_dwords(row.from(4)), four_dwords(row.from(8)), four_dwords(row.from(12)));
    }
    static INLINE I half_size(I header) { return _mm512_and_si512(header, _mm512_set1_epi32(0x7fff)); }
    static INLINE F half_to_float(I header) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(header)); }

    // TURBO_MULT of sub-scale i in the lowest bits of 16-bit lanes
    static INLINE I multiplier_words(I sub, int i) {
        const I at3 = i == 0 ? _mm512_slli_epi16(sub, 3) : _mm512_srli_epi16(sub, 4*i - 3);
        return _mm512_add_epi16(_mm512_and_si512(at3, _mm512_set1_epi16(0x78)), _mm512_set1_epi16(TURBO_MULT(0)));
    }
    static INLINE M multiplier(I header, int i) {
        alignas(64) float mult[16];
        UNROLL for (int sub = 0; sub < 16; ++sub) { mult[sub] = TURBO_MULT(sub); }
        return _mm512_permutexvar_ps(_mm512_srli_epi32(header, 16 + 4*i), _mm512_load_ps(mult)); // which looks at four bits
    }
    static INLINE void multipliers_of_tile(const I header[2], int16_t (*mult)[DECODE_TILE]) {
        const I sub = join(_mm512_cvtepi32_epi16(_mm512_srli_epi32(header[0], 16)), _mm512_cvtepi32_epi16(_mm512_srli_epi32(header[1], 16)));
        UNROLL for (int i = 0; i < 4; ++i) { _mm512_store_si512(mult[i], multiplier_words(sub, i)); }
    }

    //
    // K: one position per lane
    //

    // bits 4*i .. 4*i + 3 of a lane in bit 4 of its bytes
    static INLINE I bit4(I bits, int i) {
        const __m128i four = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        const I x = _mm512_shuffle_epi8(bits, each_quarter(_mm_add_epi8(four, _mm_set1_epi8(i/2))));
        return _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(x, _mm512_set1_epi32(i % 2 == 0 ? 0x08040201 : (int) 0x80402010)), 16);
    }
    static INLINE I either(I a, I b) { return _mm512_or_si512(a, b); }
    // 16 bytes of rows p, p + 4, p + 8 and p + 12
    static INLINE I load4(rows row, int p, int offset) {
        return quarters(load16(row[p] + offset), load16(row[p + 4] + offset), load16(row[p + 8] + offset), load16(row[p + 12] + offset));
    }
    // rows p, p + 4, p + 8, p + 12 in the quarters of a[p]: c[i] is dword i of all sixteen
    static INLINE void transpose(const I a[4], I c[4]) {
        const I t0 = _mm512_unpacklo_epi32(a[0], a[1]);
        const I t1 = _mm512_unpackhi_epi32(a[0], a[1]);
        const I t2 = _mm512_unpacklo_epi32(a[2], a[3]);
        const I t3 = _mm512_unpackhi_epi32(a[2], a[3]);
        c[0] = _mm512_unpacklo_epi64(t0, t2);
        c[1] = _mm512_unpackhi_epi64(t0, t2);
        c[2] = _mm512_unpacklo_epi64(t1, t3);
        c[3] = _mm512_unpackhi_epi64(t1, t3);
    }
    // dwords 0 .. 3 at the offset
    static INLINE void columns(rows row, int offset, I c[4]) {
        I a[4];
        UNROLL for (int p = 0; p < 4; ++p) { a[p] = load4(row, p, offset); }
        transpose(a, c);
    }
    static INLINE I dot4(I acc, I level, I q) { return _mm512_dpbusd_epi32(acc, level, q); }
    // sums of 32 bits have room for all
    static float sum_limit(int, int) { return INFINITY; }
    // what a sum begins with: the bias of the levels will add it
    static INLINE int32_t query_sum(int32_t sum, int level_max) { return -level_max*sum; }

    //
    // V: four positions in the bytes of a lane; register t of a chunk holds values 8*t .. 8*t + 3, 16 + 8*t .., 8*t + 4 ..,
    // 20 + 8*t .. in its quarters
    //

    static INLINE __m256i load32(const char * p) { return _mm256_loadu_si256((const __m256i *) p); }
    static INLINE void interleave(__m256i a, __m256i b, __m256i c, __m256i d, I x[2]) {
        const __m256i ab0 = _mm256_unpacklo_epi8(a, b);
        const __m256i ab1 = _mm256_unpackhi_epi8(a, b);
        const __m256i cd0 = _mm256_unpacklo_epi8(c, d);
        const __m256i cd1 = _mm256_unpackhi_epi8(c, d);
        x[0] = join(_mm256_unpacklo_epi16(ab0, cd0), _mm256_unpackhi_epi16(ab0, cd0));
        x[1] = join(_mm256_unpacklo_epi16(ab1, cd1), _mm256_unpackhi_epi16(ab1, cd1));
    }
    static INLINE void interleave(rows row, int offset, I x[2]) {
        interleave(load32(row[0] + offset), load32(row[1] + offset), load32(row[2] + offset), load32(row[3] + offset), x);
    }
    template <typename LEVELS> static INLINE void interleave_levels(rows row, I x[2]) {
        interleave(signed_levels<LEVELS>(row[0]), signed_levels<LEVELS>(row[1]), signed_levels<LEVELS>(row[2]), signed_levels<LEVELS>(row[3]), x);
    }
    // x[0]: bytes 0-3 and 8-11 of the 16 at the offset, x[1]: 4-7 and 12-15
    static INLINE void interleave16(rows row, int offset, __m256i x[2]) {
        const __m128i a = load16(row[0] + offset);
        const __m128i b = load16(row[1] + offset);
        const __m128i c = load16(row[2] + offset);
        const __m128i d = load16(row[3] + offset);
        const __m256i ab = _mm256_set_m128i(_mm_unpackhi_epi8(a, b), _mm_unpacklo_epi8(a, b));
        const __m256i cd = _mm256_set_m128i(_mm_unpackhi_epi8(c, d), _mm_unpacklo_epi8(c, d));
        x[0] = _mm256_unpacklo_epi16(ab, cd);
        x[1] = _mm256_unpackhi_epi16(ab, cd);
    }
    // bytes 0-3 and 4-7 of the 8 at the offset
    static INLINE __m256i interleave8(rows row, int offset) {
        const __m128i ab = _mm_unpacklo_epi8(load8(row[0] + offset), load8(row[1] + offset));
        const __m128i cd = _mm_unpacklo_epi8(load8(row[2] + offset), load8(row[3] + offset));
        return _mm256_set_m128i(_mm_unpackhi_epi16(ab, cd), _mm_unpacklo_epi16(ab, cd));
    }

    // words of N bytes of turbo3; those of 4 bytes fill the low half of a register
    template <int N> static constexpr int word_registers() { return 1; }
    template <int N> static INLINE void interleave_words(rows row, int offset, I x[3][2]) {
        __m256i y[2];
        if (N == 8) {
            I both[2];
            interleave(row, offset, both);
            UNROLL for (int k = 0; k < 2; ++k) { x[k][0] = both[k]; }
            interleave16(row, offset + 32, y);
            x[2][0] = join(y[0], y[1]);
        } else {
            interleave16(row, offset, y);
            UNROLL for (int k = 0; k < 2; ++k) { x[k][0] = _mm512_castsi256_si512(y[k]); }
            x[2][0] = _mm512_castsi256_si512(interleave8(row, offset + 16));
        }
    }
    // u: number within the half of the first value in the low nibbles
    template <int N, typename EMIT> static INLINE void emit_codes3(I table, I codes, int u, EMIT emit) {
        if (N == 8) {
            emit(lookup(table, codes),              u/16,       u % 16/8);
            emit(lookup(table, high_codes3(codes)), (u + N)/16, (u + N) % 16/8);
        } else {
            emit(lookup(table, join(_mm512_castsi512_si256(codes), _mm512_castsi512_si256(high_codes3(codes)))), u/16, u % 16/8);
        }
    }

    struct weights {
        alignas(32) uint8_t u[4][DECODE_TILE];
        alignas(32) int16_t s[DECODE_TILE/2];
        float scale;
    };

    // two products fit 16 bits, and u a byte
    template <int LEVEL_MAX> static constexpr int U_MAX() { return 32767/(2*LEVEL_MAX) > 255 ? 254 : 32767/(2*LEVEL_MAX) - 1; }

    template <int QUARTERS, int MULT_MAX, int LEVEL_MAX>
    static INLINE void weigh(const float * weight, const float * d, const int16_t (*mult)[DECODE_TILE], weights & out) {
        const float u_max = U_MAX<LEVEL_MAX>();
        const float x_max = QUARTERS == 1 ? u_max : u_max*(32768.0f/MULT_MAX); // vpmulhrsw divides by 2^15

        F x[2];
        F pair[2]; // the larger of two neighbours, twice
        F sum = set(0.0f);
        UNROLL for (int i = 0; i < 2; ++i) {
            const F w = load(weight + W*i);
            x[i]    = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(w, set(0.0f), _CMP_GT_OQ), mul(w, load(d + W*i)));
            pair[i] = _mm512_max_ps(x[i], _mm512_shuffle_ps(x[i], x[i], 0xb1));
            sum     = add(sum, x[i]);
        }
        const float total = sum_of(sum);
        const float inv   = total > 1e-30f ? 32767.0f/total : 0.0f;
        out.scale = total/32767.0f*(MULT_MAX/u_max);

        __m256i words[2];
        UNROLL for (int i = 0; i < 2; ++i) {
            const F per_pair = mul(_mm512_rcp14_ps(_mm512_max_ps(pair[i], set(1e-30f))), set(x_max));
            words[i] = _mm512_cvtepi32_epi16(_mm512_cvtps_epi32(mul(x[i], per_pair)));
            // the even lanes, as 16 bits
            _mm_storeu_si128((__m128i *) (out.s + W/2*i), _mm512_cvtepi64_epi16(_mm512_cvtps_epi32(mul(pair[i], set(inv)))));
        }
        const I y = join(words[0], words[1]);
        UNROLL for (int q = 0; q < QUARTERS; ++q) {
            const I u = QUARTERS == 1 ? y : _mm512_mulhrs_epi16(y, _mm512_load_si512(mult[q]));
            // a product of d that is not finite may have any sign
            _mm256_storeu_si256((__m256i *) out.u[q], _mm512_cvtepi16_epi8(_mm512_max_epi16(u, zero())));
        }
    }

    struct four_weights {
        I u;
        I s;
    };

    template <int QUARTERS, int GROUP> static INLINE four_weights weights_of(const weights & w, int chunk, int g) {
        const I s = broadcast(w.s + 2*g);
        if (GROUP == 64) {
            return { _mm512_mask_blend_epi32(0xf0f0, broadcast(w.u[2*chunk] + 4*g), broadcast(w.u[2*chunk + 1] + 4*g)), s };
        }
        return { broadcast(w.u[QUARTERS == 1 ? 0 : chunk] + 4*g), s };
    }
    static INLINE I add_weighted(I acc, I level, const four_weights & w) {
        return _mm512_dpwssd_epi32(acc, _mm512_maddubs_epi16(w.u, level), w.s);
    }
    static INLINE void natural_order(float * x) {
        const F a = load(x);
        const F b = load(x + 16);
        store(x,      _mm512_shuffle_f32x4(a, b, 0x88));
        store(x + 16, _mm512_shuffle_f32x4(a, b, 0xdd));
    }

    //
    // floats
    //

    static INLINE F    set  (float v)           { return _mm512_set1_ps(v); }
    static INLINE F    load (const float * p)   { return _mm512_loadu_ps(p); }
    static INLINE void store(float * p, F v)    { _mm512_storeu_ps(p, v); }
    static INLINE F    add  (F a, F b)          { return _mm512_add_ps(a, b); }
    static INLINE F    mul  (F a, F b)          { return _mm512_mul_ps(a, b); }
    static INLINE F    fma  (F a, F b, F c)     { return _mm512_fmadd_ps(a, b, c); }
    static INLINE F    to_float(I v)            { return _mm512_cvtepi32_ps(v); }
    static INLINE F    load_half(const void * p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) p)); }

    static INLINE float sum_of(F v) {
        const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
        const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
        const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
        return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
    }
    static INLINE float max_of(F v) {
        const __m256 s8 = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
        const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
        const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
        return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
    }

    // e^x for x <= 0 to 2 ulp; 0 below -87, NaN of a NaN
    static INLINE F exp(F x) {
        const F low  = set(-87.0f);
        const F v    = _mm512_max_ps(low, x);
        const F n    = _mm512_roundscale_ps(mul(v, set(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const F hi   = _mm512_fnmadd_ps(n, set(0.693359375f), v);
        const F r    = _mm512_fnmadd_ps(n, set(-2.12194440e-4f), hi);
        F p = set(1.9875691500e-4f);
        p = fma(p, r, set(1.3981999507e-3f));
        p = fma(p, r, set(8.3334519073e-3f));
        p = fma(p, r, set(4.1665795894e-2f));
        p = fma(p, r, set(1.6666665459e-1f));
        p = fma(p, r, set(5.0000001201e-1f));
        p = add(fma(mul(r, r), p, r), set(1.0f));
        const I e = _mm512_slli_epi32(_mm512_cvtps_epi32(n), 23);
        const F y = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), e));
        return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, low, _CMP_NLT_UQ), y);
    }
};

#include "decode-query.inl"
#include "decode-dot8.inl"
#include "decode-body.inl"
#include "decode-f16.inl"

INLINE float apply_mask(float * score, const uint16_t * mask, float slope) {
    const __m512 never = simd::set(-INFINITY);
    __m512 top = never;
    UNROLL for (int i = 0; i < 2; ++i) {
        __m512 x = simd::load(score + simd::W*i);
        if (mask != nullptr) {
            const __m512 m = simd::load_half(mask + simd::W*i);
            x = _mm512_mask_mov_ps(simd::fma(simd::set(slope), m, x), _mm512_cmp_ps_mask(m, never, _CMP_EQ_OQ), never);
            simd::store(score + simd::W*i, x);
        }
        top = _mm512_max_ps(x, top); // a NaN leaves top as it was
    }
    return simd::max_of(top);
}

INLINE float weights_of_logits(float * score, float max) {
    __m512 sum = simd::set(0.0f);
    UNROLL for (int i = 0; i < 2; ++i) {
        const __m512 w = simd::exp(_mm512_sub_ps(simd::load(score + simd::W*i), simd::set(max)));
        simd::store(score + simd::W*i, w);
        sum = simd::add(sum, w);
    }
    return simd::sum_of(sum);
}

INLINE float exp_of(float x) {
    return _mm_cvtss_f32(_mm512_castps512_ps128(simd::exp(simd::set(x))));
}

#include "decode-softmax.inl"

} // namespace

extern const decode_kernels decode_kernels_avx512 = {
    "avx512",
    softmax,
    {
        K_KERNELS(format_turbo4), K_KERNELS(format_turbo3), K_KERNELS(format_turbo4_64), K_KERNELS(format_turbo3_64),
        K_KERNELS(format_q8_0), K_KERNELS(format_q5_0), K_KERNELS(format_iq4_nl), K_KERNELS(format_q4_0), K_KERNELS_F16,
    },
    {
        V_KERNELS(format_turbo4), V_KERNELS(format_turbo3), V_KERNELS(format_turbo4_64), V_KERNELS(format_turbo3_64),
        V_KERNELS(format_q8_0), V_KERNELS(format_q5_0), V_KERNELS(format_iq4_nl), V_KERNELS(format_q4_0), V_KERNELS_F16,
    },
};
