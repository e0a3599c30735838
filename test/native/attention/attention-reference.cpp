#include "attention-reference.h"
#include "../samples.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

const int TILE = 32;

size_t row_stride(const attention_case & c, int t) {
    const ggml_type type = t == 0 ? c.type_k : c.type_v;
    return ggml_row_size(type, t == 0 ? c.dim_k : c.dim_v);
}

std::vector<uint8_t> quantized(ggml_type type, int dim, size_t n_row, std::mt19937 & rng) {
    std::normal_distribution<float> gauss;
    std::vector<float> x(n_row * dim);
    for (float & value : x) { value = gauss(rng); }
    std::vector<uint8_t> bytes(n_row * ggml_row_size(type, dim));
    if (type == GGML_TYPE_F16) {
        ggml_fp32_to_fp16_row(x.data(), (ggml_fp16_t *) bytes.data(), x.size());
    } else {
        quantize_row(type, x, bytes.data());
    }
    return bytes;
}

std::vector<double> row_values(ggml_type type, const uint8_t * row, int dim) {
    std::vector<float> x(dim);
    ggml_get_type_traits(type)->to_float(row, x.data(), dim);
    return std::vector<double>(x.begin(), x.end());
}

bool visible(const attention_case & c, int row, int p, std::mt19937 & rng) {
    const int now = c.n_kv - c.n_rows + row;
    switch (c.mask) {
        case mask_kind::none: return true;
        case mask_kind::causal: return p <= now;
        case mask_kind::holes: return p / 37 % 3 != 1 && rng() % 16 != 0;
        case mask_kind::window: return p <= now && p > now - 40;
        case mask_kind::row_hidden: return row != 0;
    }
    return true;
}

double slope(const attention_case & c, int head) {
    if (c.max_bias <= 0.0f) { return 1.0; }
    const int n_head = c.n_head_kv * c.gqa;
    const int n_log2 = 1 << int(std::floor(std::log2(n_head)));
    return head < n_log2 ? std::pow(2.0, -double(c.max_bias) / n_log2 * (head + 1))
                         : std::pow(2.0, -c.max_bias / 2.0 / n_log2 * (2 * (head - n_log2) + 1));
}

} // namespace

attention_data::attention_data(const attention_case & c) {
    std::mt19937 rng(c.seed);
    std::normal_distribution<float> gauss(0.0f, 1.5f);
    const int n_head = c.n_head_kv * c.gqa;
    q.resize((size_t) c.n_stream * n_head * c.n_rows * c.dim_k);
    for (float & value : q) { value = gauss(rng); }
    const size_t n_row = (size_t) c.n_stream * c.n_head_kv * c.n_kv;
    k = quantized(c.type_k, c.dim_k, n_row, rng);
    v = quantized(c.type_v, c.dim_v, n_row, rng);
    for (int s = 0; s < c.n_stream; ++s) {
        for (int r = 0; r < c.n_rows; ++r) {
            for (int p = 0; p < c.n_kv; ++p) {
                const float bias = c.max_bias > 0.0f ? -float(c.n_kv - p) / 8 : 0.0f;
                mask.push_back(visible(c, r, p, rng) ? bias : -INFINITY);
            }
        }
    }
    for (int h = 0; h < n_head; ++h) { sinks.push_back(gauss(rng)); }
    if (c.recent) {
        const int n_tile = (c.n_kv + TILE - 1) / TILE;
        recent = quantized(GGML_TYPE_Q8_0, c.n_head_kv * (c.dim_k + c.dim_v), (n_tile + 1) * TILE, rng);
        for (int t = 0; t < n_tile; ++t) { slots.push_back(rng() % 3 == 0 ? -1 : n_tile - t); }
        slots.back() = 0; // the tile that may not be whole
    }
    if (c.bias_rows > 0) { bias.emplace(c.n_stream, c.n_rows, n_head, c.n_kv, c.bias_rows, c.scattered, c.seed); }
}

uint8_t * attention_data::row(const attention_case & c, int t, int stream, int head, int position) {
    const size_t i = c.by_head ? ((size_t) stream * c.n_head_kv + head) * c.n_kv + position
                               : ((size_t) stream * c.n_kv + position) * c.n_head_kv + head;
    return (t == 0 ? k : v).data() + i * row_stride(c, t);
}

std::vector<double> attention_data::values(const attention_case & c, int t, int stream, int head, int position) {
    const int dim = t == 0 ? c.dim_k : c.dim_v;
    const int slot = c.recent ? slots[position / TILE] : -1;
    if (slot < 0) { return row_values(t == 0 ? c.type_k : c.type_v, row(c, t, stream, head, position), dim); }
    const int before = t == 0 ? head * c.dim_k : c.n_head_kv * c.dim_k + head * c.dim_v;
    const size_t stride = ggml_row_size(GGML_TYPE_Q8_0, c.n_head_kv * (c.dim_k + c.dim_v));
    const uint8_t * at =
        recent.data() + (slot * TILE + position % TILE) * stride + ggml_row_size(GGML_TYPE_Q8_0, before);
    return row_values(GGML_TYPE_Q8_0, at, dim);
}

std::vector<float> attention_run(const attention_case & c, attention_data & data) {
    const int n_head = c.n_head_kv * c.gqa;
    ggml_context * ctx = ggml_init({ 64 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true });

    ggml_tensor * q = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, c.dim_k, c.n_rows, n_head, c.n_stream);
    q->data = data.q.data();

    ggml_tensor * side[2];
    for (int t = 0; t < 2; ++t) {
        const ggml_type type = t == 0 ? c.type_k : c.type_v;
        const int dim = t == 0 ? c.dim_k : c.dim_v;
        const int n1 = c.by_head ? c.n_kv : c.n_head_kv;
        const int n2 = c.by_head ? c.n_head_kv : c.n_kv;
        side[t] = ggml_new_tensor_4d(ctx, type, dim, n1, n2, c.n_stream);
        side[t]->data = (t == 0 ? data.k : data.v).data();
        if (!c.by_head) { side[t] = ggml_permute(ctx, side[t], 0, 2, 1, 3); }
    }

    std::vector<ggml_fp16_t> half(data.mask.size());
    ggml_fp32_to_fp16_row(data.mask.data(), half.data(), half.size());
    ggml_tensor * mask = nullptr;
    if (c.mask != mask_kind::none || c.max_bias > 0.0f) {
        mask = ggml_new_tensor_4d(ctx, GGML_TYPE_F16, c.n_kv, c.n_rows, 1, c.n_stream);
        mask->data = half.data();
    }

    std::vector<float> out((size_t) c.n_stream * c.n_rows * n_head * c.dim_v, -1e9f);
    ggml_tensor * result =
        ggml_flash_attn_ext(ctx, q, side[0], side[1], mask, 1.0f / std::sqrt(float(c.dim_k)), c.max_bias, c.softcap);
    result->data = out.data();
    if (c.sinks) {
        ggml_tensor * sinks = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n_head);
        sinks->data = data.sinks.data();
        ggml_flash_attn_ext_add_sinks(result, sinks);
    }

    if (data.bias) { data.bias->attach(ctx, result); }
    if (c.recent) {
        const int width = c.n_head_kv * (c.dim_k + c.dim_v);
        const int64_t n_row = data.recent.size() / ggml_row_size(GGML_TYPE_Q8_0, width);
        ggml_tensor * rows = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, width, n_row);
        ggml_tensor * slots = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, data.slots.size());
        rows->data = data.recent.data();
        slots->data = data.slots.data();
        result->src[TURBO_SRC_RECENT_ROWS] = rows;
        result->src[TURBO_SRC_RECENT_SLOTS] = slots;
    }

    ggml_cgraph * graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, result);
    ggml_cplan plan = ggml_graph_plan(graph, c.n_threads, nullptr);
    std::vector<uint8_t> work(plan.work_size);
    plan.work_data = work.data();
    ggml_graph_compute(graph, &plan);
    ggml_free(ctx);
    return out;
}

// Errors of the integer kernels, as variances:
//   query   one rounding of each value to a step of at most 2*max|q|/126 per block of the K type (126: two neighbors of one sign
//           may share the range), so a logit errs by scale^2 * step^2/12 * sum k^2. A logit's error moves the output by
//           p*(v - out) times it.
//   weight  rounded to 1/146 (q8_0: 1/126) of the larger weight*d*multiplier of its pair of positions, multipliers being 135..255:
//           at most 1/77 of the larger value of the pair, uniformly; and to 1/32767 of the tile's sum
//   floats  sums of n_kv terms, each rounded a few times to 2^-24 of the sum of the absolute terms
attention_result attention_compare(
    const attention_case & c, attention_data & data, bool exact_query, bool exact_weights) {
    attention_result r;
    r.got = attention_run(c, data);
    const int n_head = c.n_head_kv * c.gqa;
    const double scale = 1.0 / std::sqrt(double(c.dim_k));
    const int block = std::min<int>(c.dim_k, ggml_blck_size(c.type_k));

    for (int s = 0; s < c.n_stream; ++s) {
        std::vector<std::vector<double>> k[64];
        std::vector<std::vector<double>> v[64];
        for (int h = 0; h < c.n_head_kv; ++h) {
            for (int p = 0; p < c.n_kv; ++p) {
                k[h].push_back(data.values(c, 0, s, h, p));
                v[h].push_back(data.values(c, 1, s, h, p));
            }
        }
        for (int row = 0; row < c.n_rows; ++row) {
            for (int head = 0; head < n_head; ++head) {
                const float * q = data.q.data() + ((size_t) (s * n_head + head) * c.n_rows + row) * c.dim_k;
                const float * mask = data.mask.data() + ((size_t) s * c.n_rows + row) * c.n_kv;
                const auto & kh = k[head / c.gqa];
                const auto & vh = v[head / c.gqa];

                std::vector<double> logit(c.n_kv, -INFINITY);
                std::vector<double> logit_variance(c.n_kv, 0.0);
                double max = c.sinks ? data.sinks[head] : -INFINITY;
                for (int p = 0; p < c.n_kv; ++p) {
                    double sum = 0.0;
                    double variance = 0.0;
                    for (int b = 0; b < c.dim_k; b += block) {
                        double most = 0.0;
                        double k2 = 0.0;
                        for (int i = b; i < b + block; ++i) {
                            sum += q[i] * kh[p][i];
                            most = std::max(most, std::fabs(double(q[i])));
                            k2 += kh[p][i] * kh[p][i];
                        }
                        const double step = exact_query ? 0.0 : 2 * most / 126;
                        variance += step * step / 12 * k2;
                    }
                    if (data.bias) { sum += data.bias->at(s, row, head, p).value; }
                    sum = c.softcap == 0.0f ? sum * scale : c.softcap * std::tanh(sum * scale / c.softcap);
                    if (mask[p] != -INFINITY) {
                        logit[p] = sum + slope(c, head) * mask[p];
                        logit_variance[p] = scale * scale * variance;
                    }
                    max = std::max(max, logit[p]);
                }

                double total = c.sinks ? std::exp(data.sinks[head] - max) : 0.0;
                std::vector<double> weight(c.n_kv, 0.0);
                for (int p = 0; p < c.n_kv; ++p) {
                    weight[p] = logit[p] == -INFINITY ? 0.0 : std::exp(logit[p] - max);
                    total += weight[p];
                }
                std::vector<double> out(c.dim_v, 0.0);
                for (int p = 0; p < c.n_kv; ++p) {
                    weight[p] = total > 0.0 ? weight[p] / total : 0.0;
                    for (int d = 0; d < c.dim_v && weight[p] > 0.0; ++d) { out[d] += weight[p] * vh[p][d]; }
                }
                for (int d = 0; d < c.dim_v; ++d) {
                    double variance = 0.0;
                    double size = 0.0;
                    double tile_size = 0.0; // of the largest value of a tile's weights
                    for (int p = 0; p < c.n_kv; ++p) {
                        const double mine = weight[p] > 0.0 ? std::fabs(weight[p] * vh[p][d]) : 0.0;
                        size += mine;
                        tile_size = std::max(p % TILE == 0 ? 0.0 : tile_size, weight[p]);
                        if (weight[p] == 0.0) { continue; }
                        const double moved = weight[p] * (vh[p][d] - out[d]);
                        variance += logit_variance[p] * moved * moved;
                        if (!exact_weights) {
                            const double larger = std::max(weight[p], (p ^ 1) < c.n_kv ? weight[p ^ 1] : 0.0);
                            const double step = larger / 77 * std::fabs(vh[p][d]);
                            variance += step * step / 12;
                        }
                    }
                    const double rounding =
                        (4 + c.n_kv) * std::ldexp(size, -24) + (exact_weights ? 0.0 : size * TILE / 32767 / 2);
                    r.variance.push_back(variance + rounding * rounding + 1e-18);
                }
                r.want.insert(r.want.end(), out.begin(), out.end());
            }
        }
    }
    return r;
}
