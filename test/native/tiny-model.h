// A two-layer model with random weights, for paths that the real models of the tests do not take, and contexts of it.
#pragma once

#include "llama-cpp.h"
#include "llama-turbo-calibration.h"

#include <cstdint>
#include <vector>

enum tiny_model_kind {
    TINY_LLAMA,
    TINY_WINDOW,  // gemma3: one layer with a sliding window of 24 tokens, one without
    TINY_SOFTCAP, // gemma2: the same, with capped attention scores
    TINY_SINKS,   // granite_swa: the same, with attention sinks
    TINY_LONGROPE, // llama: other RoPE factors in contexts of more than 256 tokens
    TINY_PARTIAL, // gemma3, of whose heads RoPE turns one half
};

struct tiny_model_shape {
    uint32_t head_dim;
    bool k_bias = false;
    tiny_model_kind kind = TINY_LLAMA;
    float k_size = 1.0f; // of the weights of the K projection
    float bias_size = 1.0f; // of its bias
};

// Writes the file to a temporary path, loads it and deletes it. Aborts when the file cannot be written.
llama_model_ptr make_tiny_model(const tiny_model_shape & shape);

struct kv_setup {
    ggml_type k = GGML_TYPE_F32;
    ggml_type v = GGML_TYPE_F32;
    llama_flash_attn_type flash = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    uint32_t n_seq = 1;
    bool unified = true;
    const llama_turbo_rope * rope = nullptr; // the model's own
};

inline kv_setup flash(ggml_type k = GGML_TYPE_F16, ggml_type v = GGML_TYPE_F16, uint32_t n_seq = 1, bool unified = true,
    const llama_turbo_rope * rope = nullptr) {
    return { k, v, LLAMA_FLASH_ATTN_TYPE_ENABLED, n_seq, unified, rope };
}

// 256 cells for each sequence; NULL where llama.cpp makes none.
llama_context_ptr make_context(llama_model * model, const kv_setup & setup);

// Token i of a text that depends on the seed.
llama_token tiny_token(int seed, int i);

// Decodes n tokens from position pos on of each sequence in one batch, those of its text from first_token on (-1: from pos
// on); returns the logits of all.
std::vector<float> decode(llama_context * ctx, int pos, int n, int n_seq = 1, int first_token = -1);

// The same for one sequence alone.
std::vector<float> decode_sequence(llama_context * ctx, int seq, int pos, int n);

// The logits of 16 tokens at the end of a text of 64 whose first 13 were taken out of the cache.
std::vector<float> shifted_logits(llama_context * ctx);

// The bytes of sequence 0.
std::vector<uint8_t> state_of(llama_context * ctx);

bool restores(llama_context * ctx, const std::vector<uint8_t> & state);
