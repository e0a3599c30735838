// The turbo block formats: the one place that knows bytes. Compiles as C, C++ and Metal.
//
// A block holds one group of consecutive values of one head vector, after rotation: 128 values, or 64 in
// the *_64 types for models whose head_dim is 64 (the quantiser sees all heads of a token in one row, so
// a group may not be wider than a head). Each group has one fp16 scale d and four 4-bit sub-scales s, one
// per quarter of the group. A value is
//
//     d * 2^-13 * (135 + 8*s) * (+-level)
//
// (135 + 8*s)/187.5 is the multiplier .72 .. 1.36 in 16 even steps. The power of two takes the rest of the
// constants, so that d is near sigma (d = 1.05 sigma for turbo4, 0.86 sigma for turbo3) and
// d * 2^-13 * (135 + 8*s) is exact in fp32: a decoded value has one rounding, in whatever order a back end
// multiplies, and all back ends agree bit for bit.
//
// The levels ARE the format: int8 tables near the Lloyd-Max levels of a sub-scaled Gaussian (see README.md).
#pragma once

#ifndef __METAL_VERSION__
#include <stdint.h>
#endif

#define TURBO_GROUP        128
#define TURBO_GROUP_64     64
#define TURBO_SUBSCALES    4
#define TURBO_UNIT         (1.0f/8192.0f)
#define TURBO_MULT(s)      (135 + 8*(s))

// Index of a value: magnitude in the low bits, sign in the bit above (set = negative).
#define TURBO4_MAGNITUDES  { 5, 16, 27, 39, 52, 67, 85, 111 }
#define TURBO3_MAGNITUDES  { 12, 37, 67, 111 }

// sub: nibble i (bits 4i .. 4i+3) is the sub-scale of quarter i.

// qs[j]: low nibble = index of value j, high nibble = index of value j + 64.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t  qs[TURBO_GROUP/2];
} block_turbo4;

// qs[j]: two bits of magnitude of values j, j + 32, j + 64, j + 96, lowest bits first;
// sign: bit j%8 of byte j/8 is the sign of value j.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t  qs[TURBO_GROUP/4];
    uint8_t  sign[TURBO_GROUP/8];
} block_turbo3;

// As block_turbo4 with halves of 32: low nibble = value j, high nibble = value j + 32.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t  qs[TURBO_GROUP_64/2];
} block_turbo4_64;

// As block_turbo3 with quarters of 16: values j, j + 16, j + 32, j + 48.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t  qs[TURBO_GROUP_64/4];
    uint8_t  sign[TURBO_GROUP_64/8];
} block_turbo3_64;

// The activation format that dot products take: ggml's q8_0.
#define TURBO_Q8_BLOCK 32
typedef struct {
    uint16_t d;
    int8_t   qs[TURBO_Q8_BLOCK];
} turbo_block_q8;

#ifdef __cplusplus
#define TURBO_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
#elif defined(__METAL_VERSION__)
#define TURBO_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
#else
#define TURBO_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)
#endif

TURBO_STATIC_ASSERT(sizeof(block_turbo4)    == 68, "turbo4 is 68 bytes per 128 values");
TURBO_STATIC_ASSERT(sizeof(block_turbo3)    == 52, "turbo3 is 52 bytes per 128 values");
TURBO_STATIC_ASSERT(sizeof(block_turbo4_64) == 36, "turbo4_64 is 36 bytes per 64 values");
TURBO_STATIC_ASSERT(sizeof(block_turbo3_64) == 28, "turbo3_64 is 28 bytes per 64 values");
TURBO_STATIC_ASSERT(sizeof(turbo_block_q8)  == 34, "q8_0 is 34 bytes per 32 values");
