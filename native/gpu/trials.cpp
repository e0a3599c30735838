#include "trials.h"

#include "ggml-alloc.h"
#include "ggml-cpp.h"
#include "ggml-turbo.h"

#include <cmath>
#include <cstring>
#include <random>

namespace {

// Rows of every kind that a search for scales may stumble over.
std::vector<float> awkward_rows(int row_len, int n_rows) {
    std::mt19937 rng(1);
    std::normal_distribution<float> gauss(0, 1);
    std::student_t_distribution<float> heavy(2.0f);
    std::uniform_real_distribution<float> exponent(-10, 10);
    std::vector<float> x((size_t) row_len * n_rows);
    for (int r = 0; r < n_rows; ++r) {
        for (int i = 0; i < row_len; ++i) {
            float & v = x[(size_t) r * row_len + i];
            switch (r % 10) {
                case 3: v = heavy(rng); break;
                case 4: v = heavy(rng) * heavy(rng) * heavy(rng); break;
                case 5: v = gauss(rng) * exp2f(exponent(rng)); break; // scales differ within a group
                case 6: v = gauss(rng) * exp2f((float) (r % 60) - 40); break; // tiny to large groups
                case 7: v = i % 37 ? 0.0f : gauss(rng) * 100; break;
                case 8: v = roundf(gauss(rng) * 2); break;
                case 9: v = gauss(rng) * 0.01f + (i % 128 == 5 ? 8.0f : 0.0f); break;
                default: v = gauss(rng);
            }
        }
    }
    const auto row = [&](int r) { return &x[(size_t) r * row_len]; };
    row(0)[0] = INFINITY;
    row(0)[300] = -INFINITY;
    row(3)[7] = NAN;
    row(4)[9] = 1e30f;
    row(5)[9] = -0.0f;
    for (int i = 0; i < row_len; ++i) { // none, and too little for fp16 scales
        const float small[] = { 0.0f, 1e-7f, 3e-8f, 1e-20f };
        row(7)[i] = small[(int64_t) i * 4 / row_len] * gauss(rng);
    }
    return x;
}

std::vector<float> gaussian(std::mt19937 & rng, size_t n, float scale) {
    std::normal_distribution<float> gauss(0, 1);
    std::vector<float> x(n);
    for (float & v : x) v = gauss(rng) * scale;
    return x;
}

// Squares of differences relative to the squares of `want`.
double squared_error(const std::vector<float> & got, const std::vector<float> & want) {
    double error = 0, energy = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        error += ((double) got[i] - want[i]) * ((double) got[i] - want[i]);
        energy += (double) want[i] * want[i];
    }
    return error / energy;
}

// wide: K and V with the same values in f32.
std::vector<float> attend(ggml_backend_t backend, const turbo_attention_trial & c, bool wide) {
    const int dim_k = (int) ggml_blck_size(c.type_k);
    const int dim_v = (int) ggml_blck_size(c.type_v);
    const ggml_context_ptr ctx(ggml_init({ 16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }));
    // as a cache lies: [head_dim, heads, cells]
    ggml_tensor * q = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F32, dim_k, c.n_tokens, c.n_head);
    ggml_tensor * k = ggml_new_tensor_3d(ctx.get(), wide ? GGML_TYPE_F32 : c.type_k, dim_k, c.n_head_kv, c.n_kv);
    ggml_tensor * v = ggml_new_tensor_3d(ctx.get(), wide ? GGML_TYPE_F32 : c.type_v, dim_v, c.n_head_kv, c.n_kv);
    ggml_tensor * mask = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F16, c.n_kv, c.n_tokens);
    ggml_tensor * out = ggml_flash_attn_ext(ctx.get(), q, ggml_permute(ctx.get(), k, 0, 2, 1, 3),
        ggml_permute(ctx.get(), v, 0, 2, 1, 3), mask, 1.0f / sqrtf((float) dim_k), 0, 0);
    ggml_prec_set_acc(out, GGML_PREC_F32);
    if (!ggml_backend_supports_op(backend, out)) return {};
    ggml_cgraph * graph = ggml_new_graph(ctx.get());
    ggml_build_forward_expand(graph, out);
    const ggml_backend_buffer_ptr buffer(ggml_backend_alloc_ctx_tensors(ctx.get(), backend));

    std::mt19937 rng(2);
    const std::vector<float> xq = gaussian(rng, (size_t) ggml_nelements(q), c.size > 1 ? 6.0f : 1.0f);
    ggml_backend_tensor_set(q, xq.data(), 0, ggml_nbytes(q));
    for (ggml_tensor * cache : { k, v }) {
        std::vector<float> x = gaussian(rng, (size_t) ggml_nelements(cache), cache == v ? c.size : 1.0f);
        const ggml_type type = cache == k ? c.type_k : c.type_v;
        std::vector<uint8_t> bytes(ggml_row_size(type, (int64_t) x.size()));
        ggml_get_type_traits(type)->from_float_ref(x.data(), bytes.data(), (int64_t) x.size());
        if (wide) ggml_get_type_traits(type)->to_float(bytes.data(), x.data(), (int64_t) x.size());
        ggml_backend_tensor_set(cache, wide ? (const void *) x.data() : bytes.data(), 0, ggml_nbytes(cache));
    }
    std::vector<ggml_fp16_t> m((size_t) c.n_kv * c.n_tokens);
    for (int t = 0; t < c.n_tokens; ++t) {
        for (int i = 0; i < c.n_kv; ++i)
            m[(size_t) t * c.n_kv + i] =
                ggml_fp32_to_fp16(i <= c.n_kv - c.n_tokens + t && i % 50 != 3 ? 0.0f : -INFINITY);
    }
    ggml_backend_tensor_set(mask, m.data(), 0, ggml_nbytes(mask));
    ggml_backend_graph_compute(backend, graph);
    std::vector<float> result((size_t) ggml_nelements(out));
    ggml_backend_tensor_get(out, result.data(), 0, ggml_nbytes(out));
    return result;
}

struct layer_result {
    int n_folded = 0;
    std::vector<float> cache; // K and V as values
    std::vector<float> result;
};

// Upstream's llama_mul_mat_hadamard.
ggml_tensor * rotate(
    ggml_context * ctx, ggml_tensor * x, ggml_tensor * matrix, std::vector<const ggml_tensor *> & products) {
    const int64_t n = matrix->ne[0];
    ggml_tensor * product = ggml_mul_mat(ctx, matrix, ggml_reshape_2d(ctx, x, n, ggml_nelements(x) / n));
    ggml_mul_mat_set_hint(product, GGML_HINT_SRC0_IS_HADAMARD);
    products.push_back(product);
    return ggml_reshape_4d(ctx, product, x->ne[0], x->ne[1], x->ne[2], x->ne[3]);
}

// One layer over a cache of 300 cells, the last of them new. cpu: the second back end of a scheduler; without it there is none.
layer_result run_layer(ggml_backend_t backend, ggml_backend_t cpu, ggml_type type, int n_tokens) {
    const int dim = (int) ggml_blck_size(type), n_head = 8, n_head_kv = 2, n_kv = 300;
    const auto make = [] {
        return ggml_context_ptr(ggml_init({ 64 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }));
    };
    const ggml_context_ptr kept = make(), made = make();
    ggml_context * in = kept.get();
    ggml_context * ctx = made.get();
    ggml_tensor * matrix = ggml_new_tensor_2d(in, GGML_TYPE_F32, dim, dim);
    ggml_tensor * xq = ggml_new_tensor_3d(in, GGML_TYPE_F32, dim, n_head, n_tokens);
    ggml_tensor * xk = ggml_new_tensor_3d(in, GGML_TYPE_F32, dim, n_head_kv, n_tokens);
    ggml_tensor * xv = ggml_new_tensor_3d(in, GGML_TYPE_F32, dim, n_head_kv, n_tokens);
    ggml_tensor * weight = ggml_new_tensor_1d(in, GGML_TYPE_F32, dim);
    ggml_tensor * positions = ggml_new_tensor_1d(in, GGML_TYPE_I32, n_tokens);
    ggml_tensor * ids = ggml_new_tensor_1d(in, GGML_TYPE_I64, n_tokens);
    ggml_tensor * mask = ggml_new_tensor_2d(in, GGML_TYPE_F16, n_kv, n_tokens);
    ggml_tensor * k = ggml_new_tensor_2d(in, type, (int64_t) dim * n_head_kv, n_kv);
    ggml_tensor * v = ggml_new_tensor_2d(in, type, (int64_t) dim * n_head_kv, n_kv);
    const ggml_backend_buffer_ptr inputs(ggml_backend_alloc_ctx_tensors(in, backend));

    // each is the result of an operation, as in a model; K is turned, by either kind of RoPE, and mostly normalized before
    ggml_tensor * before = n_tokens % 3 ? ggml_rms_norm(ctx, xk, 1e-6f) : ggml_scale(ctx, xk, 0.5f);
    ggml_tensor * normalized = n_tokens % 3 ? ggml_mul(ctx, before, weight) : before;
    const int rope = n_tokens % 2 ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL;
    std::vector<const ggml_tensor *> products;
    ggml_tensor * q_cur = rotate(ctx, ggml_scale(ctx, xq, 2.0f), matrix, products);
    ggml_tensor * k_cur = rotate(ctx, ggml_rope(ctx, normalized, positions, dim, rope), matrix, products);
    ggml_tensor * v_cur = rotate(ctx, ggml_scale(ctx, xv, 1.0f), matrix, products);
    const auto store = [&](ggml_tensor * cache, ggml_tensor * rows) {
        return ggml_set_rows(ctx, cache, ggml_view_2d(ctx, rows, cache->ne[0], n_tokens, rows->nb[2], 0), ids);
    };
    const auto heads = [&](ggml_tensor * cache) {
        ggml_tensor * view = ggml_view_3d(ctx, cache, dim, n_head_kv, n_kv, ggml_row_size(type, dim), cache->nb[1], 0);
        return ggml_permute(ctx, view, 0, 2, 1, 3);
    };
    ggml_cgraph * graph = ggml_new_graph(ctx);
    for (ggml_tensor * cur : { q_cur, v_cur, k_cur, store(k, k_cur), store(v, v_cur) }) {
        ggml_build_forward_expand(graph, cur);
    }
    ggml_tensor * attention = ggml_flash_attn_ext(
        ctx, ggml_permute(ctx, q_cur, 0, 2, 1, 3), heads(k), heads(v), mask, 1.0f / sqrtf((float) dim), 0, 0);
    ggml_prec_set_acc(attention, GGML_PREC_F32);
    if (!ggml_backend_supports_op(backend, attention)) return {};
    ggml_tensor * flat = ggml_reshape_2d(ctx, attention, (int64_t) dim * n_head, n_tokens);
    ggml_tensor * result = ggml_scale(ctx, rotate(ctx, flat, matrix, products), 0.5f);
    ggml_set_output(result);
    ggml_build_forward_expand(graph, result);

    ggml_backend_buffer_ptr temporary;
    ggml_backend_sched_ptr sched;
    if (cpu) {
        ggml_backend_t backends[] = { backend, cpu };
        sched.reset(ggml_backend_sched_new(backends, nullptr, 2, GGML_DEFAULT_GRAPH_SIZE, false, true));
        ggml_backend_sched_alloc_graph(sched.get(), graph);
    } else {
        temporary.reset(ggml_backend_alloc_ctx_tensors(ctx, backend));
    }

    std::vector<float> hadamard((size_t) dim * dim);
    for (int i = 0; i < dim * dim; ++i) {
        int odd = 0;
        for (int bits = (i / dim) & (i % dim); bits; bits &= bits - 1) odd ^= 1;
        hadamard[i] = (odd ? -1.0f : 1.0f) / sqrtf((float) dim);
    }
    ggml_backend_tensor_set(matrix, hadamard.data(), 0, ggml_nbytes(matrix));
    std::mt19937 rng(3);
    const std::vector<float> weights(dim, 0.75f);
    ggml_backend_tensor_set(weight, weights.data(), 0, ggml_nbytes(weight));
    for (ggml_tensor * x : { xq, xk, xv }) {
        std::vector<float> values = gaussian(rng, (size_t) ggml_nelements(x), 1.0f);
        for (size_t i = 0; i < values.size(); i += 16) values[i] *= 8; // an outlier, which a rotation spreads
        ggml_backend_tensor_set(x, values.data(), 0, ggml_nbytes(x));
    }
    for (ggml_tensor * cache : { k, v }) {
        const std::vector<float> x = gaussian(rng, (size_t) ggml_nelements(cache), 1.0f);
        std::vector<uint8_t> bytes(ggml_nbytes(cache));
        ggml_get_type_traits(type)->from_float_ref(x.data(), bytes.data(), (int64_t) x.size());
        ggml_backend_tensor_set(cache, bytes.data(), 0, bytes.size());
    }
    std::vector<int64_t> to(n_tokens);
    std::vector<int32_t> at(n_tokens);
    std::vector<ggml_fp16_t> m((size_t) n_kv * n_tokens);
    for (int t = 0; t < n_tokens; ++t) {
        to[t] = n_kv - n_tokens + t;
        at[t] = (int32_t) to[t];
        for (int i = 0; i < n_kv; ++i) m[(size_t) t * n_kv + i] = ggml_fp32_to_fp16(i <= to[t] ? 0.0f : -INFINITY);
    }
    ggml_backend_tensor_set(ids, to.data(), 0, ggml_nbytes(ids));
    ggml_backend_tensor_set(positions, at.data(), 0, ggml_nbytes(positions));
    ggml_backend_tensor_set(mask, m.data(), 0, ggml_nbytes(mask));

    if (cpu) {
        ggml_backend_sched_graph_compute(sched.get(), graph);
    } else {
        ggml_backend_graph_compute(backend, graph);
    }
    layer_result done;
    for (const ggml_tensor * product : products) {
        done.n_folded += product->op != GGML_OP_MUL_MAT || (product->flags & GGML_TENSOR_FLAG_COMPUTE) == 0;
    }
    for (ggml_tensor * cache : { k, v }) {
        std::vector<uint8_t> bytes(ggml_nbytes(cache));
        ggml_backend_tensor_get(cache, bytes.data(), 0, bytes.size());
        std::vector<float> values((size_t) ggml_nelements(cache));
        ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), (int64_t) values.size());
        done.cache.insert(done.cache.end(), values.end() - (ptrdiff_t) (n_tokens * cache->ne[0]), values.end());
    }
    done.result.resize((size_t) ggml_nelements(result));
    ggml_backend_tensor_get(result, done.result.data(), 0, ggml_nbytes(result));
    return done;
}

} // namespace

int turbo_trial_differing_blocks(ggml_backend_t backend, ggml_type type, int row_len, int n_rows) {
    const std::vector<float> x = awkward_rows(row_len, n_rows);
    const ggml_context_ptr ctx(ggml_init({ 16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }));
    ggml_tensor * src = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, row_len, n_rows);
    ggml_tensor * ids = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_I64, n_rows);
    ggml_tensor * dst = ggml_new_tensor_2d(ctx.get(), type, row_len, n_rows);
    ggml_cgraph * graph = ggml_new_graph(ctx.get());
    ggml_tensor * op = ggml_set_rows(ctx.get(), dst, src, ids);
    ggml_build_forward_expand(graph, op);
    if (!ggml_backend_supports_op(backend, op)) return -1;
    const ggml_backend_buffer_ptr buffer(ggml_backend_alloc_ctx_tensors(ctx.get(), backend));
    std::vector<int64_t> to(n_rows);
    for (int r = 0; r < n_rows; ++r) to[r] = r * 7 % n_rows;
    ggml_backend_tensor_set(src, x.data(), 0, ggml_nbytes(src));
    ggml_backend_tensor_set(ids, to.data(), 0, ggml_nbytes(ids));
    ggml_backend_graph_compute(backend, graph);

    const size_t row_size = ggml_row_size(type, row_len);
    std::vector<uint8_t> got(row_size * n_rows), want(row_size * n_rows);
    ggml_backend_tensor_get(dst, got.data(), 0, got.size());
    for (int r = 0; r < n_rows; ++r)
        ggml_get_type_traits(type)->from_float_ref(&x[(size_t) r * row_len], &want[row_size * to[r]], row_len);
    const size_t size = ggml_type_size(type);
    const size_t n_blocks = got.size() / size;
    int differ = 0;
    for (size_t b = 0; b < n_blocks; ++b) differ += memcmp(&got[b * size], &want[b * size], size) != 0;
    return differ;
}

std::string turbo_attention_trial::label() const {
    return std::string("K ") + ggml_type_name(type_k) + ", V " + ggml_type_name(type_v) + ", " +
           std::to_string(n_head) + " heads of " + std::to_string(n_head_kv) + ", " + std::to_string(n_tokens) +
           " tokens over " + std::to_string(n_kv) + (size != 1 ? ", values of " + std::to_string(size) : "");
}

double turbo_trial_attention_error(ggml_backend_t backend, ggml_backend_t cpu, const turbo_attention_trial & trial) {
    const std::vector<float> got = attend(backend, trial, false);
    if (got.empty()) return -1;
    return squared_error(got, attend(cpu, trial, true));
}

turbo_fold_trial turbo_trial_folds(ggml_backend_t backend, ggml_backend_t cpu, ggml_type type, int n_tokens) {
    const layer_result got = run_layer(backend, cpu, type, n_tokens);
    if (got.result.empty()) return {};
    const layer_result want = run_layer(cpu, nullptr, type, n_tokens);
    return { got.n_folded, squared_error(got.cache, want.cache), squared_error(got.result, want.result) };
}
