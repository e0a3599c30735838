// Blocks in NEON registers: 16 values at a time, as signed levels. For the files compiled for NEON with dotprod only.
#pragma once

#include "turbo-layout.h"

#include <arm_neon.h>
#include <string.h>

#define TURBO_NEON_INLINE static inline __attribute__((always_inline))

TURBO_NEON_INLINE int8x16_t turbo_neon_lookup4(uint8x16_t codes) {
    const uint8_t m[8] = TURBO4_MAGNITUDES;
    const int8_t  t[16] = { (int8_t) m[0], (int8_t) m[1], (int8_t) m[2], (int8_t) m[3], (int8_t) m[4], (int8_t) m[5], (int8_t) m[6], (int8_t) m[7],
        (int8_t) -m[0], (int8_t) -m[1], (int8_t) -m[2], (int8_t) -m[3], (int8_t) -m[4], (int8_t) -m[5], (int8_t) -m[6], (int8_t) -m[7] };
    return vqtbl1q_s8(vld1q_s8(t), codes);
}

TURBO_NEON_INLINE int8x16_t turbo_neon_lookup3(uint8x16_t magnitudes, const uint8_t * sign) {
    const uint8_t m[4] = TURBO3_MAGNITUDES;
    const int8_t  t[16] = { (int8_t) m[0], (int8_t) m[1], (int8_t) m[2], (int8_t) m[3], (int8_t) -m[0], (int8_t) -m[1], (int8_t) -m[2], (int8_t) -m[3] };
    const uint8x8_t  bit    = vcreate_u8(0x8040201008040201);
    const uint8x16_t spread = vcombine_u8(vdup_n_u8(sign[0]), vdup_n_u8(sign[1]));
    const uint8x16_t minus  = vandq_u8(vtstq_u8(spread, vcombine_u8(bit, bit)), vdupq_n_u8(4));
    return vqtbl1q_s8(vld1q_s8(t), vorrq_u8(vandq_u8(magnitudes, vdupq_n_u8(3)), minus));
}

TURBO_NEON_INLINE uint8x16_t turbo_neon_shift_right(uint8x16_t x, int n) {
    return vshlq_u8(x, vdupq_n_s8((int8_t) -n));
}

// levels of values 16*i .. 16*i + 15 of a block

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo4(const block_turbo4 * b, int i) {
    const uint8x16_t q = vld1q_u8(b->qs + 16*(i % 4));
    return turbo_neon_lookup4(i < 4 ? vandq_u8(q, vdupq_n_u8(15)) : vshrq_n_u8(q, 4));
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo4_64(const block_turbo4_64 * b, int i) {
    const uint8x16_t q = vld1q_u8(b->qs + 16*(i % 2));
    return turbo_neon_lookup4(i < 2 ? vandq_u8(q, vdupq_n_u8(15)) : vshrq_n_u8(q, 4));
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo3(const block_turbo3 * b, int i) {
    return turbo_neon_lookup3(turbo_neon_shift_right(vld1q_u8(b->qs + 16*(i % 2)), i/2*2), b->sign + 2*i);
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo3_64(const block_turbo3_64 * b, int i) {
    return turbo_neon_lookup3(turbo_neon_shift_right(vld1q_u8(b->qs), 2*i), b->sign + 2*i);
}

TURBO_NEON_INLINE float turbo_neon_f16(uint16_t bits) {
    __fp16 h;
    memcpy(&h, &bits, sizeof(h));
    return h;
}

// sixteen levels as floats times a step
TURBO_NEON_INLINE void turbo_neon_store(int8x16_t level, float step, float * y) {
    const int16x8_t half[2] = { vmovl_s8(vget_low_s8(level)), vmovl_s8(vget_high_s8(level)) };
    for (int h = 0; h < 2; ++h) {
        vst1q_f32(y + 8*h,     vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16 (half[h]))), step));
        vst1q_f32(y + 8*h + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(half[h]))), step));
    }
}
