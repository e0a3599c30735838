// One flash attention operation with random data: run by ggml, and computed in double precision from the same bytes.
#pragma once

#include "bias-data.h"

#include <optional>

enum class mask_kind { none, causal, holes, window, row_hidden };

struct attention_case {
    ggml_type type_k = GGML_TYPE_F16;
    ggml_type type_v = GGML_TYPE_F16;
    int dim_k = 128;
    int dim_v = 128;
    int n_head_kv = 2;
    int gqa = 2;
    int n_kv = 64;
    int n_rows = 1;
    int n_stream = 1;
    bool by_head = false; // heads outermost in memory, else positions
    bool sinks = false;
    float softcap = 0.0f;
    float max_bias = 0.0f;
    mask_kind mask = mask_kind::causal;
    int bias_rows = 0; // values of z; 0: no bias
    bool scattered = false; // blocks of the bias
    bool recent = false; // some tiles of positions are held in q8_0, too; of one stream
    int n_threads = 1;
    unsigned seed = 1;
};

// Expected output, and the variance of its error that quantized queries and weights explain (see attention-reference.cpp).
struct attention_result {
    std::vector<float> got;
    std::vector<double> want;
    std::vector<double> variance;
};

struct attention_data {
    std::vector<float> q;      // [stream][head][row][dim_k]
    std::vector<uint8_t> k;
    std::vector<uint8_t> v;
    std::vector<float> mask;   // [stream][row][n_kv]
    std::vector<float> sinks;  // [head]
    std::optional<bias_data> bias;
    std::vector<uint8_t> recent; // [row][K of all heads, then V]
    std::vector<int32_t> slots; // of each tile of positions; -1: it is not held

    explicit attention_data(const attention_case & c);
    // Bytes of a row of K or V. t: 0 for K, 1 for V.
    uint8_t * row(const attention_case & c, int t, int stream, int head, int position);
    // What attention has to read of a position.
    std::vector<double> values(const attention_case & c, int t, int stream, int head, int position);
};

// [stream][row][head][dim_v], as ggml's operation returns it
std::vector<float> attention_run(const attention_case & c, attention_data & data);

// exact_query, exact_weights: the kernels of this level work on floats there
attention_result attention_compare(
    const attention_case & c, attention_data & data, bool exact_query, bool exact_weights);
