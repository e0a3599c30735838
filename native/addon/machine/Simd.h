// SIMD levels: 'avx512', 'avx2', 'neon' or 'scalar'. What runs, and what this processor could run.
#pragma once

#include <string>

namespace concertina {

struct SimdLevels {
    std::string inEffect; // of the turbo kernels
    std::string best;     // that the processor has instructions for, whatever this build was compiled for
    std::string asked;    // CONCERTINA_SIMD, which caps the level in effect; empty: not set
    std::string weights;  // that llama.cpp's own kernels were compiled for: they have no choice at run time
};

SimdLevels simdLevels();

} // namespace concertina
