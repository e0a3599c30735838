// Adds up the unfinished sums of the splits of one output vector, with the sink of its head.
#pragma once

#include "turbo-format.h"

// grid: [vectors]; one SIMD-group each
kernel void kernel_turbo_attention_merge(
        constant turbo_metal_args_merge & args [[buffer(0)]],
        device const float * part  [[buffer(1)]],
        device const float * sinks [[buffer(2)]],
        device       float * dst   [[buffer(3)]],
        uint3  tgpig [[threadgroup_position_in_grid]],
        ushort lane  [[thread_index_in_simdgroup]]) {
    threadgroup float weight[TURBO_METAL_MAX_SPLITS];

    const int vec = tgpig.x;
    device const float2 * state = (device const float2 *) (part + (ulong) args.n_vec*args.n_split*args.dim_v) + (ulong) vec*args.n_split;

    float sink = -FLT_MAX/2;
    if (FC_turbo_sinks) {
        sink = sinks[vec % args.n_head];
    }
    float m = sink;
    for (int i = lane; i < args.n_split; i += TURBO_METAL_LANES) {
        m = max(m, state[i].x);
    }
    m = simd_max(m);

    float s = 0.0f;
    for (int i = lane; i < args.n_split; i += TURBO_METAL_LANES) {
        const float w = exp(state[i].x - m);
        weight[i] = w;
        s += state[i].y*w;
    }
    s = simd_sum(s);
    if (FC_turbo_sinks) {
        s += exp(sink - m);
    }
    // no visible position and no sink: the result is 0
    const float scale = select(1.0f/max(s, FLT_MIN), 0.0f, s == 0.0f);

    simdgroup_barrier(mem_flags::mem_threadgroup);

    device const float4 * in = (device const float4 *) (part + (ulong) vec*args.n_split*args.dim_v);
    device float4 * out = (device float4 *) (dst + (ulong) vec*args.dim_v);
    const int n4 = args.dim_v/4;
    for (int d = lane; d < n4; d += TURBO_METAL_LANES) {
        float4 sum = float4(0.0f);
        for (int i = 0; i < args.n_split; ++i) {
            sum += in[i*n4 + d]*weight[i];
        }
        out[d] = sum*scale;
    }
}
