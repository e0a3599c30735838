// Bodies of decode for both x86 levels, templates over a block format. Included within a level's anonymous namespace after
// decode-x86.inl, decode-formats.inl and dot_block.
//
// K: simd::W positions lie in the 32-bit lanes of a register, four values of each in a lane's bytes, so a register is
// expanded once, and dotted with a broadcast of four query values for each query vector. No sum across lanes is needed.
//
// V: four positions of a value lie in the bytes of a lane, so a dot product with four weights adds them up. Weights are
// small integers times a scale per pair of positions (simd::weigh), sums are integers within a tile, floats across tiles.

// A share of the memory to prefetch: step of n_step.
static INLINE void prefetch_share(const decode_rows * r, int step, int n_step) {
    const size_t first = r->ahead_size / 64 * step / n_step;
    const size_t last = r->ahead_size / 64 * (step + 1) / n_step;
    for (size_t i = first; i < last; ++i) { simd::prefetch(r->ahead + 64 * i); }
}

//
// K
//

// scores of simd::W rows
template <typename FMT, int NQ>
INLINE void scores_of_lanes(rows row, int n_block, const void * const * query, float * score) {
    vec sum[NQ] = {};
    for (int b = 0; b < n_block; ++b) {
        const int_query<FMT::GROUP> * q[NQ];
        UNROLL for (int j = 0; j < NQ; ++j) { q[j] = (const int_query<FMT::GROUP> *) query[j] + b; }
        dot_block<FMT, NQ>(row, q, sum);
        row.data += sizeof(typename FMT::block);
    }
    UNROLL for (int j = 0; j < NQ; ++j) { store(score + j * DECODE_TILE, sum[j]); }
}

template <typename FMT, int NQ>
void scores_of_tile(const decode_rows * k, const void * const * query, float * score, bool first) {
    const rows all = { k->data, k->stride };
    for (int p = 0; p < DECODE_TILE; p += simd::W) {
        if (first) { prefetch_share(k, p / simd::W, DECODE_TILE / simd::W); }
        scores_of_lanes<FMT, NQ>(all.from(p), k->dim / FMT::GROUP, query, score + p);
    }
}

template <typename FMT> void scores_int(const decode_rows * k, const void * const * query, int n_query, float * score) {
    int j = 0;
    for (; j + 4 <= n_query; j += 4) { scores_of_tile<FMT, 4>(k, query + j, score + j * DECODE_TILE, j == 0); }
    switch (n_query - j) {
        case 3: scores_of_tile<FMT, 3>(k, query + j, score + j * DECODE_TILE, j == 0); break;
        case 2: scores_of_tile<FMT, 2>(k, query + j, score + j * DECODE_TILE, j == 0); break;
        case 1: scores_of_tile<FMT, 1>(k, query + j, score + j * DECODE_TILE, j == 0); break;
    }
}

//
// V
//

// V rows of a tile as signed levels: [chunk][group of four positions][register of the chunk]
template <int G> struct expanded {
    simd::I level[G / 32][DECODE_TILE / 4][simd::CHUNK];
};

template <int G> struct store_levels {
    expanded<G> & out;
    int group;

    INLINE void operator()(simd::I level, int chunk, int t) const { out.level[chunk][group][t] = level; }
};

// scales of the rows of a tile: d, and the four multipliers of each position in the order that simd::weigh wants
struct row_scales {
    alignas(64) float d[DECODE_TILE];
    alignas(64) int16_t mult[4][DECODE_TILE];
};

template <typename FMT> INLINE void load_scales(rows row, row_scales & out) {
    simd::I header[DECODE_TILE / simd::W];
    UNROLL for (int i = 0; i < DECODE_TILE / simd::W; ++i) {
        header[i] = FMT::header(row.from(simd::W * i));
        store(out.d + simd::W * i, FMT::scale_v(header[i]));
    }
    if (FMT::QUARTERS > 1) { simd::multipliers_of_tile(header, out.mult); }
}

template <typename FMT>
INLINE void add_block(const expanded<FMT::GROUP> & v, const simd::weights & w, float rescale, float * acc) {
    for (int c = 0; c < FMT::GROUP / 32; ++c) {
        simd::I sum[simd::CHUNK];
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) { sum[t] = simd::zero(); }
        UNROLL for (int g = 0; g < DECODE_TILE / 4; ++g) {
            const simd::four_weights w4 = simd::weights_of<FMT::QUARTERS, FMT::GROUP>(w, c, g);
            UNROLL for (int t = 0; t < simd::CHUNK; ++t) { sum[t] = simd::add_weighted(sum[t], v.level[c][g][t], w4); }
        }
        UNROLL for (int t = 0; t < simd::CHUNK; ++t) {
            float * a = acc + 32 * c + simd::W * t;
            const vec s = mul(simd::to_float(sum[t]), set1(w.scale * FMT::UNIT));
            store(a, fma(load(a), set1(rescale), s));
        }
    }
}

// Keeps GCC from loading what is the same for all query vectors before their loop: that is a copy of all levels on the stack, since
// registers hold only few.
template <typename T> static INLINE void read_again(const T & x) { __asm__ volatile("" : : "r"(&x) : "memory"); }

template <typename FMT>
void accumulate_int(
    const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    rows row = { v->data, v->stride };
    expanded<FMT::GROUP> levels;
    row_scales scales;
    simd::weights w[4];
    for (int k = 0; k < v->dim; k += FMT::GROUP) {
        load_scales<FMT>(row, scales);
        for (int g = 0; g < DECODE_TILE / 4; ++g) {
            if (k == 0) { prefetch_share(v, g, DECODE_TILE / 4); }
            const store_levels<FMT::GROUP> store = { levels, g };
            FMT::emit_v(row.from(4 * g), store);
        }
        // a few at a time, for the latency of their sums and divisions
        for (int j0 = 0; j0 < n_query; j0 += 4) {
            const int n = n_query - j0 < 4 ? n_query - j0 : 4;
            for (int j = 0; j < n; ++j) {
                simd::weigh<FMT::QUARTERS, FMT::MULT_MAX, FMT::LEVEL_MAX>(
                    weight + (j0 + j) * DECODE_TILE, scales.d, scales.mult, w[j]);
            }
            for (int j = 0; j < n; ++j) {
                read_again(levels);
                add_block<FMT>(levels, w[j], rescale[j0 + j], acc[j0 + j] + k);
            }
        }
        row.data += sizeof(typename FMT::block);
    }
}

static void finish_int(float * acc, int dim) {
    for (int k = 0; k < dim; k += 32) { simd::natural_order(acc + k); }
}

//
// f16: floats throughout
//

// f32 copy of a query, scaled
static size_t query_size_float(int dim) { return (dim * sizeof(float) + 63) / 64 * 64; }

static void query_float(const float * x, int dim, float scale, void * query) {
    for (int i = 0; i < dim; ++i) { ((float *) query)[i] = scale * x[i]; }
}

// scores of R rows; R*NQ sums stay in registers
template <int R, int NQ> INLINE void scores_of_rows(rows row, int dim, const void * const * query, float * score) {
    vec sum[R][NQ] = {};
    for (int i = 0; i < dim; i += simd::W) {
        vec x[R];
        UNROLL for (int r = 0; r < R; ++r) { x[r] = load_f16(row[r] + 2 * i); }
        UNROLL for (int j = 0; j < NQ; ++j) {
            const vec q = load((const float *) query[j] + i);
            UNROLL for (int r = 0; r < R; ++r) { sum[r][j] = fma(q, x[r], sum[r][j]); }
        }
    }
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int r = 0; r < R; ++r) { score[j * DECODE_TILE + r] = reduce_add(sum[r][j]); }
    }
}

template <int R, int NQ>
void scores_of_tile_f16(const decode_rows * k, const void * const * query, float * score, bool first) {
    const rows all = { k->data, k->stride };
    for (int p = 0; p < DECODE_TILE; p += R) {
        if (first) { prefetch_share(k, p / R, DECODE_TILE / R); }
        scores_of_rows<R, NQ>(all.from(p), k->dim, query, score + p);
    }
}

static void scores_f16(const decode_rows * k, const void * const * query, int n_query, float * score) {
    int j = 0;
    for (; j + 4 <= n_query; j += 4) { scores_of_tile_f16<2, 4>(k, query + j, score + j * DECODE_TILE, j == 0); }
    switch (n_query - j) {
        case 3: scores_of_tile_f16<2, 3>(k, query + j, score + j * DECODE_TILE, j == 0); break;
        case 2: scores_of_tile_f16<4, 2>(k, query + j, score + j * DECODE_TILE, j == 0); break;
        case 1: scores_of_tile_f16<8, 1>(k, query + j, score + j * DECODE_TILE, j == 0); break;
    }
}

// A chunk of 32 values of NQ accumulators. used: the rows that count.
template <int NQ>
INLINE void add_chunk(rows row, const uint8_t * used, int n_used, const float * weight, const float * rescale,
    float * const * acc, int i) {
    const int N = 32 / simd::W;
    vec sum[NQ][N];
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int t = 0; t < N; ++t) { sum[j][t] = mul(load(acc[j] + i + simd::W * t), set1(rescale[j])); }
    }
    for (int u = 0; u < n_used; ++u) {
        const int p = used[u];
        vec x[N];
        UNROLL for (int t = 0; t < N; ++t) { x[t] = load_f16(row[p] + 2 * (i + simd::W * t)); }
        UNROLL for (int j = 0; j < NQ; ++j) {
            const vec w = set1(weight[j * DECODE_TILE + p]);
            UNROLL for (int t = 0; t < N; ++t) { sum[j][t] = fma(w, x[t], sum[j][t]); }
        }
    }
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int t = 0; t < N; ++t) { store(acc[j] + i + simd::W * t, sum[j][t]); }
    }
}

static void accumulate_f16(
    const decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc) {
    uint8_t used[DECODE_TILE];
    int n_used = 0;
    for (int p = 0; p < DECODE_TILE; ++p) {
        bool any = false;
        for (int j = 0; j < n_query; ++j) { any |= weight[j * DECODE_TILE + p] > 0.0f; }
        used[n_used] = (uint8_t) p;
        n_used += any;
    }
    const rows row = { v->data, v->stride };
    for (int i = 0; i < v->dim; i += 32) {
        prefetch_share(v, i / 32, v->dim / 32);
        int j = 0;
        for (; j + 2 <= n_query; j += 2) {
            add_chunk<2>(row, used, n_used, weight + j * DECODE_TILE, rescale + j, acc + j, i);
        }
        if (j < n_query) { add_chunk<1>(row, used, n_used, weight + j * DECODE_TILE, rescale + j, acc + j, i); }
    }
}

static void finish_float(float *, int) {}

#define K_KERNELS(fmt) { query_size_int<fmt>, query_int<fmt>, scores_int<fmt> }
#define V_KERNELS(fmt) { accumulate_int<fmt>, finish_int }
#define K_KERNELS_F16  { query_size_float, query_float, scores_f16 }
#define V_KERNELS_F16  { accumulate_f16, finish_float }
