// Products of q6_K weights for AVX-512 with BW, VL, DQ and VNNI. Compiled with its own flags: the rules of decode-avx2.cpp apply.

#include "q6-k.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

#include "vec-avx512.inl"

struct lanes {
    typedef __m512i I;
    static constexpr int VECTORS = 4;

    // values 0 .. 127 of a block have their low four bits in the first 64 bytes, the next 128 in the others
    static INLINE void unpack(const block_q6_K & x, I * q) {
        const I low = _mm512_set1_epi8(15), high = _mm512_set1_epi8(48);
        const I first = _mm512_inserti64x4(_mm512_set1_epi16(4), _mm256_set1_epi16(2), 1);
        const I second = _mm512_inserti64x4(_mm512_set1_epi16(0), _mm256_set1_epi16(2), 1);
        UNROLL for (int half = 0; half < 2; ++half) {
            const I l = _mm512_loadu_si512(x.ql + 64 * half);
            const I h = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *) (x.qh + 32 * half)));
            q[2 * half] =
                _mm512_or_si512(_mm512_and_si512(l, low), _mm512_and_si512(_mm512_sllv_epi16(h, first), high));
            q[2 * half + 1] = _mm512_or_si512(
                _mm512_and_si512(_mm512_srli_epi16(l, 4), low), _mm512_and_si512(_mm512_srlv_epi16(h, second), high));
        }
    }
    // four scales of 16 bits for each vector, each in the lanes of its 16 values
    static INLINE void spread(__m256i scales, I * out) {
        const I all = _mm512_castsi256_si512(scales);
        const I index =
            _mm512_shuffle_epi8(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), _mm512_set1_epi16((short) 0x8000));
        UNROLL for (int i = 0; i < VECTORS; ++i) {
            out[i] = _mm512_permutexvar_epi16(_mm512_add_epi16(index, _mm512_set1_epi16(4 * i)), all);
        }
    }
    static INLINE I widen(__m256i x) { return _mm512_inserti64x4(_mm512_setzero_si512(), x, 0); }
    static INLINE I products(I q, const int8_t * a) { return _mm512_maddubs_epi16(q, _mm512_loadu_si512(a)); }
    static INLINE I add_dot(I sum, I a, I b) { return _mm512_dpwssd_epi32(sum, a, b); }
    static INLINE vec to_float(I x) { return _mm512_cvtepi32_ps(x); }
};

#include "q6-k-x86.inl"

} // namespace

void turbo_q6_k_avx512(const turbo_q6_k_tile & t) { tile(t); }
