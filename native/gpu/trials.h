// Operations with turbo types on a back end and on the CPU: what the self-test and test/native/gpu compare.
#pragma once

#include "ggml-backend.h"
#include "ggml.h"

#include <string>
#include <vector>

// SET_ROWS of n_rows rows of row_len values, some of each kind that a search for scales may stumble over.
// Returns the number of blocks whose bytes are not those of the reference; -1: not supported.
int turbo_trial_differing_blocks(ggml_backend_t backend, ggml_type type, int row_len, int n_rows);

struct turbo_attention_trial {
    ggml_type type_k, type_v; // head_dim is that of one block
    int n_head, n_head_kv, n_tokens, n_kv;
    float size; // of values; more than 1: queries are large, too

    std::string label() const;
};

// Squared error of FLASH_ATTN_EXT on the back end relative to the squares of the result on the CPU, which gets K and V in f32; -1: not supported. NaN when a value is.
double turbo_trial_attention_error(ggml_backend_t backend, ggml_backend_t cpu, const turbo_attention_trial & trial);

struct turbo_fold_trial {
    int n_folded = -1;      // rotations that got no dispatch of their own, of 4; -1: not supported
    double cache_error = 0; // squared, of the rows written, as values, relative to the CPU's
    double error =
        0;       // squared, of the result; the CPU's own is some 3e-5 for few tokens, whose query it rounds to int8
};

// A layer of a graph as llama.cpp builds it (K, V and query rotated, rows stored, attention, the result rotated back), through a scheduler,
// which lets the back end change the graph; and on the CPU. The cache has been filled before.
turbo_fold_trial turbo_trial_folds(ggml_backend_t backend, ggml_backend_t cpu, ggml_type type, int n_tokens);
