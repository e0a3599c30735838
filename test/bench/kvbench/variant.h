// What is compared: pairs of cache types, each with our attention kernels or with upstream's ("stock"). Variants of one
// pair share a context, since the kernels are switched for the whole process.
#pragma once

#include "cells.h"
#include "llama-cpp.h"

#include <memory>
#include <string>
#include <vector>

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
