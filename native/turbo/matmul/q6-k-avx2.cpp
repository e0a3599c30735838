// Products of q6_K weights for AVX2. Compiled with its own flags: the rules of decode-avx2.cpp apply.

#include "q6-k.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

namespace {

#include "vec-avx2.inl"

struct lanes {
    typedef __m256i I;
    static constexpr int VECTORS = 8;

    // values 0 .. 127 of a block have their low four bits in the first 64 bytes, the next 128 in the others
    static INLINE void unpack(const block_q6_K & x, I * q) {
        const I low = _mm256_set1_epi8(15), high = _mm256_set1_epi8(48);
        UNROLL for (int half = 0; half < 2; ++half) {
            const I a = _mm256_loadu_si256((const I *) (x.ql + 64 * half));
            const I b = _mm256_loadu_si256((const I *) (x.ql + 64 * half + 32));
            const I h = _mm256_loadu_si256((const I *) (x.qh + 32 * half));
            I * out = q + 4 * half;
            out[0] = _mm256_or_si256(_mm256_and_si256(a, low), _mm256_and_si256(_mm256_slli_epi16(h, 4), high));
            out[1] = _mm256_or_si256(_mm256_and_si256(b, low), _mm256_and_si256(_mm256_slli_epi16(h, 2), high));
            out[2] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(a, 4), low), _mm256_and_si256(h, high));
            out[3] = _mm256_or_si256(
                _mm256_and_si256(_mm256_srli_epi16(b, 4), low), _mm256_and_si256(_mm256_srli_epi16(h, 2), high));
        }
    }
    // two scales of 16 bits for each vector, each in the lanes of its 16 values
    static INLINE void spread(__m256i scales, I * out) {
        const I halves = _mm256_set1_epi16(0x0100);
        const I pick = _mm256_add_epi8(halves, _mm256_set_m128i(_mm_set1_epi8(2), _mm_setzero_si128()));
        UNROLL for (int i = 0; i < VECTORS; ++i) {
            out[i] = _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(scales, _mm256_set1_epi32(i)), pick);
        }
    }
    static INLINE I widen(__m256i x) { return x; }
    static INLINE I products(I q, const int8_t * a) {
        return _mm256_maddubs_epi16(q, _mm256_loadu_si256((const I *) a));
    }
    static INLINE I add_dot(I sum, I a, I b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
    static INLINE vec to_float(I x) { return _mm256_cvtepi32_ps(x); }
};

#include "q6-k-x86.inl"

} // namespace

void turbo_q6_k_avx2(const turbo_q6_k_tile & t) { tile(t); }
