// Adds up the parts of one output vector, with the sink of its head.
#pragma once

#include "turbo-format.h"

// grid: [vectors]; threads: [32][TURBO_METAL_MERGERS]
kernel void kernel_turbo_attention_merge(constant turbo_metal_args_merge & args [[buffer(0)]],
    device const float * part [[buffer(1)]], device const float * sinks [[buffer(2)]], device float * dst [[buffer(3)]],
    uint3 tgpig [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]],
    ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    constexpr short N4 = TURBO_METAL_MAX_DIM_V / 4;
    threadgroup float weight[TURBO_METAL_MAX_SPLITS];
    threadgroup float4 sums[(TURBO_METAL_MERGERS - 1) * N4];

    const int vec = tgpig.x;
    device const float2 * state =
        (device const float2 *) (part + (ulong) args.n_vec * args.n_part * args.dim_v) + (ulong) vec * args.n_part;

    float sink = -FLT_MAX / 2;
    if (FC_turbo_sinks) { sink = sinks[vec % args.n_head]; }
    float m = sink;
    for (int i = lane; i < args.n_part; i += TURBO_METAL_LANES) { m = max(m, state[i].x); }
    m = simd_max(m);

    float s = 0.0f;
    for (int i = lane; i < args.n_part; i += TURBO_METAL_LANES) {
        const float w = exp(state[i].x - m);
        if (sgitg == 0) { weight[i] = w; }
        s += state[i].y * w;
    }
    s = simd_sum(s);
    if (FC_turbo_sinks) { s += exp(sink - m); }
    // no visible position and no sink: the result is 0
    const float scale = select(1.0f / max(s, FLT_MIN), 0.0f, s == 0.0f);

    threadgroup_barrier(mem_flags::mem_threadgroup); // weights

    device const float4 * in = (device const float4 *) (part + (ulong) vec * args.n_part * args.dim_v);
    device float4 * out = (device float4 *) (dst + (ulong) vec * args.dim_v);
    const short n4 = (short) (args.dim_v / 4);
    float4 sum[N4 / TURBO_METAL_LANES];
    TURBO_UNROLL(short j = 0; j < N4 / TURBO_METAL_LANES; ++j) {
        const short d = lane + j * TURBO_METAL_LANES;
        sum[j] = float4(0.0f);
        for (int i = sgitg; d < n4 && i < args.n_part; i += TURBO_METAL_MERGERS) {
            sum[j] += in[i * n4 + d] * weight[i];
        }
        if (sgitg > 0) { sums[(sgitg - 1) * N4 + d] = sum[j]; }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup); // sums of the other SIMD-groups

    if (sgitg > 0) { return; }
    TURBO_UNROLL(short j = 0; j < N4 / TURBO_METAL_LANES; ++j) {
        const short d = lane + j * TURBO_METAL_LANES;
        TURBO_UNROLL(short k = 0; k < TURBO_METAL_MERGERS - 1; ++k) { sum[j] += sums[k * N4 + d]; }
        if (d < n4) { out[d] = sum[j] * scale; }
    }
}
