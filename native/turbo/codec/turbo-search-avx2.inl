// The quantizer's search with AVX2. Included by the files of the x86 levels, each of which compiles it with its own flags
// and defines INLINE; intrinsics and static functions only.

// Thresholds of one sub-scale in both 16-byte halves, biased by -128 for signed comparison: byte k is threshold k.
// sums: levels k and k + 1 added up, 8 of 16 bits.
INLINE __m256i search_thresholds(__m128i sums, int mult) {
    const __m128i t =
        _mm_srli_epi16(_mm_add_epi16(_mm_mullo_epi16(sums, _mm_set1_epi16(mult)), _mm_set1_epi16(128)), 8);
    const __m128i biased = _mm_sub_epi16(t, _mm_set1_epi16(1 + 128));
    return _mm256_broadcastsi128_si256(_mm_packs_epi16(biased, biased));
}

// Index of the nearest level of 32 values, by bisection: `a` as the thresholds, that is minus 128.
INLINE __m256i search_nearest(__m256i a, __m256i thresholds, int n_levels) {
    const __m256i above = _mm256_cmpgt_epi8(a, _mm256_shuffle_epi8(thresholds, _mm256_set1_epi8(n_levels / 2 - 1)));
    __m256i i = _mm256_and_si256(above, _mm256_set1_epi8(n_levels / 2));
    if (n_levels == 8) {
        const __m256i t = _mm256_shuffle_epi8(_mm256_srli_si256(thresholds, 1), i);
        i = _mm256_or_si256(i, _mm256_and_si256(_mm256_cmpgt_epi8(a, t), _mm256_set1_epi8(2)));
    }
    return _mm256_sub_epi8(i, _mm256_cmpgt_epi8(a, _mm256_shuffle_epi8(thresholds, i)));
}

// sums of four vectors
INLINE __m128i search_fold(const __m256i v[4]) {
    const __m256i s = _mm256_hadd_epi32(_mm256_hadd_epi32(v[0], v[1]), _mm256_hadd_epi32(v[2], v[3]));
    return _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
}

INLINE void search_n(const struct turbo_format * f, int n_levels, int quarter, const int16_t * a, int first, int step,
    struct turbo_fit * fit) {
    const int chunks = 4 * quarter / 32;
    uint8_t magnitude[16] = { 0 };
    uint16_t sum[8] = { 0 };
    memcpy(magnitude, f->levels, n_levels);
    for (int k = 0; k + 1 < n_levels; ++k) { sum[k] = f->levels[k] + f->levels[k + 1]; }
    const __m128i sums = _mm_loadu_si128((const __m128i *) sum);
    const __m256i levels = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) magnitude));

    __m256i half[8]; // 16 values each
    __m256i
        byte[4]; // 32 values; the low 8 bytes of each 16 are of the even half: unpacking gives the halves' order back
    for (int c = 0; c < chunks; ++c) {
        half[2 * c] = _mm256_loadu_si256((const __m256i *) (a + 32 * c));
        half[2 * c + 1] = _mm256_loadu_si256((const __m256i *) (a + 32 * c + 16));
        byte[c] = _mm256_xor_si256(_mm256_set1_epi8(-128),
            _mm256_packus_epi16(_mm256_srli_epi16(half[2 * c], 5), _mm256_srli_epi16(half[2 * c + 1], 5)));
    }

    __m128 best = _mm_set1_ps(__builtin_inff());
    __m128i best_s = _mm_setzero_si128();
    __m128i best_dot = _mm_setzero_si128();
    __m128i best_norm = _mm_setzero_si128();
    for (int s = first; s < 16; s += step) {
        const int mult = TURBO_MULT(s);
        const __m256i th = search_thresholds(sums, mult);
        __m256i dots[4];
        __m256i norms[4];
        for (int c = 0; c < chunks; ++c) {
            const __m256i level = _mm256_shuffle_epi8(levels, search_nearest(byte[c], th, n_levels));
            const __m256i lo = _mm256_unpacklo_epi8(level, _mm256_setzero_si256());
            const __m256i hi = _mm256_unpackhi_epi8(level, _mm256_setzero_si256());
            const __m256i dot[2] = { _mm256_madd_epi16(half[2 * c], lo), _mm256_madd_epi16(half[2 * c + 1], hi) };
            const __m256i norm[2] = { _mm256_madd_epi16(lo, lo), _mm256_madd_epi16(hi, hi) };
            if (quarter == 32) {
                dots[c] = _mm256_add_epi32(dot[0], dot[1]);
                norms[c] = _mm256_add_epi32(norm[0], norm[1]);
            } else {
                dots[2 * c] = dot[0];
                dots[2 * c + 1] = dot[1];
                norms[2 * c] = norm[0];
                norms[2 * c + 1] = norm[1];
            }
        }
        const __m128i dot = search_fold(dots);
        const __m128i norm = search_fold(norms);

        const __m128i inner = _mm_sub_epi32(_mm_mullo_epi32(norm, _mm_set1_epi32(mult)), _mm_slli_epi32(dot, 3));
        const __m128 error = _mm_mul_ps(_mm_cvtepi32_ps(inner), _mm_set1_ps(mult));
        const __m128 less = _mm_cmplt_ps(error, best);
        const __m128i better = _mm_castps_si128(less);
        best = _mm_blendv_ps(best, error, less);
        best_s = _mm_blendv_epi8(best_s, _mm_set1_epi32(s), better);
        best_dot = _mm_blendv_epi8(best_dot, dot, better);
        best_norm = _mm_blendv_epi8(best_norm, norm, better);
    }

    int32_t out[3][4];
    _mm_storeu_si128((__m128i *) out[0], best_s);
    _mm_storeu_si128((__m128i *) out[1], best_dot);
    _mm_storeu_si128((__m128i *) out[2], best_norm);
    for (int i = 0; i < TURBO_SUBSCALES; ++i) {
        fit[i].s = out[0][i];
        fit[i].dot = out[1][i];
        fit[i].norm = out[2][i];
    }
}

static void search(const struct turbo_format * f, const int16_t * a, int first, int step, struct turbo_fit * fit) {
    if (f->n_levels == 8) {
        if (f->quarter == 32) {
            search_n(f, 8, 32, a, first, step, fit);
        } else {
            search_n(f, 8, 16, a, first, step, fit);
        }
    } else if (f->quarter == 32) {
        search_n(f, 4, 32, a, first, step, fit);
    } else {
        search_n(f, 4, 16, a, first, step, fit);
    }
}
