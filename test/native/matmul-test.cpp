// Products of q6_K weights by the operation of a graph, at the SIMD level in effect, against ggml's dot product.

#include "check.h"
#include "samples.h"

#include "ggml-cpu.h"
#include "ggml-turbo.h"
#include "ggml.h"

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

struct product {
    int64_t width, n_row, n_column;
    std::vector<block_q6_K> x;
    std::vector<float> y;

    product(int64_t width, int64_t n_row, int64_t n_column)
        : width(width), n_row(n_row), n_column(n_column), x(n_row * width / QK_K), y(gaussian(width * n_column)) {
        ggml_quantize_chunk(GGML_TYPE_Q6_K, gaussian(width * n_row).data(), x.data(), 0, n_row, width, nullptr);
    }

    // of some of the columns: element (row, column) at [column * n_row + row]
    std::vector<float> run(int threads, int64_t first, int64_t columns) const {
        std::unique_ptr<ggml_context, decltype(&ggml_free)> ctx{ ggml_init({ 16 << 20, nullptr, false }), ggml_free };
        ggml_tensor * weights = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_Q6_K, width, n_row);
        ggml_tensor * activations = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, width, columns);
        memcpy(weights->data, x.data(), ggml_nbytes(weights));
        memcpy(activations->data, y.data() + first * width, ggml_nbytes(activations));
        ggml_tensor * dst = ggml_mul_mat(ctx.get(), weights, activations);
        memset(dst->data, 0xff, ggml_nbytes(dst)); // NaN
        ggml_cgraph * graph = ggml_new_graph(ctx.get());
        ggml_build_forward_expand(graph, dst);
        ggml_graph_compute_with_ctx(ctx.get(), graph, threads);
        const float * out = (const float *) dst->data;
        return std::vector<float>(out, out + n_row * columns);
    }

    std::vector<float> run(int threads = 2) const { return run(threads, 0, n_column); }

    std::vector<float> want() const {
        ggml_cpu_init(); // tables of the dot product
        std::vector<block_q8_K> activations(n_column * width / QK_K);
        ggml_get_type_traits_cpu(GGML_TYPE_Q8_K)->from_float(y.data(), activations.data(), n_column * width);
        std::vector<float> out(n_column * n_row);
        for (size_t i = 0; i < out.size(); ++i) {
            ggml_get_type_traits_cpu(GGML_TYPE_Q6_K)
                ->vec_dot(width, &out[i], 0, x.data() + i % n_row * width / QK_K, 0,
                    activations.data() + i / n_row * width / QK_K, 0, 1);
        }
        return out;
    }
};

float largest(const std::vector<float> & values) {
    float most = 0;
    for (float value : values) { most = std::max(most, std::fabs(value)); }
    return most;
}

float largest_difference(const std::vector<float> & a, const std::vector<float> & b) {
    float most = 0;
    for (size_t i = 0; i < a.size(); ++i) { most = a[i] == a[i] ? std::max(most, std::fabs(a[i] - b[i])) : INFINITY; }
    return most;
}

} // namespace

TEST("matmul: q6_K gives what ggml's dot product gives, however many columns and threads") {
    for (int64_t n_column : { 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 64, 65, 130 }) {
        const product p(768, 70, n_column);
        const std::vector<float> want = p.want();
        for (int threads : { 1, 2, 5 }) { CHECK_LE(largest_difference(p.run(threads), want), 1e-6f * largest(want)); }
    }
}

TEST("matmul: activations of q6_K that are zeros, equal in size, far apart or not a number become what ggml makes of "
     "them") {
    product p(QK_K, 40, 6);
    const auto column = [&](int64_t c) { return p.y.data() + c * p.width; };
    std::fill(column(0), column(1), 0.0f);
    for (int64_t i = 0; i < p.width; ++i) { column(1)[i] = i % 3 == 0 ? -2.5f : 2.5f; }
    column(2)[255] = 1e4f;
    column(3)[0] = -1e-30f;
    std::fill(column(3) + 1, column(4), 1e-31f);
    column(4)[17] = NAN;
    for (int64_t i = 0; i < p.width; ++i) { column(5)[i] = float(i % 255 - 127) + 0.5f * float(i % 2); }
    const std::vector<float> got = p.run(), want = p.want();
    for (int64_t c = 0; c < p.n_column; ++c) {
        const std::vector<float> a(&got[c * p.n_row], &got[c * p.n_row] + p.n_row);
        const std::vector<float> b(&want[c * p.n_row], &want[c * p.n_row] + p.n_row);
        CHECK_LE(largest_difference(a, b), 1e-6f * largest(b));
    }
}

TEST("matmul: the largest weights and activations of q6_K do not overflow") {
    product p(512, 3, 9);
    for (block_q6_K & block : p.x) {
        memset(block.ql, 0xff, sizeof(block.ql));
        memset(block.qh, 0xff, sizeof(block.qh));
        memset(block.scales, -128, sizeof(block.scales));
        block.d = ggml_fp32_to_fp16(1.0f);
    }
    std::fill(p.y.begin(), p.y.end(), -1.0f);
    const float want = 31.0f * 128.0f * p.width;
    for (float value : p.run()) { CHECK_LE(std::fabs(value - want), 1e-5f * want); }
}

TEST("matmul: a column of q6_K has the same bits in every batch") {
    if (std::string(ggml_turbo_simd_level()) == "neon") { skip("upstream's kernels for Arm take columns by two"); }
    const product p(1024, 7, 13);
    const std::vector<float> together = p.run();
    for (int64_t first = 0; first < 13; ++first) {
        for (int64_t columns = 1; first + columns <= 13; ++columns) {
            CHECK(
                memcmp(p.run(2, first, columns).data(), together.data() + first * 7, columns * 7 * sizeof(float)) == 0);
        }
    }
}
