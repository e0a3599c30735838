// Run-time choice of the SIMD level, and the CPU table functions that go through it.

#include "turbo-codec.h"
#include "turbo-hooks.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Best first.
static const turbo_kernels * const levels[] = {
#ifdef TURBO_X86_KERNELS
    &turbo_kernels_avx512,
    &turbo_kernels_avx2,
#endif
#ifdef TURBO_NEON_KERNELS
    &turbo_kernels_neon,
#endif
    &turbo_kernels_ref,
};

extern "C" const turbo_kernels * turbo_kernels_at(const char * level) {
    for (const turbo_kernels * kernels : levels) {
        if (strcmp(level, kernels->level) == 0) { return turbo_cpu_has(level) ? kernels : nullptr; }
    }
    return nullptr;
}

static const turbo_kernels * choose() {
    const char * cap = getenv("CONCERTINA_SIMD");
    bool below_cap = cap == nullptr || *cap == 0;
    for (const turbo_kernels * kernels : levels) {
        below_cap = below_cap || strcmp(cap, kernels->level) == 0;
        if (below_cap && turbo_cpu_has(kernels->level)) { return kernels; }
    }
    fprintf(stderr, "CONCERTINA_SIMD=%s is not one of", cap);
    for (const turbo_kernels * kernels : levels) { fprintf(stderr, " %s", kernels->level); }
    fprintf(stderr, "\n");
    abort();
}

static const turbo_kernels & kernels() {
    static const turbo_kernels * const chosen = choose();
    return *chosen;
}

extern "C" const char * ggml_turbo_simd_level(void) { return kernels().level; }

extern "C" ggml_to_float_t turbo_v_decoder(ggml_type type, ggml_to_float_t to_float) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4: return kernels().to_float[TURBO_FORMAT_4];
        case GGML_TYPE_TURBO3: return kernels().to_float[TURBO_FORMAT_3];
        case GGML_TYPE_TURBO4_64: return kernels().to_float[TURBO_FORMAT_4_64];
        case GGML_TYPE_TURBO3_64: return kernels().to_float[TURBO_FORMAT_3_64];
        default: return to_float;
    }
}

#define TURBO_CPU_FUNCTIONS(name, id) \
    extern "C" void turbo_from_float_##name(const float * x, void * y, int64_t k) { \
        turbo_quantize(&kernels(), id, x, y, k); \
    } \
    extern "C" void turbo_vec_dot_##name( \
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) { \
        kernels().vec_dot[id](n, s, bs, vx, bx, vy, by, nrc); \
    }

TURBO_CPU_FUNCTIONS(turbo4, TURBO_FORMAT_4)
TURBO_CPU_FUNCTIONS(turbo3, TURBO_FORMAT_3)
TURBO_CPU_FUNCTIONS(turbo4_64, TURBO_FORMAT_4_64)
TURBO_CPU_FUNCTIONS(turbo3_64, TURBO_FORMAT_3_64)
