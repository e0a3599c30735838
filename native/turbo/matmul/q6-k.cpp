// The hook of matrix products: which of them the kernels take, and how the threads share it.

#include "q6-k.h"
#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"
#include "ggml-cpu.h"

#include <algorithm>
#include <cstring>

namespace {

struct family {
    turbo_q6_k_kernel kernel;
    void (*quantize)(const float * x, block_q8_K * out, int64_t n);
    int64_t least; // columns; with fewer, upstream's path is as fast
};

family choose() {
#ifdef TURBO_X86_KERNELS
    const char * level = ggml_turbo_simd_level();
    if (strcmp(level, "avx512") == 0) { return { turbo_q6_k_avx512, turbo_quantize_q8_k, 1 }; }
    if (strcmp(level, "avx2") == 0) { return { turbo_q6_k_avx2, turbo_quantize_q8_k, 3 }; }
#endif
    return { nullptr, nullptr, 0 };
}

// Of a tile that a thread takes at once. Rows whose weights stay in the second cache for all columns; where few columns wait for
// the weights, more of them in a row. Every thread has some to the end.
constexpr int64_t ROWS = 32, COLUMNS = 64, FEW_COLUMNS = 8;

int64_t rows_of(int64_t n_row, int64_t n_column, int n_thread) {
    return n_column > FEW_COLUMNS ? ROWS : std::min<int64_t>(256, std::max<int64_t>(16, n_row / (8 * n_thread)));
}

int64_t tiles(int64_t n, int64_t size) { return (n + size - 1) / size; }

// This thread's share of the activations, as q8_K.
void quantize(const family & chosen, const ggml_compute_params * params, const ggml_tensor * y, block_q8_K * out) {
    const int64_t n_block = y->ne[0] / QK_K, all = n_block * y->ne[1];
    const int64_t last = all * (params->ith + 1) / params->nth;
    for (int64_t b = all * params->ith / params->nth; b < last;) {
        const int64_t column = b / n_block, in_column = b % n_block;
        const int64_t n = std::min(n_block - in_column, last - b);
        const char * from = (const char *) y->data + column * y->nb[1];
        chosen.quantize((const float *) from + in_column * QK_K, out + b, n * QK_K);
        b += n;
    }
}

} // namespace

extern "C" bool turbo_mul_mat(const ggml_compute_params * params, ggml_tensor * dst) {
    const ggml_tensor * x = dst->src[0];
    const ggml_tensor * y = dst->src[1];
    static const family chosen = choose();
    if (x->type != GGML_TYPE_Q6_K || y->type != GGML_TYPE_F32 || params->use_ref) { return false; }
    if (x->ne[2] * x->ne[3] != 1 || y->ne[2] * y->ne[3] != 1 || y->nb[0] != sizeof(float)) { return false; }
    if (chosen.kernel == nullptr || y->ne[1] < chosen.least) { return false; }

    block_q8_K * activations = (block_q8_K *) params->wdata;
    quantize(chosen, params, y, activations);
    if (params->ith == 0) { ggml_threadpool_chunk_set(params->threadpool, params->nth); }
    ggml_barrier(params->threadpool);

    const int64_t n_row = x->ne[1], n_column = y->ne[1], n_block = x->ne[0] / QK_K;
    const int64_t rows = rows_of(n_row, n_column, params->nth), down = tiles(n_row, rows),
                  count = down * tiles(n_column, COLUMNS);
    for (int64_t i = params->ith; i < count; i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int64_t row = i % down * rows, column = i / down * COLUMNS;
        turbo_q6_k_tile tile;
        tile.n_block = n_block;
        tile.n_row = std::min(rows, n_row - row);
        tile.n_column = std::min(COLUMNS, n_column - column);
        tile.x_stride = x->nb[1] / sizeof(block_q6_K);
        tile.x = (const block_q6_K *) x->data + row * tile.x_stride;
        tile.y_stride = n_block;
        tile.y = activations + column * n_block;
        tile.dst_stride = dst->nb[1] / sizeof(float);
        tile.dst = (float *) dst->data + column * tile.dst_stride + row;
        chosen.kernel(tile);
    }
    return true;
}
