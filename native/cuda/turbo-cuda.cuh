// Turbo types on CUDA: what the patched lines of ggml-cuda call. Attention that decode.cu does not take, and prompts, are upstream's: it
// expands K and V of one layer to f16 by the functions of expand.cu.
#pragma once

#include "common.cuh"
#include "convert.cuh"
#include "ggml-backend-impl.h"
#include "ggml-turbo.h"

// True for the types that have kernels here: those with a trellis have none, nor those that the self-test found wrong, and
// llama_turbo_resolve says so.
bool turbo_cuda_has(ggml_type type);

// Stores f32 rows into a cache of a turbo type; false for any other type.
bool turbo_cuda_set_rows(ggml_backend_cuda_context & ctx, ggml_tensor * dst);

// Whether the decode kernel runs on a GPU: it needs cp.async and matrix units of 16x8x16.
bool turbo_cuda_decodes_on(int compute_capability);

// Attention of few rows over a cache of turbo types; false when it is not for this kernel.
bool turbo_cuda_decode(ggml_backend_cuda_context & ctx, ggml_tensor * dst);

// Takes products with Hadamard matrices out of a graph, which the kernels beside them then do (native/gpu/fold.h).
void turbo_cuda_fold(int device, ggml_cgraph * graph, ggml_backend_graph_optimize_params * params);

// Functions that expand a turbo type to f16, contiguous or by strides in blocks; nullptr for any other type.
to_fp16_cuda_t turbo_cuda_to_fp16(ggml_type type);
to_fp16_nc_cuda_t turbo_cuda_to_fp16_nc(ggml_type type);
