// Centering of K by blocks of positions, for attention on the CPU.
//
// A key k(p) = R(p) kappa (R: RoPE) has the mean R(p) mu, which no constant takes off where R turns. The cache holds
// (R(p) kappa - R(p_b) c) * t, where p_b is the middle of the block of positions that p lies in, and attention adds
// the part of the score that is missing: q . R(p) kappa = (q/t) . stored + q . R(p_b) c. Nothing is approximated,
// whatever c and p_b are; c only decides how small the stored part is.
//
// q . R(p_b) c = z . T[b]: z is made of q and c alone, and T[b] holds the cosines and sines of p_b, the same for all layers of one
// RoPE, and a 1 for the channels that do not turn. FLASH_ATTN_EXT gets z, T and the block of each cell as further sources (TURBO_SRC_BIAS_*
// of turbo-hooks.h). The same T is used for what is taken off, so that its rounding cancels.
#pragma once

#include "calibration-store.h"
#include "rope-stats.h"

#include "ggml-cpp.h"

#include <memory>
#include <vector>

struct llama_model;
struct llama_cparams;
struct llm_graph_context;
class llama_kv_cache;

// The cosines and sines of one RoPE, for as many blocks as were asked for.
class turbo_turn_table;

// Bytes of one for a cache of so many cells and blocks of this size, as it is made at first.
size_t turbo_turn_bytes(uint32_t n_rot, uint32_t n_cells, uint32_t block);

// The channels of a layer's heads, and the rows of T that speak of them.
struct turbo_block_layout {
    turbo_rope order; // only the places of the pairs
    uint32_t n_pair = 0;
    uint32_t first_pair = 0; // nothing is taken off those before it
    uint32_t head_dim = 0;

    uint32_t n_row() const { return 2 * (n_pair - first_pair) + 1; }
};

// A layer whose keys are centered by blocks. Lives as long as the cache, at one place.
struct turbo_block_layer {
    uint32_t il;
    const llama_kv_cache * cache;
    const llama_model * model;
    turbo_block_layout layout;
    ggml_tensor * mean; // f32 [head_dim, n_head_kv]
    ggml_tensor * scale; // f32 [head_dim, n_head_kv]
    std::shared_ptr<turbo_turn_table> table; // made with the first graph, which knows the context's parameters
};

// All of a cache.
class turbo_key_blocks {
public:
    // block: positions of one
    turbo_key_blocks(const llama_model & model, const llama_kv_cache & cache, uint32_t block)
        : model(model), cache(cache), block(block) {}

    // mean, scale: tensors of this size, filled or not
    turbo_block_layer * add(const turbo_layer_stats & stats, ggml_tensor * mean, ggml_tensor * scale);

    // Keys [head_dim, n_head_kv, n_tokens] as they are stored, before the rotation.
    ggml_tensor * take_off(const llm_graph_context & graph, turbo_block_layer & layer, ggml_tensor * keys) const;

    // To be called first in a layer. queries: [head_dim, n_head, n_tokens], before they are divided by t; cells: a view of the K cache
    // as attention reads it, [head_dim, n_head_kv, n_kv, n_stream].
    void begin(const llm_graph_context & graph, turbo_block_layer & layer, const ggml_tensor * cells,
        ggml_tensor * queries) const;

    // Gives the attention of this layer, the last one of the graph, its sources. Throws std::runtime_error where it is not one operation.
    void end(const llm_graph_context & graph, const turbo_block_layer & layer) const;

private:
    const llama_model & model;
    const llama_kv_cache & cache;
    const uint32_t block;
    std::vector<std::unique_ptr<turbo_block_layer>> layers;
};

// The K-shift: keys [n_rot, n_head_kv, n_cells] of the whole cache before RoPE turns them on, and after.
ggml_tensor * turbo_blocks_undo(ggml_context * ctx, turbo_block_layer & layer, ggml_tensor * keys);
ggml_tensor * turbo_blocks_redo(ggml_context * ctx, turbo_block_layer & layer, ggml_tensor * keys);
