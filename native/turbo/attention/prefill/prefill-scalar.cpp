// Prefill kernels in plain C++: the reference of the SIMD levels.

#include "prefill.h"

#include "ggml.h"

#include <string.h>

namespace {

typedef float vec;
constexpr int WIDTH = 1;
constexpr int MR    = 4;
constexpr int NV    = 8;

inline vec  load(const float * p)       { return *p; }
inline void store(float * p, vec x)     { *p = x; }
inline vec  set1(float x)               { return x; }
inline vec  add(vec a, vec b)           { return a + b; }
inline vec  sub(vec a, vec b)           { return a - b; }
inline vec  mul(vec a, vec b)           { return a*b; }
inline vec  div(vec a, vec b)           { return a/b; }
inline vec  fma(vec a, vec b, vec c)    { return a*b + c; }
inline vec  max2(vec a, vec b)          { return a > b ? a : b; }
inline vec  min2(vec a, vec b)          { return a < b ? a : b; }
inline float reduce_max(vec x)          { return x; }
inline float reduce_add(vec x)          { return x; }
inline float from_f16(uint16_t h)       { return ggml_fp16_to_fp32(h); }
inline vec  load_f16(const uint16_t * p) { return from_f16(*p); }

inline vec pow2(vec n) {
    const int32_t bits = (int32_t) ((uint32_t) (n == n ? (int) n + 127 : 127) << 23);
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

inline vec keep_unless_hidden(vec x, vec s) { return s == -__builtin_inff() ? 0.0f : x; }
inline vec hide(vec x, vec m)               { return m == -__builtin_inff() ? m : x; }

inline void transpose_tile(const float * rows, int, float * panel, int) {
    *panel = *rows;
}

template <ggml_type TYPE>
void decode(const void * x, float * y, int64_t n) {
    ggml_get_type_traits(TYPE)->to_float(x, y, n);
}

} // namespace

#include "prefill-kernels.inl"

const prefill_kernels prefill_kernels_scalar = {
    "scalar", MR, NR, gemm, transpose, soft_cap, add_mask, view, max, exp2_sum, scale, finite,
    decode<GGML_TYPE_F16>, decode<GGML_TYPE_Q8_0>, decode<GGML_TYPE_Q4_0>,
};
