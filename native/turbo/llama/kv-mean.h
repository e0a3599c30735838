// Hooks of centering: what the patches to llama.cpp's graph and KV cache call (table in turbo-hooks.h). All are free when
// no cache is centered, and change nothing for caches that are not.
//
// A centered cache holds R((K - c)*t) and R(V - m), where R is upstream's rotation, K the keys after RoPE, and t and m
// constant vectors of the layer and KV head. c turns with the positions where attention runs on the CPU (key-blocks.h), elsewhere
// it is constant too. The queries are divided by t.
#pragma once

#include "ggml.h"

#include <cstdint>
#include <memory>
#include <vector>

struct llama_model;
struct llm_graph_context;
class llama_kv_cache;
class llama_kv_cache_context;

struct turbo_cache_layer {
    uint32_t il;
    ggml_tensor * k; // nullptr where the cache has none
    ggml_tensor * v;
};

// Called at the end of llama_kv_cache's constructor. Puts the constants of these layers on the devices of their cache
// tensors and registers them by the K tensor; returns what keeps them, nullptr when the cache is not centered.
// v_trans: upstream's sign of a cache without flash attention. Throws std::runtime_error when memory cannot be had.
std::shared_ptr<void> turbo_kv_mean_register(const llama_kv_cache & cache, const llama_model & model, bool v_trans,
    const std::vector<turbo_cache_layer> & layers);

// layers: upstream's list, whose type is private. What it returns keeps the window of recent cells, too (recent-window.h).
template <typename Layers>
std::shared_ptr<void> turbo_kv_mean_cache(
    const llama_kv_cache & cache, const llama_model & model, bool v_trans, const Layers & layers) {
    std::vector<turbo_cache_layer> list;
    for (const auto & layer : layers) { list.push_back({ layer.il, layer.k, layer.v }); }
    return turbo_kv_mean_register(cache, model, v_trans, list);
}

// Called by llama_kv_cache::cpy_k and cpy_v in place of ggml_set_rows: rows are stored in the cache and, where it has one, in its window.
ggml_tensor * turbo_store(ggml_context * ctx, ggml_tensor * cache, ggml_tensor * rows, ggml_tensor * idxs);

// Called by build_attn before the rotation: takes the constants off k and v and scales k and q. k and v may be nullptr
// (layers that read another layer's cache).
// q: [head_dim, n_head, n_tokens], k, v: [head_dim, n_head_kv, n_tokens], f32.
void turbo_kv_mean_in(const llm_graph_context & graph, const llama_kv_cache_context * mctx, int il, ggml_tensor *& q,
    ggml_tensor *& k, ggml_tensor *& v);

// Called by build_attn with the attention's output in the unrotated basis, [head_dim*n_head, n_tokens]: adds the constants of V,
// and gives the attention what it lacks of K.
ggml_tensor * turbo_kv_mean_out(
    const llm_graph_context & graph, const llama_kv_cache_context * mctx, int il, ggml_tensor * cur);

// Called by the K-shift around RoPE: `keys` [n_rot, n_head_kv, n_cells] of the cache view `cache` as they were before
// centering, and back.
ggml_tensor * turbo_kv_mean_undo(ggml_context * ctx, const ggml_tensor * cache, ggml_tensor * keys);
ggml_tensor * turbo_kv_mean_redo(ggml_context * ctx, const ggml_tensor * cache, ggml_tensor * keys);

// Keeps the attention of a cache in RAM there: it has sources that no other back end reads, and the scheduler may take an operation to a
// GPU that holds no layer while a prompt is read (op_offload).
void turbo_keep_on_cpu(const llm_graph_context & graph, ggml_tensor * attention);

// Whether the cache of a model is centered at all where its types are turbo, once the model is calibrated; and K by blocks of positions.
bool turbo_can_center(const llama_model & model);
bool turbo_centers_by_blocks(const llama_model & model, bool flash_attn);

// What state files say of the type of a cache tensor: its type id and, when it is centered, bits of the calibration's hash and of
// how K is centered, so that upstream's check refuses a state that was made with other constants.
int32_t turbo_state_type(const ggml_tensor * cache, bool is_k);
// The same for cells that are about to be read into the cache.
int32_t turbo_state_type_to_read(const ggml_tensor * cache, bool is_k);
