// Run-time choice of the SIMD level, and what goes through it: the CPU table functions, SET_ROWS, and which operation goes where.

#include "turbo-codec.h"
#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"
#include "ggml-cpu.h"

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
#define TURBO_DECODER(ID, name, group) \
    case GGML_TYPE_##ID: return kernels().to_float[TURBO_FORMAT_##ID];
        TURBO_EACH_TYPE(TURBO_DECODER)
        default: return to_float;
    }
}

#define TURBO_CPU_FUNCTIONS(ID, name, group) \
    extern "C" void turbo_from_float_##name(const float * x, void * y, int64_t k) { \
        turbo_quantize(&kernels(), TURBO_FORMAT_##ID, x, y, k); \
    } \
    extern "C" void turbo_vec_dot_##name( \
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) { \
        kernels().vec_dot[TURBO_FORMAT_##ID](n, s, bs, vx, bx, vy, by, nrc); \
    }

TURBO_EACH_TYPE(TURBO_CPU_FUNCTIONS)

// --- SET_ROWS into a turbo cache. Upstream deals out rows, and a decode step has one: its groups, whose search for sub-scales
// costs some microseconds each, are dealt out here instead.

namespace {

int64_t row_of(const ggml_tensor * rows, int64_t i, int64_t i11, int64_t i12) {
    const char * at = (const char *) rows->data + i * rows->nb[0] + i11 * rows->nb[1] + i12 * rows->nb[2];
    return rows->type == GGML_TYPE_I64 ? *(const int64_t *) at : *(const int32_t *) at;
}

// This thread's part of a range: [first, last).
struct share {
    int64_t first, last;
};

share share_of(const ggml_compute_params * params, int64_t n) {
    return { n * params->ith / params->nth, n * (params->ith + 1) / params->nth };
}

} // namespace

extern "C" bool turbo_set_rows(const ggml_compute_params * params, ggml_tensor * dst) {
    const ggml_tensor * x = dst->src[0];
    const ggml_tensor * rows = dst->src[1];
    if (!ggml_turbo_is_turbo(dst->type) || x->type != GGML_TYPE_F32 || x->nb[0] != sizeof(float)) { return false; }
    const ggml_from_float_t quantize = ggml_get_type_traits_cpu(dst->type)->from_float;
    const int64_t group = ggml_blck_size(dst->type);
    const int64_t n_group = x->ne[0] / group; // of a row
    const share mine = share_of(params, x->ne[1] * x->ne[2] * x->ne[3] * n_group);

    for (int64_t g = mine.first; g < mine.last;) {
        const int64_t in_row = g % n_group;
        const int64_t n = n_group - in_row < mine.last - g ? n_group - in_row : mine.last - g;
        const int64_t i = g / n_group % x->ne[1];
        const int64_t i02 = g / n_group / x->ne[1] % x->ne[2];
        const int64_t i03 = g / n_group / x->ne[1] / x->ne[2];
        const int64_t to = row_of(rows, i, i02 % rows->ne[1], i03 % rows->ne[2]);
        GGML_ASSERT(to >= 0 && to < dst->ne[1]);

        const char * from = (const char *) x->data + i * x->nb[1] + i02 * x->nb[2] + i03 * x->nb[3];
        char * out = (char *) dst->data + to * dst->nb[1] + i02 * dst->nb[2] + i03 * dst->nb[3];
        quantize((const float *) from + in_row * group, out + in_row * ggml_type_size(dst->type), n * group);
        g += n;
    }
    return true;
}

extern "C" bool turbo_compute_forward(const ggml_compute_params * params, ggml_tensor * dst) {
    switch (dst->op) {
        case GGML_OP_SET_ROWS: return turbo_set_rows(params, dst);
        case GGML_OP_FLASH_ATTN_EXT: return turbo_flash_attn_ext(params, dst);
        case GGML_OP_MUL_MAT: return turbo_mul_mat(params, dst);
        default: return false;
    }
}
