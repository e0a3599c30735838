// Four values of a group per lane: how a SIMD-group reads V and copies groups. Lanes read adjacent bytes, and every byte of the
// indices once. Per format:
//   LANES   lanes that share a group; BYTES of a group
//   PAIRS   a lane's values 0 and 1, and 2 and 3, are neighbours
//   at      index in the group of a lane's value i
//   stage   scales of a group, for threadgroup memory, and its signs into it, by one lane for all
//   scales  those of a lane's values, from the staged ones or from the block; signs likewise
//   fetch   the bytes of a lane's values
//   values  the values
#pragma once

#include "turbo-format.h"

// The sign plane of a turbo3 group: value i is bit i%32 of component i/32.
template <short group>
static inline uint4 turbo_signs(device const char * b) {
    device const uint * sign = (device const uint *) ((device const typename turbo_blocks<group>::turbo3 *) b)->sign;
    uint4 word = uint4(sign[0], sign[1], 0u, 0u);
    if (group == 128) {
        word.z = sign[2];
        word.w = sign[3];
    }
    return word;
}

template <short group> struct turbo4_lane {
    typedef uint word;
    typedef typename turbo_blocks<group>::turbo4 block;
    enum { LANES = group/4, BYTES = sizeof(block), PAIRS = 1, UNSCALED = 0 };

    static short at(short lane, short i) {
        return 2*lane + (i & 1) + (i >> 1)*(group/2);
    }
    static float4 stage(device const char * b, threadgroup uint4 &) {
        return turbo_scales(turbo_header(b));
    }
    static float4 scales(threadgroup const float4 & staged, short lane) {
        threadgroup const float * of = (threadgroup const float *) &staged;
        const float lo = of[lane/(group/8)];
        const float hi = of[lane/(group/8) + 2];
        return float4(lo, lo, hi, hi);
    }
    static float4 scales(device const char * b, short lane) {
        const uint  header = turbo_header(b);
        const float lo = turbo_scale(header, lane/(group/8));
        const float hi = turbo_scale(header, lane/(group/8) + 2);
        return float4(lo, lo, hi, hi);
    }
    static uint4 signs(threadgroup const uint4 &) {
        return uint4(0u);
    }
    static uint4 signs(device const char *) {
        return uint4(0u);
    }
    static uint fetch(device const char * b, short lane) {
        return ((device const ushort *) ((device const block *) b)->qs)[lane];
    }
    static float4 values(uint two, short, float4 scale, uint4) {
        return turbo4_values(uint4(two, two >> 8, two >> 4, two >> 12), scale);
    }
};

template <short group> struct turbo3_lane {
    typedef uint word;
    typedef typename turbo_blocks<group>::turbo3 block;
    enum { LANES = group/4, BYTES = sizeof(block), PAIRS = 0, UNSCALED = 0 };

    static short at(short lane, short i) {
        return lane + i*(group/4);
    }
    static float4 stage(device const char * b, threadgroup uint4 & signs) {
        signs = turbo_signs<group>(b);
        return turbo_scales(turbo_header(b));
    }
    static float4 scales(threadgroup const float4 & staged, short) {
        return staged;
    }
    static float4 scales(device const char * b, short) {
        return turbo_scales(turbo_header(b));
    }
    static uint4 signs(threadgroup const uint4 & staged) {
        return staged;
    }
    static uint4 signs(device const char * b) {
        return turbo_signs<group>(b);
    }
    static uint fetch(device const char * b, short lane) {
        return ((device const block *) b)->qs[lane];
    }
    static float4 values(uint four, short lane, float4 scale, uint4 signs) {
        uint4 sign = signs >> (uint) lane;
        if (group == 64) {
            sign = uint4(signs.x >> lane, signs.x >> (lane + 16), signs.y >> lane, signs.y >> (lane + 16));
        }
        return turbo3_values(uint4(four, four >> 2, four >> 4, four >> 6), sign, scale);
    }
};

// Blocks of 32, two bytes aligned.
template <short group> struct q8_0_lane {
    typedef uint word;
    enum { LANES = group/4, BYTES = group/TURBO_Q8_BLOCK*sizeof(turbo_block_q8), UNSCALED = 0 };

    static short at(short lane, short i) {
        return 4*lane + i;
    }
    static float4 stage(device const char * b, threadgroup uint4 &) {
        device const turbo_block_q8 * q = (device const turbo_block_q8 *) b;
        float4 d = float4((float) as_type<half>(q[0].d), (float) as_type<half>(q[1].d), 0.0f, 0.0f);
        if (group == 128) {
            d.z = (float) as_type<half>(q[2].d);
            d.w = (float) as_type<half>(q[3].d);
        }
        return d;
    }
    static float4 scales(threadgroup const float4 & staged, short lane) {
        return float4(((threadgroup const float *) &staged)[lane/8]);
    }
    static uint4 signs(threadgroup const uint4 &) {
        return uint4(0u);
    }
    static uint fetch(device const char * b, short lane) {
        device const ushort * q = (device const ushort *) ((device const turbo_block_q8 *) b)[lane/8].qs + 2*(lane%8);
        return q[0] | (uint) q[1] << 16;
    }
    static float4 values(uint four, short, float4 scale, uint4) {
        return float4(as_type<char4>(four))*scale;
    }
};

template <short group> struct f16_lane {
    typedef half4 word;
    enum { LANES = group/4, BYTES = group*2, UNSCALED = 1 };

    static short at(short lane, short i) {
        return 4*lane + i;
    }
    static float4 stage(device const char *, threadgroup uint4 &) {
        return float4(1.0f);
    }
    static float4 scales(threadgroup const float4 &, short) {
        return float4(1.0f);
    }
    static uint4 signs(threadgroup const uint4 &) {
        return uint4(0u);
    }
    static half4 fetch(device const char * b, short lane) {
        return ((device const half4 *) b)[lane];
    }
    static float4 values(half4 four, short, float4, uint4) {
        return float4(four);
    }
};
