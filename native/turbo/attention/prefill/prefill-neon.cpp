// Prefill kernels for NEON (AArch64). Compiled with its own flags: see prefill-kernels.inl for what may stand here.

#include "prefill.h"
#include "turbo-layout.h"

#include <arm_neon.h>
#include <string.h>

namespace {

typedef float32x4_t vec;
constexpr int WIDTH = 4;
constexpr int MR    = 6; // 6 x 4 sums, 4 columns and 1 broadcast in 32 registers
constexpr int NV    = 4;

inline vec  load(const float * p)        { return vld1q_f32(p); }
inline void store(float * p, vec x)      { vst1q_f32(p, x); }
inline vec  set1(float x)                { return vdupq_n_f32(x); }
inline vec  add(vec a, vec b)            { return vaddq_f32(a, b); }
inline vec  sub(vec a, vec b)            { return vsubq_f32(a, b); }
inline vec  mul(vec a, vec b)            { return vmulq_f32(a, b); }
inline vec  div(vec a, vec b)            { return vdivq_f32(a, b); }
inline vec  fma(vec a, vec b, vec c)     { return vfmaq_f32(c, a, b); }
inline vec  max2(vec a, vec b)           { return vbslq_f32(vcgtq_f32(a, b), a, b); }
inline vec  min2(vec a, vec b)           { return vbslq_f32(vcltq_f32(a, b), a, b); }
inline float reduce_max(vec x)           { return vmaxvq_f32(x); }
inline float reduce_add(vec x)           { return vaddvq_f32(x); }
inline vec  load_f16(const uint16_t * p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }

inline float from_f16(uint16_t h) {
    __fp16 x;
    memcpy(&x, &h, sizeof(x));
    return x;
}

inline vec pow2(vec n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127)), 23));
}

inline uint32x4_t is_hidden(vec x) {
    return vceqq_f32(x, set1(-__builtin_inff()));
}

inline vec keep_unless_hidden(vec x, vec s) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(x), is_hidden(s)));
}

inline vec hide(vec x, vec m) {
    return vbslq_f32(is_hidden(m), m, x);
}

inline void transpose_tile(const float * rows, int ld, float * panel, int ld_panel) {
    const float32x4x2_t ab = vtrnq_f32(load(rows),        load(rows + ld));
    const float32x4x2_t cd = vtrnq_f32(load(rows + 2*ld), load(rows + 3*ld));
    for (int i = 0; i < 2; ++i) {
        store(panel + i*ld_panel,       vcombine_f32(vget_low_f32 (ab.val[i]), vget_low_f32 (cd.val[i])));
        store(panel + (i + 2)*ld_panel, vcombine_f32(vget_high_f32(ab.val[i]), vget_high_f32(cd.val[i])));
    }
}

inline void store_int8(int8x16_t q, float d, float * y) {
    const int16x8_t half[2] = { vmovl_s8(vget_low_s8(q)), vmovl_s8(vget_high_s8(q)) };
    for (int h = 0; h < 2; ++h) {
        store(y + 8*h,     vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16 (half[h]))), d));
        store(y + 8*h + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(half[h]))), d));
    }
}

void decode_f16(const void * x, float * y, int64_t n) {
    const uint16_t * h = (const uint16_t *) x;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        store(y + i, load_f16(h + i));
    }
    for (; i < n; ++i) {
        y[i] = from_f16(h[i]);
    }
}

void decode_q8_0(const void * x, float * y, int64_t n) {
    for (const turbo_block_q8 * b = (const turbo_block_q8 *) x; n > 0; n -= 32, ++b, y += 32) {
        store_int8(vld1q_s8(b->qs),      from_f16(b->d), y);
        store_int8(vld1q_s8(b->qs + 16), from_f16(b->d), y + 16);
    }
}

void decode_q4_0(const void * x, float * y, int64_t n) {
    for (const turbo_block_q4 * b = (const turbo_block_q4 *) x; n > 0; n -= 32, ++b, y += 32) {
        const uint8x16_t q = vld1q_u8(b->qs);
        store_int8(vsubq_s8(vreinterpretq_s8_u8(vandq_u8(q, vdupq_n_u8(15))), vdupq_n_s8(8)), from_f16(b->d), y);
        store_int8(vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(q, 4)),            vdupq_n_s8(8)), from_f16(b->d), y + 16);
    }
}

} // namespace

#include "prefill-kernels.inl"

const prefill_kernels prefill_kernels_neon = {
    "neon", MR, NR, gemm, transpose, soft_cap, add_mask, view, max, exp2_sum, scale, finite,
    decode_f16, decode_q8_0, decode_q4_0,
};
