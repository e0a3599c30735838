// Eight floats for AVX2 + FMA + F16C. Every vec-*.inl has the same names, for bodies that are written once (decode-softmax.inl,
// prefill-kernels.inl, and those of decode for x86); vec-scalar.inl says what they mean.

typedef __m256 vec;
constexpr int WIDTH = 8;

INLINE vec load(const float * p) { return _mm256_loadu_ps(p); }
INLINE void store(float * p, vec x) { _mm256_storeu_ps(p, x); }
INLINE vec set1(float x) { return _mm256_set1_ps(x); }
INLINE float first(vec x) { return _mm256_cvtss_f32(x); }
INLINE vec add(vec a, vec b) { return _mm256_add_ps(a, b); }
INLINE vec sub(vec a, vec b) { return _mm256_sub_ps(a, b); }
INLINE vec mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
INLINE vec div(vec a, vec b) { return _mm256_div_ps(a, b); }
INLINE vec fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
INLINE vec fnma(vec a, vec b, vec c) { return _mm256_fnmadd_ps(a, b, c); }
INLINE vec max2(vec a, vec b) { return _mm256_max_ps(a, b); }
INLINE vec min2(vec a, vec b) { return _mm256_min_ps(a, b); }
INLINE float from_f16(uint16_t h) { return _cvtsh_ss(h); }
INLINE vec load_f16(const void * p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) p)); }
INLINE vec round_even(vec x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INLINE vec zero_below(vec x, vec s, vec low) { return _mm256_and_ps(x, _mm256_cmp_ps(s, low, _CMP_NLT_UQ)); }

INLINE vec times_pow2(vec x, vec n) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
}

INLINE vec pow2(vec n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}

INLINE vec keep_unless_hidden(vec x, vec s) { return _mm256_and_ps(x, _mm256_cmp_ps(s, set1(-INFINITY), _CMP_NEQ_UQ)); }

INLINE vec hide(vec x, vec m) { return _mm256_blendv_ps(x, m, _mm256_cmp_ps(m, set1(-INFINITY), _CMP_EQ_OQ)); }

INLINE float reduce_max(vec x) {
    const __m128 m4 = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 m2 = _mm_max_ps(m4, _mm_movehl_ps(m4, m4));
    return _mm_cvtss_f32(_mm_max_ss(m2, _mm_movehdup_ps(m2)));
}

INLINE float reduce_add(vec x) {
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

// sixteen bytes, and these as floats times d
typedef __m128i bytes;

INLINE bytes load_bytes(const void * p) { return _mm_loadu_si128((const __m128i *) p); }
INLINE bytes low_nibbles(bytes x) { return _mm_and_si128(x, _mm_set1_epi8(15)); }
INLINE bytes high_nibbles(bytes x) { return low_nibbles(_mm_srli_epi16(x, 4)); }
INLINE bytes minus8(bytes x) { return _mm_sub_epi8(x, _mm_set1_epi8(8)); }

INLINE void store_bytes(bytes x, float d, float * y) {
    store(y, mul(set1(d), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x))));
    store(y + 8, mul(set1(d), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(x, 8)))));
}
