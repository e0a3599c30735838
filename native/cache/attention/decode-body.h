// Bodies of the integer kernels of decode, templates over a SIMD level and a block format. A level file defines
// `struct simd` (see decode-avx2.cpp) and includes this file within its anonymous namespace.
//
// K: simd::W positions lie in the 32-bit lanes of a register, four values of each in a lane's bytes, so a register is
// expanded once, and dotted with a broadcast of four query values for each query vector. No sum across lanes is needed.
// The query is int8 with one scale per block. Products of a quarter are multiplied by TURBO_MULT while still integers: for
// turbo types those of two registers are added up as 16 bits first. That takes a bit off the query, an error of 1/80 of
// turbo4's own, and saves a sixth of the work per query vector. q8_0 would notice.
//
// V: four positions of a value lie in the bytes of a lane, so a dot product with four weights adds them up. Weights are
// small integers times a scale per pair of positions (simd::weigh), sums are integers within a tile, floats across tiles.

// A share of the memory to prefetch: step of n_step.
static INLINE void prefetch_share(const decode_rows * r, int step, int n_step) {
    const size_t first = r->ahead_size/64* step     /n_step;
    const size_t last  = r->ahead_size/64*(step + 1)/n_step;
    for (size_t i = first; i < last; ++i) { simd::prefetch(r->ahead + 64*i); }
}

template <int G> struct int_query {
    int8_t  q[G];       // in the order of format::value
    int32_t sum[4];     // of q over each quarter, its low 16 bits
    float   scale;      // of the integer sums
    int32_t pad[(G == 32 ? 3 : 11)];
};

#include "decode-formats.h"

//
// K
//

template <typename FMT> size_t query_size_int(int dim) {
    return sizeof(int_query<FMT::GROUP>)*(dim/FMT::GROUP);
}

// max over lanes of pairs of neighbours' sums
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
    __m128 most  = zero;
    __m128 sum   = zero; // of addends of one sign
    __m128 shown = zero; // NaN when a value is not finite
    for (int i = 0; i < FMT::GROUP; i += 8) {
        const __m128 a   = _mm_load_ps(x + i);
        const __m128 b   = _mm_load_ps(x + i + 4);
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
    const float by_most = max_of_four(most)/127.0f;
    const float by_sum  = max_of_four(sum)/simd::sum_limit(FMT::LEVEL_MAX, FMT::ADDENDS);
    shown = _mm_add_ps(shown, _mm_movehl_ps(shown, shown));
    return _mm_cvtss_f32(shown) + _mm_cvtss_f32(_mm_shuffle_ps(shown, shown, 1)) + (by_most > by_sum ? by_most : by_sum);
}

static INLINE __m128i integers_of(const float * x, __m128 inv) {
    return _mm_cvtps_epi32(_mm_mul_ps(_mm_load_ps(x), inv));
}

// 16 values; returns their sum
static INLINE int query_bytes(const float * x, __m128 inv, int8_t * q) {
    const __m128i a = _mm_packs_epi32(integers_of(x,     inv), integers_of(x + 4,  inv));
    const __m128i b = _mm_packs_epi32(integers_of(x + 8, inv), integers_of(x + 12, inv));
    _mm_storeu_si128((__m128i *) q, _mm_packs_epi16(a, b));
    const __m128i four = _mm_madd_epi16(_mm_add_epi16(a, b), _mm_set1_epi16(1));
    const __m128i two  = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return _mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 1);
}

template <typename FMT> void query_int(const float * values, int dim, float scale, void * query) {
    const int G       = FMT::GROUP;
    const int QUARTER = G/FMT::QUARTERS;
    int_query<G> * out = (int_query<G> *) query;
    for (int k = 0; k < dim; k += G, ++out, values += G) {
        alignas(16) float x[G];
        UNROLL for (int i = 0; i < G; ++i) { x[i] = values[FMT::value(i)]; }
        const float  step = query_step<FMT>(x);
        const __m128 inv  = _mm_set1_ps(step > 0.0f ? 1.0f/step : 0.0f);
        for (int i = 0; i < 4; ++i) { out->sum[i] = 0; }
        for (int i = 0; i < G; i += 16) { out->sum[i/QUARTER] += query_bytes(x + i, inv, out->q + i); }
        for (int i = 0; i < 4; ++i) { out->sum[i] &= 0xffff; }
        out->scale = scale*FMT::UNIT*step;
    }
}

template <typename FMT, int NQ> struct dot_all {
    const int8_t *     q[NQ];
    const multipliers & m;
    simd::I *          acc;

    INLINE void operator()(simd::I a, simd::I b, int quarter, int dword_a, int dword_b) const {
        UNROLL for (int j = 0; j < NQ; ++j) {
            const simd::I qa = simd::broadcast(q[j] + 4*dword_a);
            const simd::I qb = simd::broadcast(q[j] + 4*dword_b);
            if (FMT::ADDENDS == 4) {
                acc[j] = simd::dot(acc[j], a, qa, b, qb, m.quarter[quarter]);
            } else {
                acc[j] = simd::dot(acc[j], a, qa, m.quarter[quarter]);
                acc[j] = simd::dot(acc[j], b, qb, m.quarter[quarter]);
            }
        }
    }
};

// scores of simd::W rows
template <typename FMT, int NQ> INLINE void scores_of_lanes(rows row, int n_block, const void * const * query, float * score) {
    simd::F sum[NQ] = {};
    for (int b = 0; b < n_block; ++b) {
        const int_query<FMT::GROUP> * q[NQ];
        UNROLL for (int j = 0; j < NQ; ++j) { q[j] = (const int_query<FMT::GROUP> *) query[j] + b; }

        const simd::I     header = FMT::header(row);
        const multipliers m      = FMT::mult(header);
        simd::I acc[NQ];
        dot_all<FMT, NQ> dot = { {}, m, acc };
        UNROLL for (int j = 0; j < NQ; ++j) {
            dot.q[j] = q[j]->q;
            acc[j]   = simd::zero();
        }
        FMT::emit_k(row, dot);

        // at the end, so that the sums need not wait for it
        const simd::F d = FMT::scale(header);
        UNROLL for (int j = 0; j < NQ; ++j) {
            acc[j] = simd::unbias(acc[j], m.quarter, q[j]->sum, FMT::QUARTERS, FMT::LEVEL_MAX);
            sum[j] = simd::fma(simd::mul(simd::to_float(acc[j]), d), simd::set(q[j]->scale), sum[j]);
        }
        row.data += sizeof(typename FMT::block);
    }
    UNROLL for (int j = 0; j < NQ; ++j) { simd::store(score + j*DECODE_TILE, sum[j]); }
}

template <typename FMT, int NQ> void scores_of_tile(const decode_rows * k, const void * const * query, float * score, bool first) {
    const rows all = { k->data, k->stride };
    for (int p = 0; p < DECODE_TILE; p += simd::W) {
        if (first) { prefetch_share(k, p/simd::W, DECODE_TILE/simd::W); }
        scores_of_lanes<FMT, NQ>(all.from(p), k->dim/FMT::GROUP, query, score + p);
    }
}

template <typename FMT> void scores_int(const decode_rows * k, const void * const * query, int n_query, float * score) {
    int j = 0;
    for (; j + 4 <= n_query; j += 4) { scores_of_tile<FMT, 4>(k, query + j, score + j*DECODE_TILE, j == 0); }
    switch (n_query - j) {
        case 3: scores_of_tile<FMT, 3>(k, query + j, score + j*DECODE_TILE, j == 0); break;
        case 2: scores_of_tile<FMT, 2>(k, query + j, score + j*DECODE_TILE, j == 0); break;
        case 1: scores_of_tile<FMT, 1>(k, query + j, score + j*DECODE_TILE, j == 0); break;
    }
}

//
// V
//

// V rows of a tile as signed levels: [chunk][group of four positions][register of the chunk]
template <int G> struct expanded {
    simd::I level[G/32][DECODE_TILE/4][simd::CHUNK];
};

template <int G> struct store_levels {
    expanded<G> & out;
    int           group;

    INLINE void operator()(simd::I level, int chunk, int t) const {
        out.level[chunk][group][t] = level;
    }
};

// scales of the rows of a tile: d, and the four multipliers of each position in the order that simd::weigh wants
struct row_scales {
    alignas(64) float   d[DECODE_TILE];
    alignas(64) int16_t mult[4][DECODE_TILE];
};

template <typename FMT> INLINE void load_scales(rows row, row_scales & out) {
    simd::I header[DECODE_TILE/simd::W];
    UNROLL for (int i = 0; i < DECODE_TILE/simd::W; ++i) {
        header[i] = FMT::header(row.from(simd::W*i));
        simd::store(out.d + simd::W*i, FMT::scale_v(header[i]));
    }
    if (FMT::QUARTERS > 1) { simd::multipliers_of_tile(header, out.mult); }
}

template <typename FMT> INLINE void add_block(const expanded<FMT::GROUP> & v, const simd::weights & w, float rescale, float * acc) {
    for (int c = 0; c < FMT::GROUP/32; ++c) {
        simd::I sum[simd::CHUNK];
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) { sum[t] = simd::zero(); }
        UNROLL for (int g = 0; g < DECODE_TILE/4; ++g) {
            const simd::four_weights w4 = simd::weights_of<FMT::QUARTERS, FMT::GROUP>(w, c, g);
            UNROLL for (int t = 0; t < simd::CHUNK; ++t) { sum[t] = simd::add_weighted(sum[t], v.level[c][g][t], w4); }
        }
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
            float * a = acc + 32*c + simd::W*t;
            const simd::F s = simd::mul(simd::to_float(sum[t]), simd::set(w.scale*FMT::UNIT));
            simd::store(a, simd::fma(simd::load(a), simd::set(rescale), s));
        }
    }
}

template <typename FMT> void accumulate_int(const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    rows row = { v->data, v->stride };
    expanded<FMT::GROUP> levels;
    row_scales           scales;
    simd::weights        w[4];
    for (int k = 0; k < v->dim; k += FMT::GROUP) {
        load_scales<FMT>(row, scales);
        for (int g = 0; g < DECODE_TILE/4; ++g) {
            if (k == 0) { prefetch_share(v, g, DECODE_TILE/4); }
            const store_levels<FMT::GROUP> store = { levels, g };
            FMT::emit_v(row.from(4*g), store);
        }
        // a few at a time, for the latency of their sums and divisions
        for (int j0 = 0; j0 < n_query; j0 += 4) {
            const int n = n_query - j0 < 4 ? n_query - j0 : 4;
            for (int j = 0; j < n; ++j) {
                simd::weigh<FMT::QUARTERS, FMT::MULT_MAX, FMT::LEVEL_MAX>(weight + (j0 + j)*DECODE_TILE, scales.d, scales.mult, w[j]);
            }
            for (int j = 0; j < n; ++j) {
                add_block<FMT>(levels, w[j], rescale[j0 + j], acc[j0 + j] + k);
            }
        }
        row.data += sizeof(typename FMT::block);
    }
}

static void finish_int(float * acc, int dim) {
    for (int k = 0; k < dim; k += 32) { simd::natural_order(acc + k); }
}

#define K_KERNELS(fmt) { query_size_int<fmt>, query_int<fmt>, scores_int<fmt> }
#define V_KERNELS(fmt) { accumulate_int<fmt>, finish_int }
