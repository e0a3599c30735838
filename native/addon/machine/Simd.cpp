#include "machine/Simd.h"

#include "ggml-cpu.h"
#include "ggml-turbo.h"

#include <cstdlib>

#if defined(_WIN32)
#include <windows.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace concertina {
namespace {

// The extensions that each level of native/turbo/codec/turbo-cpu.cpp wants.
std::string bestOfProcessor() {
#if defined(_WIN32) && (defined(_M_ARM64) || defined(__aarch64__))
    return IsProcessorFeaturePresent(43) ? "neon" : "scalar"; // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
#elif defined(_MSC_VER) && !defined(__clang__)
    return IsProcessorFeaturePresent(41) ? "avx512" : IsProcessorFeaturePresent(40) ? "avx2" : "scalar"; // PF_AVX512F, PF_AVX2
#elif defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) return "scalar";
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
    return avx512 ? "avx512" : "avx2";
#elif defined(__aarch64__) && defined(__linux__)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? "neon" : "scalar";
#elif defined(__aarch64__)
    return "neon"; // every Mac with an Arm CPU
#else
    return "scalar";
#endif
}

std::string ofWeights() {
    if (ggml_cpu_has_avx512()) return "avx512";
    if (ggml_cpu_has_avx2()) return "avx2";
    return ggml_cpu_has_dotprod() ? "neon" : "scalar";
}

} // namespace

SimdLevels simdLevels() {
    const char * asked = std::getenv("CONCERTINA_SIMD");
    return {ggml_turbo_simd_level(), bestOfProcessor(), asked ? asked : "", ofWeights()};
}

} // namespace concertina
