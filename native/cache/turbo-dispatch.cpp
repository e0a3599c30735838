// Run-time choice of the SIMD level, and the CPU table functions that go through it.

#include "turbo-codec.h"
#include "turbo-hooks.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef TURBO_X86_KERNELS
static bool cpu_has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

static bool cpu_has_avx512() {
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}
#endif

extern "C" const turbo_kernels * turbo_kernels_at(const char * level) {
    if (strcmp(level, "scalar") == 0) {
        return &turbo_kernels_ref;
    }
#ifdef TURBO_X86_KERNELS
    if (strcmp(level, "avx2") == 0 && cpu_has_avx2()) {
        return &turbo_kernels_avx2;
    }
    if (strcmp(level, "avx512") == 0 && cpu_has_avx512()) {
        return &turbo_kernels_avx512;
    }
#endif
    return nullptr;
}

static const turbo_kernels * choose() {
    static const char * const levels[] = { "avx512", "avx2", "scalar" };
    const char * cap = getenv("CONCERTINA_SIMD");
    bool below_cap = cap == nullptr || *cap == 0;
    for (const char * level : levels) {
        below_cap = below_cap || strcmp(cap, level) == 0;
        const turbo_kernels * kernels = below_cap ? turbo_kernels_at(level) : nullptr;
        if (kernels != nullptr) {
            return kernels;
        }
    }
    fprintf(stderr, "CONCERTINA_SIMD=%s is not one of scalar, avx2, avx512\n", cap);
    abort();
}

static const turbo_kernels & kernels() {
    static const turbo_kernels * const chosen = choose();
    return *chosen;
}

extern "C" const char * ggml_turbo_simd_level(void) {
    return kernels().level;
}

extern "C" ggml_to_float_t turbo_v_decoder(ggml_type type, ggml_to_float_t to_float) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4:    return kernels().to_float[TURBO_FORMAT_4];
        case GGML_TYPE_TURBO3:    return kernels().to_float[TURBO_FORMAT_3];
        case GGML_TYPE_TURBO4_64: return kernels().to_float[TURBO_FORMAT_4_64];
        case GGML_TYPE_TURBO3_64: return kernels().to_float[TURBO_FORMAT_3_64];
        default:                  return to_float;
    }
}

#define TURBO_CPU_FUNCTIONS(name, id)                                                                                             \
    extern "C" void turbo_from_float_##name(const float * x, void * y, int64_t k) {                                               \
        turbo_quantize(&kernels(), id, x, y, k);                                                                                  \
    }                                                                                                                             \
    extern "C" void turbo_vec_dot_##name(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) { \
        kernels().vec_dot[id](n, s, bs, vx, bx, vy, by, nrc);                                                                     \
    }

TURBO_CPU_FUNCTIONS(turbo4,    TURBO_FORMAT_4)
TURBO_CPU_FUNCTIONS(turbo3,    TURBO_FORMAT_3)
TURBO_CPU_FUNCTIONS(turbo4_64, TURBO_FORMAT_4_64)
TURBO_CPU_FUNCTIONS(turbo3_64, TURBO_FORMAT_3_64)
