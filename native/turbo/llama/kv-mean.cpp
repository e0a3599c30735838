// Which caches are centered and why others are not, the constants of those that are, and the graph hooks that use them.

#include "kv-mean.h"
#include "calibration-store.h"
#include "ggml-turbo.h"
#include "key-blocks.h"
#include "llama-turbo.h"
#include "recent-window.h"
#include "tensor-registry.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llama-arch.h"
#include "llama-graph.h"
#include "llama-hparams.h"
#include "llama-impl.h"
#include "llama-kv-cache.h"
#include "llama-model.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

namespace {

// Constants of one layer of one cache, f32, on the device of its cache tensors. nullptr: that part is not centered.
struct layer_constants {
    ggml_tensor * k_mean = nullptr; // [head_dim, n_head_kv]
    ggml_tensor * k_scale = nullptr; // [head_dim, n_head_kv]: factors of what is left of K
    ggml_tensor * q_scale = nullptr; // [head_dim, n_head]: their inverses, for the queries
    ggml_tensor * v_mean = nullptr; // [head_dim, n_head_kv]
    ggml_tensor * v_back = nullptr; // [head_dim*n_head]: v_mean for each query head, what the output gets back
    const turbo_key_blocks * blocks = nullptr; // K is centered by blocks; k_mean is what turns
    turbo_block_layer * block_layer = nullptr;
    uint32_t tag_k = 0; // 23 bits of the calibration's hash, not 0 where K is centered
    uint32_t tag_v = 0;
};

turbo_tensor_registry<layer_constants> registry; // by the cache's K tensor, and by its V tensor

layer_constants find(const ggml_tensor * cache) { return registry.find(cache); }

bool has_sinks(const llama_model & model) {
    for (uint32_t il = 0; il < model.hparams.n_layer_all; ++il) {
        if (model.get_tensor(("blk." + std::to_string(il) + ".attn_sinks.weight").c_str())) { return true; }
    }
    return false;
}

// Why K can be centered by blocks only, which leave the scores as they are: a constant moves all of a query's alike, and here that
// makes a difference. nullptr: it makes none.
const char * only_by_blocks(const llama_model & model) {
    if (has_sinks(model)) {
        return "the model's attention sinks are compared with the keys, so one constant for all positions would not be "
               "exact";
    }
    return model.hparams.attn_soft_cap || model.arch == LLM_ARCH_GROK
               ? "the model caps its attention scores, so one constant for all positions of K would not be exact"
               : nullptr;
}

uint32_t tag_of(uint64_t hash) { return uint32_t(hash % 0x7fffff) + 1; }

// What a centered cache holds for as long as it lives.
class cache_constants {
public:
    cache_constants(const llama_model & model, const llama_kv_cache & cache, uint32_t block)
        : blocks(model, cache, block), by_blocks_only(only_by_blocks(model) != nullptr) {}
    cache_constants(const cache_constants &) = delete;
    cache_constants & operator=(const cache_constants &) = delete;

    ~cache_constants() {
        for (const ggml_tensor * key : keys) { registry.leave(key); }
    }

    void add(const turbo_cache_layer & layer, const turbo_layer_stats & stats, const llama_turbo_centering & on,
        uint32_t n_head) {
        layer_constants made;
        made.tag_k = on.k ? tag_of(on.hash) : 0;
        made.tag_v = on.v ? tag_of(on.hash) : 0;
        if (on.k) {
            // what does not turn needs no more than a constant, unless that is to be added to the score, too
            const bool by_blocks = on.k_blocks && (stats.n_pair > 0 || by_blocks_only);
            const turbo_means & k = by_blocks ? stats.k_block : stats.k;
            const std::vector<float> scale = key_scale(stats, k.var);
            std::vector<float> inverse(scale.size());
            std::transform(scale.begin(), scale.end(), inverse.begin(), [](float t) { return 1.0f / t; });
            made.k_mean = plan(layer.k, "turbo_k_mean", stats.il, stats.head_k, stats.n_head_kv, k.mean);
            made.k_scale = plan(layer.k, "turbo_k_scale", stats.il, stats.head_k, stats.n_head_kv, scale);
            made.q_scale = plan(layer.k, "turbo_q_scale", stats.il, stats.head_k, n_head,
                each_query_head(inverse, stats.n_head_kv, n_head));
            if (by_blocks) {
                made.blocks = &blocks;
                made.block_layer = blocks.add(stats, made.k_mean, made.k_scale);
            }
        }
        if (on.v) {
            made.v_mean = plan(layer.v, "turbo_v_mean", stats.il, stats.head_v, stats.n_head_kv, stats.v.mean);
            made.v_back = plan(layer.v, "turbo_v_back", stats.il, int64_t(stats.head_v) * n_head, 1,
                each_query_head(stats.v.mean, stats.n_head_kv, n_head));
        }
        pending.push_back({ layer, made });
    }

    void finish() {
        for (auto & [buft, ctx] : contexts) {
            ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx.get(), buft);
            if (!buffer) { throw std::runtime_error("failed to allocate the constants of centering"); }
            ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
            buffers.emplace_back(buffer);
        }
        for (const auto & [tensor, values] : contents) {
            ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
        }
        for (const auto & [layer, made] : pending) {
            enter(layer.k, made);
            enter(layer.v, made);
        }
        contents.clear();
        pending.clear();
    }

private:
    static constexpr size_t max_tensors = 4096;

    // [n_head_kv][head_dim] -> [n_head][head_dim]
    static std::vector<float> each_query_head(
        const std::vector<float> & of_kv_head, uint32_t n_head_kv, uint32_t n_head) {
        const uint32_t head_dim = uint32_t(of_kv_head.size() / n_head_kv);
        const uint32_t group = n_head / n_head_kv;
        std::vector<float> values;
        for (uint32_t head = 0; head < n_head; ++head) {
            const auto first = of_kv_head.begin() + (head / group) * head_dim;
            values.insert(values.end(), first, first + head_dim);
        }
        return values;
    }

    // The rotation spreads the error of a head evenly over its channels, where a channel's counts as much as its query is
    // large: (E q^2 / E (k - c)^2)^(1/4), the same for queries and keys of one size, makes that least. Only ratios within
    // a head matter.
    static std::vector<float> key_scale(const turbo_layer_stats & stats, const std::vector<float> & k_var) {
        constexpr float limit = 16.0f; // a channel that the text left silent may speak later
        std::vector<float> scale(k_var.size());
        for (size_t first = 0; first < scale.size(); first += stats.head_k) {
            double log_sum = 0.0;
            for (size_t i = first; i < first + stats.head_k; ++i) {
                scale[i] = std::pow(std::max(stats.q_sq[i], 1e-12f) / std::max(k_var[i], 1e-12f), 0.25f);
                log_sum += std::log(scale[i]);
            }
            const float middle = float(std::exp(log_sum / stats.head_k));
            for (size_t i = first; i < first + stats.head_k; ++i) {
                scale[i] = std::min(std::max(scale[i] / middle, 1.0f / limit), limit);
            }
        }
        return scale;
    }

    ggml_tensor * plan(const ggml_tensor * cache, const char * name, uint32_t il, int64_t ne0, int64_t ne1,
        std::vector<float> values) {
        ggml_context_ptr & ctx = contexts[ggml_backend_buffer_get_type(cache->buffer)];
        if (!ctx) { ctx.reset(ggml_init({ max_tensors * ggml_tensor_overhead(), nullptr, true })); }
        ggml_tensor * tensor = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, ne0, ne1);
        ggml_format_name(tensor, "%s_l%u", name, il);
        contents.emplace_back(tensor, std::move(values));
        return tensor;
    }

    void enter(const ggml_tensor * cache, const layer_constants & made) {
        if (registry.enter(cache, made)) { keys.push_back(cache); }
    }

    turbo_key_blocks blocks;
    const bool by_blocks_only;
    std::map<ggml_backend_buffer_type_t, ggml_context_ptr> contexts;
    std::vector<ggml_backend_buffer_ptr> buffers;
    std::vector<std::pair<ggml_tensor *, std::vector<float>>> contents;
    std::vector<std::pair<turbo_cache_layer, layer_constants>> pending;
    std::vector<const ggml_tensor *> keys;
};

// the rows of a constant that a partial RoPE turns
ggml_tensor * first_rows(ggml_context * ctx, ggml_tensor * constant, const ggml_tensor * keys) {
    return constant->ne[0] == keys->ne[0]
               ? constant
               : ggml_view_2d(ctx, constant, keys->ne[0], constant->ne[1], constant->nb[1], 0);
}

// --- which caches are centered

constexpr const char * reason_type = "only turbo types are centered";
constexpr const char * reason_absent = "the model has not been calibrated";
constexpr const char * reason_sinks_v =
    "the model's attention sinks take a part of the weights, so centering V would not be exact";
constexpr const char * reason_mla = "the model uses latent attention (MLA), where V is a part of K";
constexpr const char * reason_own_path = "the model's attention writes its cache on a path of its own";
constexpr const char * reason_blocks_gpu =
    "a GPU holds a part of the cache, and its attention takes one constant for all positions";
constexpr const char * reason_blocks_worker =
    "a worker holds a part of the cache, and its attention takes one constant for all positions";
constexpr const char * reason_blocks_flash = "flash attention is off, without which one constant serves all positions";
constexpr const char * reason_split = "the cache is split by tensors over several devices";

std::atomic<bool> every_type{ false };

// graphs that call cpy_k, cpy_v or build_attn_mha themselves
bool has_own_path(const llama_model & model) {
    switch (model.arch) {
        case LLM_ARCH_QWEN4EXP:
        case LLM_ARCH_MINIMAX_M3:
        case LLM_ARCH_DFLASH:
        case LLM_ARCH_HY_V4:
        case LLM_ARCH_DOTS3NOTE: return true;
        default: return model.hparams.indexer_head_size > 0;
    }
}

// nullptr: nothing forbids it
const char * forbidden(const llama_model & model) {
    if (model.hparams.is_mla() || model.arch == LLM_ARCH_DEEPSEEK4) { return reason_mla; }
    if (has_own_path(model)) { return reason_own_path; }
    return model.split_mode() == LLAMA_SPLIT_MODE_TENSOR ? reason_split : nullptr;
}

// Why K is not centered by blocks of positions where it is centered; nullptr: it is.
const char * one_constant(const llama_model & model, bool flash_attn) {
    if (!flash_attn || model.arch == LLM_ARCH_GROK || model.hparams.n_rel_attn_bkts > 0) { return reason_blocks_flash; }
    for (uint32_t il = 0; il < model.hparams.n_layer_all; ++il) {
        const ggml_backend_dev_t device = model.dev_layer(il);
        if (turbo_is_worker(device)) { return reason_blocks_worker; }
        if (device && ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU) { return reason_blocks_gpu; }
    }
    return nullptr;
}

// of constants that turn by blocks, whose size the hash of the calibration knows
uint64_t hash_of_blocks(uint64_t hash) {
    const uint64_t mixed = (hash ^ turbo_center_block) * 0x9e3779b97f4a7c15u;
    return mixed ? mixed : 1;
}

} // namespace

llama_turbo_centering llama_turbo_centering_resolve(
    const llama_model * model, ggml_type type_k, ggml_type type_v, bool flash_attn) {
    const auto calibration = turbo_attached_to(model).calibration;
    const char * common = forbidden(*model);
    const char * blocks_refusal = one_constant(*model, flash_attn);
    const auto reason = [&](ggml_type type, const char * own) {
        return !ggml_turbo_is_turbo(type) && !every_type ? reason_type
               : common                                  ? common
               : own                                     ? own
               : !calibration                            ? reason_absent
                                                         : nullptr;
    };
    const char * reason_k = reason(type_k, blocks_refusal ? only_by_blocks(*model) : nullptr);
    const char * reason_v = reason(type_v, has_sinks(*model) ? reason_sinks_v : nullptr);
    const bool wanted = reason_k == reason_absent || reason_v == reason_absent;
    llama_turbo_centering res = { !reason_k, !reason_v, reason_k, reason_v, 0, wanted, false, nullptr };
    if (res.k) {
        res.reason_blocks = blocks_refusal;
        res.k_blocks = !blocks_refusal;
    }
    if (res.k || res.v) { res.hash = res.k_blocks ? hash_of_blocks(calibration->hash) : calibration->hash; }
    return res;
}

size_t llama_turbo_block_bytes(const llama_model * model, ggml_type type_k, bool flash_attn, uint32_t n_cells) {
    const llama_turbo_centering on = llama_turbo_centering_resolve(model, type_k, GGML_TYPE_F16, flash_attn);
    if ((!on.k && on.reason_k != reason_absent) || one_constant(*model, flash_attn)) { return 0; }
    uint32_t n_rot = 0;
    for (uint32_t il = 0; il < model->hparams.n_layer_all; ++il) { n_rot = std::max(n_rot, model->hparams.n_rot(il)); }
    if (n_rot == 0) { return 0; }
    // of a model that is not calibrated yet, the most that it may be
    const auto calibration = turbo_attached_to(model).calibration;
    const uint32_t block = calibration ? calibration->block : turbo_k_has_bias(*model) ? 1 : turbo_center_block;
    return turbo_turn_bytes(n_rot, n_cells, block);
}

bool turbo_can_center(const llama_model & model) { return !forbidden(model); }

bool turbo_centers_by_blocks(const llama_model & model, bool flash_attn) {
    return turbo_can_center(model) && !one_constant(model, flash_attn);
}

void llama_turbo_centering_every_type(bool on) { every_type = on; }

std::shared_ptr<void> turbo_kv_mean_register(const llama_kv_cache & cache, const llama_model & model, bool v_trans,
    const std::vector<turbo_cache_layer> & layers) {
    const turbo_attached attached = turbo_attached_to(&model);
    if (attached.listener) {
        for (const auto & layer : layers) { attached.listener->on_layer(layer.il, layer.k, layer.v); }
        return nullptr;
    }
    std::shared_ptr<void> recent = turbo_recent_register(cache, model, v_trans, layers);
    if (!attached.calibration || model.hparams.no_alloc) { return recent; }
    auto constants = std::make_shared<cache_constants>(model, cache, attached.calibration->block);
    bool any = false;
    for (const auto & layer : layers) {
        const turbo_layer_stats * stats = attached.calibration->find(layer.il);
        if (!stats || !layer.k || !layer.v) { continue; }
        const llama_turbo_centering on = llama_turbo_centering_resolve(&model, layer.k->type, layer.v->type, !v_trans);
        if (on.k || on.v) {
            constants->add(layer, *stats, on, model.hparams.n_head(layer.il));
            any = true;
        }
    }
    if (!any) { return recent; }
    constants->finish();
    using both = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
    return std::make_shared<both>(std::move(constants), std::move(recent));
}

void turbo_keep_on_cpu(const llm_graph_context & graph, ggml_tensor * attention) {
    if (graph.sched && graph.backend_cpu) {
        ggml_backend_sched_set_tensor_backend(graph.sched, attention, graph.backend_cpu);
    }
}

void turbo_kv_mean_in(const llm_graph_context & graph, const llama_kv_cache_context * mctx, int il, ggml_tensor *& q,
    ggml_tensor *& k, ggml_tensor *& v) {
    ggml_context * ctx = graph.ctx0;
    const ggml_tensor * cells = mctx->get_k(ctx, il);
    turbo_recent_begin(graph, cells);
    const layer_constants constants = find(cells);
    if (constants.blocks) { constants.blocks->begin(graph, *constants.block_layer, cells, q); }
    if (constants.k_mean) { q = ggml_mul(ctx, q, constants.q_scale); }
    if (constants.k_mean && k) {
        k = constants.blocks ? constants.blocks->take_off(graph, *constants.block_layer, k)
                             : ggml_mul(ctx, ggml_sub(ctx, k, constants.k_mean), constants.k_scale);
    }
    if (constants.v_mean && v) { v = ggml_sub(ctx, v, constants.v_mean); }
}

ggml_tensor * turbo_kv_mean_out(
    const llm_graph_context & graph, const llama_kv_cache_context * mctx, int il, ggml_tensor * cur) {
    const ggml_tensor * cells = mctx->get_k(graph.ctx0, il);
    turbo_recent_end(graph, cells);
    const layer_constants constants = find(cells);
    if (constants.blocks) { constants.blocks->end(graph, *constants.block_layer); }
    return constants.v_back ? ggml_add(graph.ctx0, cur, constants.v_back) : cur;
}

ggml_tensor * turbo_kv_mean_undo(ggml_context * ctx, const ggml_tensor * cache, ggml_tensor * keys) {
    turbo_recent_forget(cache);
    const layer_constants constants = find(cache);
    if (!constants.k_mean) { return keys; }
    if (constants.blocks) { return turbo_blocks_undo(ctx, *constants.block_layer, keys); }
    keys = ggml_div(ctx, keys, first_rows(ctx, constants.k_scale, keys));
    return ggml_add(ctx, keys, first_rows(ctx, constants.k_mean, keys));
}

ggml_tensor * turbo_kv_mean_redo(ggml_context * ctx, const ggml_tensor * cache, ggml_tensor * keys) {
    const layer_constants constants = find(cache);
    if (!constants.k_mean) { return keys; }
    if (constants.blocks) { return turbo_blocks_redo(ctx, *constants.block_layer, keys); }
    keys = ggml_sub(ctx, keys, first_rows(ctx, constants.k_mean, keys));
    return ggml_mul(ctx, keys, first_rows(ctx, constants.k_scale, keys));
}

int32_t turbo_state_type(const ggml_tensor * cache, bool is_k) {
    const layer_constants constants = find(cache);
    return int32_t(cache->type) | int32_t((is_k ? constants.tag_k : constants.tag_v) << 8);
}

int32_t turbo_state_type_to_read(const ggml_tensor * cache, bool is_k) {
    turbo_recent_forget(cache);
    return turbo_state_type(cache, is_k);
}
