// Rows to turbo (set_rows, copies) and back (copies, the f16 K and V of a prefill). One SIMD-group per group.
#pragma once

#include "turbo-lane.h"
#include "turbo-quantize.h"

#define TURBO_COPY_SIMDGROUPS 4

// Reads this lane's values of group `index` of a row of f32 or f16.
template <short count>
static inline void turbo_read(device const char * row, int index, thread float (&x)[count], ushort lane) {
    TURBO_UNROLL(short k = 0; k < count; ++k) {
        const int i = (index * count + k) * 32 + lane;
        if (FC_turbo_half) {
            x[k] = (float) ((device const half *) row)[i];
        } else {
            x[k] = ((device const float *) row)[i];
        }
    }
}

// 32 values, one a lane, as q8_0: upstream's quantize_q8_0.
static inline void turbo_quantize_q8(float x, device turbo_block_q8 * b, ushort lane) {
    const float d = simd_max(fabs(x)) / 127.0f;
    const float by = select(0.0f, 1.0f / d, d > 0.0f);
    b->qs[lane] = (char) round(x * by);
    if (lane == 0) { b->d = as_type<ushort>((half) d); }
}

// The group of the source that a SIMD-group takes: its index in its row, and the row.
struct turbo_group_at {
    uint index;
    uint i01;
    uint i02;
    uint i03;
};

// args_t: of set_rows or of copies
template <typename args_t>
static inline turbo_group_at turbo_group_of(constant args_t & args, uint3 tgpig, uint3 ntg, ushort sgitg) {
    const uint n = tgpig.x * ntg.y + sgitg;
    return { n % (uint) args.nk0, n / (uint) args.nk0, tgpig.z % (uint) args.ne02, tgpig.z / (uint) args.ne02 };
}

template <typename args_t>
static inline device const char * turbo_source_row(constant args_t & args, device const char * src, turbo_group_at g) {
    return src + g.i01 * args.nb01 + g.i02 * args.nb02 + g.i03 * args.nb03;
}

// grid: [groups of all rows / simdgroups][1][ne02*ne03]; threads: [32][simdgroups]
template <typename block>
kernel void kernel_turbo_set_rows(constant turbo_metal_args_set_rows & args [[buffer(0)]],
    device const char * src [[buffer(1)]], device const char * idx [[buffer(2)]], device char * recent [[buffer(3)]],
    device const char * places [[buffer(4)]], device char * dst [[buffer(5)]],
    uint3 tgpig [[threadgroup_position_in_grid]], uint3 ntg [[threads_per_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]], ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    threadgroup short whole[TURBO_COPY_SIMDGROUPS * TURBO_GROUP];
    constexpr short count = turbo_coder<block>::GROUP / 32;

    const turbo_group_at g = turbo_group_of(args, tgpig, ntg, sgitg);
    if (g.i01 >= (uint) args.ne01) { return; }
    float x[count];
    turbo_read(turbo_source_row(args, src, g), g.index, x, lane);
    if (FC_turbo_recent) {
        const long place = *(device const long *) (places + g.i01 * args.place_nb);
        if (place >= 0) {
            device turbo_block_q8 * to =
                (device turbo_block_q8 *) (recent + place * args.recent_nb_row) + g.index * count;
            TURBO_UNROLL(short k = 0; k < count; ++k) { turbo_quantize_q8(x[k], to + k, lane); }
        }
    }
    device const char * at = idx + g.i01 * args.nb10 + g.i02 % args.ne11 * args.nb11 + g.i03 % args.ne12 * args.nb12;
    long row = 0;
    if (FC_turbo_long) {
        row = *(device const long *) at;
    } else {
        row = *(device const int *) at;
    }
    device block * out = (device block *) (dst + row * args.nb1 + g.i02 * args.nb2 + g.i03 * args.nb3);
    turbo_quantize(x, out + g.index, whole + sgitg * TURBO_GROUP, lane);
}

// The byte offset in dst of element n, counted row by row, without that of its place in the row (at).
static inline ulong turbo_row_offset(constant turbo_metal_args_copy & args, long n, thread int & at) {
    const long i3 = n / (args.ne2 * args.ne1 * args.ne0);
    n -= i3 * args.ne2 * args.ne1 * args.ne0;
    const long i2 = n / (args.ne1 * args.ne0);
    n -= i2 * args.ne1 * args.ne0;
    const long i1 = n / args.ne0;
    at = (int) (n - i1 * args.ne0);
    return i3 * args.nb3 + i2 * args.nb2 + i1 * args.nb1;
}

// Where a group of a source row goes: the byte offset of a row in dst, and the index of its first value there (at).
static inline ulong turbo_place(constant turbo_metal_args_copy & args, turbo_group_at g, short group, thread int & at) {
    if (FC_turbo_same) {
        at = g.index * group;
        return g.i01 * args.nb1 + g.i02 * args.nb2 + g.i03 * args.nb3;
    }
    return turbo_row_offset(
        args, (((long) g.i03 * args.ne02 + g.i02) * args.ne01 + g.i01) * args.ne00 + (long) g.index * group, at);
}

// f32 or f16 to turbo. grid: [groups of all source rows / simdgroups][1][ne02*ne03]
template <typename block>
kernel void kernel_turbo_copy_from(constant turbo_metal_args_copy & args [[buffer(0)]],
    device const char * src [[buffer(1)]], device char * dst [[buffer(2)]],
    uint3 tgpig [[threadgroup_position_in_grid]], uint3 ntg [[threads_per_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]], ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    threadgroup short whole[TURBO_COPY_SIMDGROUPS * TURBO_GROUP];
    constexpr short group = turbo_coder<block>::GROUP;

    const turbo_group_at g = turbo_group_of(args, tgpig, ntg, sgitg);
    if (g.i01 >= (uint) args.ne01) { return; }
    int at = 0;
    const ulong offset = turbo_place(args, g, group, at);
    device block * out = (device block *) (dst + offset) + at / group;
    float x[group / 32];
    turbo_read(turbo_source_row(args, src, g), g.index, x, lane);
    turbo_quantize(x, out, whole + sgitg * TURBO_GROUP, lane);
}

// turbo to f32 or f16; the grid is that of kernel_turbo_copy_from. Positions that a window holds come from there.
template <typename format>
kernel void kernel_turbo_copy_to(constant turbo_metal_args_copy & args [[buffer(0)]],
    device const char * src [[buffer(1)]], device const char * recent [[buffer(2)]],
    device const int * slots [[buffer(3)]], device char * dst [[buffer(4)]],
    uint3 tgpig [[threadgroup_position_in_grid]], uint3 ntg [[threads_per_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]], ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    constexpr short lanes = format::LANES;

    const turbo_group_at g = turbo_group_of(args, tgpig, ntg, sgitg);
    if (g.i01 >= (uint) args.ne01 || lane >= lanes) { return; }
    device const char * b = turbo_source_row(args, src, g) + g.index * format::BYTES;
    int slot = -1;
    if (FC_turbo_recent) { slot = slots[g.i01 / TURBO_METAL_POSITIONS]; }
    const turbo_table table = turbo_table_of(lane);
    float4 x;
    if (slot >= 0) {
        typedef q8_0_for<format> finer;
        const ulong row = (ulong) slot * TURBO_METAL_POSITIONS + g.i01 % TURBO_METAL_POSITIONS;
        b = recent + row * args.recent_nb_row + g.i02 * args.recent_nb_head + g.index * finer::BYTES;
        x = finer::values(finer::fetch(b, lane), lane, finer::scales(b, lane), table);
    } else {
        x = format::values(format::fetch(b, lane), lane, format::scales(b, lane), table);
    }

    int at = 0;
    const ulong offset = turbo_place(args, g, 4 * lanes, at);
    if (FC_turbo_half && FC_turbo_same && format::PAIRS) {
        // the dst of the expansion is contiguous
        device half * to = (device half *) (dst + offset) + at;
        *(device half2 *) (to + format::at(lane, 0)) = half2(half(x.x), half(x.y));
        *(device half2 *) (to + format::at(lane, 2)) = half2(half(x.z), half(x.w));
        return;
    }
    TURBO_UNROLL(short i = 0; i < 4; ++i) {
        const int to = at + format::at(lane, i);
        if (FC_turbo_half) {
            ((device half *) (dst + offset))[to] = (half) x[i];
        } else {
            ((device float *) (dst + offset))[to] = x[i];
        }
    }
}
