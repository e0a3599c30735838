// The parts of the measuring program of npm run bench. bench.mjs starts it with its options, one JSON object; it prints
// events, one JSON object a line on stdout. Everything else (progress of loading, llama.cpp's errors) goes to stderr.
#pragma once

#include "llama-cpp.h"
#include "llama.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct variant_options {
    std::string name;
    std::string type_k;
    std::string type_v;
    bool stock; // upstream's attention kernels
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(variant_options, name, type_k, type_v, stock)

struct bench_options {
    std::string model; // a GGUF file, or
    std::string shape; // the name of a shape
    int n_layer; // of the shape; 0: as many as it names
    std::string dir; // folder for the file of the shape; the caller removes it

    std::vector<variant_options> variants;
    std::vector<int> depths;
    std::vector<int> prompts; // tokens of whole prompts to prefill from an empty cache

    int n_threads;
    int n_gpu_layers; // llama.cpp's count; the GPU's memory speed is not measured
    int n_rounds; // after one round of warm-up
    int n_batch; // tokens of a timed prefill
    int budget; // seconds after which rounds that are not needed are left out; 0: none

    // of decode, attention-decode, prefill, attention-prefill; run in this order
    std::vector<std::string> parts;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(bench_options, model, shape, n_layer, dir, variants, depths, prompts, n_threads,
    n_gpu_layers, n_rounds, n_batch, budget, parts)

void print_event(const nlohmann::ordered_json & event);

// Prints a sentence and ends the process with status 3.
[[noreturn]] void give_up(const std::string & why);

// model.cpp: models of a named shape with random weights: layers and head counts of models that people run, cut to a few
// layers, so that the curve over depth is about attention and the weights are a few seconds of writing.

struct model_shape {
    const char * name;
    const char * what;
    uint32_t n_layer;
    uint32_t n_embd;
    uint32_t n_head;
    uint32_t n_head_kv;
    uint32_t head_dim;
    uint32_t n_ff;
    bool tied; // output matrix is the token embedding
};

// NULL when there is no shape of that name.
const model_shape * find_shape(const std::string & name);

// Writes a qwen3 model in Q8_0, without a tokenizer, to path; n_layer 0 keeps the shape's. False when the file cannot
// be written.
bool write_shape(const model_shape & shape, uint32_t n_layer, const std::string & path);

// Bytes of weights that one decoded token must read: the sum over the tensors of a GGUF file, all but the token embedding
// (of which a token reads one row) unless that is also the output matrix; of experts the share that a token uses. 0 when
// the file cannot be read. Files in several parts: only the first is counted.
int64_t weight_bytes_per_token(const std::string & path);

// variant.cpp: what is compared: pairs of cache types, each with our attention kernels or with upstream's ("stock"). Variants
// of one pair share a context, since the kernels are switched for the whole process.

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

// Makes the contexts of n_ctx cells and decodes the tokens with our kernels once in each. Prints a "variant" event with the
// effective types for each. Ends the process with status 3 and a sentence when a context cannot be made or memory will
// not do.
std::vector<variant> make_variants(
    llama_model * model, const bench_options & options, int n_ctx, int n_batch, std::vector<llama_token> tokens);

// rounds.cpp: interleaved rounds over the variants: in each round every variant has one turn, and each round begins with
// another one. What drifts (clock, neighbors) then meets all of them alike, and a ratio within a round is fair.

// One measurement of one variant, in seconds; the number of variants[i].
using turn = std::function<double(size_t i)>;

struct round_plan {
    const std::vector<variant> & variants;
    int n_rounds; // after one of warm-up
    double deadline; // in seconds of now()
};

// Seconds of a clock that never goes back.
double now();

// True before the deadline; else prints a "cut" event: the part is left out at this depth.
bool in_time(const round_plan & plan, const std::string & what, int depth);

// Prints a "sample" event for each turn after the warm-up, and a "cut" event when the deadline ended it early: one round
// of decode is measured at any price, all others must end in time. In parts other than decode a variant whose warm-up
// took very long (stock q8_0 prefilling deep: minutes) is not asked again: its warm-up counts as round 1. what is the
// part; depth and n_tokens, of the batch that a turn's seconds are for, go into the event.
void run_rounds(const round_plan & plan, const std::string & what, int depth, int n_tokens, const turn & measure);

// Seconds per token of a few single tokens at this depth, their median; the first is not timed. What the cache
// holds from depth on is replaced. Ends the process when decoding fails or gives logits that are not finite.
double decode_turn(const variant & one, int depth);

// Seconds of one batch at this depth; it stays in the cache, in place of what was there from depth on.
double prefill_turn(const variant & one, int depth, std::vector<llama_token> & batch);

// Prefills up to the longest of the lengths, batch by batch, all variants taking their turn at each batch; prints a
// "sample" event ("prompt", seconds for all its tokens) for each variant and length. A variant that has spent
// patience_seconds at the end of one length leaves the longer ones out.
void prefill_prompts(const std::vector<variant> & variants, const std::vector<int> & lengths, int n_batch, int n_vocab,
    double patience_seconds);

// attention.cpp: the attention operation alone: a graph of one FLASH_ATTN_EXT per layer in the shapes and strides of the
// model's cache, on random data of its own, so that a token streams as many bytes as in the model.

struct attention_shape {
    int n_head;
    int n_head_kv;
    int head_dim_k;
    int head_dim_v;
    int n_layer;
};

// Of a model whose layers are all alike; false for others.
bool attention_shape_of(const llama_model * model, const cell_filler & cells, attention_shape & shape);

// Rounds of the operation for n_tokens rows: "attention-decode" for one, "attention-prefill" for more.
void attention_rounds(const round_plan & plan, const attention_shape & shape, int depth, int n_tokens, int n_threads);
