// Sixteen floats for AVX-512 with BW, VL and DQ: the names of vec-scalar.inl.

typedef __m512 vec;
constexpr int WIDTH = 16;

INLINE vec load(const float * p) { return _mm512_loadu_ps(p); }
INLINE void store(float * p, vec x) { _mm512_storeu_ps(p, x); }
INLINE vec set1(float x) { return _mm512_set1_ps(x); }
INLINE float first(vec x) { return _mm_cvtss_f32(_mm512_castps512_ps128(x)); }
INLINE vec add(vec a, vec b) { return _mm512_add_ps(a, b); }
INLINE vec sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
INLINE vec mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
INLINE vec div(vec a, vec b) { return _mm512_div_ps(a, b); }
INLINE vec fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
INLINE vec fnma(vec a, vec b, vec c) { return _mm512_fnmadd_ps(a, b, c); }
INLINE vec max2(vec a, vec b) { return _mm512_max_ps(a, b); }
INLINE vec min2(vec a, vec b) { return _mm512_min_ps(a, b); }
INLINE float from_f16(uint16_t h) { return _cvtsh_ss(h); }
INLINE vec load_f16(const void * p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) p)); }
INLINE vec round_even(vec x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INLINE vec zero_below(vec x, vec s, vec low) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(s, low, _CMP_NLT_UQ), x); }

INLINE vec times_pow2(vec x, vec n) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(_mm512_cvtps_epi32(n), 23)));
}

INLINE vec pow2(vec n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23));
}

INLINE vec keep_unless_hidden(vec x, vec s) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(s, set1(-INFINITY), _CMP_NEQ_UQ), x);
}

INLINE vec hide(vec x, vec m) { return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(m, set1(-INFINITY), _CMP_EQ_OQ), m); }

INLINE float reduce_max(vec x) {
    const __m256 m8 = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 m4 = _mm_max_ps(_mm256_castps256_ps128(m8), _mm256_extractf128_ps(m8, 1));
    const __m128 m2 = _mm_max_ps(m4, _mm_movehl_ps(m4, m4));
    return _mm_cvtss_f32(_mm_max_ss(m2, _mm_movehdup_ps(m2)));
}

INLINE float reduce_add(vec x) {
    const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

typedef __m128i bytes;

INLINE bytes load_bytes(const void * p) { return _mm_loadu_si128((const __m128i *) p); }
INLINE bytes low_nibbles(bytes x) { return _mm_and_si128(x, _mm_set1_epi8(15)); }
INLINE bytes high_nibbles(bytes x) { return low_nibbles(_mm_srli_epi16(x, 4)); }
INLINE bytes minus8(bytes x) { return _mm_sub_epi8(x, _mm_set1_epi8(8)); }

INLINE void store_bytes(bytes x, float d, float * y) {
    store(y, mul(set1(d), _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(x))));
}
