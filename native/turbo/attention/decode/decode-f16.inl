// Bodies of the f16 kernels of decode: floats throughout. Included like decode-body.inl, after it.

// f32 copy of a query, scaled
static size_t query_size_float(int dim) {
    return (dim*sizeof(float) + 63)/64*64;
}

static void query_float(const float * x, int dim, float scale, void * query) {
    for (int i = 0; i < dim; ++i) { ((float *) query)[i] = scale*x[i]; }
}

// scores of R rows; R*NQ sums stay in registers
template <int R, int NQ> INLINE void scores_of_rows(rows row, int dim, const void * const * query, float * score) {
    simd::F sum[R][NQ] = {};
    for (int i = 0; i < dim; i += simd::W) {
        simd::F x[R];
        UNROLL for (int r = 0; r < R; ++r) { x[r] = simd::load_half(row[r] + 2*i); }
        UNROLL for (int j = 0; j < NQ; ++j) {
            const simd::F q = simd::load((const float *) query[j] + i);
            UNROLL for (int r = 0; r < R; ++r) { sum[r][j] = simd::fma(q, x[r], sum[r][j]); }
        }
    }
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int r = 0; r < R; ++r) { score[j*DECODE_TILE + r] = simd::sum_of(sum[r][j]); }
    }
}

template <int R, int NQ> void scores_of_tile_f16(const decode_rows * k, const void * const * query, float * score, bool first) {
    const rows all = { k->data, k->stride };
    for (int p = 0; p < DECODE_TILE; p += R) {
        if (first) { prefetch_share(k, p/R, DECODE_TILE/R); }
        scores_of_rows<R, NQ>(all.from(p), k->dim, query, score + p);
    }
}

static void scores_f16(const decode_rows * k, const void * const * query, int n_query, float * score) {
    int j = 0;
    for (; j + 4 <= n_query; j += 4) { scores_of_tile_f16<2, 4>(k, query + j, score + j*DECODE_TILE, j == 0); }
    switch (n_query - j) {
        case 3: scores_of_tile_f16<2, 3>(k, query + j, score + j*DECODE_TILE, j == 0); break;
        case 2: scores_of_tile_f16<4, 2>(k, query + j, score + j*DECODE_TILE, j == 0); break;
        case 1: scores_of_tile_f16<8, 1>(k, query + j, score + j*DECODE_TILE, j == 0); break;
    }
}

// A chunk of 32 values of NQ accumulators. used: the rows that count.
template <int NQ> INLINE void add_chunk(rows row, const uint8_t * used, int n_used, const float * weight, const float * rescale, float * const * acc, int i) {
    const int N = 32/simd::W;
    simd::F sum[NQ][N];
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int t = 0; t < N; ++t) { sum[j][t] = simd::mul(simd::load(acc[j] + i + simd::W*t), simd::set(rescale[j])); }
    }
    for (int u = 0; u < n_used; ++u) {
        const int p = used[u];
        simd::F x[N];
        UNROLL for (int t = 0; t < N; ++t) { x[t] = simd::load_half(row[p] + 2*(i + simd::W*t)); }
        UNROLL for (int j = 0; j < NQ; ++j) {
            const simd::F w = simd::set(weight[j*DECODE_TILE + p]);
            UNROLL for (int t = 0; t < N; ++t) { sum[j][t] = simd::fma(w, x[t], sum[j][t]); }
        }
    }
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int t = 0; t < N; ++t) { simd::store(acc[j] + i + simd::W*t, sum[j][t]); }
    }
}

static void accumulate_f16(const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    uint8_t used[DECODE_TILE];
    int     n_used = 0;
    for (int p = 0; p < DECODE_TILE; ++p) {
        bool any = false;
        for (int j = 0; j < n_query; ++j) { any |= weight[j*DECODE_TILE + p] > 0.0f; }
        used[n_used] = (uint8_t) p;
        n_used += any;
    }
    const rows row = { v->data, v->stride };
    for (int i = 0; i < v->dim; i += 32) {
        prefetch_share(v, i/32, v->dim/32);
        int j = 0;
        for (; j + 2 <= n_query; j += 2) { add_chunk<2>(row, used, n_used, weight + j*DECODE_TILE, rescale + j, acc + j, i); }
        if (j < n_query)                 { add_chunk<1>(row, used, n_used, weight + j*DECODE_TILE, rescale + j, acc + j, i); }
    }
}

static void finish_float(float *, int) {}

#define K_KERNELS_F16 { query_size_float, query_float, scores_f16 }
#define V_KERNELS_F16 { accumulate_f16, finish_float }
