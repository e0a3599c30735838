// What the engine asks of Metal; called by native/addon/machine/Kernels.cpp.
#pragma once

#include "dispatch.h"

// "Apple9"; empty: no GPU
std::string turbo_metal_family();

// Measures which variants are fast on this GPU and tests the kernels that it may run, as far as files in the folder do not say it yet, and
// passes over wrong ones from then on. folder: "" keeps nothing. Must come before any other use of Metal by this process.
void turbo_metal_start(const std::string & folder, const turbo_metal_stopwatch & watch = {});

// What the self-test found wrong, and an override that cannot be read, as sentences.
std::vector<std::string> turbo_metal_warnings();

// turbo_metal_uses on this GPU, with the environment's override.
std::vector<turbo_metal_use> turbo_metal_uses_here(int dim_k, int dim_v, int gqa, int64_t n_ctx, bool has_turbo4);
