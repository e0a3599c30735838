// Levels of blocks of ggml's types with 32 values as signed bytes in natural order, for both x86 levels. Included within
// their anonymous namespaces.

// codes of 4 bits: of value i in the low half of byte i, of 16 + i in the high one
INLINE __m256i nibbles32(const uint8_t * qs) {
    const __m128i x = _mm_loadu_si128((const __m128i *) qs);
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(x, 4), x), _mm256_set1_epi8(15));
}

INLINE __m128i iq4_table(int bias) {
    const int8_t levels[16] = TURBO_IQ4_LEVELS;
    int8_t t[16];
    for (int i = 0; i < 16; ++i) { t[i] = (int8_t) (levels[i] + bias); }
    return _mm_loadu_si128((const __m128i *) t);
}

struct levels_q4_0 {
    static INLINE __m256i of(const char * p) {
        return _mm256_sub_epi8(nibbles32(((const turbo_block_q4 *) p)->qs), _mm256_set1_epi8(8));
    }
};

struct levels_iq4_nl {
    static INLINE __m256i of(const char * p) {
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(iq4_table(0)), nibbles32(((const turbo_block_q4 *) p)->qs));
    }
};

struct levels_q5_0 {
    static INLINE __m256i of(const char * p) {
        const turbo_block_q5 * block = (const turbo_block_q5 *) p;
        int32_t qh;
        memcpy(&qh, block->qh, sizeof(qh));
        const __m256i at   = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
        const __m256i mask = _mm256_set1_epi64x((long long) 0x8040201008040201);
        const __m256i bits = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(qh), at), mask);
        // 16 less without the bit
        return _mm256_or_si256(nibbles32(block->qs), _mm256_andnot_si256(_mm256_cmpeq_epi8(bits, mask), _mm256_set1_epi8((char) 0xf0)));
    }
};

// with the sign of d, since weights of V may not be negative
template <typename LEVELS> INLINE __m256i signed_levels(const char * p) {
    int16_t d;
    memcpy(&d, p, sizeof(d));
    return _mm256_sign_epi8(LEVELS::of(p), _mm256_set1_epi8(d < 0 ? -1 : 1));
}
