// The turbo types as ggml types: table functions of ggml-base, names, ids.

#include "turbo-codec.h"
#include "turbo-hooks.h"

#include <string.h>

TURBO_STATIC_ASSERT(
    GGML_TYPE_COUNT == 43, "the pin's enum ggml_type grew: check ids.cmake's list, then raise this number");

#define TURBO_BASE_FUNCTIONS(name, id) \
    void turbo_to_float_##name(const void * x, float * y, int64_t k) { turbo_kernels_ref.to_float[id](x, y, k); } \
    void turbo_from_float_ref_##name(const float * x, void * y, int64_t k) { \
        turbo_quantize(&turbo_kernels_ref, id, x, y, k); \
    }

TURBO_BASE_FUNCTIONS(turbo4, TURBO_FORMAT_4)
TURBO_BASE_FUNCTIONS(turbo3, TURBO_FORMAT_3)
TURBO_BASE_FUNCTIONS(turbo4_64, TURBO_FORMAT_4_64)
TURBO_BASE_FUNCTIONS(turbo3_64, TURBO_FORMAT_3_64)

bool ggml_turbo_is_turbo(enum ggml_type type) {
    return type == GGML_TYPE_TURBO4 || type == GGML_TYPE_TURBO3 || type == GGML_TYPE_TURBO4_64 ||
           type == GGML_TYPE_TURBO3_64;
}

enum ggml_type ggml_turbo_type_from_name(const char * name) {
    if (strcmp(name, "turbo4") == 0) { return GGML_TYPE_TURBO4; }
    if (strcmp(name, "turbo3") == 0) { return GGML_TYPE_TURBO3; }
    return GGML_TYPE_COUNT;
}

size_t turbo_quantize_chunk(enum ggml_type type, const float * src, void * dst, int64_t nrows, int64_t n_per_row) {
    if (!ggml_turbo_is_turbo(type)) { return 0; }
    ggml_get_type_traits(type)->from_float_ref(src, dst, nrows * n_per_row);
    return nrows * ggml_row_size(type, n_per_row);
}

int turbo_v_rotation(enum ggml_type type) { return ggml_turbo_is_turbo(type) ? (int) ggml_blck_size(type) : 64; }
