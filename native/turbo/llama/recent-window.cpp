// The rows of a window, which cells they hold, and the graph's way to them.

#include "recent-window.h"
#include "tensor-registry.h"
#include "ggml-turbo.h"
#include "turbo-hooks.h"
#include "llama-turbo.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llama-arch.h"
#include "llama-graph.h"
#include "llama-hparams.h"
#include "llama-kv-cache.h"
#include "llama-model.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

namespace {

constexpr uint32_t TILE = TURBO_RECENT_TILE;
constexpr ggml_type ROW_TYPE = GGML_TYPE_Q8_0;

// Tiles of cells in tiles of rows. The first tile of the cache has a slot of its own, all others take turns.
class places {
public:
    explicit places(uint32_t n_cells) : owner(2 + (n_cells + TILE - 1) / TILE, -1), held(owner.size(), 0) {}

    int64_t n_row() const { return int64_t(owner.size()) * TILE; }

    // The rows of cells that are about to be written; -1: it has none.
    void take(const std::vector<int64_t> & cells, int64_t * rows) {
        for (const int64_t cell : cells) {
            const int32_t slot = slot_of(cell / TILE);
            if (owner[slot] == cell / TILE) { continue; }
            owner[slot] = int32_t(cell / TILE);
            held[slot] = 0;
        }
        for (size_t i = 0; i < cells.size(); ++i) {
            const int32_t slot = slot_of(cells[i] / TILE);
            const bool has = owner[slot] == cells[i] / TILE; // of two tiles with one slot the later one has it
            rows[i] = has ? slot * int64_t(TILE) + cells[i] % TILE : -1;
            if (has) { held[slot] |= 1u << cells[i] % TILE; }
        }
    }

    // The slot that holds all cells of a tile that are in use; -1: none does.
    int32_t slot_with(int64_t tile, const llama_kv_cells & cells) const {
        const int32_t slot = slot_of(tile);
        if (owner[slot] != tile) { return -1; }
        const uint32_t first = uint32_t(tile) * TILE;
        for (uint32_t i = 0; i < TILE && first + i < cells.size(); ++i) {
            if (!(held[slot] >> i & 1) && !cells.is_empty(first + i)) { return -1; }
        }
        return slot;
    }

    void forget() { std::fill(owner.begin(), owner.end(), -1); }

private:
    int32_t slot_of(int64_t tile) const { return tile == 0 ? 0 : int32_t(1 + (tile - 1) % int64_t(owner.size() - 1)); }

    std::vector<int32_t> owner; // of each slot: the tile that it holds
    std::vector<uint32_t> held; // which of its cells
};

class window_inputs;

struct window {
    const llama_kv_cache & cache;
    places place;
    // of the graph that is being built
    window_inputs * inputs = nullptr;
    int first_node = 0; // of the layer
};

// One side of a layer.
struct side {
    window * of = nullptr;
    ggml_tensor * layer = nullptr; // K, then V: [n_embd_k_gqa + n_embd_v_gqa, n_row]; nullptr in a dry run
    ggml_tensor * rows = nullptr; // of this side, a view; likewise
    size_t bytes = 0;
    bool on_cpu = true; // as the cache
};

turbo_tensor_registry<side> registry; // by the cache's K tensor, and by its V tensor

side find(const ggml_tensor * cache) { return registry.find(cache); }

class window_inputs : public llm_graph_input_i {
public:
    // cells: as turbo_recent_begin has them
    window_inputs(const llm_graph_context & graph, window & of, const ggml_tensor * cells) : of(of) {
        slots = ggml_new_tensor_1d(graph.ctx0, GGML_TYPE_I32, (cells->ne[2] + TILE - 1) / TILE);
        places = ggml_new_tensor_1d(graph.ctx0, GGML_TYPE_I64, graph.n_tokens);
        for (ggml_tensor * input : { slots, places }) {
            ggml_set_input(input);
            ggml_build_forward_expand(graph.gf, input);
        }
    }

    void set_input(const llama_ubatch * ubatch) override {
        // the inputs of attention were added to the graph before this one, so that idxs is set
        std::vector<int64_t> written(ubatch->n_tokens);
        ggml_backend_tensor_get(idxs, written.data(), 0, ggml_nbytes(idxs));
        of.place.take(written, static_cast<int64_t *>(places->data));
        const llama_kv_cells & cells = of.cache.get_cells(0);
        auto * slot = static_cast<int32_t *>(slots->data);
        for (int64_t tile = 0; tile < slots->ne[0]; ++tile) { slot[tile] = of.place.slot_with(tile, cells); }
    }

    // the other inputs of attention say whether the cells are as many
    bool can_reuse(const llm_graph_params & params) override { return places->ne[0] == params.ubatch.n_tokens; }

    window & of;
    ggml_tensor * idxs = nullptr; // i64 [n_tokens], upstream's input: the cells of the tokens
    ggml_tensor * slots; // i32, of each tile of cells
    ggml_tensor * places; // i64, of each token
};

window_inputs * inputs_of(const llm_graph_context & graph, const window & of) {
    for (const auto & input : graph.res->inputs) {
        auto * found = dynamic_cast<window_inputs *>(input.get());
        if (found && &found->of == &of) { return found; }
    }
    return nullptr;
}

bool is_cpu(ggml_backend_dev_t device) {
    return !device || ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
}

// Whether attention on a device reads a window: turbo_flash_attn_ext does, and metal/kernels.
bool reads_windows(ggml_backend_dev_t device) {
    return is_cpu(device) || strcmp(ggml_backend_reg_name(ggml_backend_dev_backend_reg(device)), "MTL") == 0;
}

// What lives as long as a cache.
class cache_window {
public:
    cache_window(const llama_kv_cache & cache, uint32_t n_cells) : of{ cache, places(n_cells) } {}
    cache_window(const cache_window &) = delete;
    cache_window & operator=(const cache_window &) = delete;

    ~cache_window() {
        for (const ggml_tensor * key : keys) { registry.leave(key); }
    }

    void add(const turbo_cache_layer & layer) {
        ggml_backend_buffer_type_t type = ggml_backend_buffer_get_type(layer.k->buffer);
        ggml_context_ptr & ctx = parts[type].ctx;
        if (!ctx) { ctx.reset(ggml_init({ max_tensors * ggml_tensor_overhead(), nullptr, true })); }
        ggml_tensor * both = ggml_new_tensor_2d(ctx.get(), ROW_TYPE, layer.k->ne[0] + layer.v->ne[0], of.place.n_row());
        ggml_format_name(both, "turbo_recent_l%u", layer.il);
        const size_t size_k = ggml_row_size(ROW_TYPE, layer.k->ne[0]);
        const bool on_cpu = is_cpu(ggml_backend_buft_get_device(type));
        const auto view = [&](const ggml_tensor * cache, size_t offset) -> side {
            ggml_tensor * rows = ggml_view_2d(ctx.get(), both, cache->ne[0], both->ne[1], both->nb[1], offset);
            return { &of, both, rows, ggml_row_size(ROW_TYPE, cache->ne[0]) * size_t(both->ne[1]), on_cpu };
        };
        sides.push_back({ layer.k, view(layer.k, 0) });
        sides.push_back({ layer.v, view(layer.v, size_k) });
    }

    // dry: nothing is allocated, and of the window a graph has the inputs alone, so that they are counted
    void finish(bool dry) {
        if (dry) {
            for (auto & [tensor, of_side] : sides) { of_side.layer = of_side.rows = nullptr; }
        } else {
            for (auto & [type, part] : parts) {
                part.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(part.ctx.get(), type));
                if (!part.buffer) { throw std::runtime_error("failed to allocate the window of recent cells"); }
                ggml_backend_buffer_clear(part.buffer.get(), 0);
            }
        }
        for (const auto & [tensor, rows] : sides) {
            if (registry.enter(tensor, rows)) { keys.push_back(tensor); }
        }
    }

    bool empty() const { return sides.empty(); }

    // Whether the cache is smaller with it than in the type of its rows.
    bool saves(uint32_t n_cells) const {
        size_t with = 0, in_row_type = 0;
        for (const auto & [tensor, of_side] : sides) {
            with += ggml_nbytes(tensor) + of_side.bytes;
            in_row_type += ggml_row_size(ROW_TYPE, tensor->ne[0]) * n_cells;
        }
        return with < in_row_type;
    }

private:
    static constexpr size_t max_tensors = 4096;

    struct part {
        ggml_context_ptr ctx;
        ggml_backend_buffer_ptr buffer;
    };

    window of;
    std::map<ggml_backend_buffer_type_t, part> parts; // rows lie where the cache of their layer does
    std::vector<std::pair<const ggml_tensor *, side>> sides;
    std::vector<const ggml_tensor *> keys; // of those in the registry
};

std::mutex wanted_mutex;

std::map<const llama_model *, uint32_t> & wanted() { // cells, those of a micro-batch included
    static std::map<const llama_model *, uint32_t> table;
    return table;
}

uint32_t wanted_of(const llama_model & model) {
    const std::lock_guard<std::mutex> lock(wanted_mutex);
    const auto found = wanted().find(&model);
    return found == wanted().end() ? 0 : found->second;
}

} // namespace

void llama_turbo_recent_set(const llama_model * model, uint32_t n_cells, uint32_t n_ubatch) {
    const std::lock_guard<std::mutex> lock(wanted_mutex);
    if (n_cells == 0) {
        wanted().erase(model);
    } else {
        wanted()[model] = n_cells + n_ubatch;
    }
}

const char * llama_turbo_recent_refusal(const llama_model * model, bool flash_attn) {
    if (!turbo_can_center(*model)) {
        return "the model's attention has a way of its own to the cache, or its V is a part of K";
    }
    if (!flash_attn || model->arch == LLM_ARCH_GROK || model->hparams.n_rel_attn_bkts > 0) {
        return "flash attention is off";
    }
    for (uint32_t il = 0; il < model->hparams.n_layer_all; ++il) {
        if (reads_windows(model->dev_layer(il))) { continue; }
        return turbo_is_worker(model->dev_layer(il))
                   ? "a worker holds a part of the cache, and the newest tokens are not kept twice there"
                   : "a GPU holds a part of the cache, and its attention reads the cache alone";
    }
    return nullptr;
}

size_t llama_turbo_recent_bytes(const ggml_tensor * cache) { return find(cache).bytes; }

std::shared_ptr<void> turbo_recent_register(const llama_kv_cache & cache, const llama_model & model, bool v_trans,
    const std::vector<turbo_cache_layer> & layers) {
    const uint32_t n_cells = wanted_of(model);
    if (n_cells == 0 || cache.get_n_stream() > 1 || llama_turbo_recent_refusal(&model, !v_trans)) { return nullptr; }
    auto made = std::make_shared<cache_window>(cache, n_cells);
    const int64_t block = ggml_blck_size(ROW_TYPE);
    for (const auto & layer : layers) {
        // K that is not quantized is shifted without a hook, and either side would be coarser in the window
        const bool can = layer.k && layer.v && ggml_is_quantized(layer.k->type) && ggml_is_quantized(layer.v->type) &&
                         (ggml_turbo_is_turbo(layer.k->type) || ggml_turbo_is_turbo(layer.v->type)) &&
                         model.hparams.n_embd_head_k(layer.il) % block == 0 &&
                         model.hparams.n_embd_head_v(layer.il) % block == 0;
        if (can) { made->add(layer); }
    }
    if (made->empty() || !made->saves(cache.get_size())) { return nullptr; }
    made->finish(model.hparams.no_alloc);
    return made;
}

void turbo_recent_begin(const llm_graph_context & graph, const ggml_tensor * cells) {
    const side k = find(cells);
    if (!k.of) { return; }
    k.of->first_node = ggml_graph_n_nodes(graph.gf);
    k.of->inputs = inputs_of(graph, *k.of);
    if (!k.of->inputs) {
        k.of->inputs =
            static_cast<window_inputs *>(graph.res->add_input(std::make_unique<window_inputs>(graph, *k.of, cells)));
    }
}

void turbo_recent_end(const llm_graph_context & graph, const ggml_tensor * cells) {
    const side k = find(cells);
    if (!k.rows) { return; }
    for (int i = ggml_graph_n_nodes(graph.gf) - 1; i >= k.of->first_node; --i) {
        ggml_tensor * node = ggml_graph_node(graph.gf, i);
        if (node->op != GGML_OP_FLASH_ATTN_EXT) { continue; }
        node->src[TURBO_SRC_RECENT_ROWS] = k.layer;
        node->src[TURBO_SRC_RECENT_SLOTS] = inputs_of(graph, *k.of)->slots;
        if (k.on_cpu) { turbo_keep_on_cpu(graph, node); }
        return;
    }
}

ggml_tensor * turbo_store(ggml_context * ctx, ggml_tensor * cache, ggml_tensor * rows, ggml_tensor * idxs) {
    ggml_tensor * stored = ggml_set_rows(ctx, cache, rows, idxs);
    const side to = find(cache);
    if (to.rows) {
        to.of->inputs->idxs = idxs;
        stored->src[TURBO_SRC_RECENT_ROWS] = to.rows;
        stored->src[TURBO_SRC_RECENT_PLACES] = to.of->inputs->places;
    }
    return stored;
}

void turbo_recent_forget(const ggml_tensor * cache) {
    const side of = find(cache);
    if (of.of) { of.of->place.forget(); }
}
