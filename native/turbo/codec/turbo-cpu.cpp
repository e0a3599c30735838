// What this CPU can run. In a file of its own so that a test may link another answer: kernels built against an emulation
// of their instructions run on any CPU (test/native/emulated).

#include "turbo-codec.h"

#include <cstring>

#if defined(TURBO_NEON_KERNELS) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#ifdef TURBO_X86_KERNELS
static bool cpu_has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

static bool cpu_has_avx512() {
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}
#endif

#ifdef TURBO_NEON_KERNELS
static bool cpu_has_dotprod() {
#ifdef __linux__
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
    return true; // every Mac with an Arm CPU
#endif
}
#endif

extern "C" bool turbo_cpu_has(const char * level) {
#ifdef TURBO_X86_KERNELS
    if (strcmp(level, "avx2") == 0) {
        return cpu_has_avx2();
    }
    if (strcmp(level, "avx512") == 0) {
        return cpu_has_avx512();
    }
#endif
#ifdef TURBO_NEON_KERNELS
    if (strcmp(level, "neon") == 0) {
        return cpu_has_dotprod();
    }
#endif
    return strcmp(level, "scalar") == 0;
}
