// The blocks of native/turbo/codec/turbo-layout.h, read as words of 32 bits: every block is a multiple of four bytes. A word of codes
// holds eight of four bits; those of turbo3 have three bits, and its fourth word lies in the bits that three others leave over.
#pragma once

#include "common.cuh"
#include "ggml-turbo.h"
#include "turbo-layout.h"

#include <cstdint>

// Magnitudes, one a byte.
#define TURBO4_LOW  0x271B1005u // 5 16 27 39
#define TURBO4_HIGH 0x6F554334u // 52 67 85 111
#define TURBO3_ALL  0x6F43250Cu // 12 37 67 111

// A format: codes of four bits or of three, groups of 128 values or of 64.
template <bool four_, int group_> struct turbo_cuda_format {
    static constexpr bool four = four_;
    static constexpr int group = group_;
    static constexpr int block_words = 1 + group * (four ? 4 : 3) / 32;
    static constexpr int lane_words = group / 32; // words of codes for each of four lanes
    static constexpr int row_words = group / 64; // for each of eight
};

// Which value of its group nibble n of a word is: base + n/2 + odd*(n%2).
struct turbo_cuda_place {
    int base, odd;
};

// The codes of one unit of turbo3, 32 values: three words as they lie, the fourth of bits left over.
template <typename F>
static __device__ __forceinline__ void turbo_cuda_unit(const uint32_t * block, int unit, uint32_t (&w)[4]) {
    const int half = F::group == 128 ? unit / 2 : unit;
    const int at = F::group == 128 ? unit % 2 : 0;
    constexpr int n = F::group / 64; // words of 32 bits in one of TURBO3_WORD
#pragma unroll
    for (int k = 0; k < 3; ++k) { w[k] = block[1 + n * (k < 2 ? 2 * half + k : 4 + half) + at]; }
    w[3] = (w[0] >> 3 & 0x11111111u) | (w[1] >> 2 & 0x22222222u) | (w[2] >> 1 & 0x44444444u);
}

// The codes of a block dealt out to four lanes.
template <typename F>
static __device__ __forceinline__ void turbo_cuda_lane_codes(
    const uint32_t * block, int t, uint32_t (&w)[F::lane_words]) {
    if constexpr (F::four) {
#pragma unroll
        for (int i = 0; i < F::lane_words; ++i) { w[i] = block[1 + t + 4 * i]; }
    } else if constexpr (F::group == 128) {
        turbo_cuda_unit<F>(block, t, w);
    } else {
        uint32_t unit[4];
        turbo_cuda_unit<F>(block, t / 2, unit);
#pragma unroll
        for (int i = 0; i < F::lane_words; ++i) { w[i] = t % 2 ? unit[2 + i] : unit[i]; }
    }
}

template <typename F> static __host__ __device__ __forceinline__ turbo_cuda_place turbo_cuda_lane_place(int t, int i) {
    if constexpr (F::four) { return { 4 * (t + 4 * i), F::group / 2 }; }
    if constexpr (F::group == 128) { return { 32 * i + 16 * (t / 2) + 4 * (t % 2), 8 }; }
    return { 32 * (t % 2) + 16 * (t / 2) + 8 * i, 4 };
}

// The same dealt out to eight.
template <typename F>
static __device__ __forceinline__ void turbo_cuda_row_codes(
    const uint32_t * block, int g, uint32_t (&w)[F::row_words]) {
    if constexpr (F::four) {
#pragma unroll
        for (int i = 0; i < F::row_words; ++i) { w[i] = block[1 + F::row_words * g + i]; }
    } else if constexpr (F::group == 128) {
        uint32_t unit[4];
        turbo_cuda_unit<F>(block, g / 2, unit);
#pragma unroll
        for (int i = 0; i < F::row_words; ++i) { w[i] = g % 2 ? unit[2 + i] : unit[i]; }
    } else {
        uint32_t unit[4];
        turbo_cuda_unit<F>(block, g / 4, unit);
        const uint32_t low = g % 2 ? unit[1] : unit[0];
        const uint32_t high = g % 2 ? unit[3] : unit[2];
        w[0] = g % 4 / 2 ? high : low;
    }
}

template <typename F> static __host__ __device__ __forceinline__ turbo_cuda_place turbo_cuda_row_place(int g, int i) {
    if constexpr (F::four) { return { 4 * (F::row_words * g + i), F::group / 2 }; }
    if constexpr (F::group == 128) { return { 32 * (g % 2 * 2 + i) + 16 * (g / 4) + 4 * (g / 2 % 2), 8 }; }
    return { 32 * (g % 4 / 2) + 16 * (g / 4) + 8 * (g % 2), 4 };
}

static __device__ __forceinline__ half2 turbo_cuda_half2(uint32_t bits) {
    half2 h;
    memcpy(&h, &bits, sizeof(h));
    return h;
}

static __device__ __forceinline__ uint32_t turbo_cuda_bits(half2 h) {
    uint32_t bits;
    memcpy(&bits, &h, sizeof(h));
    return bits;
}

// Levels of a word, without their factors: pairs of nibbles 0 and 2, 1 and 3, 4 and 6, 5 and 7. A magnitude is the last bits of a
// number in fp16 whose exponent is zero, 2^-24 times itself, which is multiplied like any other.
template <bool four> static __device__ __forceinline__ void turbo_cuda_levels(uint32_t word, uint32_t (&pair)[4]) {
    const uint32_t sizes = word & (four ? 0x77777777u : 0x33333333u);
    const uint32_t table = four ? TURBO4_LOW : TURBO3_ALL;
    const uint32_t low = __byte_perm(table, TURBO4_HIGH, sizes);
    const uint32_t high = __byte_perm(table, TURBO4_HIGH, sizes >> 16);
    const uint32_t even = word << (four ? 4 : 5) & 0x80808080u; // signs of nibbles 0 2 4 6
    const uint32_t odd = (four ? word : word << 1) & 0x80808080u;
    pair[0] = __byte_perm(low, even, 0x5240);
    pair[1] = __byte_perm(low, odd, 0x5341);
    pair[2] = __byte_perm(high, even, 0x7260);
    pair[3] = __byte_perm(high, odd, 0x7361);
}

// Sub-scales in the low nibbles of two bytes of `bytes` as 4 * (135 + 8*s), 2^15 times their factors without d.
template <int first, int second> static __device__ __forceinline__ half2 turbo_cuda_factors(uint32_t bytes) {
    const uint32_t whole = __byte_perm(bytes, 0x64646464u, 0x4040 | second << 8 | first); // 1024 + s
    const half2 s = __hadd2(turbo_cuda_half2(whole), __float2half2_rn(-1024.0f));
    return __hfma2(s, __float2half2_rn(32.0f), __float2half2_rn(540.0f));
}

// What a level times its factor lacks.
constexpr float TURBO_CUDA_UNIT = 0x1p9f;

static __device__ __forceinline__ float turbo_cuda_d(uint32_t head) {
    return __half2float(__ushort_as_half((uint16_t) head));
}

// The steps of the Walsh-Hadamard transform of D values that go over the lanes of a warp, each of which has every 32nd value; those over
// registers or shared memory are left. The order of sums is upstream's (fwht.cu).
template <int D> static __device__ __forceinline__ float turbo_cuda_rotate_lanes(float x, int lane) {
    x *= D == 64 ? 0.125f : 0.08838834764831845f;
#pragma unroll
    for (int h = 1; h < 32; h *= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, x, h);
        x = lane & h ? other - x : x + other;
    }
    return x;
}

// All steps where each of D threads has one value; shared: [D]. All threads of the block call it, those from D on with anything.
template <int D>
static __device__ __forceinline__ float turbo_cuda_rotate_threads(float x, float * shared, int thread) {
    x = turbo_cuda_rotate_lanes<D>(x, thread % 32);
#pragma unroll
    for (int h = 32; h < D; h *= 2) {
        if (thread < D) { shared[thread] = x; }
        __syncthreads();
        if (thread < D) {
            const float other = shared[thread ^ h];
            x = thread & h ? other - x : x + other;
        }
        __syncthreads();
    }
    return x;
}
