// What the self-test needs of encode.cpp.
#pragma once

#include "plan.h"

#include "ggml-metal-device.h"

// With the faults of turbo_metal_start. has_kernels: our library was compiled.
turbo_metal_device turbo_metal_device_of(const ggml_metal_device_props * props, bool has_kernels);
void turbo_metal_set_faults(const turbo_metal_faults * faults);

// The plan of an operation as it is encoded. variant: of decode attention; fewer SIMD-groups where its pipeline takes fewer threads.
turbo_metal_plan turbo_metal_plan_on(ggml_metal_library_t lib, turbo_metal_variant variant, const ggml_tensor * op);

// Why the kernels of a plan cannot run: one does not compile, or takes fewer threads. Empty: they can.
std::string turbo_metal_obstacle(ggml_metal_library_t lib, const turbo_metal_plan & plan);

// Most threads of a threadgroup of a plan's first kernel: the fewer, the more registers it takes. 0 when it does not compile.
int turbo_metal_most_threads(ggml_metal_library_t lib, const turbo_metal_plan & plan);

// While one lives, decode attention with turbo types is encoded as its variant.
class turbo_metal_forced_variant {
public:
    explicit turbo_metal_forced_variant(const turbo_metal_variant * variant);
    ~turbo_metal_forced_variant();
};
