// Four values of a group per lane: how a SIMD-group reads V and copies groups. Lanes read adjacent bytes. Per format:
//   LANES   lanes that share a group; BYTES of a group
//   PAIRS   a lane's values 0 and 1, and 2 and 3, are neighbors
//   at      index in the group of a lane's value i
//   stage   scales of a group, for threadgroup memory, by one lane for all
//   scales  those of a lane's values, from the staged ones or from the block
//   fetch   the bytes of a lane's values
//   values  the values
#pragma once

#include "turbo-format.h"

template <short group> struct turbo4_lane {
    typedef uint word;
    typedef typename turbo_blocks<group>::turbo4 block;
    enum { LANES = group / 4, BYTES = sizeof(block), PAIRS = 1, UNSCALED = 0 };

    static short at(short lane, short i) { return 2 * lane + (i & 1) + (i >> 1) * (group / 2); }
    static float4 stage(device const char * b) { return turbo_scales(turbo_header(b)); }
    static float4 scales(threadgroup const float4 & staged, short lane) {
        threadgroup const float * of = (threadgroup const float *) &staged;
        const float lo = of[lane / (group / 8)];
        const float hi = of[lane / (group / 8) + 2];
        return float4(lo, lo, hi, hi);
    }
    static float4 scales(device const char * b, short lane) {
        const uint header = turbo_header(b);
        const float lo = turbo_scale(header, lane / (group / 8));
        const float hi = turbo_scale(header, lane / (group / 8) + 2);
        return float4(lo, lo, hi, hi);
    }
    static uint fetch(device const char * b, short lane) {
        return ((device const ushort *) ((device const block *) b)->qs)[lane];
    }
    static float4 values(uint two, short, float4 scale, turbo_table table) {
        return turbo4_values(uint4(two, two >> 8, two >> 4, two >> 12), scale, table);
    }
};

// A lane takes byte j of the three words of a half: the low nibbles, or the high ones.
template <short group> struct turbo3_lane {
    typedef uint word;
    typedef typename turbo_blocks<group>::turbo3 block;
    enum { LANES = group / 4, BYTES = sizeof(block), PAIRS = 0, UNSCALED = 0, N = group / 16 };

    static short at(short lane, short i) {
        const short h = lane / (2 * N);
        const short u = 2 * N * i + lane % (2 * N);
        return u / 16 * 32 + 16 * h + u % 16;
    }
    static float4 stage(device const char * b) { return turbo_scales(turbo_header(b)); }
    static float4 scales(threadgroup const float4 & staged, short lane) {
        if (group == 128) { return staged; }
        threadgroup const float * of = (threadgroup const float *) &staged;
        const float lo = of[lane / (2 * N)];
        const float hi = of[lane / (2 * N) + 2];
        return float4(lo, lo, hi, hi);
    }
    static float4 scales(device const char * b, short lane) {
        const uint header = turbo_header(b);
        if (group == 128) { return turbo_scales(header); }
        const float lo = turbo_scale(header, lane / (2 * N));
        const float hi = turbo_scale(header, lane / (2 * N) + 2);
        return float4(lo, lo, hi, hi);
    }
    static uint fetch(device const char * b, short lane) {
        const short h = lane / (2 * N);
        device const uchar * byte = (device const uchar *) ((device const block *) b)->qs + lane % N;
        return byte[TURBO3_WORD(N, h, 0)] | (uint) byte[TURBO3_WORD(N, h, 1)] << 8 |
               (uint) byte[TURBO3_WORD(N, h, 2)] << 16;
    }
    static float4 values(uint bytes, short lane, float4 scale, turbo_table table) {
        const uint c = bytes >> (uint) (lane / N % 2 * 4);
        return turbo3_values(uint4(c, c >> 8, c >> 16, turbo3_spread(c, c >> 8, c >> 16)), scale, table);
    }
};

// Blocks of 32, two bytes aligned.
template <short group> struct q8_0_lane {
    typedef uint word;
    enum { LANES = group / 4, BYTES = group / TURBO_Q8_BLOCK * sizeof(turbo_block_q8), UNSCALED = 0 };

    static short at(short lane, short i) { return 4 * lane + i; }
    static float4 stage(device const char * b) {
        device const turbo_block_q8 * q = (device const turbo_block_q8 *) b;
        float4 d = float4((float) as_type<half>(q[0].d), (float) as_type<half>(q[1].d), 0.0f, 0.0f);
        if (group == 128) {
            d.z = (float) as_type<half>(q[2].d);
            d.w = (float) as_type<half>(q[3].d);
        }
        return d;
    }
    static float4 scales(threadgroup const float4 & staged, short lane) {
        return float4(((threadgroup const float *) &staged)[lane / 8]);
    }
    static uint fetch(device const char * b, short lane) {
        device const ushort * q =
            (device const ushort *) ((device const turbo_block_q8 *) b)[lane / 8].qs + 2 * (lane % 8);
        return q[0] | (uint) q[1] << 16;
    }
    static float4 values(uint four, short, float4 scale, turbo_table) { return float4(as_type<char4>(four)) * scale; }
};

// Rows of q8_0 in place of rows of another format, as those of a window are: a lane has the values that it has of the other one.
template <typename order> struct q8_0_for {
    typedef uint word;
    enum { GROUP = 4 * order::LANES, BYTES = q8_0_lane<GROUP>::BYTES, UNSCALED = 0 };

    static short block_of(short lane, short i) { return order::at(lane, i) / TURBO_Q8_BLOCK; }
    static float4 scales(threadgroup const float4 & staged, short lane) {
        threadgroup const float * of = (threadgroup const float *) &staged;
        return float4(of[block_of(lane, 0)], of[block_of(lane, 1)], of[block_of(lane, 2)], of[block_of(lane, 3)]);
    }
    static float4 scales(device const char * b, short lane) {
        device const turbo_block_q8 * q = (device const turbo_block_q8 *) b;
        float4 d;
        TURBO_UNROLL(short i = 0; i < 4; ++i) { d[i] = (float) as_type<half>(q[block_of(lane, i)].d); }
        return d;
    }
    static uint fetch(device const char * b, short lane) {
        device const turbo_block_q8 * q = (device const turbo_block_q8 *) b;
        uint four = 0;
        TURBO_UNROLL(short i = 0; i < 4; ++i) {
            four |= (uint) (uchar) q[block_of(lane, i)].qs[order::at(lane, i) % TURBO_Q8_BLOCK] << 8 * i;
        }
        return four;
    }
    static float4 values(uint four, short, float4 scale, turbo_table) { return float4(as_type<char4>(four)) * scale; }
};

template <short group> struct f16_lane {
    typedef half4 word;
    enum { LANES = group / 4, BYTES = group * 2, UNSCALED = 1 };

    static short at(short lane, short i) { return 4 * lane + i; }
    static float4 stage(device const char *) { return float4(1.0f); }
    static float4 scales(threadgroup const float4 &, short) { return float4(1.0f); }
    static half4 fetch(device const char * b, short lane) { return ((device const half4 *) b)[lane]; }
    static float4 values(half4 four, short, float4, turbo_table) { return float4(four); }
};
