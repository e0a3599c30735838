// The body of both x86 levels, over the `struct lanes` of their files: I, a register of lanes::VECTORS to a block of weights.
//
// A weight is d * scale * (q - 32) with q of 6 bits, a scale for each 16. q * activation fits 16 bits for two neighbors
// (63 * 128 * 2), which the multiplication by the scale adds up to 32 bits; 32 is taken off by the sums of 16 activations that
// q8_K stores. Whole numbers up to there: a block's sum has no order.

constexpr int MAX_COLUMNS = 8;

// Bytes of weights ahead. A token's weights come from memory once and wait for nothing but that; with more columns there is
// enough to do meanwhile. (One column of 54 MB of weights, by a throw-away
// program on an AMD EPYC: 1.5 ms without, 1.1 ms with 8 KiB, 1.0 ms with 16.)
constexpr int AHEAD = 16 * 1024, AHEAD_COLUMNS = 4;

INLINE void prefetch(const block_q6_K * x) {
    const char * next = (const char *) x + AHEAD;
    UNROLL for (size_t line = 0; line < sizeof(*x); line += 64) { _mm_prefetch(next + line, _MM_HINT_T0); }
}

template <int n>
INLINE void columns(const turbo_q6_k_tile & t, const block_q6_K * x, const block_q8_K * y, float * dst) {
    typedef typename lanes::I I;
    vec sum[n];
    UNROLL for (int c = 0; c < n; ++c) { sum[c] = set1(0.0f); }
    for (int64_t b = 0; b < t.n_block; ++b) {
        I q[lanes::VECTORS], scale[lanes::VECTORS];
        if (n <= AHEAD_COLUMNS) { prefetch(x + b); }
        lanes::unpack(x[b], q);
        const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) x[b].scales));
        lanes::spread(scales, scale);
        const __m256i minus32 = _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(scales, 5));
        const float d = from_f16(x[b].d);
        UNROLL for (int c = 0; c < n; ++c) {
            const block_q8_K & a = y[c * t.y_stride + b];
            I dot = lanes::widen(_mm256_madd_epi16(minus32, _mm256_loadu_si256((const __m256i *) a.bsums)));
            UNROLL for (int i = 0; i < lanes::VECTORS; ++i) {
                dot = lanes::add_dot(dot, lanes::products(q[i], a.qs + i * (QK_K / lanes::VECTORS)), scale[i]);
            }
            sum[c] = fma(lanes::to_float(dot), set1(d * a.d), sum[c]);
        }
    }
    UNROLL for (int c = 0; c < n; ++c) { dst[c * t.dst_stride] = reduce_add(sum[c]); }
}

// n columns of all rows: their activations stay in the first cache while the weights go by
template <int n> void rows(const turbo_q6_k_tile & t, int64_t column) {
    for (int64_t r = 0; r < t.n_row; ++r) {
        columns<n>(t, t.x + r * t.x_stride, t.y + column * t.y_stride, t.dst + column * t.dst_stride + r);
    }
}

void tile(const turbo_q6_k_tile & t) {
    int64_t column = 0;
    for (; column + MAX_COLUMNS <= t.n_column; column += MAX_COLUMNS) { rows<MAX_COLUMNS>(t, column); }
    switch (t.n_column - column) {
        case 1: return rows<1>(t, column);
        case 2: return rows<2>(t, column);
        case 3: return rows<3>(t, column);
        case 4: return rows<4>(t, column);
        case 5: return rows<5>(t, column);
        case 6: return rows<6>(t, column);
        case 7: return rows<7>(t, column);
    }
}
