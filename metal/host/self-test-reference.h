// What the self-test compares with: values of cache types, and attention in double precision, on the CPU.
#pragma once

#include "self-test-sample.h"

// Values of bytes of any type with a decoder.
std::vector<float> turbo_metal_decode(ggml_type type, const std::vector<uint8_t> & bytes);

// The operation of a sample of attention: [row][head][dim_v].
std::vector<float> turbo_metal_reference_attention(const turbo_metal_sample & sample);
