// Which kernels attention over a context's cache runs on and what chose them, the self-test of those on a GPU, and the SIMD
// levels of those on the CPU.
#pragma once

#include "fields.h"
#include "model/Model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct KernelUse {
    std::string backend; // as ggml names it
    uint32_t from = 0; // tokens in the cache
    std::string name, why;

    CONCERTINA_FIELDS(backend, from, name, why)
};

// Once for each backend that holds layers, and again where the depth changes the kernel. Throws where an override cannot be read.
std::vector<KernelUse> kernelUses(const Model & model, ggml_type typeK, ggml_type typeV, uint32_t nCtx);

// GPU kernels are compared with the CPU, once per GPU, system and build; the outcome is kept in the folder. To be called before
// anything else uses the GPU.
void selfTest(const std::string & folder);

// For an end of the process that is asked for while the self-test runs: a file left by a crash would disable what was tested.
void leaveSelfTest();

// What the self-test disabled, as sentences.
std::vector<std::string> kernelWarnings();

// of the GPU; empty: none, or one without a name for it
std::string chipFamily();

// 'avx512', 'avx2', 'neon' or 'scalar'
struct SimdLevels {
    std::string simd; // in effect: of the turbo kernels
    std::string simdBest; // that the processor has instructions for, whatever this build was compiled for
    std::string simdAsked; // CONCERTINA_SIMD, which caps the level in effect; empty: not set
    std::string simdWeights; // that llama.cpp's own kernels were compiled for: they have no choice at run time
};

SimdLevels simdLevels();

} // namespace concertina
