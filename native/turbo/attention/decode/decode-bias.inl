// The bias of query vectors for a panel of T. Included within a level's anonymous namespace after its vec-*.inl.

// NQ query vectors: their sums stay in registers, and a row of the panel is read once for all. Few of them have two sums each, of every
// other row, since one would wait for itself.
template <int NQ>
INLINE void bias_of_some(const uint16_t * panel, int n_row, const float * const * z, float scale, float * out) {
    const int N = TURBO_BIAS_PANEL / WIDTH;
    const int STEP = NQ * N < 8 ? 2 : 1;
    vec sum[STEP][NQ][N];
    UNROLL for (int h = 0; h < STEP; ++h) {
        UNROLL for (int j = 0; j < NQ; ++j) {
            UNROLL for (int i = 0; i < N; ++i) { sum[h][j][i] = set1(0.0f); }
        }
    }
    int r = 0;
    for (; r + STEP <= n_row; r += STEP) {
        UNROLL for (int h = 0; h < STEP; ++h) {
            vec x[N];
            UNROLL for (int i = 0; i < N; ++i) { x[i] = load_f16(panel + (r + h) * TURBO_BIAS_PANEL + i * WIDTH); }
            UNROLL for (int j = 0; j < NQ; ++j) {
                const vec by = set1(z[j][r + h]);
                UNROLL for (int i = 0; i < N; ++i) { sum[h][j][i] = fma(by, x[i], sum[h][j][i]); }
            }
        }
    }
    for (; r < n_row; ++r) {
        UNROLL for (int i = 0; i < N; ++i) {
            const vec x = load_f16(panel + r * TURBO_BIAS_PANEL + i * WIDTH);
            UNROLL for (int j = 0; j < NQ; ++j) { sum[0][j][i] = fma(set1(z[j][r]), x, sum[0][j][i]); }
        }
    }
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int i = 0; i < N; ++i) {
            const vec all = STEP == 2 ? add(sum[0][j][i], sum[STEP - 1][j][i]) : sum[0][j][i];
            store(out + j * TURBO_BIAS_PANEL + i * WIDTH, mul(set1(scale), all));
        }
    }
}

const int BIAS_QUERIES = TURBO_BIAS_PANEL / WIDTH == 1 ? 8 : 4; // whose sums registers hold

static void bias(const uint16_t * panel, int n_row, const float * const * z, int n, float scale, float * out) {
    int j = 0;
    for (; j + BIAS_QUERIES <= n; j += BIAS_QUERIES) {
        bias_of_some<BIAS_QUERIES>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL);
    }
    switch (n - j) {
        case 7: bias_of_some<7>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
        case 6: bias_of_some<6>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
        case 5: bias_of_some<5>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
        case 4: bias_of_some<4>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
        case 3: bias_of_some<3>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
        case 2: bias_of_some<2>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
        case 1: bias_of_some<1>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); break;
    }
}

static void add_bias(const decode_run * runs, int n, const int * vec_of, int n_query, float * score) {
    for (int p = 0; p < n; p = runs++->end) {
        for (int j = 0; j < n_query; ++j) {
            const float x = runs->values[vec_of[j] * TURBO_BIAS_PANEL];
            float * s = score + j * DECODE_TILE;
            if (runs->end - p == DECODE_TILE) {
                UNROLL for (int i = 0; i < DECODE_TILE; i += WIDTH) { store(s + i, add(load(s + i), set1(x))); }
            } else {
                for (int i = p; i < runs->end; ++i) { s[i] += x; }
            }
        }
    }
}
