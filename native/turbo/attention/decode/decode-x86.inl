// What both x86 levels make of their `struct lanes`: integers of a block in registers, and the query that meets them. A level's
// file defines, within its anonymous namespace and after decode-rows.inl,
//   I, M               register of integers; multiplier of a quarter of a block, as dot_block takes it
//   bitwise and 16-bit arithmetic, unpack, shuffle and broadcasts, by the names of their instructions
//   what depends on how a register is divided: see decode-avx2.cpp
// includes this, and defines dot_block. W positions lie in the 32-bit lanes of a register; CHUNK registers hold 32 values of four
// positions each.

struct simd : lanes {
    static const int W = WIDTH;
    static const int CHUNK = 32 / W;

    // into L2: a tile of all heads, its successor beside it, is more than L1 holds
    static INLINE void prefetch(const char * p) { _mm_prefetch(p, _MM_HINT_T1); }

    static INLINE I low_nibbles(I x) { return bit_and(x, set1_epi8(15)); }
    static INLINE I high_nibbles(I x) { return low_nibbles(srli_epi16(x, 4)); }
    static INLINE I nibbles(I x, int high) { return high ? high_nibbles(x) : low_nibbles(x); }
    static INLINE I lookup(I table, I index) { return shuffle_epi8(table, index); }
    static INLINE I either(I a, I b) { return bit_or(a, b); }

    // Codes of turbo3, one in each nibble with bit 3 clear. A lookup sees bits 0 to 3, and bit 7, which is 0 in both.
    static INLINE I codes3(I x) { return bit_and(x, set1_epi8(0x77)); }
    static INLINE I high_codes3(I x) { return srli_epi16(x, 4); }

    // K levels are unsigned with a bias, which vpmaddubsw wants; V levels are signed, the weights are unsigned there
    static INLINE I table4(int bias) {
        const uint8_t m[8] = TURBO4_MAGNITUDES;
        int8_t t[16];
        for (int i = 0; i < 8; ++i) {
            t[i] = (int8_t) (bias + m[i]);
            t[i + 8] = (int8_t) (bias - m[i]);
        }
        return each_quarter(load16((const char *) t));
    }
    static INLINE I table3(int bias) {
        const uint8_t m[4] = TURBO3_MAGNITUDES;
        int8_t t[16];
        for (int i = 0; i < 16; ++i) { t[i] = (int8_t) (i / 4 % 2 == 0 ? bias + m[i % 4] : bias - m[i % 4]); }
        return each_quarter(load16((const char *) t));
    }
    static INLINE __m128i biased16(const int8_t * levels, int bias) {
        return _mm_add_epi8(load16((const char *) levels), _mm_set1_epi8((char) bias));
    }
    static INLINE I table16(const int8_t * levels, int bias) { return each_quarter(biased16(levels, bias)); }
    static INLINE I table_k4() { return table4(111); }
    static INLINE I table_v4() { return table4(0); }
    static INLINE I table_k3() { return table3(111); }
    static INLINE I table_v3() { return table3(0); }
    static INLINE I table_iq4() { return each_quarter(iq4_table(128)); }
    static INLINE I bias_q8(I x) { return bit_xor(x, set1_epi8(-128)); }

    //
    // block headers: fp16 d in the low half of a lane, four nibbles of sub-scales in the high half
    //

    static INLINE I half_size(I header) { return bit_and(header, set1_epi32(0x7fff)); }

    static INLINE void multipliers_of_tile(const I header[DECODE_TILE / W], int16_t (*mult)[DECODE_TILE]) {
        UNROLL for (int r = 0; r < CHUNK / 2; ++r) {
            const I sub = high_words(header[2 * r], header[2 * r + 1]);
            UNROLL for (int i = 0; i < 4; ++i) { store_int(mult[i] + 2 * W * r, multiplier_words(sub, i)); }
        }
    }

    //
    // K: one position per lane
    //

    // rows p, p + 4, ... in the 128-bit parts of a[p]: c[i] is dword i of all
    static INLINE void transpose(const I a[4], I c[4]) {
        const I t0 = unpacklo_epi32(a[0], a[1]);
        const I t1 = unpackhi_epi32(a[0], a[1]);
        const I t2 = unpacklo_epi32(a[2], a[3]);
        const I t3 = unpackhi_epi32(a[2], a[3]);
        c[0] = unpacklo_epi64(t0, t2);
        c[1] = unpackhi_epi64(t0, t2);
        c[2] = unpacklo_epi64(t1, t3);
        c[3] = unpackhi_epi64(t1, t3);
    }
    // dwords 0 .. 3 at the offset
    static INLINE void columns(rows row, int offset, I c[4]) {
        I a[4];
        UNROLL for (int p = 0; p < 4; ++p) { a[p] = load_quarters(row.from(p), offset); }
        transpose(a, c);
    }
    // each byte of a lane where the next one was, the last where the first was
    static INLINE I next_lane(I x) {
        return shuffle_epi8(x, each_quarter(_mm_setr_epi8(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14)));
    }
    // bits 4*i .. 4*i + 3 of a lane in bit 4 of its bytes
    static INLINE I bit4(I bits, int i) {
        const __m128i four = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        const I x = shuffle_epi8(bits, each_quarter(_mm_add_epi8(four, _mm_set1_epi8(i / 2))));
        return sixteen_where(x, set1_epi32(i % 2 == 0 ? 0x08040201 : (int) 0x80402010));
    }

    //
    // V: four positions in the bytes of a lane; the registers of a chunk hold the dwords of interleave32 in the order in which
    // `fill` puts two of its registers into one or two
    //

    static INLINE void interleave(rows row, int offset, I x[CHUNK]) {
        __m256i y[4];
        interleave32(row, offset, y);
        fill_chunk(y, x);
    }
    template <typename LEVELS> static INLINE void interleave_levels(rows row, I x[CHUNK]) {
        __m256i y[4];
        interleave_bytes(signed_levels<LEVELS>(row[0]), signed_levels<LEVELS>(row[1]), signed_levels<LEVELS>(row[2]),
            signed_levels<LEVELS>(row[3]), y);
        fill_chunk(y, x);
    }
    static INLINE void fill_chunk(const __m256i y[4], I x[CHUNK]) {
        fill(y, 2, x);
        fill(y + 2, 2, x + CHUNK / 2);
    }

    // Of a trellis (turbo-layout.h): the words of the values of a chunk, and the words before these. 4*N bytes at the offset are those
    // of a 128-bit part: the halves of a quarter, or for G = 64 two quarters.
    template <int G, int N> static INLINE void interleave_ring(rows row, int offset, I word[CHUNK], I before[CHUNK]) {
        const int skip = 4 - N; // three words are read behind what comes before them, since a row may end with them
        __m256i bytes[4];
        UNROLL for (int p = 0; p < 4; ++p) {
            const char * at = row[p] + offset - 4 * skip;
            bytes[p] = _mm256_set_m128i(load16(at + 4 * N), load16(at));
        }
        __m256i x[4];
        interleave_bytes(bytes[0], bytes[1], bytes[2], bytes[3], x);
        const __m256i wrapped = _mm256_permutevar8x32_epi32(
            x[3], G == 64 ? _mm256_setr_epi32(3, 0, 1, 2, 7, 4, 5, 6) : _mm256_setr_epi32(7, 4, 5, 6, 0, 1, 2, 3));
        const __m256i own[4] = { x[skip], x[1 + skip], x[2 + skip], x[3] };
        const __m256i first[4] = { wrapped, x[skip], x[1 + skip], x[2] };
        fill_chunk(own, word);
        fill_chunk(first, before);
    }
    static INLINE void tables_of_chunk(
        const int8_t * t0, const int8_t * t1, const int8_t * t2, const int8_t * t3, I x[CHUNK]) {
        const int8_t * const t[4] = { t0, t1, t2, t3 };
        __m256i y[4];
        UNROLL for (int e = 0; e < 4; ++e) { y[e] = _mm256_broadcastsi128_si256(biased16(t[e], 0)); }
        fill_chunk(y, x);
    }

    // words of N bytes of turbo3, one half of the block in each half of a 256-bit part; N = 4 may leave a register half empty
    template <int N> static constexpr int word_registers() { return N == 4 ? 1 : CHUNK / 2; }
    template <int N> static INLINE void interleave_words(rows row, int offset, I x[3][2]) {
        __m256i y[6];
        if (N == 8) {
            interleave32(row, offset, y);
            interleave16(row, offset + 32, y + 4);
        } else {
            interleave16(row, offset, y);
            y[2] = interleave8(row, offset + 16);
        }
        UNROLL for (int k = 0; k < 3; ++k) { fill(y + N / 4 * k, N / 4, x[k]); }
    }
    // u: number within the half of the first value in the low nibbles
    template <int N, typename EMIT> static INLINE void emit_codes3(I table, I codes, int u, EMIT emit) {
        if (N == 4 && W == 16) {
            emit(lookup(table, low_halves(codes, high_codes3(codes))), u / 16, u % 16 / 8);
        } else {
            emit(lookup(table, codes), u / 16, u % 16 / (W / 2));
            emit(lookup(table, high_codes3(codes)), (u + N) / 16, (u + N) % 16 / (W / 2));
        }
    }

    // Weights of a tile as u*s*scale: u a byte for each position and quarter, at most 146 so that two products with a level
    // fit 16 bits (126 for q8_0); s 15 bits for each pair of positions. So the error of a weight is 1/292 of the larger of
    // its pair, or 1/65534 of the tile's sum. Four positions g are dword place(g) of u, and pairs of 16 bits of s.
    struct weights {
        alignas(32) uint8_t u[4][DECODE_TILE];
        alignas(32) int16_t s[DECODE_TILE / 2];
        float scale;
    };

    // two products fit 16 bits, and u a byte
    template <int LEVEL_MAX> static constexpr int U_MAX() {
        return 32767 / (2 * LEVEL_MAX) > 255 ? 254 : 32767 / (2 * LEVEL_MAX) - 1;
    }

    template <int QUARTERS, int MULT_MAX, int LEVEL_MAX>
    static INLINE void weigh(const float * weight, const float * d, const int16_t (*mult)[DECODE_TILE], weights & out) {
        const float u_max = U_MAX<LEVEL_MAX>();
        const float x_max = QUARTERS == 1 ? u_max : u_max * (32768.0f / MULT_MAX); // vpmulhrsw divides by 2^15

        vec x[CHUNK];
        vec pair[CHUNK]; // the larger of two neighbors, twice
        vec sum = set1(0.0f);
        UNROLL for (int i = 0; i < CHUNK; ++i) {
            const vec w = load(weight + W * i);
            x[i] = positive_part(w, mul(w, load(d + W * i)));
            pair[i] = max2(x[i], swap_pairs(x[i]));
            sum = add(sum, x[i]);
        }
        const float total = reduce_add(sum);
        const float inv = total > 1e-30f ? 32767.0f / total : 0.0f;
        out.scale = total / 32767.0f * (MULT_MAX / u_max);

        I y[CHUNK];
        UNROLL for (int i = 0; i < CHUNK; ++i) {
            y[i] = to_int(mul(x[i], mul(reciprocal(max2(pair[i], set1(1e-30f))), set1(x_max))));
        }
        I words[CHUNK / 2];
        UNROLL for (int r = 0; r < CHUNK / 2; ++r) { words[r] = low_words(y[2 * r], y[2 * r + 1]); }
        UNROLL for (int q = 0; q < QUARTERS; ++q) {
            I u[CHUNK / 2];
            UNROLL for (int r = 0; r < CHUNK / 2; ++r) {
                u[r] = QUARTERS == 1 ? words[r] : mulhrs_epi16(words[r], load_int(mult[q] + 2 * W * r));
            }
            store_u8(out.u[q], u);
        }
        store_pairs(out.s, pair, set1(inv));
    }

    struct four_weights {
        I u;
        I s;
    };

    template <int QUARTERS, int GROUP> static INLINE four_weights weights_of(const weights & w, int chunk, int g) {
        const int at = 4 * place(g);
        const I s = broadcast(w.s + at / 2);
        if (GROUP == 64) {
            return { blend_quarters(broadcast(w.u[2 * chunk] + at), broadcast(w.u[2 * chunk + 1] + at)), s };
        }
        return { broadcast(w.u[QUARTERS == 1 ? 0 : chunk] + at), s };
    }
};

//
// The query: int8 with one scale per block of the cache, in the order in which a format's levels come out of their registers
// (format::value).
//

template <int G> struct int_query {
    int8_t q[G]; // in the order of format::value
    int32_t sum[4]; // of q over each quarter, as lanes::query_sum has it
    float scale; // of the integer sums
    int32_t pad[(G == 32 ? 3 : 11)];
};

template <typename FMT> size_t query_size_int(int dim) { return sizeof(int_query<FMT::GROUP>) * (dim / FMT::GROUP); }

// max over lanes of pairs of neighbors' sums
static INLINE __m128 larger_pair(__m128 most, __m128 x) {
    return _mm_max_ps(most, _mm_add_ps(x, _mm_shuffle_ps(x, x, 0xb1)));
}

static INLINE float max_of_four(__m128 x) {
    const __m128 y = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_shuffle_ps(y, y, 1)));
}

// Size of an integer step, NaN when a value is not finite. Integers are as large as simd::dot can take: 127, and less where
// the addends of one sign in a 16-bit sum would overflow it together. x in the order of format::value.
template <typename FMT> float query_step(const float * x) {
    const __m128 zero = _mm_setzero_ps();
    __m128 most = zero;
    __m128 sum = zero; // of addends of one sign
    __m128 shown = zero; // NaN when a value is not finite
    for (int i = 0; i < FMT::GROUP; i += 8) {
        const __m128 a = _mm_load_ps(x + i);
        const __m128 b = _mm_load_ps(x + i + 4);
        const __m128 up_a = _mm_max_ps(a, zero);
        const __m128 up_b = _mm_max_ps(b, zero);
        const __m128 dn_a = _mm_max_ps(_mm_sub_ps(zero, a), zero);
        const __m128 dn_b = _mm_max_ps(_mm_sub_ps(zero, b), zero);
        most = _mm_max_ps(most, _mm_max_ps(_mm_max_ps(up_a, dn_a), _mm_max_ps(up_b, dn_b)));
        if (FMT::ADDENDS == 4) {
            sum = larger_pair(larger_pair(sum, _mm_add_ps(up_a, up_b)), _mm_add_ps(dn_a, dn_b));
        } else {
            sum = larger_pair(larger_pair(larger_pair(larger_pair(sum, up_a), up_b), dn_a), dn_b);
        }
        shown = _mm_add_ps(shown, _mm_mul_ps(zero, _mm_add_ps(a, b)));
    }
    const float by_most = max_of_four(most) / 127.0f;
    const float by_sum = max_of_four(sum) / lanes::sum_limit(FMT::LEVEL_MAX, FMT::ADDENDS);
    shown = _mm_add_ps(shown, _mm_movehl_ps(shown, shown));
    return _mm_cvtss_f32(shown) + _mm_cvtss_f32(_mm_shuffle_ps(shown, shown, 1)) +
           (by_most > by_sum ? by_most : by_sum);
}

static INLINE __m128i integers_of(const float * x, __m128 inv) {
    return _mm_cvtps_epi32(_mm_mul_ps(_mm_load_ps(x), inv));
}

// 16 values; returns their sum
static INLINE int query_bytes(const float * x, __m128 inv, int8_t * q) {
    const __m128i a = _mm_packs_epi32(integers_of(x, inv), integers_of(x + 4, inv));
    const __m128i b = _mm_packs_epi32(integers_of(x + 8, inv), integers_of(x + 12, inv));
    _mm_storeu_si128((__m128i *) q, _mm_packs_epi16(a, b));
    const __m128i four = _mm_madd_epi16(_mm_add_epi16(a, b), _mm_set1_epi16(1));
    const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return _mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 1);
}

template <typename FMT> void query_int(const float * values, int dim, float scale, void * query) {
    const int G = FMT::GROUP;
    const int QUARTER = G / FMT::QUARTERS;
    int_query<G> * out = (int_query<G> *) query;
    for (int k = 0; k < dim; k += G, ++out, values += G) {
        alignas(16) float x[G];
        UNROLL for (int i = 0; i < G; ++i) { x[i] = values[FMT::value(i)]; }
        const float step = query_step<FMT>(x);
        const __m128 inv = _mm_set1_ps(step > 0.0f ? 1.0f / step : 0.0f);
        for (int i = 0; i < 4; ++i) { out->sum[i] = 0; }
        for (int i = 0; i < G; i += 16) { out->sum[i / QUARTER] += query_bytes(x + i, inv, out->q + i); }
        for (int i = 0; i < 4; ++i) { out->sum[i] = lanes::query_sum(out->sum[i], FMT::LEVEL_MAX); }
        out->scale = scale * FMT::UNIT * step;
    }
}
