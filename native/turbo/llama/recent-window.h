// A window of recent cells: their rows of K and V, and those of the first cells, are held once more in q8_0, and attention reads them in
// place of the cache's (TURBO_SRC_RECENT_* of turbo-hooks.h). Most of attention goes to the newest tokens and to the first ones, so that
// is where an error of the cache does most harm, at any depth. KIVI (arXiv 2402.02750) keeps its newest tokens in full precision.
//
// A window mirrors cells, not tokens: of 32 neighboring cells it holds either all that are in use, or they are read from the cache, as
// without a window: behind its end, or after cells were restored.
#pragma once

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// Caches that are made for the model from now on have a window, where their attention can read one: of the newest n_cells cells, of the
// first 32, and of as many as a micro-batch writes. 0, the default: none. Whoever sets it keeps others from making contexts of the model
// meanwhile.
LLAMA_API void llama_turbo_recent_set(const struct llama_model * model, uint32_t n_cells, uint32_t n_ubatch);

// Why caches of the model have no window where one of these types is turbo; NULL: they can have one. The string is never freed.
LLAMA_API const char * llama_turbo_recent_refusal(const struct llama_model * model, bool flash_attn);

// Bytes that the window of a cache takes for one layer's K or V (a tensor of the cache); in a dry run, that it would take. 0: there
// is none.
LLAMA_API size_t llama_turbo_recent_bytes(const struct ggml_tensor * cache);

#ifdef __cplusplus
}

#include "kv-mean.h"

// Called at the end of llama_kv_cache's constructor, like turbo_kv_mean_register. What it returns owns the rows; nullptr: no window.
std::shared_ptr<void> turbo_recent_register(const llama_kv_cache & cache, const llama_model & model, bool v_trans,
    const std::vector<turbo_cache_layer> & layers);

// cells: a view of a layer's K cache. Called by build_attn before the layer's rows are stored, and when its attention is the last one
// of the graph.
void turbo_recent_begin(const llm_graph_context & graph, const ggml_tensor * cells);
void turbo_recent_end(const llm_graph_context & graph, const ggml_tensor * cells);

// Cells were written otherwise (restored, shifted): the window of the cache holds none of them any more.
void turbo_recent_forget(const ggml_tensor * cache);
#endif
