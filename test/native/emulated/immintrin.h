// Stands in for <immintrin.h> where the AVX-512 kernels are compiled for the tests: their intrinsics become SIMDe's, which
// compute the same with AVX2. Below the few that SIMDe 0.7.4 (Debian 12) has not, written from Intel's Intrinsics Guide.
#pragma once

#include_next <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define EMULATED static inline __attribute__((always_inline))

EMULATED simde__m512i emulated_join(simde__m256i lo, simde__m256i hi) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(lo), hi, 1);
}

EMULATED simde__m256i emulated_half(simde__m512i x, int i) {
    return i == 0 ? simde_mm512_castsi512_si256(x) : simde_mm512_extracti64x4_epi64(x, 1);
}

EMULATED simde__m512 emulated_cvtph_ps(simde__m256i h) {
    return simde_mm512_castsi512_ps(emulated_join(_mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(h))),
        _mm256_castps_si256(_mm256_cvtph_ps(_mm256_extracti128_si256(h, 1)))));
}

EMULATED simde__m512i emulated_cvtepu8_epi32(__m128i x) {
    return emulated_join(_mm256_cvtepu8_epi32(x), _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)));
}

EMULATED simde__m512i emulated_cvtepi8_epi32(__m128i x) {
    return emulated_join(_mm256_cvtepi8_epi32(x), _mm256_cvtepi8_epi32(_mm_srli_si128(x, 8)));
}

#define EMULATED_NARROW(name, from_t, to_t, n, result) \
    EMULATED result name(simde__m512i x) { \
        union { \
            simde__m512i x; \
            from_t from[n]; \
        } u = { x }; \
        union { \
            result y; \
            to_t to[n]; \
        } v; \
        for (int i = 0; i < n; ++i) { v.to[i] = (to_t) u.from[i]; } \
        return v.y; \
    }

EMULATED_NARROW(emulated_cvtepi32_epi8, int32_t, int8_t, 16, __m128i)
EMULATED_NARROW(emulated_cvtepi32_epi16, int32_t, int16_t, 16, __m256i)
EMULATED_NARROW(emulated_cvtepi64_epi16, int64_t, int16_t, 8, __m128i)

// exact where the instruction may be off by 2^-14
EMULATED simde__m512 emulated_rcp14_ps(simde__m512 x) { return simde_mm512_div_ps(simde_mm512_set1_ps(1.0f), x); }

EMULATED simde__m512 emulated_cvtepi32_ps(simde__m512i x) {
    return simde_mm512_castsi512_ps(emulated_join(_mm256_castps_si256(_mm256_cvtepi32_ps(emulated_half(x, 0))),
        _mm256_castps_si256(_mm256_cvtepi32_ps(emulated_half(x, 1)))));
}

EMULATED simde__m512i emulated_cvtps_epi32(simde__m512 x) {
    const simde__m512i i = simde_mm512_castps_si512(x);
    return emulated_join(_mm256_cvtps_epi32(_mm256_castsi256_ps(emulated_half(i, 0))),
        _mm256_cvtps_epi32(_mm256_castsi256_ps(emulated_half(i, 1))));
}

EMULATED __m256 emulated_extractf32x8_ps(simde__m512 x, int i) {
    return _mm256_castsi256_ps(emulated_half(simde_mm512_castps_si512(x), i));
}

EMULATED simde__mmask64 emulated_cvtu64_mask64(uint64_t bits) { return bits; }

#undef _mm512_extractf32x8_ps
#undef _mm512_shuffle_f32x4
#define _mm512_cvtph_ps        emulated_cvtph_ps
#define _mm512_cvtepu8_epi32   emulated_cvtepu8_epi32
#define _mm512_cvtepi8_epi32   emulated_cvtepi8_epi32
#define _mm512_cvtepi32_epi8   emulated_cvtepi32_epi8
#define _mm512_cvtepi32_epi16  emulated_cvtepi32_epi16
#define _mm512_cvtepi64_epi16  emulated_cvtepi64_epi16
#define _mm512_rcp14_ps        emulated_rcp14_ps
#define _mm512_cvtepi32_ps     emulated_cvtepi32_ps
#define _mm512_cvtps_epi32     emulated_cvtps_epi32
#define _mm512_extractf32x8_ps emulated_extractf32x8_ps
#define _cvtu64_mask64         emulated_cvtu64_mask64
#define _mm512_shuffle_f32x4   simde_mm512_shuffle_f32x4
