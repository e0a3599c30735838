// Metrics of paths for both x86 levels, as turbo-path.inl wants them. A level's file has defined
//   least_sums(paths, level, x, level2, x2, two)   `extend` from m & ~15 | code before, without the subtraction at its end

typedef __m256i metrics;

INLINE metrics equal_metrics(void) { return _mm256_setzero_si256(); }

INLINE __m256i state_numbers(void) { return _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }

INLINE __m256i without_origin(__m256i m) { return _mm256_and_si256(m, _mm256_set1_epi16((short) 0xfff0)); }

INLINE metrics one_metric(int state) {
    return without_origin(
        _mm256_xor_si256(_mm256_cmpeq_epi16(state_numbers(), _mm256_set1_epi16((short) state)), _mm256_set1_epi16(-1)));
}

INLINE void store_metrics(uint16_t * p, metrics m) { _mm256_storeu_si256((__m256i *) p, m); }

INLINE metrics extend(
    metrics m, const int16_t (*level)[TURBO_STATES], int x, const int16_t (*level2)[TURBO_STATES], int x2, int two) {
    const __m256i best =
        least_sums(_mm256_or_si256(without_origin(m), state_numbers()), level, (short) x, level2, (short) x2, two);
    const __m128i least =
        _mm_minpos_epu16(_mm_min_epu16(_mm256_castsi256_si128(best), _mm256_extracti128_si256(best, 1)));
    return _mm256_sub_epi16(best, without_origin(_mm256_broadcastw_epi16(least)));
}

#include "turbo-path.inl"
