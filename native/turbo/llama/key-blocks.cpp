#include "key-blocks.h"
#include "kv-mean.h"
#include "turbo-hooks.h"
#include "rope-model.h"

#include "ggml-backend.h"
#include "llama-cparams.h"
#include "llama-graph.h"
#include "llama-impl.h"
#include "llama-kv-cache.h"
#include "llama-model.h"

#include <algorithm>
#include <map>
#include <stdexcept>

// panels for the blocks of positions 0 .. n_pos - 1
static uint32_t n_panel_of(uint32_t n_pos, uint32_t block) { return (n_pos / block + 1) / TURBO_BIAS_PANEL + 1; }

size_t turbo_turn_bytes(uint32_t n_rot, uint32_t n_cells, uint32_t block) {
    return sizeof(ggml_fp16_t) * TURBO_BIAS_PANEL * (n_rot + 1) * n_panel_of(n_cells, block);
}

class turbo_turn_table {
public:
    turbo_turn_table(const llama_model & model, const llama_cparams & cparams, uint32_t il, uint32_t block)
        : block(block), model(model), cparams(cparams), il(il), once(turbo_turns_of(model, cparams, il, { 1 }).values) {
    }

    bool is_of(const llama_model & of, const llama_cparams & with, uint32_t layer) const {
        return turbo_turns_of(of, with, layer, { 1 }).values == once;
    }

    uint32_t block_of(uint32_t pos) const { return pos / block; }
    ggml_tensor * tensor() const { return current; }
    uint32_t n_block() const { return current ? uint32_t(current->ne[0] * current->ne[2]) : 0; }

    // Makes it hold the blocks of positions 0 .. n_pos - 1. Graphs made before keep what they have.
    void cover(uint32_t n_pos) {
        if (block_of(n_pos) < n_block()) { return; }
        const uint32_t n_panel = std::max(n_panel_of(n_pos, block), 2 * n_block() / TURBO_BIAS_PANEL);
        std::vector<int32_t> middles(n_panel * TURBO_BIAS_PANEL);
        for (uint32_t b = 0; b < middles.size(); ++b) { middles[b] = turbo_block_middle(b, block); }
        const turbo_rope_turns turns = turbo_turns_of(model, cparams, il, middles);
        const uint32_t n_row = 2 * turns.n_pair + 1;

        ggml_context_ptr ctx(ggml_init({ ggml_tensor_overhead(), nullptr, true }));
        ggml_tensor * made = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F16, TURBO_BIAS_PANEL, n_row, n_panel);
        ggml_set_name(made, "turbo_turns");
        ggml_backend_buffer_t buffer =
            ggml_backend_alloc_ctx_tensors_from_buft(ctx.get(), ggml_backend_cpu_buffer_type());
        if (!buffer) { throw std::runtime_error("failed to allocate the angles of centering"); }
        ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        auto * to = static_cast<ggml_fp16_t *>(made->data);
        for (size_t b = 0; b < middles.size(); ++b) {
            ggml_fp16_t * column = to + b / TURBO_BIAS_PANEL * n_row * TURBO_BIAS_PANEL + b % TURBO_BIAS_PANEL;
            for (uint32_t row = 0; row + 1 < n_row; ++row) {
                column[row * TURBO_BIAS_PANEL] = ggml_fp32_to_fp16(turns.values[b * (n_row - 1) + row]);
            }
            column[(n_row - 1) * TURBO_BIAS_PANEL] = ggml_fp32_to_fp16(1.0f);
        }
        contexts.push_back(std::move(ctx));
        buffers.emplace_back(buffer);
        current = made;
    }

private:
    const uint32_t block;
    const llama_model & model;
    const llama_cparams cparams;
    const uint32_t il;
    const std::vector<float> once; // what position 1 does
    std::vector<ggml_context_ptr> contexts;
    std::vector<ggml_backend_buffer_ptr> buffers;
    ggml_tensor * current = nullptr;
};

namespace {

// What a block does, for one layer: cosine and sine of pair j at 2*j.
struct turns_of_block {
    const turbo_block_layout & layout;
    std::vector<float> values;
    int64_t block = -1;

    explicit turns_of_block(const turbo_block_layout & layout) : layout(layout), values(2 * layout.n_pair) {}

    void set(const ggml_tensor * table, int64_t b) {
        if (b == block) { return; }
        block = b;
        const auto * column = static_cast<const ggml_fp16_t *>(table->data) +
                              b / TURBO_BIAS_PANEL * table->ne[1] * TURBO_BIAS_PANEL + b % TURBO_BIAS_PANEL;
        for (size_t row = 2 * layout.first_pair; row < values.size(); ++row) {
            values[row] = ggml_fp16_to_fp32(column[row * TURBO_BIAS_PANEL]);
        }
    }

    // out = the mean turned by the block, of n channels of a head
    void turn(const float * mean, int64_t n, float * out) const {
        std::copy(mean, mean + n, out);
        for (uint32_t j = layout.first_pair; j < layout.n_pair; ++j) {
            const uint32_t x = layout.order.first(j), y = layout.order.second(j);
            const float cosine = values[2 * j], sine = values[2 * j + 1];
            out[x] = mean[x] * cosine - mean[y] * sine;
            out[y] = mean[x] * sine + mean[y] * cosine;
        }
    }
};

const float * row_of(const ggml_tensor * t, int64_t i1, int64_t i2) {
    return reinterpret_cast<const float *>(static_cast<const char *>(t->data) + i1 * t->nb[1] + i2 * t->nb[2]);
}

float * row_of(ggml_tensor * t, int64_t i1, int64_t i2) {
    return const_cast<float *>(row_of(static_cast<const ggml_tensor *>(t), i1, i2));
}

ggml_tensor * custom(ggml_context * ctx, int64_t ne0, const ggml_tensor * like, std::vector<ggml_tensor *> sources,
    ggml_custom_op_t compute, turbo_block_layer & layer) {
    return ggml_custom_4d(ctx, GGML_TYPE_F32, ne0, like->ne[1], like->ne[2], 1, sources.data(), int(sources.size()),
        compute, GGML_N_TASKS_MAX, &layer);
}

// src: keys, mean, scale, T, block of each token
void compute_take_off(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto & layer = *static_cast<const turbo_block_layer *>(data);
    const ggml_tensor * keys = dst->src[0];
    const auto * blocks = static_cast<const int32_t *>(dst->src[4]->data);
    turns_of_block turns(layer.layout);
    std::vector<float> mean(dst->ne[0]);
    for (int64_t i = dst->ne[2] * ith / nth; i < dst->ne[2] * (ith + 1) / nth; ++i) {
        turns.set(dst->src[3], blocks[i]);
        for (int64_t head = 0; head < dst->ne[1]; ++head) {
            turns.turn(row_of(dst->src[1], head, 0), dst->ne[0], mean.data());
            const float * key = row_of(keys, head, i);
            const float * scale = row_of(dst->src[2], head, 0);
            float * out = row_of(dst, head, i);
            for (int64_t d = 0; d < dst->ne[0]; ++d) { out[d] = (key[d] - mean[d]) * scale[d]; }
        }
    }
}

// src: queries, mean. z of each query, in the order of the rows of T.
void compute_queries(ggml_tensor * dst, int ith, int nth, void * data) {
    const turbo_block_layout & layout = static_cast<const turbo_block_layer *>(data)->layout;
    const ggml_tensor * queries = dst->src[0];
    const ggml_tensor * means = dst->src[1];
    const int64_t group = dst->ne[1] / means->ne[1];
    for (int64_t i = ith; i < dst->ne[1] * dst->ne[2]; i += nth) {
        const int64_t head = i % dst->ne[1];
        const float * q = row_of(queries, head, i / dst->ne[1]);
        const float * mean = row_of(means, head / group, 0);
        float * z = row_of(dst, head, i / dst->ne[1]);
        for (uint32_t j = layout.first_pair; j < layout.n_pair; ++j) {
            const uint32_t x = layout.order.first(j), y = layout.order.second(j);
            *z++ = q[x] * mean[x] + q[y] * mean[y];
            *z++ = q[y] * mean[x] - q[x] * mean[y];
        }
        *z = 0.0f;
        for (uint32_t d = 2 * layout.n_pair; d < layout.head_dim; ++d) { *z += q[d] * mean[d]; }
    }
}

// src: keys, mean, scale. What the cells hold for the position that they had before the shift, or have after it.
void compute_shift(ggml_tensor * dst, int ith, int nth, const turbo_block_layer & layer, bool after) {
    const llama_kv_cache & cache = *layer.cache;
    const int64_t per_stream = cache.get_size();
    const ggml_tensor * table = layer.table->tensor();
    turns_of_block turns(layer.layout);
    std::vector<float> mean(layer.layout.head_dim);
    for (int64_t i = dst->ne[2] * ith / nth; i < dst->ne[2] * (ith + 1) / nth; ++i) {
        const llama_kv_cells & cells =
            cache.get_cells(llama_seq_id(i / per_stream)); // a stream has its sequence's number
        const uint32_t cell = uint32_t(i % per_stream);
        const llama_pos pos = cells.is_empty(cell) ? 0 : cells.pos_get(cell) - (after ? 0 : cells.get_shift(cell));
        turns.set(table, layer.table->block_of(uint32_t(std::max(pos, 0))));
        for (int64_t head = 0; head < dst->ne[1]; ++head) {
            turns.turn(row_of(dst->src[1], head, 0), layer.layout.head_dim, mean.data());
            const float * key = row_of(dst->src[0], head, i);
            const float * scale = row_of(dst->src[2], head, 0);
            float * out = row_of(dst, head, i);
            for (int64_t d = 0; d < dst->ne[0]; ++d) {
                out[d] = after ? (key[d] - mean[d]) * scale[d] : key[d] / scale[d] + mean[d];
            }
        }
    }
}

void compute_undo(ggml_tensor * dst, int ith, int nth, void * data) {
    compute_shift(dst, ith, nth, *static_cast<const turbo_block_layer *>(data), false);
}

void compute_redo(ggml_tensor * dst, int ith, int nth, void * data) {
    compute_shift(dst, ith, nth, *static_cast<const turbo_block_layer *>(data), true);
}

// Positions that T must hold for a batch: those of its tokens, and of what they see.
uint32_t positions_of(const llama_kv_cache & cache, const llama_ubatch & ubatch) {
    llama_pos last = 0;
    for (uint32_t i = 0; i < ubatch.n_tokens; ++i) {
        if (ubatch.pos) { last = std::max(last, ubatch.pos[i]); }
    }
    for (uint32_t s = 0; s < ubatch.n_seqs_unq && ubatch.seq_id_unq; ++s) {
        last = std::max(last, cache.seq_pos_max(ubatch.seq_id_unq[s]));
    }
    return uint32_t(last) + 1;
}

// The blocks of a batch's tokens and of the cells that they see, for all layers of a cache.
class block_inputs : public llm_graph_input_i {
public:
    // cells: a view of K or V of those that the batch may see, [head_dim, n_head_kv, n_kv, n_stream]
    // block: positions of one
    block_inputs(
        const llm_graph_context & graph, const llama_kv_cache & cache, const ggml_tensor * cells, uint32_t block)
        : cache(cache), shift(shift_of(block)), n_pos(std::max(cache.get_size(), positions_of(cache, graph.ubatch))),
          n_kv(cells->ne[2]) {
        of_cell = ggml_new_tensor_2d(graph.ctx0, GGML_TYPE_I32, turbo_bias_row(n_kv), cells->ne[3]);
        of_token = ggml_new_tensor_1d(graph.ctx0, GGML_TYPE_I32, graph.n_tokens);
        for (ggml_tensor * input : { of_cell, of_token }) {
            ggml_set_input(input);
            ggml_build_forward_expand(graph.gf, input);
        }
    }

    void set_input(const llama_ubatch * ubatch) override {
        auto * row = static_cast<int32_t *>(of_cell->data);
        const int64_t n_stream = of_cell->ne[1];
        for (int64_t s = 0; s < n_stream; ++s) {
            // as set_input_kq_mask finds them
            const llama_kv_cells & cells = cache.get_cells(ubatch->seq_id[s * ubatch->n_tokens / n_stream][0]);
            for (int64_t i = 0; i < n_kv; ++i) {
                row[i] = cells.is_empty(uint32_t(i)) ? 0 : block_of(cells.pos_get(uint32_t(i)));
            }
            turbo_bias_list_runs(row, n_kv);
            row += turbo_bias_row(n_kv);
        }
        auto * token_blocks = static_cast<int32_t *>(of_token->data);
        for (uint32_t i = 0; i < ubatch->n_tokens; ++i) { token_blocks[i] = block_of(ubatch->pos[i]); }
    }

    // the other inputs of attention say whether the cells are as many
    bool can_reuse(const llm_graph_params & params) override {
        const uint32_t n_wanted = positions_of(cache, params.ubatch);
        return of_token->ne[0] == params.ubatch.n_tokens &&
               std::all_of(tables.begin(), tables.end(), [&](const auto & table) {
                   return table.first->tensor() == table.second &&
                          table.first->block_of(n_wanted) < table.first->n_block();
               });
    }

    bool is_of(const llama_kv_cache & other) const { return &cache == &other; }

    ggml_tensor * of_cell;
    ggml_tensor * of_token;
    std::map<uint32_t, ggml_tensor *> queries; // by layer

    void uses(turbo_turn_table & table) {
        table.cover(n_pos);
        tables[&table] = table.tensor();
        n_block = std::min(n_block, table.n_block());
    }

private:
    // cells of sequences that the batch does not see may lie anywhere
    int32_t block_of(llama_pos pos) const {
        return int32_t(std::min(uint32_t(std::max(pos, 0)) >> shift, n_block - 1));
    }

    // A block is a power of two: no division for each cell with each token.
    static int shift_of(uint32_t block) {
        int shift = 0;
        while (block >> shift > 1) { ++shift; }
        return shift;
    }

    const llama_kv_cache & cache;
    const int shift; // a block has 1 << shift positions
    const uint32_t n_pos; // that tables must hold
    const int64_t n_kv; // cells of a stream
    std::map<turbo_turn_table *, ggml_tensor *> tables; // of the graph
    uint32_t n_block = UINT32_MAX;
};

block_inputs * inputs_of(const llm_graph_context & graph, const llama_kv_cache & cache) {
    for (const auto & input : graph.res->inputs) {
        auto * found = dynamic_cast<block_inputs *>(input.get());
        if (found && found->is_of(cache)) { return found; }
    }
    return nullptr;
}

ggml_tensor * shifted(ggml_context * ctx, turbo_block_layer & layer, ggml_tensor * keys, ggml_custom_op_t compute) {
    GGML_ASSERT(layer.table && "a cache has been used before it is shifted");
    const llama_kv_cache & cache = *layer.cache;
    llama_pos last = 0;
    for (uint32_t s = 0; s < cache.get_n_stream(); ++s) {
        const llama_kv_cells & cells = cache.get_cells(llama_seq_id(s));
        for (uint32_t i = 0; i < cells.size(); ++i) {
            if (!cells.is_empty(i)) {
                last = std::max({ last, cells.pos_get(i), cells.pos_get(i) - cells.get_shift(i) });
            }
        }
    }
    layer.table->cover(uint32_t(last) + 1);
    return custom(ctx, keys->ne[0], keys, { keys, layer.mean, layer.scale }, compute, layer);
}

} // namespace

turbo_block_layer * turbo_key_blocks::add(const turbo_layer_stats & stats, ggml_tensor * mean, ggml_tensor * scale) {
    turbo_block_layout layout = { {}, stats.n_pair, 0, stats.head_k };
    layout.order = { model.hparams.rope_type != LLAMA_ROPE_TYPE_NORM, std::vector<std::complex<double>>(stats.n_pair) };
    const auto silent = [&](uint32_t j) {
        for (uint32_t head = 0; head < stats.n_head_kv; ++head) {
            const float * of = stats.k_block.mean.data() + head * stats.head_k;
            if (of[layout.order.first(j)] != 0 || of[layout.order.second(j)] != 0) { return false; }
        }
        return true;
    };
    while (layout.first_pair < layout.n_pair && silent(layout.first_pair)) { ++layout.first_pair; }
    layers.emplace_back(new turbo_block_layer{ stats.il, &cache, &model, std::move(layout), mean, scale, nullptr });
    return layers.back().get();
}

void turbo_key_blocks::begin(const llm_graph_context & graph, turbo_block_layer & layer, const ggml_tensor * cells,
    ggml_tensor * queries) const {
    if (!layer.table) {
        for (const auto & other : layers) {
            if (other->table && other->table->is_of(model, graph.cparams, layer.il)) { layer.table = other->table; }
        }
        if (!layer.table) { layer.table = std::make_shared<turbo_turn_table>(model, graph.cparams, layer.il, block); }
    }
    block_inputs * inputs = inputs_of(graph, cache);
    if (!inputs) {
        inputs = static_cast<block_inputs *>(
            graph.res->add_input(std::make_unique<block_inputs>(graph, cache, cells, block)));
    }
    inputs->uses(*layer.table);
    ggml_tensor * z =
        custom(graph.ctx0, layer.layout.n_row(), queries, { queries, layer.mean }, compute_queries, layer);
    ggml_format_name(z, "turbo_z_l%u", layer.il);
    ggml_build_forward_expand(graph.gf, z);
    inputs->queries[layer.il] = z;
}

ggml_tensor * turbo_key_blocks::take_off(
    const llm_graph_context & graph, turbo_block_layer & layer, ggml_tensor * keys) const {
    ggml_tensor * of_token = inputs_of(graph, cache)->of_token;
    return custom(graph.ctx0, keys->ne[0], keys, { keys, layer.mean, layer.scale, layer.table->tensor(), of_token },
        compute_take_off, layer);
}

void turbo_key_blocks::end(const llm_graph_context & graph, const turbo_block_layer & layer) const {
    const block_inputs & inputs = *inputs_of(graph, cache);
    ggml_tensor * attention = nullptr;
    for (int i = ggml_graph_n_nodes(graph.gf) - 1; i >= 0 && !attention; --i) {
        ggml_tensor * node = ggml_graph_node(graph.gf, i);
        if (node == inputs.queries.at(layer.il)) { break; }
        if (node->op == GGML_OP_FLASH_ATTN_EXT) { attention = node; }
    }
    if (!attention) {
        throw std::runtime_error(
            "the KV cache was centered by blocks of positions for flash attention, which is off now");
    }
    attention->src[TURBO_SRC_BIAS_QUERIES] = inputs.queries.at(layer.il);
    attention->src[TURBO_SRC_BIAS_TURNS] = layer.table->tensor();
    attention->src[TURBO_SRC_BIAS_BLOCKS] = inputs.of_cell;
    turbo_keep_on_cpu(graph, attention);
}

ggml_tensor * turbo_blocks_undo(ggml_context * ctx, turbo_block_layer & layer, ggml_tensor * keys) {
    return shifted(ctx, layer, keys, compute_undo);
}

ggml_tensor * turbo_blocks_redo(ggml_context * ctx, turbo_block_layer & layer, ggml_tensor * keys) {
    return shifted(ctx, layer, keys, compute_redo);
}
