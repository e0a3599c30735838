#include "self-test-reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

// A tensor's values, found by element as its strides say.
class values {
public:
    values(const turbo_metal_sample & s, const ggml_tensor * t) : tensor(t) {
        const ggml_tensor * whole = t != nullptr && t->view_src != nullptr ? t->view_src : t;
        for (const turbo_metal_input & input : s.inputs) {
            if (input.tensor == whole) { x = turbo_metal_decode(whole->type, input.bytes); }
        }
    }
    // Rows are contiguous; nb counts the bytes of whole blocks.
    const float * row(int i1, int i2) const {
        const size_t bytes = i1 * tensor->nb[1] + i2 * tensor->nb[2];
        return x.data() + bytes / ggml_type_size(tensor->type) * ggml_blck_size(tensor->type);
    }

private:
    const ggml_tensor * tensor;
    std::vector<float> x;
};

double dot(const float * a, const float * b, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i) { sum += (double) a[i] * b[i]; }
    return sum;
}

// As ggml: heads up to the largest power of two, then those between.
double slope(double max_bias, int head, int n_head) {
    if (max_bias <= 0.0) { return 1.0; }
    const int n = 1 << (int) std::floor(std::log2(n_head));
    return head < n ? std::pow(2.0, -max_bias / n * (head + 1))
                    : std::pow(2.0, -max_bias / 2.0 / n * (2 * (head - n) + 1));
}

} // namespace

std::vector<float> turbo_metal_decode(ggml_type type, const std::vector<uint8_t> & bytes) {
    std::vector<float> x(bytes.size() / ggml_type_size(type) * ggml_blck_size(type));
    if (type == GGML_TYPE_F32) {
        memcpy(x.data(), bytes.data(), x.size() * sizeof(float));
    } else {
        ggml_get_type_traits(type)->to_float(bytes.data(), x.data(), (int64_t) x.size());
    }
    return x;
}

std::vector<float> turbo_metal_reference_attention(const turbo_metal_sample & s) {
    const ggml_tensor * op = s.op;
    float scale, max_bias, softcap;
    memcpy(&scale, op->op_params + 0, sizeof(float));
    memcpy(&max_bias, op->op_params + 1, sizeof(float));
    memcpy(&softcap, op->op_params + 2, sizeof(float));
    const values q(s, op->src[0]), k(s, op->src[1]), v(s, op->src[2]), mask(s, op->src[3]), sinks(s, op->src[4]);
    const int64_t dim_k = op->src[1]->ne[0], dim_v = op->src[2]->ne[0], n_kv = op->src[1]->ne[1];
    const int n_rows = (int) op->src[0]->ne[1], n_head = (int) op->src[0]->ne[2],
              gqa = n_head / (int) op->src[1]->ne[2];

    std::vector<float> out;
    for (int r = 0; r < n_rows; ++r) {
        for (int h = 0; h < n_head; ++h) {
            std::vector<double> score(n_kv);
            double most = op->src[4] ? sinks.row(0, 0)[h] : -INFINITY;
            for (int64_t p = 0; p < n_kv; ++p) {
                double x = scale * dot(q.row(r, h), k.row((int) p, h / gqa), dim_k);
                x = softcap != 0.0f ? softcap * std::tanh(x / softcap) : x;
                score[p] = x + slope(max_bias, h, n_head) * mask.row(r, 0)[p];
                most = std::max(most, score[p]);
            }
            double sum = op->src[4] ? std::exp(sinks.row(0, 0)[h] - most) : 0.0;
            std::vector<double> o(dim_v);
            for (int64_t p = 0; p < n_kv; ++p) {
                const double w = std::exp(score[p] - most);
                sum += w;
                for (int64_t i = 0; i < dim_v; ++i) { o[i] += w * v.row((int) p, h / gqa)[i]; }
            }
            for (const double x : o) { out.push_back((float) (x / sum)); }
        }
    }
    return out;
}
