// Fills a KV cache to a depth without a prefill of that depth: 512 real tokens are decoded once, and the sequence state
// with their rows, repeated, is what the cache restores. Upstream's path would need minutes per type for the same.
#pragma once

#include "llama.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// Rows of one side of one layer: one position each, all KV heads.
struct cell_rows {
    ggml_type type;
    size_t row_size;
    size_t offset; // of the first row in the state
};

class cell_filler {
public:
    // Decodes the tokens into the empty cache of ctx and keeps its state. False when that fails.
    bool learn(llama_context * ctx, std::vector<llama_token> & tokens);

    // Makes ctx hold positions 0 to depth-1 of sequence 0: from the state, or, for models whose state is more than one
    // plain KV cache (sliding windows, recurrent layers, M-RoPE), by decoding what is missing. False when that fails.
    bool fill(llama_context * ctx, int depth) const;

    // True when the state is that of one KV cache, of which all is known: depths are made from it.
    bool plain() const { return !k.empty(); }

    // Layers in order. v is shorter for models that keep no V in some layers. Empty unless plain.
    std::vector<cell_rows> k;
    std::vector<cell_rows> v;

private:
    bool parse();
    std::vector<uint8_t> repeated(int depth) const;

    std::vector<uint8_t> state;
    std::vector<llama_token> tokens;
};
