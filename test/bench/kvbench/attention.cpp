#include "kvbench.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "ggml-cpu.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace {

// llama.cpp shows the cells to a graph in steps of this many (llama_kv_cache::get_n_kv)
constexpr int n_kv_pad = 256;
// rows of random data, repeated
constexpr int n_random_rows = 256;

// median of this many runs is one turn of a single token, of one run if that takes long
constexpr int decode_runs = 5;
constexpr double slow_seconds = 0.2;

std::vector<float> gaussian(size_t n, unsigned seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> dist;
    std::vector<float> values(n);
    std::generate(values.begin(), values.end(), [&] { return dist(rng); });
    return values;
}

void fill_rows(ggml_tensor * t, unsigned seed) {
    const int64_t n_rows = std::min<int64_t>(n_random_rows, t->ne[1]);
    const std::vector<float> values = gaussian(size_t(t->ne[0] * n_rows), seed);
    ggml_quantize_chunk(t->type, values.data(), t->data, 0, n_rows, t->ne[0], nullptr);
    for (int64_t row = n_rows; row < t->ne[1]; row += n_rows) {
        memcpy((char *) t->data + row * t->nb[1], t->data, size_t(std::min(n_rows, t->ne[1] - row)) * t->nb[1]);
    }
}

void fill_causal(ggml_tensor * mask, int depth) {
    for (int64_t row = 0; row < mask->ne[1]; ++row) {
        auto * out = (ggml_fp16_t *) ((char *) mask->data + row * mask->nb[1]);
        for (int64_t pos = 0; pos < mask->ne[0]; ++pos) {
            out[pos] = ggml_fp32_to_fp16(pos <= depth + row ? 0.0f : -INFINITY);
        }
    }
}

// One side of a layer's cache as the graph of the model sees it: head_dim, positions, heads.
ggml_tensor * heads(ggml_context * ctx, ggml_tensor * t, int head_dim, int n_head) {
    ggml_tensor * view =
        ggml_view_3d(ctx, t, head_dim, n_head, t->ne[1], ggml_row_size(t->type, head_dim), t->nb[1], 0);
    return ggml_permute(ctx, view, 0, 2, 1, 3);
}

double median_of(const std::function<double()> & measure, int n) {
    std::vector<double> seconds(static_cast<size_t>(n));
    std::generate(seconds.begin(), seconds.end(), measure);
    std::sort(seconds.begin(), seconds.end());
    return seconds[size_t(n) / 2];
}

class attention_graph {
public:
    // n_tokens query rows at positions depth and on. Ends the process when there is no memory.
    attention_graph(const attention_shape & shape, ggml_type type_k, ggml_type type_v, int depth, int n_tokens)
        : ctx(ggml_init(
              { ggml_tensor_overhead() * (16 + 8 * size_t(shape.n_layer)) + ggml_graph_overhead(), nullptr, true })),
          graph(ggml_new_graph(ctx.get())) {
        const int64_t n_kv = GGML_PAD(depth + n_tokens, n_kv_pad);

        std::vector<ggml_tensor *> rows;
        ggml_tensor * q = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F32, shape.head_dim_k, shape.n_head, n_tokens);
        ggml_tensor * mask = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F16, n_kv, n_tokens);
        for (int il = 0; il < shape.n_layer; ++il) {
            ggml_tensor * k = ggml_new_tensor_2d(ctx.get(), type_k, int64_t(shape.head_dim_k) * shape.n_head_kv, n_kv);
            ggml_tensor * v = ggml_new_tensor_2d(ctx.get(), type_v, int64_t(shape.head_dim_v) * shape.n_head_kv, n_kv);
            rows.insert(rows.end(), { k, v });
            last = ggml_flash_attn_ext(ctx.get(), ggml_permute(ctx.get(), q, 0, 2, 1, 3),
                heads(ctx.get(), k, shape.head_dim_k, shape.n_head_kv),
                heads(ctx.get(), v, shape.head_dim_v, shape.n_head_kv), mask, 1.0f / std::sqrt(float(shape.head_dim_k)),
                0.0f, 0.0f);
            ggml_prec_set_acc(last, GGML_PREC_F32);
            ggml_build_forward_expand(graph, last);
        }

        buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(ctx.get(), ggml_backend_cpu_buffer_type()));
        if (!buffer) { give_up("There is no memory for the attention alone at depth " + std::to_string(depth) + "."); }
        for (size_t i = 0; i < rows.size(); ++i) { fill_rows(rows[i], unsigned(i)); }
        fill_causal(mask, depth);
        const std::vector<float> queries = gaussian(size_t(ggml_nelements(q)), 99);
        memcpy(q->data, queries.data(), ggml_nbytes(q));
    }

    // Seconds of one run with the kernels in effect.
    double run(int n_threads) {
        ggml_cplan plan = ggml_graph_plan(graph, n_threads, nullptr);
        work.resize(std::max(work.size(), plan.work_size));
        plan.work_data = work.data();
        const double start = now();
        const ggml_status status = ggml_graph_compute(graph, &plan);
        const double seconds = now() - start;
        if (status != GGML_STATUS_SUCCESS || !std::isfinite(((const float *) last->data)[0])) {
            give_up("The attention alone failed or gave a value that is not finite.");
        }
        return seconds;
    }

private:
    ggml_context_ptr ctx;
    ggml_backend_buffer_ptr buffer;
    ggml_cgraph * graph;
    ggml_tensor * last;
    std::vector<uint8_t> work;
};

} // namespace

bool attention_shape_of(const llama_model * model, const cell_filler & cells, attention_shape & shape) {
    if (!cells.plain() || cells.v.size() != cells.k.size() || llama_model_n_swa(model) > 0) { return false; }
    const auto values = [](const cell_rows & rows) {
        return int(rows.row_size / ggml_type_size(rows.type) * size_t(ggml_blck_size(rows.type)));
    };
    shape.n_head = llama_model_n_head(model);
    shape.n_head_kv = llama_model_n_head_kv(model);
    shape.n_layer = int(cells.k.size());
    if (shape.n_head_kv <= 0 || shape.n_head % shape.n_head_kv != 0) { return false; }
    shape.head_dim_k = values(cells.k[0]) / shape.n_head_kv;
    shape.head_dim_v = values(cells.v[0]) / shape.n_head_kv;
    const auto alike = [](const std::vector<cell_rows> & side) {
        return std::all_of(
            side.begin(), side.end(), [&](const cell_rows & rows) { return rows.row_size == side[0].row_size; });
    };
    return alike(cells.k) && alike(cells.v);
}

void attention_rounds(const round_plan & plan, const attention_shape & shape, int depth, int n_tokens, int n_threads) {
    const bool single = n_tokens == 1;
    // variants of one context share their graph too; types are the effective ones
    std::vector<std::shared_ptr<attention_graph>> graphs;
    for (size_t i = 0; i < plan.variants.size(); ++i) {
        const kv_context & kv = *plan.variants[i].kv;
        size_t same = 0;
        while (plan.variants[same].kv != plan.variants[i].kv) { ++same; }
        graphs.push_back(same < i ? graphs[same]
                                  : std::make_shared<attention_graph>(
                                        shape, kv.cells.k[0].type, kv.cells.v[0].type, depth, n_tokens));
    }
    run_rounds(plan, single ? "attention-decode" : "attention-prefill", depth, n_tokens, [&](size_t i) {
        const auto once = [&] { return graphs[i]->run(n_threads); };
        if (!single) { return once(); }
        const double first = once(); // the variant before has left its own cache in L3
        return median_of(once, first > slow_seconds ? 1 : decode_runs);
    });
}
