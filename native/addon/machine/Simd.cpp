#include "machine/Simd.h"

#include "ggml-cpu.h"
#include "ggml-turbo.h"

#include <cstdlib>

namespace concertina {
namespace {

std::string ofWeights() {
    if (ggml_cpu_has_avx512()) return "avx512";
    if (ggml_cpu_has_avx2()) return "avx2";
    return ggml_cpu_has_dotprod() ? "neon" : "scalar";
}

} // namespace

SimdLevels simdLevels() {
    const char * asked = std::getenv("CONCERTINA_SIMD");
    return { ggml_turbo_simd_level(), ggml_turbo_cpu_level(), asked ? asked : "", ofWeights() };
}

} // namespace concertina
