// What the engine asks of CUDA; called by native/addon/machine/Kernels.cpp.
#pragma once

#include "kernel.h"

#include "ggml-backend.h"
#include "ggml.h"

#include <cstdint>
#include <string>
#include <vector>

// Tests the turbo kernels on CUDA's devices, once for each build and driver. A file in the folder ("": nowhere) says before what is
// tried and after what came of it.
void turbo_cuda_start(const std::string & folder);

// For an end of the process that is no fault of a driver, while it is tried: the next start tries it again.
void turbo_cuda_leave();

// What the self-test found wrong, as sentences.
std::vector<std::string> turbo_cuda_warnings();

// What attention of one token runs on.
turbo_gpu_kernel turbo_cuda_decode_kernel(
    ggml_backend_dev_t dev, int64_t dim_k, int64_t dim_v, ggml_type type_k, ggml_type type_v);
