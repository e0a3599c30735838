// The prefill kernels written once over a vector of floats. A level's file includes its vec-*.inl in an anonymous namespace and
// defines there, before it includes this:
//   MR, NV             register tile of gemm: MR rows of NV vectors
//   transpose_tile     WIDTH x WIDTH values
// Everything stays in the anonymous namespace: an inline function shared with another file could be kept in this
// file's version for all of them.

constexpr int NR = NV * WIDTH;

// Without it GCC 12 keeps a copy of the sums in memory.
#define UNROLL _Pragma("GCC unroll 16")

// What the sums begin with.
enum gemm_start { FROM_ZERO, FROM_C, FROM_START };

// MR x NR of c stay in registers over all of k
template <gemm_start FROM>
inline void gemm_tile(const float * start, const float * a, int lda, const float * panel, int k, float * c, int ldc) {
    vec sum[MR][NV];
    UNROLL for (int i = 0; i < MR; ++i) {
        UNROLL for (int j = 0; j < NV; ++j) {
            sum[i][j] = FROM == FROM_C       ? load(c + i * ldc + j * WIDTH)
                        : FROM == FROM_START ? set1(start[i * NR])
                                             : set1(0.0f);
        }
    }
    for (int p = 0; p < k; ++p) {
        vec b[NV];
        UNROLL for (int j = 0; j < NV; ++j) { b[j] = load(panel + p * NR + j * WIDTH); }
        UNROLL for (int i = 0; i < MR; ++i) {
            const vec x = set1(a[i * lda + p]);
            UNROLL for (int j = 0; j < NV; ++j) { sum[i][j] = fma(x, b[j], sum[i][j]); }
        }
    }
    UNROLL for (int i = 0; i < MR; ++i) {
        UNROLL for (int j = 0; j < NV; ++j) { store(c + i * ldc + j * WIDTH, sum[i][j]); }
    }
}

void gemm(const float * a, int lda, const float * panel, int k, float * c, int ldc, int rows, bool accumulate) {
    for (int i = 0; i < rows; i += MR) {
        if (accumulate) {
            gemm_tile<FROM_C>(nullptr, a + i * lda, lda, panel, k, c + i * ldc, ldc);
        } else {
            gemm_tile<FROM_ZERO>(nullptr, a + i * lda, lda, panel, k, c + i * ldc, ldc);
        }
    }
}

void gemm_from(
    const float * start, const float * a, int lda, const float * panel, int k, float * c, int ldc, int rows) {
    for (int i = 0; i < rows; i += MR) {
        gemm_tile<FROM_START>(start + i * NR, a + i * lda, lda, panel, k, c + i * ldc, ldc);
    }
}

void transpose(const float * rows, int ld, int k, float * panel) {
    int p = 0;
    for (; p + WIDTH <= k; p += WIDTH) {
        for (int j = 0; j < NR; j += WIDTH) { transpose_tile(rows + j * ld + p, ld, panel + p * NR + j, NR); }
    }
    for (; p < k; ++p) {
        for (int j = 0; j < NR; ++j) { panel[p * NR + j] = rows[j * ld + p]; }
    }
}

#include "soft-cap.inl"

void add_mask(float * s, const uint16_t * mask, int n, float slope) {
    int i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const vec m = load_f16(mask + i);
        store(s + i, hide(fma(m, set1(slope), load(s + i)), m));
    }
    for (; i < n; ++i) {
        const float m = from_f16(mask[i]);
        s[i] = m == -INFINITY ? m : s[i] + slope * m;
    }
}

enum prefill_view view(const uint16_t * mask, int n) {
    const uint16_t hidden = 0xfc00; // -inf
    uint16_t any = 0;
    uint16_t not_hidden = 0;
    for (int i = 0; i < n; ++i) {
        any |= mask[i];
        not_hidden |= mask[i] ^ hidden;
    }
    return not_hidden == 0 ? PREFILL_HIDDEN : (any & 0x7fff) == 0 ? PREFILL_OPEN : PREFILL_MIXED;
}

float max(const float * s, int cols) {
    vec m = load(s);
    for (int i = WIDTH; i < cols; i += WIDTH) { m = max2(m, load(s + i)); }
    return reduce_max(m);
}

float exp2_sum(float * s, int cols, float max) {
    vec sum = set1(0.0f);
    for (int i = 0; i < cols; i += WIDTH) {
        const vec x = load(s + i);
        const vec p = keep_unless_hidden(exp2_of(max2(set1(-126.0f), sub(x, set1(max)))), x);
        store(s + i, p);
        sum = add(sum, p);
    }
    return reduce_add(sum);
}

void scale(float * x, int n, float factor) {
    for (int i = 0; i < n; i += WIDTH) { store(x + i, mul(load(x + i), set1(factor))); }
}

bool finite(const float * x, int n) {
    float zero = 0.0f;
    int i = 0;
    vec zeros = set1(0.0f);
    for (; i + WIDTH <= n; i += WIDTH) { zeros = fma(load(x + i), set1(0.0f), zeros); }
    for (; i < n; ++i) { zero += x[i] * 0.0f; }
    return reduce_add(zeros) + zero == 0.0f;
}
