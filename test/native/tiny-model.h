// GGUF files of a two-layer llama with random weights, for paths that the embedded model does not take.
#pragma once

#include "llama-cpp.h"

#include <cstdint>

struct tiny_model_shape {
    uint32_t head_dim;
    bool     k_bias = false;
};

// Writes the file to a temporary path, loads it and deletes it. Aborts when the file cannot be written.
llama_model_ptr make_tiny_model(const tiny_model_shape & shape);
