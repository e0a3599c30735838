// Products of q6_K weights and many columns of activations, for CPUs for which ggml has no such kernel: on x86-64 it computes
// each element by itself and unpacks the weights anew for every column. q6_K is in most files that people have: all of a Q6_K
// file, and the output and a part of attention and feed-forward of a Q4_K_M one.
//
// An element is summed in one order, whatever the number of columns: a token's result does not depend on the batch it is in.
// AVX2 gives the bits of ggml_vec_dot_q6_K_q8_K, which computes one or two columns there; AVX-512 has an order of its own.
#pragma once

#include "ggml.h"

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"

#include <stdint.h>

// A tile of dst (f32), element (row, column) at dst[column * dst_stride + row], from rows of weights and columns of
// activations. All pointers to the first row and column; strides of x and y in blocks, n_block of QK_K values a row.
struct turbo_q6_k_tile {
    const block_q6_K * x;
    int64_t x_stride;
    const block_q8_K * y;
    int64_t y_stride;
    float * dst;
    int64_t dst_stride;
    int64_t n_block, n_row, n_column;
};

typedef void (*turbo_q6_k_kernel)(const turbo_q6_k_tile & tile);

#ifdef TURBO_X86_KERNELS
void turbo_q6_k_avx2(const turbo_q6_k_tile & tile);
void turbo_q6_k_avx512(const turbo_q6_k_tile & tile);

// n activations, a multiple of QK_K, as q8_K: the bits of ggml's own, which takes them one by one. For both levels.
void turbo_quantize_q8_k(const float * x, block_q8_K * out, int64_t n);
#endif
