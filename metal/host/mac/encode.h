// What the parts of metal/host/mac need of each other: plans on a GPU (encode.cpp), which variants are fast there (speed.cpp), the self-test
// (self-test.cpp).
#pragma once

#include "plan.h"

#include "ggml-metal-device.h"

// With the faults of turbo_metal_start. has_kernels: our library was compiled.
turbo_metal_device turbo_metal_device_of(const ggml_metal_device_props * props, bool has_kernels);
void turbo_metal_set_faults(const turbo_metal_faults * faults);
void turbo_metal_set_speeds(const turbo_metal_speeds * speeds);

// The plan of an operation as it is encoded. variant: of decode attention; fewer SIMD-groups where its pipeline takes fewer threads.
turbo_metal_plan turbo_metal_plan_on(ggml_metal_library_t lib, turbo_metal_variant variant, const ggml_tensor * op);

// Why the kernels of a plan cannot run: one does not compile, or takes fewer threads. Empty: they can.
std::string turbo_metal_obstacle(ggml_metal_library_t lib, const turbo_metal_plan & plan);

// While one lives, decode attention with turbo types is encoded as its variant.
class turbo_metal_forced_variant {
public:
    explicit turbo_metal_forced_variant(const turbo_metal_variant * variant);
    ~turbo_metal_forced_variant();
};

// What is fastest on a GPU, or what `file` kept for the same key, which is one line; "" keeps nothing. Takes some hundred milliseconds.
// Empty where the GPU ran none of it, or ended an engine that measured it.
turbo_metal_speeds turbo_metal_measure(ggml_metal_device_t gpu, const std::string & file, const std::string & key,
    const turbo_metal_stopwatch & watch = {});

// Runs every kernel that dispatch may take on a GPU and compares with the CPU, until dispatch takes nothing untested. dims: of
// attention, {dim_k, dim_v}. file: keeps what was found for the same key, which is one line; "" keeps nothing.
turbo_metal_faults turbo_metal_self_test(ggml_metal_device_t gpu, const std::string & file, const std::string & key,
    const std::vector<std::pair<int, int>> & dims);
