// Blocks in NEON registers: 16 values at a time, as signed levels. For the files compiled for NEON with dotprod only.
#pragma once

#include "turbo-layout.h"
#include "turbo-trellis.h"

#include <arm_neon.h>
#include <string.h>

#define TURBO_NEON_INLINE static inline __attribute__((always_inline))

TURBO_NEON_INLINE int8x16_t turbo_neon_lookup4(uint8x16_t codes) {
    const uint8_t m[8] = TURBO4_MAGNITUDES;
    const int8_t t[16] = { (int8_t) m[0], (int8_t) m[1], (int8_t) m[2], (int8_t) m[3], (int8_t) m[4], (int8_t) m[5],
        (int8_t) m[6], (int8_t) m[7], (int8_t) -m[0], (int8_t) -m[1], (int8_t) -m[2], (int8_t) -m[3], (int8_t) -m[4],
        (int8_t) -m[5], (int8_t) -m[6], (int8_t) -m[7] };
    return vqtbl1q_s8(vld1q_s8(t), codes);
}

// codes in bits 0-2, other bits are ignored
TURBO_NEON_INLINE int8x16_t turbo_neon_lookup3(uint8x16_t codes) {
    const uint8_t m[4] = TURBO3_MAGNITUDES;
    const int8_t t[16] = { (int8_t) m[0], (int8_t) m[1], (int8_t) m[2], (int8_t) m[3], (int8_t) -m[0], (int8_t) -m[1],
        (int8_t) -m[2], (int8_t) -m[3] };
    return vqtbl1q_s8(vld1q_s8(t), vandq_u8(codes, vdupq_n_u8(7)));
}

// the codes in bit 3 of three words, in bits 0-2
TURBO_NEON_INLINE uint8x16_t turbo_neon_spread3(uint8x16_t word0, uint8x16_t word1, uint8x16_t word2) {
    const uint8x16_t bit1 = vbslq_u8(vdupq_n_u8(1), vshrq_n_u8(word0, 3), vshrq_n_u8(word1, 2));
    return vbslq_u8(vdupq_n_u8(3), bit1, vshrq_n_u8(word2, 1));
}

// the bytes of a word, then the same with their high nibbles low
TURBO_NEON_INLINE uint8x16_t turbo_neon_word8(const uint8_t * qs, int h, int k) {
    const uint8x8_t word = vld1_u8(qs + TURBO3_WORD(8, h, k));
    return vcombine_u8(word, vshr_n_u8(word, 4));
}

TURBO_NEON_INLINE uint8x8_t turbo_neon_word4(const uint8_t * qs, int h, int k) {
    uint32_t word;
    memcpy(&word, qs + TURBO3_WORD(4, h, k), sizeof(word));
    return vcreate_u8(word | (uint64_t) (word >> 4) << 32);
}

// levels of values 16*i .. 16*i + 15 of a block

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo4(const block_turbo4 * b, int i) {
    const uint8x16_t q = vld1q_u8(b->qs + 16 * (i % 4));
    return turbo_neon_lookup4(i < 4 ? vandq_u8(q, vdupq_n_u8(15)) : vshrq_n_u8(q, 4));
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo4_64(const block_turbo4_64 * b, int i) {
    const uint8x16_t q = vld1q_u8(b->qs + 16 * (i % 2));
    return turbo_neon_lookup4(i < 2 ? vandq_u8(q, vdupq_n_u8(15)) : vshrq_n_u8(q, 4));
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo3(const block_turbo3 * b, int i) {
    const int h = i % 2;
    if (i < 6) { return turbo_neon_lookup3(turbo_neon_word8(b->qs, h, i / 2)); }
    return turbo_neon_lookup3(turbo_neon_spread3(
        turbo_neon_word8(b->qs, h, 0), turbo_neon_word8(b->qs, h, 1), turbo_neon_word8(b->qs, h, 2)));
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo3_64(const block_turbo3_64 * b, int i) {
    const int h = i % 2;
    const uint8x8_t word0 = turbo_neon_word4(b->qs, h, 0);
    const uint8x8_t word1 = turbo_neon_word4(b->qs, h, 1);
    if (i < 2) { return turbo_neon_lookup3(vcombine_u8(word0, word1)); }
    const uint8x8_t word2 = turbo_neon_word4(b->qs, h, 2);
    const uint8x16_t twice = vcombine_u8(word2, word2);
    const uint8x16_t all = turbo_neon_spread3(vcombine_u8(word0, word0), vcombine_u8(word1, word1), twice);
    return turbo_neon_lookup3(vcombine_u8(word2, vget_high_u8(all)));
}

// Sixteen values of a type with a trellis: words of four bytes, three or four of them (4*words bytes at p), the codes in the high half
// of a byte or the low one. The word before the first is at p - 4, or for the first words of a quarter its last one, the lane before.
TURBO_NEON_INLINE int8x16_t turbo_neon_trellis(
    const int8_t own[][16], const int8_t before[][16], int words, const uint8_t * p, const uint8_t * last, int high) {
    uint8x16_t bytes_before = vld1q_u8(p - 4);
    if (last != 0) {
        uint32_t word;
        memcpy(&word, last, sizeof(word));
        bytes_before =
            vreinterpretq_u8_u32(vsetq_lane_u32(word << 8 | word >> 24, vreinterpretq_u32_u8(bytes_before), 0));
    }
    // three words end with the block; they follow the one before
    uint8x16_t bytes = words == 4 ? vld1q_u8(p) : bytes_before;
    if (high) {
        bytes_before = vshrq_n_u8(bytes_before, 4);
        bytes = vshrq_n_u8(bytes, 4);
    }
    uint8x16_t codes = vandq_u8(bytes, vdupq_n_u8(15));
    uint8x16_t codes_before = vandq_u8(bytes_before, vdupq_n_u8(15));
    if (words == 4) {
        return vaddq_s8(vqtbl1q_s8(vld1q_s8(own[0]), codes), vqtbl1q_s8(vld1q_s8(before[0]), codes_before));
    }
    const uint8_t order[16] = { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15 };
    const uint8_t order_before[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11 };
    const uint8_t tables[16] = { 0, 0, 0, 0, 16, 16, 16, 16, 32, 32, 32, 32, 48, 48, 48, 48 };
    codes = vorrq_u8(vqtbl1q_u8(codes, vld1q_u8(order)), vld1q_u8(tables));
    codes_before = vorrq_u8(vqtbl1q_u8(codes_before, vld1q_u8(order_before)), vld1q_u8(tables));
    const int8x16x4_t t = { { vld1q_s8(own[0]), vld1q_s8(own[1]), vld1q_s8(own[2]), vld1q_s8(own[3]) } };
    const int8x16x4_t t_before = { { vld1q_s8(before[0]), vld1q_s8(before[1]), vld1q_s8(before[2]),
        vld1q_s8(before[3]) } };
    return vaddq_s8(vqtbl4q_s8(t, codes), vqtbl4q_s8(t_before, codes_before));
}

// sixteens: of a quarter
TURBO_NEON_INLINE int8x16_t turbo_neon_words(
    const int8_t own[][16], const int8_t before[][16], int words, const uint8_t * qs, int sixteens, int i) {
    const int quarter = i / sixteens;
    const uint8_t * first = qs + quarter % 2 * 4 * words * sixteens;
    const int at = i % sixteens;
    return turbo_neon_trellis(
        own, before, words, first + 4 * words * at, at == 0 ? first + 4 * (words * sixteens - 1) : 0, quarter / 2);
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo4_tcq(const block_turbo4_tcq * b, int i) {
    return turbo_neon_words(turbo4_tcq_own, turbo4_tcq_before, 4, b->qs, 2, i);
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo3_tcq(const block_turbo3_tcq * b, int i) {
    return turbo_neon_words(turbo3_tcq_own, turbo3_tcq_before, 3, b->qs, 2, i);
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo4_tcq_64(const block_turbo4_tcq_64 * b, int i) {
    return turbo_neon_words(turbo4_tcq_own, turbo4_tcq_before, 4, b->qs, 1, i);
}

TURBO_NEON_INLINE int8x16_t turbo_neon_turbo3_tcq_64(const block_turbo3_tcq_64 * b, int i) {
    return turbo_neon_words(turbo3_tcq_own, turbo3_tcq_before, 3, b->qs, 1, i);
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
        vst1q_f32(y + 8 * h, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(half[h]))), step));
        vst1q_f32(y + 8 * h + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_high_s16(half[h]))), step));
    }
}
