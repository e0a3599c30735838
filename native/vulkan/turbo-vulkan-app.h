// What the engine asks of Vulkan; called by native/addon/machine/Kernels.cpp and context/internals.cpp.
#pragma once

#include "kernel.h"

#include "ggml-backend.h"
#include "ggml.h"

#include <cstdint>
#include <string>
#include <vector>

// Starts Vulkan and tests the turbo kernels on its devices, once for each build and set of drivers. A file in the folder ("": nowhere)
// says before what is tried and after what came of it: where the process ended in between, the next one leaves Vulkan out. Must come
// before any other use of ggml's devices by this process.
void turbo_vulkan_start(const std::string & folder);

// For an end of the process that is no fault of a driver, while it is tried: the next start tries it again.
void turbo_vulkan_leave();

// What the start and the self-test found wrong, as sentences.
std::vector<std::string> turbo_vulkan_warnings();

// What attention of one token runs on.
turbo_gpu_kernel turbo_vulkan_decode_kernel(
    ggml_backend_dev_t dev, int64_t dim_k, int64_t dim_v, ggml_type type_k, ggml_type type_v);

// Bytes that the back end allocates on the device, outside any scheduler's sight, when a prompt of 64 tokens or more is read: K and V of
// one layer as f16. n_k, n_v: values of K and V of one layer, over all cells. 0 for devices that are not Vulkan's.
uint64_t turbo_vulkan_copy_bytes(
    ggml_backend_dev_t dev, ggml_type type_k, ggml_type type_v, uint64_t n_k, uint64_t n_v);
