// GGUF files of a two-layer model with random weights, for paths that the real models of the tests do not take.
#pragma once

#include "llama-cpp.h"

#include <cstdint>

enum tiny_model_kind {
    TINY_LLAMA,
    TINY_WINDOW,  // gemma3: one layer with a sliding window of 24 tokens, one without
    TINY_SOFTCAP, // gemma2: the same, with capped attention scores
    TINY_SINKS,   // granite_swa: the same, with attention sinks
    TINY_LONGROPE, // llama: other RoPE factors in contexts of more than 256 tokens
};

struct tiny_model_shape {
    uint32_t head_dim;
    bool k_bias = false;
    tiny_model_kind kind = TINY_LLAMA;
    float k_size = 1.0f; // of the weights of the K projection
};

// Writes the file to a temporary path, loads it and deletes it. Aborts when the file cannot be written.
llama_model_ptr make_tiny_model(const tiny_model_shape & shape);
