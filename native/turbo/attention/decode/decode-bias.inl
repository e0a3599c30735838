// The bias of query vectors for a panel of T. Included within a level's anonymous namespace after its vec-*.inl.

// NQ query vectors: their sums stay in registers, and a row of the panel is read once for all
template <int NQ>
INLINE void bias_of_some(const float * panel, int n_row, const float * const * z, float scale, float * out) {
    const int N = TURBO_BIAS_PANEL / WIDTH;
    vec sum[NQ][N];
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int i = 0; i < N; ++i) { sum[j][i] = set1(0.0f); }
    }
    for (int r = 0; r < n_row; ++r) {
        vec x[N];
        UNROLL for (int i = 0; i < N; ++i) { x[i] = load(panel + r * TURBO_BIAS_PANEL + i * WIDTH); }
        UNROLL for (int j = 0; j < NQ; ++j) {
            const vec by = set1(z[j][r]);
            UNROLL for (int i = 0; i < N; ++i) { sum[j][i] = fma(by, x[i], sum[j][i]); }
        }
    }
    UNROLL for (int j = 0; j < NQ; ++j) {
        UNROLL for (int i = 0; i < N; ++i) {
            store(out + j * TURBO_BIAS_PANEL + i * WIDTH, mul(set1(scale), sum[j][i]));
        }
    }
}

static void bias(const float * panel, int n_row, const float * const * z, int n, float scale, float * out) {
    int j = 0;
    for (; j + 4 <= n; j += 4) { bias_of_some<4>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); }
    for (; j + 2 <= n; j += 2) { bias_of_some<2>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); }
    if (j < n) { bias_of_some<1>(panel, n_row, z + j, scale, out + j * TURBO_BIAS_PANEL); }
}
