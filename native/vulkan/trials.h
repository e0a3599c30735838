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
