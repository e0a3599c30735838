// Rows of the cache in registers of 256 bits and fewer, for both x86 levels. Included within their anonymous namespaces, before
// `struct lanes`.

// Consecutive rows.
struct rows {
    const char * data;
    size_t stride;

    INLINE const char * operator[](int p) const { return data + p * stride; }
    INLINE rows from(int p) const { return { data + p * stride, stride }; }
};

INLINE int32_t dword(const void * p) {
    int32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}
INLINE __m128i load8(const char * p) { return _mm_loadl_epi64((const __m128i *) p); }
INLINE __m128i load16(const char * p) { return _mm_loadu_si128((const __m128i *) p); }
INLINE __m256i load32(const char * p) { return _mm256_loadu_si256((const __m256i *) p); }

//
// levels of blocks of ggml's types with 32 values, as signed bytes in natural order
//

// codes of 4 bits: of value i in the low half of byte i, of 16 + i in the high one
INLINE __m256i nibbles32(const uint8_t * qs) {
    const __m128i x = _mm_loadu_si128((const __m128i *) qs);
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(x, 4), x), _mm256_set1_epi8(15));
}

INLINE __m128i iq4_table(int bias) {
    const int8_t levels[16] = IQ4_NL_LEVELS;
    int8_t t[16];
    for (int i = 0; i < 16; ++i) { t[i] = (int8_t) (levels[i] + bias); }
    return _mm_loadu_si128((const __m128i *) t);
}

struct levels_q4_0 {
    static INLINE __m256i of(const char * p) {
        return _mm256_sub_epi8(nibbles32(((const block_q4_0 *) p)->qs), _mm256_set1_epi8(8));
    }
};

struct levels_iq4_nl {
    static INLINE __m256i of(const char * p) {
        return _mm256_shuffle_epi8(
            _mm256_broadcastsi128_si256(iq4_table(0)), nibbles32(((const block_iq4_nl *) p)->qs));
    }
};

struct levels_q5_0 {
    static INLINE __m256i of(const char * p) {
        const block_q5_0 * block = (const block_q5_0 *) p;
        const __m256i at = _mm256_setr_epi8(
            0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
        const __m256i mask = _mm256_set1_epi64x((long long) 0x8040201008040201);
        const __m256i bits = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(dword(block->qh)), at), mask);
        // 16 less without the bit
        return _mm256_or_si256(
            nibbles32(block->qs), _mm256_andnot_si256(_mm256_cmpeq_epi8(bits, mask), _mm256_set1_epi8((char) 0xf0)));
    }
};

// with the sign of d, since weights of V may not be negative
template <typename LEVELS> INLINE __m256i signed_levels(const char * p) {
    int16_t d;
    memcpy(&d, p, sizeof(d));
    return _mm256_sign_epi8(LEVELS::of(p), _mm256_set1_epi8(d < 0 ? -1 : 1));
}

//
// byte i of four rows in the bytes of a dword
//

INLINE void interleave_bytes(__m256i a, __m256i b, __m256i c, __m256i d, __m256i x[4]) {
    const __m256i ab0 = _mm256_unpacklo_epi8(a, b);
    const __m256i ab1 = _mm256_unpackhi_epi8(a, b);
    const __m256i cd0 = _mm256_unpacklo_epi8(c, d);
    const __m256i cd1 = _mm256_unpackhi_epi8(c, d);
    x[0] = _mm256_unpacklo_epi16(ab0, cd0);
    x[1] = _mm256_unpackhi_epi16(ab0, cd0);
    x[2] = _mm256_unpacklo_epi16(ab1, cd1);
    x[3] = _mm256_unpackhi_epi16(ab1, cd1);
}
// x[t]: bytes 4*t .. 4*t + 3 and 16 + 4*t .. 16 + 4*t + 3 of the 32 at the offset
INLINE void interleave32(rows row, int offset, __m256i x[4]) {
    interleave_bytes(
        load32(row[0] + offset), load32(row[1] + offset), load32(row[2] + offset), load32(row[3] + offset), x);
}
// x[0]: bytes 0-3 and 8-11 of the 16 at the offset, x[1]: 4-7 and 12-15
INLINE void interleave16(rows row, int offset, __m256i x[2]) {
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
INLINE __m256i interleave8(rows row, int offset) {
    const __m128i ab = _mm_unpacklo_epi8(load8(row[0] + offset), load8(row[1] + offset));
    const __m128i cd = _mm_unpacklo_epi8(load8(row[2] + offset), load8(row[3] + offset));
    return _mm256_set_m128i(_mm_unpackhi_epi16(ab, cd), _mm_unpacklo_epi16(ab, cd));
}
