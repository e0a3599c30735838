// SET_ROWS into a turbo cache. Upstream deals out rows, and a decode step has one: its groups, whose search for sub-scales
// costs some microseconds each, are dealt out here instead.

#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"
#include "ggml-cpu.h"

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
