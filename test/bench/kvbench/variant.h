// What is compared: pairs of cache types, each with our attention kernels or with upstream's ("stock"). Variants of one
// pair share a context, since the kernels are switched for the whole process.
#pragma once

#include "llama-cpp.h"
#include "llama.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Rows of one side of one layer: one position each, all KV heads.
struct cell_rows {
    ggml_type type;
    size_t row_size;
    size_t offset; // of the first row in the state
};

// Fills a KV cache to a depth without a prefill of that depth: 512 real tokens are decoded once, and the sequence state
// with their rows, repeated, is what the cache restores. Upstream's path would need minutes per type for the same.
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

struct kv_context {
    ggml_type type_k; // as asked
    ggml_type type_v;
    llama_context_ptr ctx;
    cell_filler cells;
};

struct variant {
    std::string name;
    bool stock;
    std::shared_ptr<kv_context> kv;

    // Takes the kernels of this variant into use.
    void select() const;
};

// Parses NAME:TYPE_K:TYPE_V:stock|ours for each, makes the contexts of n_ctx cells and decodes the tokens with our
// kernels once in each. Prints a "variant" event with the effective types for each. Ends the process with status 3
// and a sentence when a context cannot be made or memory will not do.
std::vector<variant> make_variants(llama_model * model, const std::vector<std::string> & specs, int n_ctx, int n_batch,
    int n_threads, std::vector<llama_token> tokens);

// Prints a sentence and ends the process with status 3.
[[noreturn]] void give_up(const std::string & why);
