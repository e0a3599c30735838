// Which kernels attention over a context's cache runs on and what chose them, and the self-test of those on a GPU.
#pragma once

#include "model/Model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct KernelUse {
    std::string backend; // as ggml names it
    uint32_t from = 0;   // tokens in the cache
    std::string name, why;
};

// Once for each backend that holds layers, and again where the depth changes the kernel. Throws where an override cannot be read.
std::vector<KernelUse> kernelUses(const Model & model, ggml_type typeK, ggml_type typeV, uint32_t nCtx);

// GPU kernels are compared with the CPU, once per GPU, system and build; the outcome is kept in the folder. To be called before
// anything else uses the GPU.
void selfTest(const std::string & folder);

// What the self-test disabled, as sentences.
std::vector<std::string> kernelWarnings();

// of the GPU; empty: none, or one without a name for it
std::string chipFamily();

} // namespace concertina
