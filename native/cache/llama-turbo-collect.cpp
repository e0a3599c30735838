// llama_turbo_calibrate: one prefill with an f16 cache, watched through the scheduler's callback. The keys and values are
// what SET_ROWS writes into the cache tensors, after RoPE; the queries are what the attention reads with them. An f16
// cache is not rotated, so all are in the model's own basis.

#include "turbo-calibration.h"

#include "ggml-backend.h"
#include "llama-cpp.h"
#include "llama-hparams.h"
#include "llama-impl.h"
#include "llama-model.h"

#include <algorithm>
#include <map>
#include <string>

namespace {

constexpr int32_t n_batch_max = 64; // the text is read in such pieces, spread over the positions

// Sums of one array of channels over rows.
struct moments {
    std::vector<double> sum, sum_sq;
    uint64_t            n = 0;

    moments() = default;
    explicit moments(size_t width) : sum(width), sum_sq(width) {}

    void add(size_t channel, double value) {
        sum   [channel] += value;
        sum_sq[channel] += value*value;
    }

    std::vector<float> mean() const {
        std::vector<float> res(sum.size());
        for (size_t i = 0; i < res.size(); ++i) {
            res[i] = float(sum[i]/double(n));
        }
        return res;
    }

    std::vector<float> mean_sq() const {
        std::vector<float> res(sum.size());
        for (size_t i = 0; i < res.size(); ++i) {
            res[i] = float(sum_sq[i]/double(n));
        }
        return res;
    }

    std::vector<float> variance() const {
        std::vector<float> res(sum.size());
        for (size_t i = 0; i < res.size(); ++i) {
            const double m = sum[i]/double(n);
            res[i] = float(std::max(0.0, sum_sq[i]/double(n) - m*m));
        }
        return res;
    }
};

struct layer_sums {
    uint32_t il;
    uint32_t n_head_kv, head_k, head_v;
    moments  k, v, q;
};

class collector : public turbo_cache_listener {
public:
    collector(const llama_model & model, llama_turbo_progress progress, void * data, int32_t n_total)
        : model(model), progress(progress), data(data), n_total(n_total) {}

    void on_layer(uint32_t il, const ggml_tensor * k, const ggml_tensor * v) override {
        if (!k || !v) {
            return;
        }
        const llama_hparams & hparams = model.hparams;
        layer_sums sums { il, hparams.n_head_kv(il), hparams.n_embd_head_k(il), hparams.n_embd_head_v(il), {}, {}, {} };
        sums.k = sums.q = moments(size_t(sums.n_head_kv)*sums.head_k);
        sums.v          = moments(size_t(sums.n_head_kv)*sums.head_v);
        layers.emplace(il, std::move(sums));
        k_of[k] = il;
        v_of[v] = il;
    }

    // ggml_backend_sched_eval_callback: asked first whether a node is of interest, then given it computed
    static bool on_node(ggml_tensor * node, bool ask, void * self) {
        return static_cast<collector *>(self)->visit(node, ask);
    }

    // false: cancelled
    bool report() {
        cancelled = cancelled || (progress && !progress(n_done, n_total, data));
        return !cancelled;
    }

    std::unique_ptr<llama_turbo_calibration> result() const {
        auto res = std::make_unique<llama_turbo_calibration>();
        res->n_tokens = uint32_t(n_done);
        for (const auto & [il, sums] : layers) {
            if (sums.k.n == 0 || sums.v.n == 0 || sums.q.n == 0) {
                continue;
            }
            res->layers.push_back({ il, sums.n_head_kv, sums.head_k, sums.head_v,
                sums.k.mean(), sums.k.variance(), sums.q.mean_sq(), sums.v.mean(), sums.v.variance() });
        }
        res->seal();
        return res;
    }

    int32_t n_done = 0;
    bool    cancelled = false;

private:
    static const ggml_tensor * base(const ggml_tensor * t) {
        return t->view_src ? t->view_src : t;
    }

    bool visit(ggml_tensor * node, bool ask) {
        if (node->op == GGML_OP_SET_ROWS) {
            const auto k = k_of.find(base(node));
            const auto v = v_of.find(base(node));
            const bool known = k != k_of.end() || v != v_of.end();
            if (ask || !known) {
                return known;
            }
            if (k != k_of.end()) {
                add_rows(layers.at(k->second).k, node->src[0], base(node)->ne[0]);
            } else {
                add_rows(layers.at(v->second).v, node->src[0], base(node)->ne[0]);
            }
            return report();
        }
        // attention: (q, k, v) with flash attention, otherwise the product of k and q
        const bool flash = node->op == GGML_OP_FLASH_ATTN_EXT;
        if (!flash && node->op != GGML_OP_MUL_MAT) {
            return false;
        }
        const auto k = k_of.find(base(node->src[flash ? 1 : 0]));
        if (ask || k == k_of.end()) {
            return k != k_of.end();
        }
        add_queries(layers.at(k->second), node->src[flash ? 0 : 1]);
        return report();
    }

    // floats of a tensor, from its first to its last byte
    const char * fetch(const ggml_tensor * t) {
        bytes.resize(ggml_nbytes(t));
        ggml_backend_tensor_get(t, bytes.data(), 0, bytes.size());
        return bytes.data();
    }

    // rows of `width` values, contiguous but for the distance of rows; of a padded row only the first channels count
    void add_rows(moments & to, const ggml_tensor * rows, int64_t width) {
        if (rows->type != GGML_TYPE_F32) {
            return;
        }
        const char *  data = fetch(rows);
        const int64_t n    = ggml_nelements(rows)/width;
        const size_t  step = rows->ne[0] == width ? rows->nb[1] : width*sizeof(float);
        for (int64_t i = 0; i < n; ++i) {
            const float * row = reinterpret_cast<const float *>(data + i*step);
            for (size_t j = 0; j < to.sum.size(); ++j) {
                to.add(j, row[j]);
            }
        }
        to.n += n;
    }

    // q: [head_dim, n_tokens, n_head, n_stream]
    void add_queries(layer_sums & layer, const ggml_tensor * q) {
        if (q->type != GGML_TYPE_F32 || q->ne[0] != layer.head_k || q->ne[2] % layer.n_head_kv != 0) {
            return;
        }
        const char *  data  = fetch(q);
        const int64_t group = q->ne[2]/layer.n_head_kv;
        for (int64_t head = 0; head < q->ne[2]; ++head) {
            for (int64_t i = 0; i < q->ne[1]; ++i) {
                const float * row = reinterpret_cast<const float *>(data + head*q->nb[2] + i*q->nb[1]);
                for (uint32_t j = 0; j < layer.head_k; ++j) {
                    layer.q.add((head/group)*layer.head_k + j, row[j]);
                }
            }
        }
        layer.q.n += q->ne[1]*group;
    }

    const llama_model &  model;
    llama_turbo_progress progress;
    void *               data;
    int32_t              n_total;
    std::map<uint32_t, layer_sums>          layers;
    std::map<const ggml_tensor *, uint32_t> k_of, v_of;
    std::vector<char>                       bytes;
};

llama_context_ptr make_context(
        llama_model * model, collector & to, int32_t n_tokens, int32_t n_threads, const llama_turbo_rope * rope) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx             = uint32_t(n_tokens);
    params.n_batch           = uint32_t(std::min(n_tokens, n_batch_max));
    params.n_ubatch          = params.n_batch;
    params.n_seq_max         = 1;
    params.n_threads         = n_threads;
    params.n_threads_batch   = n_threads;
    params.type_k            = GGML_TYPE_F16;
    params.type_v            = GGML_TYPE_F16;
    params.cb_eval           = collector::on_node;
    params.cb_eval_user_data = &to;
    if (rope) {
        params.rope_scaling_type = rope->type;
        params.rope_freq_scale   = rope->freq_scale;
        params.yarn_ext_factor   = rope->ext_factor;
        params.yarn_orig_ctx     = rope->orig_ctx;
    }
    const turbo_listening listening(model, &to);
    // with YaRN upstream takes the model for one that was trained for more
    const uint32_t trained = model->hparams.n_ctx_train;
    llama_context_ptr res(llama_init_from_model(model, params));
    model->hparams.n_ctx_train = trained;
    return res;
}

// The mean of keys that RoPE turns by their position depends on the positions it is taken over. What has been read is moved
// to higher positions (the model sees distances only), so that a short text stands for a long context.
llama_pos move_on(llama_context * ctx, llama_pos from, llama_pos to) {
    llama_memory_t memory = llama_get_memory(ctx);
    if (to <= from || from == 0 || !llama_memory_can_shift(memory)) {
        return from;
    }
    llama_memory_seq_add(memory, 0, 0, -1, to - from);
    return to;
}

bool decode(llama_context * ctx, const llama_token * tokens, llama_pos pos, int32_t n) {
    llama_batch batch = llama_batch_init(n, 0, 1);
    for (int32_t i = 0; i < n; ++i) {
        batch.token[i]     = tokens[i];
        batch.pos[i]       = pos + i;
        batch.n_seq_id[i]  = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i]    = false;
    }
    batch.n_tokens = n;
    const bool ok = llama_decode(ctx, batch) == 0;
    llama_synchronize(ctx);
    llama_batch_free(batch);
    return ok;
}

} // namespace

llama_turbo_calibration * llama_turbo_calibrate(
        llama_model * model, const llama_token * tokens, int32_t n_tokens, int32_t n_positions, int32_t n_threads,
        const llama_turbo_rope * rope, llama_turbo_progress progress, void * data) {
    if (n_tokens < 1 || llama_model_has_encoder(model) || model->hparams.no_alloc) {
        LLAMA_LOG_ERROR("%s: no text, or a model that does not simply continue one\n", __func__);
        return nullptr;
    }
    const int32_t trained = llama_model_n_ctx_train(model);
    const int32_t span    = n_positions <= 0 ? trained : rope ? n_positions : std::min(n_positions, trained);
    collector sums(*model, progress, data, n_tokens);
    const llama_context_ptr ctx = make_context(model, sums, n_tokens, n_threads, rope);
    if (!ctx) {
        return nullptr;
    }
    llama_pos pos = 0;
    while (sums.n_done < n_tokens) {
        const int32_t n = std::min(n_batch_max, n_tokens - sums.n_done);
        if (!sums.report()) {
            return nullptr;
        }
        pos = move_on(ctx.get(), pos, llama_pos(int64_t(span)*sums.n_done/n_tokens));
        const bool ok = decode(ctx.get(), tokens + sums.n_done, pos, n);
        pos += n;
        if (sums.cancelled) {
            return nullptr;
        }
        if (!ok) {
            LLAMA_LOG_ERROR("%s: the model could not read the text\n", __func__);
            return nullptr;
        }
        sums.n_done += n;
    }
    sums.report();
    auto res = sums.result();
    if (res->layers.empty()) {
        LLAMA_LOG_ERROR("%s: the model has no layer with a KV cache of keys and values\n", __func__);
        return nullptr;
    }
    return res.release();
}
