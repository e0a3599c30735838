// Thirty-two values of a row of K, as one lane reads them. Per format:
//   load   the bytes of unit u of a row into registers
//   piece  four of the values, i = 0..7
//   at     where they are in the row, as the index of a float4 in Q
#pragma once

#include "turbo-format.h"

template <short group> struct turbo4_unit {
    typedef typename turbo_blocks<group>::turbo4 block;
    enum { PER_GROUP = group / 32 };
    uint qs[4];
    float scale[2];
    short first;

    void load(device const char * row, short u) {
        device const block * b = (device const block *) row + u / PER_GROUP;
        const short t = u % PER_GROUP;
        device const uint * q = (device const uint *) b->qs + 4 * t;
        TURBO_UNROLL(short i = 0; i < 4; ++i) { qs[i] = q[i]; }
        const uint header = turbo_header((device const char *) b);
        scale[0] = turbo_scale(header, 64 * t / group);
        scale[1] = turbo_scale(header, 64 * t / group + 2);
        first = u / PER_GROUP * (group / 4) + 4 * t;
    }
    float4 piece(short i, turbo_table table) const {
        const uint c = qs[i / 2] >> (i & 1) * 4;
        return turbo4_values(uint4(c, c >> 8, c >> 16, c >> 24), float4(scale[i & 1]), table);
    }
    short at(short i) const { return first + i / 2 + (i & 1) * (group / 8); }
};

// Four bytes of the three words of a half.
template <short group> struct turbo3_unit {
    typedef typename turbo_blocks<group>::turbo3 block;
    enum { PER_GROUP = group / 32, N = group / 16, DWORDS = N / 4 };
    uint qs[4];
    float scale[4];
    short first;

    void load(device const char * row, short u) {
        device const block * b = (device const block *) row + u / PER_GROUP;
        const short h = u % PER_GROUP / DWORDS;
        const short d = u % DWORDS;
        device const uint * q = (device const uint *) b->qs + d;
        TURBO_UNROLL(short k = 0; k < 3; ++k) { qs[k] = q[TURBO3_WORD(DWORDS, h, k)]; }
        qs[3] = turbo3_spread(qs[0], qs[1], qs[2]);
        const uint header = turbo_header((device const char *) b);
        TURBO_UNROLL(short k = 0; k < 4; ++k) { scale[k] = turbo_scale(header, group == 128 ? k : k / 2 * 2 + h); }
        first = u / PER_GROUP * (group / 4) + 4 * h + d;
    }
    float4 piece(short i, turbo_table table) const {
        const uint c = qs[i / 2] >> i % 2 * 4;
        return turbo3_values(uint4(c, c >> 8, c >> 16, c >> 24), float4(scale[i / 2]), table);
    }
    short at(short i) const { return first + N * i / 16 * 8 + N * i % 16 / 4; }
};

struct q8_0_unit {
    uint qs[8];
    float scale;
    short first;

    void load(device const char * row, short u) {
        device const turbo_block_q8 * b = (device const turbo_block_q8 *) row + u;
        device const ushort * q = (device const ushort *) b->qs;
        TURBO_UNROLL(short i = 0; i < 8; ++i) { qs[i] = q[2 * i] | (uint) q[2 * i + 1] << 16; }
        scale = (float) as_type<half>(b->d);
        first = 8 * u;
    }
    float4 piece(short i, turbo_table) const { return float4(as_type<char4>(qs[i])) * scale; }
    short at(short i) const { return first + i; }
};

struct f16_unit {
    half4 x[8];
    short first;

    void load(device const char * row, short u) {
        device const half4 * h = (device const half4 *) row + 8 * u;
        TURBO_UNROLL(short i = 0; i < 8; ++i) { x[i] = h[i]; }
        first = 8 * u;
    }
    float4 piece(short i, turbo_table) const { return float4(x[i]); }
    short at(short i) const { return first + i; }
};
