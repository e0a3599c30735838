// The quantizer of native/turbo/codec/turbo-quantize.c on a SIMD-group: the same whole-number search and, as far as the compiler keeps
// the order of the few float operations around it, the same bytes.
//
// Lane l holds values l, l + 32, ... of a group. The search deals out pairs of (quarter, sub-scale) to lanes, each of which walks
// over its quarter in threadgroup memory: no sums across lanes, and no lane that works alone.
#pragma once

#include "turbo-format.h"

// From native/turbo/codec/turbo-quantize.c and turbo-codec.h.
#define TURBO_SATURATE    262144.0f
#define TURBO_FP16_MAX    65504.0f
#define TURBO_SEARCH_UNIT (4.0f * TURBO_UNIT)

template <typename block> struct turbo_coder;
template <> struct turbo_coder<block_turbo4> {
    enum { GROUP = 128, LEVELS = 8 };
};
template <> struct turbo_coder<block_turbo3> {
    enum { GROUP = 128, LEVELS = 4 };
};
template <> struct turbo_coder<block_turbo4_64> {
    enum { GROUP = 64, LEVELS = 8 };
};
template <> struct turbo_coder<block_turbo3_64> {
    enum { GROUP = 64, LEVELS = 4 };
};

template <short levels> static inline float turbo_magnitude(short i) {
    return levels == 8 ? turbo4_magnitudes[i & 7] : turbo3_magnitudes[i & 3];
}

// First guess of d for a group of rms 1.
template <short levels> static inline float turbo_d_of_rms() { return levels == 8 ? 1.0515f : 0.8642f; }

// Result of the search over one quarter.
struct turbo_fit {
    float error;
    int s, dot, norm;
};

template <short levels, short quarter> static inline turbo_fit turbo_try(threadgroup const short * a, int s) {
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
    const int mult = TURBO_MULT(s);
    int threshold[levels];
    int step[levels];
    TURBO_UNROLL(short k = 0; k + 1 < levels; ++k) {
        const int below = (int) turbo_magnitude<levels>(k);
        const int above = (int) turbo_magnitude<levels>(k + 1);
        threshold[k] = ((below + above) * mult + 128) / 256 - 1;
        step[k] = above - below;
    }
    const int lowest = (int) turbo_magnitude<levels>(0);

    int dot = 0;
    int norm = 0;
    for (short i = 0; i < quarter; ++i) {
        const int x = a[i];
        int level = lowest;
        TURBO_UNROLL(short k = 0; k + 1 < levels; ++k) { level += (x >> 5 > threshold[k]) * step[k]; }
        dot += x * level;
        norm += level * level;
    }
    turbo_fit fit = { (float) (mult * norm - 8 * dot) * (float) mult, s, dot, norm };
    return fit;
}

// The smaller error, the lower sub-scale on a tie.
static inline turbo_fit turbo_better(turbo_fit a, turbo_fit b) {
    if (b.error < a.error || (b.error == a.error && b.s < a.s)) { return b; }
    return a;
}

// Best of the sub-scales first, first + every, ... for the quarter lane/8; all eight lanes of a quarter get it.
template <short levels, short quarter>
static inline turbo_fit turbo_search(threadgroup const short * a, short first, short every, ushort lane) {
    const short n = 16 / every;
    const short j = lane % 8;
    turbo_fit best = { FLT_MAX, 16, 0, 0 }; // fast math knows no infinity
    for (short i = j; i < n; i += 8) {
        best = turbo_better(best, turbo_try<levels, quarter>(a + lane / 8 * quarter, first + i * every));
    }
    TURBO_UNROLL(ushort d = 4; d > 0; d /= 2) {
        const turbo_fit other = {
            simd_shuffle_xor(best.error, d),
            simd_shuffle_xor(best.s, d),
            simd_shuffle_xor(best.dot, d),
            simd_shuffle_xor(best.norm, d),
        };
        best = turbo_better(best, other);
    }
    return best;
}

// Mean square of a group: the reference sums in 16 lanes (index % 16) in order of the index, then folds 8, 4, 2, 1.
template <short count> static inline float turbo_rms(thread const float (&a)[count], ushort lane) {
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
    float sum = 0.0f;
    TURBO_UNROLL(short k = 0; k < count; ++k) {
        const float other = simd_shuffle_xor(a[k], (ushort) 16);
        sum += a[k] * a[k];
        sum += other * other;
    }
    TURBO_UNROLL(ushort d = 8; d > 0; d /= 2) { sum += simd_shuffle_down(sum, d); }
    (void) lane;
    return precise::sqrt(simd_broadcast(sum, (ushort) 0) / (32 * count));
}

// One round: the best sub-scale of each quarter, and the d of least squares for them. Returns the new d; s: of quarter lane/8.
template <short levels, short count>
static inline float turbo_refit(thread const float (&a)[count], float d, short first, short every,
    threadgroup short * whole, thread int & s, ushort lane) {
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
    const float inv = precise::divide(1.0f, TURBO_SEARCH_UNIT * d);
    TURBO_UNROLL(short k = 0; k < count; ++k) {
        const float scaled = a[k] * inv;
        const float v = scaled + 0.5f;
        whole[lane + 32 * k] = (short) (int) min(v, 32767.0f);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const turbo_fit fit = turbo_search<levels, 8 * count>(whole, first, every, lane);
    simdgroup_barrier(mem_flags::mem_threadgroup); // the next round overwrites them

    s = fit.s;
    const long mult = TURBO_MULT(fit.s);
    const long dot = mult * fit.dot;
    const long norm = mult * mult * fit.norm;
    long all_dot = 0;
    long all_norm = 0;
    TURBO_UNROLL(short q = 0; q < 4; ++q) {
        // in halves: shuffles take 32 bits
        all_dot += (long) simd_shuffle((int) (dot >> 24), (ushort) (8 * q)) << 24 |
                   simd_shuffle((int) (dot & 0xffffff), (ushort) (8 * q));
        all_norm += (long) simd_shuffle((int) (norm >> 24), (ushort) (8 * q)) << 24 |
                    simd_shuffle((int) (norm & 0xffffff), (ushort) (8 * q));
    }
    return d * precise::divide(4.0f * (float) all_dot, (float) all_norm);
}

// Writes the indices of a group; code: per value of the lane, magnitude in the low bits.
template <typename block, short count>
static inline void turbo_pack(
    device block * b, thread const uint (&code)[count], thread const uint (&negative)[count], ushort lane) {
    if (turbo_coder<block>::LEVELS == 8) {
        TURBO_UNROLL(short k = 0; k < count / 2; ++k) {
            const uint lo = code[k] | negative[k] << 3;
            const uint hi = code[k + count / 2] | negative[k + count / 2] << 3;
            b->qs[lane + 32 * k] = (uchar) (lo | hi << 4);
        }
        return;
    }
    // All codes at byte j of a half, 4 bits apart in the order of their values: nibble 2k is the low one of word k, 2k + 1 the high one,
    // 6 and 7 are the codes that go into the bits left over. `parts` lanes hold them.
    constexpr short n = 2 * count;
    constexpr short parts = 16 / n;
    uint all = 0;
    TURBO_UNROLL(short k = 0; k < count; ++k) { all |= (code[k] | negative[k] << 2) << (32 / count * k); }
    const short part = lane % 16 / n;
    all <<= 4 * part;
    TURBO_UNROLL(ushort d = n; d < 16; d *= 2) { all |= simd_shuffle_xor(all, d); }
    device uchar * qs = (device uchar *) b + 4 + lane % n;
    TURBO_UNROLL(short k = 0; k < 3; ++k) {
        if (k % parts == part) {
            qs[TURBO3_WORD(n, lane / 16, k)] = (uchar) ((all >> 8 * k & 0x77u) | (all >> (24 + k) & 0x11u) << 3);
        }
    }
}

// One group by one SIMD-group. x: the lane's values; whole: [group] for this SIMD-group.
template <typename block, short count>
static inline void turbo_quantize(
    thread const float (&x)[count], device block * b, threadgroup short * whole, ushort lane) {
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
    constexpr short levels = turbo_coder<block>::LEVELS;
    float a[count];
    uint code[count];
    uint negative[count];
    bool nan = false;
    TURBO_UNROLL(short k = 0; k < count; ++k) {
        const uint bits = as_type<uint>(x[k]);
        nan = nan || (bits & 0x7fffffffu) > 0x7f800000u;
        negative[k] = bits >> 31;
        code[k] = 0;
        a[k] = as_type<float>(
            min(bits & 0x7fffffffu, as_type<uint>(TURBO_SATURATE))); // as whole numbers: infinity saturates too
    }
    nan = simd_any(nan);

    uint d16 = 0x7e00; // NaN, so that the damage stays visible
    int s = 0;
    if (!nan) {
        float d = turbo_d_of_rms<levels>() * turbo_rms(a, lane);
        d16 = as_type<ushort>((half) min(d, TURBO_FP16_MAX));
        if (d16 != 0) {
            d = turbo_refit<levels>(a, d, 1, 4, whole, s, lane);
            d = turbo_refit<levels>(a, d, 0, 1, whole, s, lane);
            d16 = as_type<ushort>((half) min(d, TURBO_FP16_MAX));
        }
    }
    const bool empty = nan || d16 == 0;
    if (empty) { s = 0; }
    const float unit = (float) as_type<half>((ushort) d16) * TURBO_UNIT;
    TURBO_UNROLL(short k = 0; k < count; ++k) {
        const short q = (lane + 32 * k) / (8 * count);
        const int sub = simd_shuffle(s, (ushort) (8 * q));
        if (empty) {
            negative[k] = 0;
            continue;
        }
        const float v = a[k] * precise::divide(1.0f, unit * (float) TURBO_MULT(sub));
        TURBO_UNROLL(short i = 0; i + 1 < levels; ++i) {
            code[k] += v > 0.5f * (turbo_magnitude<levels>(i) + turbo_magnitude<levels>(i + 1));
        }
    }
    turbo_pack<block>(b, code, negative, lane);
    const uint sub = simd_or(lane % 8 == 0 ? (uint) s << lane / 8 * 4 : 0u);
    if (lane == 0) { *(device uint *) b = d16 | sub << 16; }
}
