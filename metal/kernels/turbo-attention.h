// Decode attention: few query vectors per KV head. A SIMD-group walks over a part of the positions, 32 at a time, for NQ queries of
// one KV head (the heads of its group, or of several rows), so that K and V are expanded once for all of them. The SIMD-groups of a
// threadgroup add up their sums (turbo-join.h) and write one part; turbo-merge.h adds up the parts, with the sinks.
//
// Per 32 positions: mask, Q*K, softmax, weights*V. Lanes share memory of their own SIMD-group only, so that between the loading of Q
// and the end barriers of the SIMD-group are enough. Lane h keeps what belongs to query h.
#pragma once

#include "turbo-join.h"
#include "turbo-scores.h"

#define TURBO_HIDDEN (-65504.0f) // and below: the position is masked
#define TURBO_LOWEST (-FLT_MAX / 2) // fast math knows no infinity

#define TURBO_BY_KIND(kind, group, side, call) \
    if (kind == TURBO_METAL_TURBO4) { \
        call(turbo4_##side<group>); \
    } else if (kind == TURBO_METAL_TURBO3) { \
        call(turbo3_##side<group>); \
    }

// Memory of one SIMD-group; see TURBO_METAL_GROUP_BYTES.
template <short DV, short NQ> struct turbo_area {
    enum { P = TURBO_METAL_POSITIONS, NG = turbo_v_row<DV>::GROUPS };
    threadgroup float4 * scales;
    threadgroup float * scores;
    threadgroup float * heavy;

    explicit turbo_area(threadgroup char * base) {
        scales = (threadgroup float4 *) base;
        scores = (threadgroup float *) (base + P * NG * 16);
        heavy = (threadgroup float *) (base + P * (NG * 16 + NQ * 4));
    }
};

static inline bool turbo_is_turbo(int kind) { return kind == TURBO_METAL_TURBO4 || kind == TURBO_METAL_TURBO3; }

static inline float turbo_slope(constant turbo_metal_args_attention & args, int head) {
    const bool below = head < args.n_head_log2;
    const float base = select(args.m1, args.m0, below);
    const int exp = select(2 * (head - args.n_head_log2) + 1, head + 1, below);
    return pow(base, (float) exp);
}

static inline turbo_query turbo_begin(constant turbo_metal_args_attention & args, int query, int head_kv) {
    const int row = query / args.gqa;
    const int head = head_kv * args.gqa + query % args.gqa;
    turbo_query me = { TURBO_LOWEST, 0.0f, 1.0f, 0u };
    if (FC_turbo_alibi) { me.slope = turbo_slope(args, head); }
    if (FC_turbo_mask == TURBO_METAL_MASK_OWN) {
        me.mask = (uint) (row * args.mask_nb_row + head % args.mask_heads * args.mask_nb_head);
    }
    return me;
}

// Mask of this lane's position for each query. Returns whether any query sees it.
template <short NQ>
static inline bool turbo_load_mask(constant turbo_metal_args_attention & args, device const char * mask, turbo_query me,
    int position, int n_query, thread half (&out)[NQ]) {
    const bool inside = position < args.n_kv;
    half seen = -MAXHALF;
    half m = 0.0h;
    if (FC_turbo_mask == TURBO_METAL_MASK_SHARED && inside) {
        m = max(((device const half *) mask)[position], (half) -MAXHALF);
    }
    TURBO_UNROLL(short h = 0; h < NQ; ++h) {
        if (FC_turbo_mask == TURBO_METAL_MASK_OWN) {
            const uint offset = simd_shuffle(me.mask, (ushort) h);
            if (inside) { m = max(((device const half *) (mask + offset))[position], (half) -MAXHALF); }
        }
        out[h] = select((half) -MAXHALF, m, inside && h < n_query);
        seen = max(seen, out[h]);
    }
    return (float) seen > TURBO_HIDDEN;
}

// Scores to weights, for this lane's position and all queries; fades what was summed up under a smaller maximum.
template <short DV, short NQ>
static inline void turbo_softmax(constant turbo_metal_args_attention & args, thread const turbo_area<DV, NQ> & area,
    thread const half (&mask)[NQ], thread turbo_query & me, thread float4 (&sum)[NQ][turbo_v_row<DV>::GROUPS],
    ushort lane) {
    float heavy = 0.0f;
    TURBO_UNROLL(short h = 0; h < NQ; ++h) {
        const float m_old = simd_shuffle(me.m, (ushort) h);
        const float bias = (float) mask[h];
        const bool hidden = bias <= TURBO_HIDDEN;

        float s = area.scores[h * TURBO_METAL_POSITIONS + lane] * args.scale;
        if (FC_turbo_softcap) { s = args.softcap * precise::tanh(s); }
        if (FC_turbo_alibi) {
            s += bias * simd_shuffle(me.slope, (ushort) h);
        } else {
            s += bias;
        }
        s = select(s, (float) TURBO_LOWEST, hidden);

        const float m = max(m_old, simd_max(s));
        const float w = select(exp(s - m), 0.0f, hidden);
        const float fade = exp(m_old - m);
        const float total = simd_sum(w);
        const bool mine = lane == h;
        me.s = select(me.s, me.s * fade + total, mine);
        me.m = select(me.m, m, mine);

        area.scores[h * TURBO_METAL_POSITIONS + lane] = w;
        heavy = max(heavy, w);
        TURBO_UNROLL(short g = 0; g < turbo_v_row<DV>::GROUPS; ++g) { sum[h][g] *= fade; }
    }
    area.heavy[lane] = heavy;
}

// Queries of the threadgroup as fp32, zeros after the last one.
template <short DK, short NQ>
static inline void turbo_load_queries(constant turbo_metal_args_attention & args, device const char * q, int first,
    int n_query, int head_kv, threadgroup float4 * out, uint thread_index, uint n_threads) {
    for (uint i = thread_index; i < NQ * DK / 4; i += n_threads) {
        const int h = i / (DK / 4);
        float4 x = float4(0.0f);
        if (h < n_query) {
            const int row = (first + h) / args.gqa;
            const int head = head_kv * args.gqa + (first + h) % args.gqa;
            x = ((device const float4 *) (q + row * args.q_nb_row + head * args.q_nb_head))[i % (DK / 4)];
        }
        out[i] = x;
    }
}

// grid: [tiles of NQ queries][KV heads][streams * n_split/simdgroups]; threads: [32][simdgroups]
template <short DK, short DV, short NQ>
kernel void kernel_turbo_attention(constant turbo_metal_args_attention & args [[buffer(0)]],
    device const char * q [[buffer(1)]], device const char * k [[buffer(2)]], device const char * v [[buffer(3)]],
    device const char * mask [[buffer(4)]], device const char * recent [[buffer(5)]],
    device const int * slots [[buffer(6)]], device float * part [[buffer(7)]],
    threadgroup char * shared [[threadgroup(0)]], uint3 tgpig [[threadgroup_position_in_grid]],
    ushort tiitg [[thread_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]],
    ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    constexpr short NG = turbo_v_row<DV>::GROUPS;
    constexpr short GK = DK == 64 ? 64 : 128;
    constexpr short GV = turbo_v_row<DV>::GROUP;

    const int first = tgpig.x * NQ;
    const int n_query = min((int) NQ, args.n_rows * args.gqa - first);
    const int head_kv = tgpig.y;
    const int n_part = args.n_split / args.simdgroups;
    const int stream = tgpig.z / n_part;
    const int split = tgpig.z % n_part * args.simdgroups + sgitg;

    q += stream * args.q_nb_stream;
    k += head_kv * args.k_nb_head + stream * args.k_nb_stream;
    v += head_kv * args.v_nb_head + stream * args.v_nb_stream;
    mask += stream % args.mask_streams * args.mask_nb_stream;

    threadgroup float4 * queries = (threadgroup float4 *) shared;
    const turbo_area<DV, NQ> area(shared + TURBO_METAL_SHARED_BYTES(DK, NQ) + sgitg * TURBO_METAL_GROUP_BYTES(DV, NQ));

    turbo_load_queries<DK, NQ>(args, q, first, n_query, head_kv, queries, tiitg, TURBO_METAL_LANES * args.simdgroups);
    const turbo_table table = turbo_table_of(lane);
    turbo_query me = turbo_begin(args, first + min((int) lane, n_query - 1), head_kv);

    float4 sum[NQ][NG];
    TURBO_UNROLL(short h = 0; h < NQ; ++h) {
        TURBO_UNROLL(short g = 0; g < NG; ++g) { sum[h][g] = float4(0.0f); }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup); // queries of other lanes

    for (int p0 = split * TURBO_METAL_POSITIONS; p0 < args.n_kv; p0 += args.n_split * TURBO_METAL_POSITIONS) {
        half seen[NQ];
        const bool visible = turbo_load_mask<NQ>(args, mask, me, p0 + lane, n_query, seen);
        if (!simd_any(visible)) { continue; }
        const short last = (short) min(args.n_kv - 1 - p0, TURBO_METAL_POSITIONS - 1);
        device const char * k0 = k + (ulong) p0 * args.k_nb_row;
        device const char * v0 = v + (ulong) p0 * args.v_nb_row;
        uint k_nb = (uint) args.k_nb_row;
        uint v_nb = (uint) args.v_nb_row;
        // rows of these positions that a window holds take the place of turbo rows
        bool k_held = false;
        bool v_held = false;
        if (FC_turbo_recent) {
            const int slot = slots[p0 / TURBO_METAL_POSITIONS];
            device const char * held = recent + (ulong) max(slot, 0) * TURBO_METAL_POSITIONS * args.recent_nb_row;
            k_held = slot >= 0 && turbo_is_turbo(FC_turbo_type_k);
            v_held = slot >= 0 && turbo_is_turbo(FC_turbo_type_v);
            if (k_held) {
                k0 = held + head_kv * (DK / TURBO_Q8_BLOCK * (int) sizeof(turbo_block_q8));
                k_nb = (uint) args.recent_nb_row;
            }
            if (v_held) {
                v0 = held + args.recent_v + head_kv * (DV / TURBO_Q8_BLOCK * (int) sizeof(turbo_block_q8));
                v_nb = (uint) args.recent_nb_row;
            }
        }
#define SCORES(unit) turbo_scores<unit, DK, NQ>(k0, k_nb, last, queries, area.scores, table, lane)
        if (k_held) {
            SCORES(q8_0_unit);
        } else
            TURBO_BY_KIND(FC_turbo_type_k, GK, unit, SCORES)
        else if (FC_turbo_type_k == TURBO_METAL_Q8_0) { SCORES(q8_0_unit); }
        else { SCORES(f16_unit); }
#undef SCORES
        device const char * row = v0 + (uint) min((short) lane, last) * v_nb;
#define STAGE(format) turbo_stage<format, DV>(row, visible, area.scales, lane)
        if (v_held) {
            STAGE(q8_0_lane<GV>);
        } else
            TURBO_BY_KIND(FC_turbo_type_v, GV, lane, STAGE)
        else if (FC_turbo_type_v == TURBO_METAL_Q8_0) { STAGE(q8_0_lane<GV>); }
#undef STAGE
        simdgroup_barrier(mem_flags::mem_threadgroup); // scores of other lanes
        turbo_softmax<DV, NQ>(args, area, seen, me, sum, lane);
        simdgroup_barrier(mem_flags::mem_threadgroup); // weights and scales of other lanes

#define ACCUMULATE(format) \
    turbo_accumulate<format, DV, NQ>(v0, v_nb, last, area.scales, area.heavy, area.scores, sum, table, lane)
#define ACCUMULATE_HELD(format) ACCUMULATE(q8_0_for<format>)
        if (v_held) {
            TURBO_BY_KIND(FC_turbo_type_v, GV, lane, ACCUMULATE_HELD)
        } else
            TURBO_BY_KIND(FC_turbo_type_v, GV, lane, ACCUMULATE)
        else if (FC_turbo_type_v == TURBO_METAL_Q8_0) { ACCUMULATE(q8_0_lane<GV>); }
        else { ACCUMULATE(f16_lane<GV>); }
#undef ACCUMULATE_HELD
#undef ACCUMULATE
        simdgroup_barrier(mem_flags::mem_threadgroup); // the next positions overwrite what was read here
    }

    TURBO_UNROLL(short h = 0; h < NQ; ++h) {
        TURBO_UNROLL(short g = 0; g < NG; ++g) {
            TURBO_UNROLL(short d = turbo_v_row<DV>::LANES; d < TURBO_METAL_LANES; d *= 2) {
                sum[h][g] += simd_shuffle_xor(sum[h][g], (ushort) d);
            }
        }
    }
    turbo_join<DV, NQ>(me, sum, shared, args.simdgroups, sgitg, lane);
    if (sgitg > 0) { return; }
    const ulong n_vec = (ulong) args.n_stream * args.n_rows * args.n_head;
    device float * state = part + n_vec * n_part * DV;
    TURBO_UNROLL(short h = 0; h < NQ; ++h) {
        if (h < n_query) {
            const int row = (first + h) / args.gqa;
            const int head = head_kv * args.gqa + (first + h) % args.gqa;
            const ulong vec = ((ulong) stream * args.n_rows + row) * args.n_head + head;
            const ulong slot = vec * n_part + tgpig.z % n_part;
            if (lane < turbo_v_row<DV>::LANES) {
#define STORE(format) turbo_store<format, DV>(part + slot * DV, sum[h], lane)
                TURBO_BY_KIND(FC_turbo_type_v, GV, lane, STORE)
                else { STORE(f16_lane<GV>); } // q8_0 has the same order
#undef STORE
            }
            if (lane == h) {
                state[2 * slot] = me.m;
                state[2 * slot + 1] = me.s;
            }
        }
    }
}
