// Prefill kernels in plain C++: the reference of the SIMD levels.

#include "prefill.h"

#include "ggml.h"

#include <math.h>
#include <string.h>

#define INLINE inline

namespace {

#include "vec-scalar.inl"

constexpr int MR = 4;
constexpr int NV = 8;

inline void transpose_tile(const float * rows, int, float * panel, int) { *panel = *rows; }

#include "prefill-kernels.inl"

template <ggml_type TYPE> void decode(const void * x, float * y, int64_t n) {
    ggml_get_type_traits(TYPE)->to_float(x, y, n);
}

} // namespace

const prefill_kernels prefill_kernels_scalar = {
    "scalar",
    MR,
    NR,
    gemm,
    gemm_from,
    transpose,
    soft_cap,
    add_mask,
    view,
    max,
    exp2_sum,
    scale,
    finite,
    decode<GGML_TYPE_F16>,
    decode<GGML_TYPE_Q8_0>,
    decode<GGML_TYPE_Q4_0>,
};
