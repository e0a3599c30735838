// Decode kernels for AVX2 + FMA + F16C. Compiled with its own flags: intrinsics and this file's own functions only, because
// an inline function shared with another file could be kept in this file's version for all of them.

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
    static const int W     = 8;
    static const int CHUNK = 4; // registers of 32 values of four positions each

    typedef __m256i I;
    typedef __m256  F;
    typedef I       M; // multiplier of a quarter of a block: 16 bits in both halves of a lane

    // into L2: a tile of all heads, its successor beside it, is more than L1 holds
    static INLINE void prefetch(const char * p) { _mm_prefetch(p, _MM_HINT_T1); }

    //
    // integers
    //

    // keeps GCC from turning a chain of sums into a tree, which takes more registers than there are
    static INLINE I in_order(I x) {
        __asm__("" : "+x"(x));
        return x;
    }
    static INLINE I zero() { return _mm256_setzero_si256(); }
    static INLINE M one() { return _mm256_set1_epi16(1); }
    static INLINE I broadcast(const void * p) {
        int32_t v;
        memcpy(&v, p, sizeof(v));
        return _mm256_set1_epi32(v);
    }
    static INLINE __m128i load16(const char * p) { return _mm_loadu_si128((const __m128i *) p); }
    static INLINE __m128i load8 (const char * p) { return _mm_loadl_epi64((const __m128i *) p); }
    static INLINE I join(__m128i lo, __m128i hi) { return _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1); }
    static INLINE I load2(const char * lo, const char * hi) {
        return _mm256_blend_epi32(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) lo)), _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) hi)), 0xf0);
    }

    static INLINE I low_nibbles (I x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
    static INLINE I high_nibbles(I x) { return low_nibbles(_mm256_srli_epi16(x, 4)); }
    static INLINE I lookup(I table, I index) { return _mm256_shuffle_epi8(table, index); }

    // Codes of turbo3, one in each nibble with bit 3 clear: of a byte, or from bits 3 and 7 of three bytes. A lookup sees bits 0 to 3,
    // and bit 7, which is 0 in both.
    static INLINE I codes3     (I x) { return _mm256_and_si256(x, _mm256_set1_epi8(0x77)); }
    static INLINE I spare_bits (I x) { return _mm256_andnot_si256(_mm256_set1_epi8(0x77), x); }
    static INLINE I high_codes3(I x) { return _mm256_srli_epi16(x, 4); }
    static INLINE I spread_codes3(I x0, I x1, I x2) {
        const I y = _mm256_or_si256(_mm256_srli_epi16(spare_bits(x0), 1), spare_bits(x1));
        return _mm256_srli_epi16(_mm256_or_si256(_mm256_srli_epi16(y, 1), spare_bits(x2)), 1);
    }

    // K levels are unsigned with a bias, which vpmaddubsw wants; V levels are signed, the weights are unsigned there
    static INLINE I table4(int bias) {
        const uint8_t m[8] = TURBO4_MAGNITUDES;
        int8_t t[16];
        for (int i = 0; i < 8; ++i) {
            t[i]     = (int8_t) (bias + m[i]);
            t[i + 8] = (int8_t) (bias - m[i]);
        }
        return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) t));
    }
    static INLINE I table3(int bias) {
        const uint8_t m[4] = TURBO3_MAGNITUDES;
        int8_t t[16];
        for (int i = 0; i < 16; ++i) { t[i] = (int8_t) (i/4 % 2 == 0 ? bias + m[i % 4] : bias - m[i % 4]); }
        return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) t));
    }
    static INLINE I table_k4() { return table4(111); }
    static INLINE I table_v4() { return table4(0); }
    static INLINE I table_k3() { return table3(111); }
    static INLINE I table_v3() { return table3(0); }
    static INLINE I table_iq4() { return _mm256_broadcastsi128_si256(iq4_table(128)); }
    static INLINE I bias_q8(I x) { return _mm256_xor_si256(x, _mm256_set1_epi8(-128)); }

    //
    // block headers: fp16 d in the low half of a lane, four nibbles of sub-scales in the high half
    //

    static INLINE int32_t dword(const char * p) {
        int32_t v;
        memcpy(&v, p, sizeof(v));
        return v;
    }
    static INLINE I dwords(rows row) {
        return _mm256_setr_epi32(dword(row[0]), dword(row[1]), dword(row[2]), dword(row[3]), dword(row[4]), dword(row[5]), dword(row[6]), dword(row[7]));
    }
    static INLINE I half_size(I header) { return _mm256_and_si256(header, _mm256_set1_epi32(0x7fff)); }
    static INLINE F half_to_float(I header) {
        const I low = _mm256_and_si256(header, _mm256_set1_epi32(0xffff));
        return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
    }
    // TURBO_MULT in both 16-bit halves of a lane
    static INLINE I multiplier(I header, int i) {
        const I high = _mm256_setr_epi8(2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15);
        return multiplier_words(_mm256_shuffle_epi8(header, high), i);
    }
    // TURBO_MULT of sub-scale i in the lowest bits of 16-bit lanes
    static INLINE I multiplier_words(I sub, int i) {
        const I at3 = i == 0 ? _mm256_slli_epi16(sub, 3) : _mm256_srli_epi16(sub, 4*i - 3);
        return _mm256_add_epi16(_mm256_and_si256(at3, _mm256_set1_epi16(0x78)), _mm256_set1_epi16(TURBO_MULT(0)));
    }
    static INLINE void multipliers_of_tile(const I header[4], int16_t (*mult)[DECODE_TILE]) {
        UNROLL for (int half = 0; half < 2; ++half) {
            const I sub = _mm256_packus_epi32(_mm256_srli_epi32(header[2*half], 16), _mm256_srli_epi32(header[2*half + 1], 16));
            UNROLL for (int i = 0; i < 4; ++i) { _mm256_store_si256((I *) (mult[i] + 16*half), multiplier_words(sub, i)); }
        }
    }

    //
    // K: one position per lane
    //

    // rows p and p + 4 in the halves of a[p]: c[i] is dword i of all eight
    static INLINE void transpose(const I a[4], I c[4]) {
        const I t0 = _mm256_unpacklo_epi32(a[0], a[1]);
        const I t1 = _mm256_unpackhi_epi32(a[0], a[1]);
        const I t2 = _mm256_unpacklo_epi32(a[2], a[3]);
        const I t3 = _mm256_unpackhi_epi32(a[2], a[3]);
        c[0] = _mm256_unpacklo_epi64(t0, t2);
        c[1] = _mm256_unpackhi_epi64(t0, t2);
        c[2] = _mm256_unpacklo_epi64(t1, t3);
        c[3] = _mm256_unpackhi_epi64(t1, t3);
    }
    // dwords 0 .. 3 at the offset
    static INLINE void columns(rows row, int offset, I c[4]) {
        I a[4];
        UNROLL for (int p = 0; p < 4; ++p) { a[p] = load2(row[p] + offset, row[p + 4] + offset); }
        transpose(a, c);
    }
    // bits 4*i .. 4*i + 3 of a lane in bit 4 of its bytes
    static INLINE I bit4(I bits, int i) {
        const __m128i four = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        const I x    = _mm256_shuffle_epi8(bits, _mm256_broadcastsi128_si256(_mm_add_epi8(four, _mm_set1_epi8(i/2))));
        const I mask = _mm256_set1_epi32(i % 2 == 0 ? 0x08040201 : (int) 0x80402010);
        return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(x, mask), mask), _mm256_set1_epi8(16));
    }
    static INLINE I either(I a, I b) { return _mm256_or_si256(a, b); }
    // 16-bit sums of two products of each register, level*q <= 222*127, together in -32768 .. 32767 by sum_limit; then
    // both sums of a lane, times the multiplier
    static INLINE I dot(I acc, I level, I q, I mult) {
        return in_order(_mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(level, q), mult)));
    }
    static INLINE I dot(I acc, I a, I qa, I b, I qb, I mult) {
        return in_order(_mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_add_epi16(_mm256_maddubs_epi16(a, qa), _mm256_maddubs_epi16(b, qb)), mult)));
    }
    // of the integers of one sign in a 16-bit sum: half an addend less for each, since all may round up
    static float sum_limit(int level_max, int addends) { return 32767/(2*level_max) - addends/2; }
    // its low 16 bits, for vpmaddwd
    static INLINE int32_t query_sum(int32_t sum, int) { return sum & 0xffff; }
    // the sum without what the bias of the levels adds to it
    static INLINE I unbias(I acc, const I * mult, const int32_t * sum, int quarters, int level_max) {
        I s = _mm256_madd_epi16(mult[0], broadcast(sum));
        for (int i = 1; i < quarters; ++i) {
            s = _mm256_add_epi32(s, _mm256_madd_epi16(mult[i], broadcast(sum + i)));
        }
        return _mm256_sub_epi32(acc, _mm256_mullo_epi32(s, _mm256_set1_epi32(level_max)));
    }

    //
    // V: four positions in the bytes of a lane; register t of a chunk holds values 4*t .. 4*t + 3 and 16 + 4*t .. 16 + 4*t + 3
    //

    static INLINE I load32(const char * p) { return _mm256_loadu_si256((const I *) p); }
    static INLINE void interleave(I a, I b, I c, I d, I x[4]) {
        const I ab0 = _mm256_unpacklo_epi8(a, b);
        const I ab1 = _mm256_unpackhi_epi8(a, b);
        const I cd0 = _mm256_unpacklo_epi8(c, d);
        const I cd1 = _mm256_unpackhi_epi8(c, d);
        x[0] = _mm256_unpacklo_epi16(ab0, cd0);
        x[1] = _mm256_unpackhi_epi16(ab0, cd0);
        x[2] = _mm256_unpacklo_epi16(ab1, cd1);
        x[3] = _mm256_unpackhi_epi16(ab1, cd1);
    }
    static INLINE void interleave(rows row, int offset, I x[4]) {
        interleave(load32(row[0] + offset), load32(row[1] + offset), load32(row[2] + offset), load32(row[3] + offset), x);
    }
    template <typename LEVELS> static INLINE void interleave_levels(rows row, I x[4]) {
        interleave(signed_levels<LEVELS>(row[0]), signed_levels<LEVELS>(row[1]), signed_levels<LEVELS>(row[2]), signed_levels<LEVELS>(row[3]), x);
    }
    // x[0]: bytes 0-3 and 8-11 of the 16 at the offset, x[1]: 4-7 and 12-15
    static INLINE void interleave16(rows row, int offset, I x[2]) {
        const __m128i a = load16(row[0] + offset);
        const __m128i b = load16(row[1] + offset);
        const __m128i c = load16(row[2] + offset);
        const __m128i d = load16(row[3] + offset);
        const I ab = join(_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b));
        const I cd = join(_mm_unpacklo_epi8(c, d), _mm_unpackhi_epi8(c, d));
        x[0] = _mm256_unpacklo_epi16(ab, cd);
        x[1] = _mm256_unpackhi_epi16(ab, cd);
    }
    // bytes 0-3 and 4-7 of the 8 at the offset
    static INLINE I interleave8(rows row, int offset) {
        const __m128i ab = _mm_unpacklo_epi8(load8(row[0] + offset), load8(row[1] + offset));
        const __m128i cd = _mm_unpacklo_epi8(load8(row[2] + offset), load8(row[3] + offset));
        return join(_mm_unpacklo_epi16(ab, cd), _mm_unpackhi_epi16(ab, cd));
    }

    // words of N bytes of turbo3, one half of the block in each half of a register
    template <int N> static constexpr int word_registers() { return N/4; }
    template <int N> static INLINE void interleave_words(rows row, int offset, I x[3][2]) {
        if (N == 8) {
            I y[4];
            interleave(row, offset, y);
            UNROLL for (int i = 0; i < 4; ++i) { x[i/2][i % 2] = y[i]; }
            interleave16(row, offset + 32, x[2]);
        } else {
            I y[2];
            interleave16(row, offset, y);
            UNROLL for (int i = 0; i < 2; ++i) { x[i][0] = y[i]; }
            x[2][0] = interleave8(row, offset + 16);
        }
    }
    // u: number within the half of the first value in the low nibbles
    template <int N, typename EMIT> static INLINE void emit_codes3(I table, I codes, int u, EMIT emit) {
        emit(lookup(table, codes),              u/16,       u % 16/4);
        emit(lookup(table, high_codes3(codes)), (u + N)/16, (u + N) % 16/4);
    }

    // Weights of a tile as u*s*scale: u a byte for each position and quarter, at most 146 so that two products with a level
    // fit 16 bits (126 for q8_0); s 15 bits for each pair of positions. So the error of a weight is 1/292 of the larger of
    // its pair, or 1/65534 of the tile's sum. Four positions g are dword place(g) of u, and pairs of 16 bits of s.
    struct weights {
        alignas(32) uint8_t u[4][DECODE_TILE];
        alignas(32) int16_t s[DECODE_TILE/2];
        float scale;
    };
    // what two packs within 128-bit lanes leave
    static INLINE int place(int g) { return g/2 + g % 2*4; }

    // two products fit 16 bits, and u a byte
    template <int LEVEL_MAX> static constexpr int U_MAX() { return 32767/(2*LEVEL_MAX) > 255 ? 254 : 32767/(2*LEVEL_MAX) - 1; }

    template <int QUARTERS, int MULT_MAX, int LEVEL_MAX>
    static INLINE void weigh(const float * weight, const float * d, const int16_t (*mult)[DECODE_TILE], weights & out) {
        const float u_max = U_MAX<LEVEL_MAX>();
        const float x_max = QUARTERS == 1 ? u_max : u_max*(32768.0f/MULT_MAX); // vpmulhrsw divides by 2^15

        F x[4];
        F pair[4]; // the larger of two neighbours, twice
        F sum = _mm256_setzero_ps();
        UNROLL for (int i = 0; i < 4; ++i) {
            const F w = _mm256_load_ps(weight + 8*i);
            x[i]    = _mm256_and_ps(_mm256_mul_ps(w, _mm256_load_ps(d + 8*i)), _mm256_cmp_ps(w, _mm256_setzero_ps(), _CMP_GT_OQ));
            pair[i] = _mm256_max_ps(x[i], _mm256_permute_ps(x[i], 0xb1));
            sum     = _mm256_add_ps(sum, x[i]);
        }
        const float total = sum_of(sum);
        const float inv   = total > 1e-30f ? 32767.0f/total : 0.0f;
        out.scale = total/32767.0f*(MULT_MAX/u_max);

        const F floor = _mm256_set1_ps(1e-30f);
        I y[4];
        UNROLL for (int i = 0; i < 4; ++i) {
            y[i] = _mm256_cvtps_epi32(_mm256_mul_ps(x[i], _mm256_mul_ps(_mm256_rcp_ps(_mm256_max_ps(pair[i], floor)), _mm256_set1_ps(x_max))));
        }
        const I a = _mm256_packs_epi32(y[0], y[1]);
        const I b = _mm256_packs_epi32(y[2], y[3]);
        UNROLL for (int q = 0; q < QUARTERS; ++q) {
            const I ua = QUARTERS == 1 ? a : _mm256_mulhrs_epi16(a, _mm256_load_si256((const I *) mult[q]));
            const I ub = QUARTERS == 1 ? b : _mm256_mulhrs_epi16(b, _mm256_load_si256((const I *) (mult[q] + 16)));
            _mm256_store_si256((I *) out.u[q], _mm256_packus_epi16(ua, ub));
        }

        const I sa = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_shuffle_ps(pair[0], pair[1], 0x88), _mm256_set1_ps(inv)));
        const I sb = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_shuffle_ps(pair[2], pair[3], 0x88), _mm256_set1_ps(inv)));
        // pairs of positions: sa = 0 1 4 5 | 2 3 6 7, sb the same + 8
        _mm256_store_si256((I *) out.s, _mm256_packs_epi32(sa, sb));
    }

    struct four_weights {
        I u;
        I s;
    };

    template <int QUARTERS, int GROUP> static INLINE four_weights weights_of(const weights & w, int chunk, int g) {
        const int at = 4*place(g);
        const I   s  = broadcast(w.s + at/2);
        if (GROUP == 64) {
            return { _mm256_blend_epi32(broadcast(w.u[2*chunk] + at), broadcast(w.u[2*chunk + 1] + at), 0xf0), s };
        }
        return { broadcast(w.u[QUARTERS == 1 ? 0 : chunk] + at), s };
    }
    static INLINE I add_weighted(I acc, I level, const four_weights & w) {
        return in_order(_mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(w.u, level), w.s)));
    }
    static INLINE void natural_order(float * x) {
        const F a = load(x);
        const F b = load(x + 8);
        const F c = load(x + 16);
        const F d = load(x + 24);
        store(x,      _mm256_permute2f128_ps(a, b, 0x20));
        store(x + 8,  _mm256_permute2f128_ps(c, d, 0x20));
        store(x + 16, _mm256_permute2f128_ps(a, b, 0x31));
        store(x + 24, _mm256_permute2f128_ps(c, d, 0x31));
    }

    //
    // floats
    //

    static INLINE F    set  (float v)           { return _mm256_set1_ps(v); }
    static INLINE F    load (const float * p)   { return _mm256_loadu_ps(p); }
    static INLINE F    load_half(const char * p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) p)); }
    static INLINE void store(float * p, F v)    { _mm256_storeu_ps(p, v); }
    static INLINE F    add  (F a, F b)          { return _mm256_add_ps(a, b); }
    static INLINE F    mul  (F a, F b)          { return _mm256_mul_ps(a, b); }
    static INLINE F    fma  (F a, F b, F c)     { return _mm256_fmadd_ps(a, b, c); }
    static INLINE F    to_float(I v)            { return _mm256_cvtepi32_ps(v); }

    static INLINE float sum_of(F v) {
        const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
        return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
    }
    static INLINE float max_of(F v) {
        const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
        return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
    }

    // e^x for x <= 0 to 2 ulp; 0 below -87, NaN of a NaN
    static INLINE F exp(F x) {
        const F low  = _mm256_set1_ps(-87.0f);
        const F v    = _mm256_max_ps(low, x);
        const F n    = _mm256_round_ps(_mm256_mul_ps(v, _mm256_set1_ps(1.44269504f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const F hi   = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), v);
        const F r    = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), hi);
        F p = _mm256_set1_ps(1.9875691500e-4f);
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
        p = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r), _mm256_set1_ps(1.0f));
        const I e = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
        const F y = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), e));
        return _mm256_and_ps(y, _mm256_cmp_ps(x, low, _CMP_NLT_UQ));
    }
};

#include "decode-query.inl"
#include "decode-dot16.inl"
#include "decode-body.inl"
#include "decode-f16.inl"

INLINE float apply_mask(float * score, const uint16_t * mask, float slope) {
    const __m256 never = _mm256_set1_ps(-INFINITY);
    __m256 top = never;
    UNROLL for (int i = 0; i < 4; ++i) {
        __m256 x = _mm256_load_ps(score + 8*i);
        if (mask != nullptr) {
            const __m256 m = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) (mask + 8*i)));
            x = _mm256_blendv_ps(_mm256_fmadd_ps(_mm256_set1_ps(slope), m, x), never, _mm256_cmp_ps(m, never, _CMP_EQ_OQ));
            _mm256_store_ps(score + 8*i, x);
        }
        top = _mm256_max_ps(x, top); // a NaN leaves top as it was
    }
    return simd::max_of(top);
}

INLINE float weights_of_logits(float * score, float max) {
    __m256 sum = _mm256_setzero_ps();
    UNROLL for (int i = 0; i < 4; ++i) {
        const __m256 w = simd::exp(_mm256_sub_ps(_mm256_load_ps(score + 8*i), _mm256_set1_ps(max)));
        _mm256_store_ps(score + 8*i, w);
        sum = _mm256_add_ps(sum, w);
    }
    return simd::sum_of(sum);
}

INLINE float exp_of(float x) {
    return _mm256_cvtss_f32(simd::exp(_mm256_set1_ps(x)));
}

#include "decode-softmax.inl"

} // namespace

extern const decode_kernels decode_kernels_avx2 = {
    "avx2",
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
