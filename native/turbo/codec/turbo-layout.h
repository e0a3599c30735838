// The turbo block formats: the one place that knows bytes. Compiles as C, C++ and Metal.
//
// A block holds one group of consecutive values of one head vector, after rotation: 128 values, or 64 in
// the *_64 types for models whose head_dim is 64 (the quantizer sees all heads of a token in one row, so
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

// Every turbo type: X(name of its ids, name, values of a block).
#define TURBO_EACH_TYPE(X) \
    X(TURBO4, turbo4, TURBO_GROUP) \
    X(TURBO3, turbo3, TURBO_GROUP) \
    X(TURBO4_64, turbo4_64, TURBO_GROUP_64) \
    X(TURBO3_64, turbo3_64, TURBO_GROUP_64) \
    X(TURBO4_TCQ, turbo4_tcq, TURBO_GROUP) \
    X(TURBO3_TCQ, turbo3_tcq, TURBO_GROUP) \
    X(TURBO4_TCQ_64, turbo4_tcq_64, TURBO_GROUP_64) \
    X(TURBO3_TCQ_64, turbo3_tcq_64, TURBO_GROUP_64)

#define TURBO_GROUP     128
#define TURBO_GROUP_64  64
#define TURBO_SUBSCALES 4
#define TURBO_UNIT      (1.0f / 8192.0f)
#define TURBO_MULT(s)   (135 + 8 * (s))

// Index of a value: magnitude in the low bits, sign in the bit above (set = negative).
#define TURBO4_MAGNITUDES { 5, 16, 27, 39, 52, 67, 85, 111 }
#define TURBO3_MAGNITUDES { 12, 37, 67, 111 }

// sub: nibble i (bits 4i .. 4i+3) is the sub-scale of quarter i.

// qs[j]: low nibble = index of value j, high nibble = index of value j + 64.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t qs[TURBO_GROUP / 2];
} block_turbo4;

// Codes of three bits, two in a byte as in turbo4, at bits 0 and 4; the bits 3 and 7 that this leaves free hold every fourth code.
// A block has two halves: value v is in half h = v/16%2, as its value u = v/32*16 + v%16. The codes of a half lie in three words of
// n bytes, n = 8 here and 4 in block_turbo3_64. With k = u/(2n), bit b = 4*(u/n%2) and j = u%n,
//     k < 3:  the code is at bits b .. b + 2 of byte j of word k,
//     k = 3:  bit i of the code is bit b + 3 of byte j of word i.
// So a word of all three is 8n codes without a bit left over, and SIMD kernels read each from lanes that lie on each other.
// Words 0 and 1 of both halves come first: a load of 32 bytes has a half of the block in each of its own.
#define TURBO3_WORD(n, h, k) ((n) * ((k) < 2 ? 2 * (h) + (k) : 4 + (h))) // offset of a word in qs

typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t qs[3 * TURBO_GROUP / 8];
} block_turbo3;

// As block_turbo4 with halves of 32: low nibble = value j, high nibble = value j + 32.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t qs[TURBO_GROUP_64 / 2];
} block_turbo4_64;

// As block_turbo3 with words of 4.
typedef struct {
    uint16_t d;
    uint16_t sub;
    uint8_t qs[3 * TURBO_GROUP_64 / 8];
} block_turbo3_64;

// The _tcq types have blocks of the same sizes, with a trellis (trellis-coded quantization) in place of levels for each value: a value
// depends on two codes of 4 bits, its own and the one before it, so that each code takes part in two values and more, and an encoder
// that searches the best path finds a smaller error in the same bits. Decoding needs no search and no order.
//
// A quarter of Q values has n codes, n = Q in turbo4_tcq and 3*Q/4 in turbo3_tcq: code i of quarter q is in bits 4*(q/2) of byte
// (q%2)*n + i of qs. Code i is word w = i/4 of lane i%4. Before word w of a lane comes word w - 1, before word 0 the last word of
// the lane before, and of the last lane for the first: a ring through all codes. So a vector of codes and the one before it are a
// word apart. Value 4*e + lane of the quarter belongs to word e in turbo4_tcq. In turbo3_tcq three words have four values: to word
// 3*(e/4) + min(e%4, 2). Its level is
//
//     own[e%4][code] + before[e%4][code before it]
//
// of the tables in turbo-trellis.h (turbo4_tcq has one for all e), at most TURBO_TCQ_LEVEL_MAX in size.
#define TURBO_TCQ_LEVEL_MAX 127

typedef block_turbo4 block_turbo4_tcq;
typedef block_turbo3 block_turbo3_tcq;
typedef block_turbo4_64 block_turbo4_tcq_64;
typedef block_turbo3_64 block_turbo3_tcq_64;

// The activation format that dot products take: ggml's q8_0.
#define TURBO_Q8_BLOCK 32
typedef struct {
    uint16_t d;
    int8_t qs[TURBO_Q8_BLOCK];
} turbo_block_q8;

#ifdef __cplusplus
#define TURBO_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
#elif defined(__METAL_VERSION__)
#define TURBO_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
#else
#define TURBO_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)
#endif

TURBO_STATIC_ASSERT(sizeof(block_turbo4) == 68, "turbo4 is 68 bytes per 128 values");
TURBO_STATIC_ASSERT(sizeof(block_turbo3) == 52, "turbo3 is 52 bytes per 128 values");
TURBO_STATIC_ASSERT(sizeof(block_turbo4_64) == 36, "turbo4_64 is 36 bytes per 64 values");
TURBO_STATIC_ASSERT(sizeof(block_turbo3_64) == 28, "turbo3_64 is 28 bytes per 64 values");
TURBO_STATIC_ASSERT(sizeof(turbo_block_q8) == 34, "q8_0 is 34 bytes per 32 values");
