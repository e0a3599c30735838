// Prefill kernels for NEON (AArch64). Compiled with its own flags: see prefill-kernels.inl for what may stand here.

#include "prefill.h"
#include "turbo-neon.h"

#include <math.h>

#define INLINE inline __attribute__((always_inline))

namespace {

#include "vec-neon.inl"

constexpr int MR = 6; // 6 x 4 sums, 4 columns and 1 broadcast in 32 registers
constexpr int NV = 4;

inline void transpose_tile(const float * rows, int ld, float * panel, int ld_panel) {
    const float32x4x2_t ab = vtrnq_f32(load(rows), load(rows + ld));
    const float32x4x2_t cd = vtrnq_f32(load(rows + 2 * ld), load(rows + 3 * ld));
    for (int i = 0; i < 2; ++i) {
        store(panel + i * ld_panel, vcombine_f32(vget_low_f32(ab.val[i]), vget_low_f32(cd.val[i])));
        store(panel + (i + 2) * ld_panel, vcombine_f32(vget_high_f32(ab.val[i]), vget_high_f32(cd.val[i])));
    }
}

#include "prefill-kernels.inl"
#include "prefill-decoders.inl"

} // namespace

const prefill_kernels prefill_kernels_neon = {
    "neon",
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
    decode_f16,
    decode_q8_0,
    decode_q4_0,
};
