// What this CPU can run. In a file of its own so that a test may link another answer: kernels built against an emulation
// of their instructions run on any CPU (test/native/emulated).

#include "ggml-turbo.h"
#include "turbo-codec.h"

#include <cstring>

#if defined(_WIN32)
#include <windows.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

// The extensions that each level wants: avx2 also FMA and F16C, avx512 also BW, VL, DQ and VNNI, neon dotprod.
extern "C" const char * ggml_turbo_cpu_level(void) {
#if defined(_WIN32) && (defined(_M_ARM64) || defined(__aarch64__))
    return IsProcessorFeaturePresent(43) ? "neon" : "scalar"; // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
#elif defined(_MSC_VER) && !defined(__clang__)
    return IsProcessorFeaturePresent(41)   ? "avx512"
           : IsProcessorFeaturePresent(40) ? "avx2"
                                           : "scalar"; // PF_AVX512F, PF_AVX2
#elif defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
        return "scalar";
    }
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vnni");
    return avx512 ? "avx512" : "avx2";
#elif defined(__aarch64__) && defined(__linux__)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? "neon" : "scalar";
#elif defined(__aarch64__)
    return "neon"; // every Mac with an Arm CPU
#else
    return "scalar";
#endif
}

extern "C" bool turbo_cpu_has(const char * level) {
    const char * best = ggml_turbo_cpu_level();
    return strcmp(level, best) == 0 || strcmp(level, "scalar") == 0 ||
           (strcmp(level, "avx2") == 0 && strcmp(best, "avx512") == 0);
}
