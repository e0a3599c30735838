// The turbo types as ggml types: table functions of ggml-base, names, ids.

#include "turbo-codec.h"
#include "turbo-hooks.h"

#include <string.h>

TURBO_STATIC_ASSERT(
    GGML_TYPE_COUNT == 43, "the pin's enum ggml_type grew: check ids.cmake's list, then raise this number");

#define TURBO_BASE_FUNCTIONS(ID, name, group) \
    void turbo_to_float_##name(const void * x, float * y, int64_t k) { \
        turbo_kernels_ref.to_float[TURBO_FORMAT_##ID](x, y, k); \
    } \
    void turbo_from_float_ref_##name(const float * x, void * y, int64_t k) { \
        turbo_quantize(&turbo_kernels_ref, TURBO_FORMAT_##ID, x, y, k); \
    }

TURBO_EACH_TYPE(TURBO_BASE_FUNCTIONS)

bool ggml_turbo_is_turbo(enum ggml_type type) {
#define TURBO_IS(ID, name, group) type == GGML_TYPE_##ID ||
    return TURBO_EACH_TYPE(TURBO_IS) false;
}

enum ggml_type ggml_turbo_without_trellis(enum ggml_type type) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4_TCQ: return GGML_TYPE_TURBO4;
        case GGML_TYPE_TURBO3_TCQ: return GGML_TYPE_TURBO3;
        case GGML_TYPE_TURBO4_TCQ_64: return GGML_TYPE_TURBO4_64;
        case GGML_TYPE_TURBO3_TCQ_64: return GGML_TYPE_TURBO3_64;
        default: return type;
    }
}

enum ggml_type ggml_turbo_type_from_name(const char * name) {
    // those with blocks of 64 are never asked for
#define TURBO_OF_NAME(ID, type, group) \
    if (group == TURBO_GROUP && strcmp(name, #type) == 0) { return GGML_TYPE_##ID; }
    TURBO_EACH_TYPE(TURBO_OF_NAME)
    return GGML_TYPE_COUNT;
}

size_t turbo_quantize_chunk(enum ggml_type type, const float * src, void * dst, int64_t nrows, int64_t n_per_row) {
    if (!ggml_turbo_is_turbo(type)) { return 0; }
    ggml_get_type_traits(type)->from_float_ref(src, dst, nrows * n_per_row);
    return nrows * ggml_row_size(type, n_per_row);
}

int turbo_v_rotation(enum ggml_type type) { return ggml_turbo_is_turbo(type) ? (int) ggml_blck_size(type) : 64; }
