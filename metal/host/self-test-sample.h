// One operation on small data for the self-test, with the values that the CPU gives.
#pragma once

#include "ggml-cpp.h"
#include "ggml.h"

#include <cstdint>
#include <string>
#include <vector>

struct turbo_metal_input {
    ggml_tensor * tensor;
    std::vector<uint8_t> bytes; // empty: written by the operation
};

struct turbo_metal_sample {
    ggml_context_ptr ctx; // allocates no data
    ggml_tensor * op;
    std::vector<turbo_metal_input> inputs; // of all tensors that are no views, but op
    std::vector<float> want;   // values of op
    double bound;  // largest sum of squared errors, relative to that of the values
    std::string label;

    // What is wrong with the bytes of a result; empty: nothing.
    std::string compare(const std::vector<uint8_t> & result) const;
};

enum turbo_metal_copy { TURBO_METAL_SET_ROWS, TURBO_METAL_COPY_FROM, TURBO_METAL_COPY_TO };

// Splits of the KV range in samples of attention: two threadgroups of every variant, so that there is something to merge.
const int TURBO_METAL_SAMPLE_SPLITS = 8;

// Rows of type other (f32 or f16) into a turbo type (SET_ROWS, COPY_FROM), or out of it (COPY_TO).
turbo_metal_sample turbo_metal_copy_sample(turbo_metal_copy what, ggml_type turbo, ggml_type other);

// Decode attention for more queries than a SIMD-group takes: every format on either side, and one sample with two rows, sinks,
// soft cap and ALiBi.
std::vector<turbo_metal_sample> turbo_metal_attention_samples(int dim_k, int dim_v, int queries);
