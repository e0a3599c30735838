// The attention operation alone: a graph of one FLASH_ATTN_EXT per layer in the shapes and strides of the model's
// cache, on random data of its own, so that a token streams as many bytes as in the model.
#pragma once

#include "ggml-cpp.h"
#include "rounds.h"

#include <memory>
#include <vector>

struct attention_shape {
    int n_head;
    int n_head_kv;
    int head_dim_k;
    int head_dim_v;
    int n_layer;
};

// Of a model whose layers are all alike; false for others.
bool attention_shape_of(const llama_model * model, const cell_filler & cells, attention_shape & shape);

class attention_graph {
public:
    // n_tokens query rows at positions depth and on. Ends the process when there is no memory.
    attention_graph(const attention_shape & shape, ggml_type type_k, ggml_type type_v, int depth, int n_tokens);

    // Seconds of one run with the kernels in effect.
    double run(int n_threads);

private:
    ggml_context_ptr ctx;
    ggml_backend_buffer_ptr buffer;
    ggml_cgraph * graph;
    ggml_tensor * last;
    std::vector<uint8_t> work;
};

// Rounds of the operation for n_tokens rows: "attention-decode" for one, "attention-prefill" for more.
void attention_rounds(const round_plan & plan, const attention_shape & shape, int depth, int n_tokens, int n_threads);
