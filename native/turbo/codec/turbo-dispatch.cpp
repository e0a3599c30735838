// Run-time choice of the SIMD level, and what goes through it: the CPU table functions, SET_ROWS, and which operation goes where.

#include "turbo-codec.h"
#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"
#include "ggml-cpu.h"

#include <algorithm>
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

// Where rows go.
struct destination {
    const ggml_tensor * dst;
    const ggml_tensor * rows; // which row each of them is; of a window also NOWHERE
    static constexpr int64_t NOWHERE = -1;

    int64_t group() const { return ggml_blck_size(dst->type); }

    // n values from the first one on of row i of plane i02, i03
    void store(const float * values, int64_t first, int64_t n, int64_t i, int64_t i02, int64_t i03) const {
        const int64_t to = row_of(rows, i, i02 % rows->ne[1], i03 % rows->ne[2]);
        if (to == NOWHERE) { return; }
        GGML_ASSERT(to >= 0 && to < dst->ne[1]);
        char * out = (char *) dst->data + to * dst->nb[1] + i02 * dst->nb[2] + i03 * dst->nb[3];
        ggml_get_type_traits_cpu(dst->type)->from_float(values, out + ggml_row_size(dst->type, first), n);
    }
};

} // namespace

extern "C" bool turbo_set_rows(const ggml_compute_params * params, ggml_tensor * dst) {
    const ggml_tensor * x = dst->src[0];
    const ggml_tensor * rows = dst->src[1];
    const ggml_tensor * recent = dst->src[TURBO_SRC_RECENT_ROWS];
    const bool can = x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float);
    GGML_ASSERT(can || recent == nullptr);
    if (!can || (!ggml_turbo_is_turbo(dst->type) && recent == nullptr)) { return false; }
    const destination to = { dst, rows };
    const destination to_recent = { recent, dst->src[TURBO_SRC_RECENT_PLACES] };
    // a group of both types: that of q8_0 divides those of the turbo types, and f16 has none
    const int64_t group = recent == nullptr ? to.group() : std::max(to.group(), to_recent.group());
    const int64_t n_group = x->ne[0] / group; // of a row
    const share mine = share_of(params, x->ne[1] * x->ne[2] * x->ne[3] * n_group);

    for (int64_t g = mine.first; g < mine.last;) {
        const int64_t in_row = g % n_group;
        const int64_t n = n_group - in_row < mine.last - g ? n_group - in_row : mine.last - g;
        const int64_t i = g / n_group % x->ne[1];
        const int64_t i02 = g / n_group / x->ne[1] % x->ne[2];
        const int64_t i03 = g / n_group / x->ne[1] / x->ne[2];
        const char * from = (const char *) x->data + i * x->nb[1] + i02 * x->nb[2] + i03 * x->nb[3];
        const float * values = (const float *) from + in_row * group;
        to.store(values, in_row * group, n * group, i, i02, i03);
        if (recent != nullptr) { to_recent.store(values, in_row * group, n * group, i, i02, i03); }
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
