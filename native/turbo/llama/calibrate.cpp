// llama_turbo_calibrate: one prefill with an f16 cache, watched through the scheduler's callback. The keys and values are
// what SET_ROWS writes into the cache tensors, after RoPE; the queries are what the attention reads with them. An f16
// cache is not rotated, so all are in the model's own basis. Keys and queries are turned back by their positions, so that a short
// text speaks for every depth (rope-stats.h).

#include "calibration-store.h"
#include "llama-turbo.h"
#include "rope-model.h"
#include "rope-stats.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llama-context.h"
#include "llama-cpp.h"
#include "llama-hparams.h"
#include "llama-impl.h"
#include "llama-model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace {

constexpr int32_t n_batch_max = 64; // tokens between two reports of the progress

// What one position does to the keys of a layer.
turbo_rope rope_of(const llama_model & model, const llama_cparams & cparams, uint32_t il) {
    const turbo_rope_turns turns = turbo_turns_of(model, cparams, il, { 1 });
    return turns.n_pair > 0 ? turns.at(0) : turbo_rope();
}

// Both readings of rows that RoPE may have turned: which one holds is known when all are seen.
struct two_readings {
    turbo_rope_stats turned, still;

    two_readings(uint32_t heads, uint32_t dim, const turbo_rope & rope) : turned(heads, dim, rope), still(heads, dim) {}

    void add(uint32_t head, const float * row, uint32_t pos) {
        turned.add(head, row, pos);
        still.add(head, row, 0);
    }
};

struct layer_stats {
    uint32_t n_head_kv, head_k, head_v;
    two_readings k, q;
    turbo_rope_stats v;

    layer_stats(uint32_t heads, uint32_t dim_k, uint32_t dim_v, const turbo_rope & rope)
        : n_head_kv(heads), head_k(dim_k), head_v(dim_v), k(heads, dim_k, rope), q(heads, dim_k, rope),
          v(heads, dim_v) {}
};

class collector : public turbo_cache_listener {
public:
    collector(const llama_model & model, llama_turbo_progress progress, void * data, int32_t n_total)
        : model(model), progress(progress), data(data), n_total(n_total) {}

    void on_layer(uint32_t il, const ggml_tensor * k, const ggml_tensor * v) override {
        if (k && v) {
            k_of[k] = il;
            v_of[v] = il;
        }
    }

    // once the context is made: its cparams
    void begin(const llama_cparams & cparams) {
        const llama_hparams & hparams = model.hparams;
        for (const auto & [tensor, il] : k_of) {
            layers.emplace(il, layer_stats(hparams.n_head_kv(il), hparams.n_embd_head_k(il), hparams.n_embd_head_v(il),
                                   rope_of(model, cparams, il)));
        }
    }

    // ggml_backend_sched_eval_callback: asked first whether a node is of interest, then given it computed
    static bool on_node(ggml_tensor * node, bool ask, void * self) {
        return static_cast<collector *>(self)->visit(node, ask);
    }

    // false: canceled
    bool report() {
        cancelled = cancelled || (progress && !progress(n_done, n_total, data));
        return !cancelled;
    }

    // for a context of n_positions with these cparams; block 0: to be chosen
    std::unique_ptr<llama_turbo_calibration> result(
        const llama_cparams & cparams, uint32_t n_positions, uint32_t block) const {
        if (block > 0) { return with_blocks(cparams, n_positions, block); }
        auto res = with_blocks(cparams, n_positions, turbo_center_block);
        if (!turbo_k_has_bias(model)) { return res; }
        const double least = error_of_keys(*with_blocks(cparams, n_positions, 1));
        while (res->block > 1 && error_of_keys(*res) > tolerated_error * least) {
            res = with_blocks(cparams, n_positions, res->block / 2);
        }
        return res;
    }

    int32_t pos = 0; // of the first token of the batch
    int32_t n_done = 0;
    bool cancelled = false;

private:
    static constexpr double tolerated_error =
        1.15; // times that of single positions; measured: docs/decisions/0006-k-bias.md

    std::unique_ptr<llama_turbo_calibration> with_blocks(
        const llama_cparams & cparams, uint32_t n_positions, uint32_t block) const {
        const std::vector<uint32_t> depths = turbo_depths(n_positions);
        auto res = std::make_unique<llama_turbo_calibration>();
        res->n_tokens = uint32_t(n_done);
        res->block = block;
        for (const auto & [il, stats] : layers) {
            if (stats.k.turned.n() == 0 || stats.v.n() == 0 || stats.q.turned.n() == 0) { continue; }
            // some models leave the keys of some layers unturned (SmolLM3, Llama 4, EXAONE 4, ...), of which the hparams say nothing
            turbo_rope rope = rope_of(model, cparams, il);
            const uint32_t n_turned = 2 * uint32_t(rope.turn.size());
            const bool turns = stats.k.turned.mean_energy(n_turned) >= stats.k.still.mean_energy(n_turned);
            if (!turns) { rope = {}; }
            const turbo_rope_stats & keys = turns ? stats.k.turned : stats.k.still;
            const turbo_window_stats k = keys.over(rope, depths);
            const turbo_window_stats blocks = keys.in_blocks(rope, depths, block);
            const turbo_window_stats q = (turns ? stats.q.turned : stats.q.still).over(rope, depths);
            const turbo_window_stats v = stats.v.over({}, depths);
            res->layers.push_back({ il, stats.n_head_kv, stats.head_k, stats.head_v, uint32_t(rope.turn.size()),
                { k.constant, k.residual }, { blocks.constant, blocks.residual }, q.mean_sq,
                { v.constant, v.residual } });
        }
        res->seal();
        return res;
    }

    // Of the scores, but for a factor: the rotation spreads the error of the scaled keys evenly over the channels of a head, and their
    // best scale makes the product of both sums the square of one (key_scale in kv-mean.cpp).
    static double error_of_keys(const llama_turbo_calibration & calibration) {
        double error = 0;
        for (const auto & layer : calibration.layers) {
            for (size_t first = 0; first < layer.q_sq.size(); first += layer.head_k) {
                double sum = 0;
                for (size_t i = first; i < first + layer.head_k; ++i) {
                    sum += std::sqrt(double(layer.q_sq[i]) * layer.k_block.var[i]);
                }
                error += sum * sum;
            }
        }
        return error;
    }

    static const ggml_tensor * base(const ggml_tensor * t) { return t->view_src ? t->view_src : t; }

    bool visit(ggml_tensor * node, bool ask) {
        if (node->op == GGML_OP_SET_ROWS) {
            const auto k = k_of.find(base(node));
            const auto v = v_of.find(base(node));
            const bool known = k != k_of.end() || v != v_of.end();
            if (ask || !known) { return known; }
            layer_stats & layer = layers.at(k != k_of.end() ? k->second : v->second);
            if (k != k_of.end()) {
                for_each_row(node->src[0], base(node)->ne[0], [&](int64_t i, const float * row) {
                    for (uint32_t head = 0; head < layer.n_head_kv; ++head) {
                        layer.k.add(head, row + head * layer.head_k, uint32_t(pos + i));
                    }
                });
            } else {
                for_each_row(node->src[0], base(node)->ne[0], [&](int64_t, const float * row) {
                    for (uint32_t head = 0; head < layer.n_head_kv; ++head) {
                        layer.v.add(head, row + head * layer.head_v, 0);
                    }
                });
            }
            return report();
        }
        // attention: (q, k, v) with flash attention, otherwise the product of k and q
        const bool flash = node->op == GGML_OP_FLASH_ATTN_EXT;
        if (!flash && node->op != GGML_OP_MUL_MAT) { return false; }
        const auto k = k_of.find(base(node->src[flash ? 1 : 0]));
        if (ask || k == k_of.end()) { return k != k_of.end(); }
        add_queries(layers.at(k->second), node->src[flash ? 0 : 1]);
        return report();
    }

    // floats of a tensor, from its first to its last byte
    const char * fetch(const ggml_tensor * t) {
        bytes.resize(ggml_nbytes(t));
        ggml_backend_tensor_get(t, bytes.data(), 0, bytes.size());
        return bytes.data();
    }

    // rows of `width` values, one a token, contiguous but for the distance of rows
    template <typename Visit> void for_each_row(const ggml_tensor * rows, int64_t width, Visit && visit) {
        if (rows->type != GGML_TYPE_F32) { return; }
        const char * data = fetch(rows);
        const int64_t n = ggml_nelements(rows) / width;
        const size_t step = rows->ne[0] == width ? rows->nb[1] : width * sizeof(float);
        for (int64_t i = 0; i < n; ++i) { visit(i, reinterpret_cast<const float *>(data + i * step)); }
    }

    // q: [head_dim, n_tokens, n_head, n_stream]
    void add_queries(layer_stats & layer, const ggml_tensor * q) {
        if (q->type != GGML_TYPE_F32 || q->ne[0] != layer.head_k || q->ne[2] % layer.n_head_kv != 0) { return; }
        const char * data = fetch(q);
        const int64_t group = q->ne[2] / layer.n_head_kv;
        for (int64_t i = 0; i < q->ne[1]; ++i) {
            for (int64_t head = 0; head < q->ne[2]; ++head) {
                const float * row = reinterpret_cast<const float *>(data + head * q->nb[2] + i * q->nb[1]);
                layer.q.add(uint32_t(head / group), row, uint32_t(pos + i));
            }
        }
    }

    const llama_model & model;
    llama_turbo_progress progress;
    void * data;
    int32_t n_total;
    std::map<uint32_t, layer_stats> layers;
    std::map<const ggml_tensor *, uint32_t> k_of, v_of;
    std::vector<char> bytes;
};

llama_context_ptr make_context(
    llama_model * model, collector & to, int32_t n_tokens, int32_t n_threads, const llama_turbo_rope * rope) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = uint32_t(n_tokens);
    params.n_batch = uint32_t(std::min(n_tokens, n_batch_max));
    params.n_ubatch = params.n_batch;
    params.n_seq_max = 1;
    params.n_threads = n_threads;
    params.n_threads_batch = n_threads;
    params.type_k = GGML_TYPE_F16;
    params.type_v = GGML_TYPE_F16;
    params.cb_eval = collector::on_node;
    params.cb_eval_user_data = &to;
    if (rope) {
        params.rope_scaling_type = rope->type;
        params.rope_freq_scale = rope->freq_scale;
        params.yarn_ext_factor = rope->ext_factor;
        params.yarn_orig_ctx = rope->orig_ctx;
    }
    const turbo_listening listening(model, &to);
    // with YaRN upstream takes the model for one that was trained for more
    const uint32_t trained = model->hparams.n_ctx_train;
    llama_context_ptr res(llama_init_from_model(model, params));
    model->hparams.n_ctx_train = trained;
    return res;
}

bool decode(llama_context * ctx, const llama_token * tokens, llama_pos pos, int32_t n) {
    llama_batch batch = llama_batch_init(n, 0, 1);
    for (int32_t i = 0; i < n; ++i) {
        batch.token[i] = tokens[i];
        batch.pos[i] = pos + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = false;
    }
    batch.n_tokens = n;
    const bool ok = llama_decode(ctx, batch) == 0;
    llama_synchronize(ctx);
    llama_batch_free(batch);
    return ok;
}

} // namespace

llama_turbo_calibration * llama_turbo_calibrate(llama_model * model, const llama_token * tokens, int32_t n_tokens,
    int32_t n_positions, int32_t block, int32_t n_threads, const llama_turbo_rope * rope, llama_turbo_progress progress,
    void * data) {
    if (block != 0 && !turbo_is_block(uint32_t(block))) {
        LLAMA_LOG_ERROR(
            "%s: blocks of %d positions; there are powers of two up to %u\n", __func__, block, turbo_center_block);
        return nullptr;
    }
    if (n_tokens < 1 || llama_model_has_encoder(model) || model->hparams.no_alloc) {
        LLAMA_LOG_ERROR("%s: no text, or a model that does not simply continue one\n", __func__);
        return nullptr;
    }
    const int32_t trained = llama_model_n_ctx_train(model);
    const int32_t span = n_positions <= 0 ? trained : rope ? n_positions : std::min(n_positions, trained);
    collector sums(*model, progress, data, n_tokens);
    const llama_context_ptr ctx = make_context(model, sums, n_tokens, n_threads, rope);
    if (!ctx) { return nullptr; }
    sums.begin(ctx->get_cparams());
    while (sums.n_done < n_tokens) {
        const int32_t n = std::min(n_batch_max, n_tokens - sums.n_done);
        if (!sums.report()) { return nullptr; }
        sums.pos = sums.n_done;
        const bool ok = decode(ctx.get(), tokens + sums.n_done, sums.pos, n);
        if (sums.cancelled) { return nullptr; }
        if (!ok) {
            LLAMA_LOG_ERROR("%s: the model could not read the text\n", __func__);
            return nullptr;
        }
        sums.n_done += n;
    }
    sums.report();
    // LongRoPE has other factors in a long context than in that of the text
    llama_cparams there = ctx->get_cparams();
    there.n_ctx_seq = uint32_t(span);
    auto res = sums.result(there, uint32_t(span), uint32_t(block));
    if (!res->finite()) {
        LLAMA_LOG_ERROR("%s: the keys, values or queries of the text are not finite numbers\n", __func__);
        return nullptr;
    }
    if (res->layers.empty()) {
        LLAMA_LOG_ERROR("%s: the model has no layer with a KV cache of keys and values\n", __func__);
        return nullptr;
    }
    return res.release();
}
