// Inner loops for NEON with dotprod (AArch64). The rules of turbo-avx2.c apply.

#include "turbo-codec.h"
#include "turbo-neon.h"

#define INLINE static inline __attribute__((always_inline))

// magnitudes in the bytes of a table register, zeros behind
INLINE uint8x16_t load_levels(const struct turbo_format * f) {
    uint8_t level[16] = { 0 };
    memcpy(level, f->levels, f->n_levels);
    return vld1q_u8(level);
}

INLINE void search_n(const struct turbo_format * f, int n_levels, int quarter, const int16_t * a, int first, int step,
    struct turbo_fit * fit) {
    const uint8x16_t levels = load_levels(f);
    uint16_t sum[8] = { 0 };
    for (int k = 0; k + 1 < n_levels; ++k) { sum[k] = f->levels[k] + f->levels[k + 1]; }

    float best[TURBO_SUBSCALES];
    for (int s = first; s < 16; s += step) {
        const int mult = TURBO_MULT(s);
        const uint16x8_t t = vshrq_n_u16(vmlaq_n_u16(vdupq_n_u16(128), vld1q_u16(sum), mult), 8);
        uint8_t threshold[8];
        vst1_u8(threshold, vmovn_u16(vsubq_u16(t, vdupq_n_u16(1))));
        for (int q = 0; q < TURBO_SUBSCALES; ++q) {
            int32x4_t dots = vdupq_n_s32(0);
            uint32x4_t norms = vdupq_n_u32(0);
            for (int i = q * quarter; i < (q + 1) * quarter; i += 16) {
                const int16x8_t lo = vld1q_s16(a + i);
                const int16x8_t hi = vld1q_s16(a + i + 8);
                const uint8x16_t coarse = vcombine_u8(vqshrun_n_s16(lo, 5), vqshrun_n_s16(hi, 5));
                uint8x16_t n = vdupq_n_u8(0);
                for (int k = 0; k + 1 < n_levels; ++k) { n = vsubq_u8(n, vcgtq_u8(coarse, vdupq_n_u8(threshold[k]))); }
                const uint8x16_t level = vqtbl1q_u8(levels, n);
                const int16x8_t l0 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(level)));
                const int16x8_t l1 = vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(level)));
                dots = vmlal_s16(
                    vmlal_s16(dots, vget_low_s16(lo), vget_low_s16(l0)), vget_high_s16(lo), vget_high_s16(l0));
                dots = vmlal_s16(
                    vmlal_s16(dots, vget_low_s16(hi), vget_low_s16(l1)), vget_high_s16(hi), vget_high_s16(l1));
                norms = vdotq_u32(norms, level, level);
            }
            const int dot = vaddvq_s32(dots);
            const int norm = vaddvq_u32(norms);
            const float error = (float) (mult * norm - 8 * dot) * mult;
            if (s == first || error < best[q]) {
                best[q] = error;
                fit[q] = (struct turbo_fit) { s, dot, norm };
            }
        }
    }
}

static void search(const struct turbo_format * f, const int16_t * a, int first, int step, struct turbo_fit * fit) {
    if (f->n_levels == 8) {
        search_n(f, 8, f->quarter, a, first, step, fit);
    } else {
        search_n(f, 4, f->quarter, a, first, step, fit);
    }
}

typedef uint16x8x2_t metrics;

INLINE metrics equal_metrics(void) { return (metrics) { { vdupq_n_u16(0), vdupq_n_u16(0) } }; }

INLINE metrics state_numbers(void) {
    const uint16_t number[TURBO_STATES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    return (metrics) { { vld1q_u16(number), vld1q_u16(number + 8) } };
}

INLINE metrics one_metric(int state) {
    const metrics number = state_numbers();
    metrics m;
    for (int h = 0; h < 2; ++h) {
        m.val[h] = vbicq_u16(vdupq_n_u16(0xfff0), vceqq_u16(number.val[h], vdupq_n_u16(state)));
    }
    return m;
}

INLINE void store_metrics(uint16_t * p, metrics m) {
    vst1q_u16(p, m.val[0]);
    vst1q_u16(p + 8, m.val[1]);
}

INLINE uint16x8_t error_squares(int16x8_t x, const int16_t * level) {
    const uint16x8_t e = vreinterpretq_u16_s16(vabdq_s16(x, vld1q_s16(level)));
    const uint16x8_t most = vminq_u16(e, vdupq_n_u16(252));
    return vmulq_u16(most, most);
}

INLINE metrics extend(
    metrics m, const int16_t (*level)[TURBO_STATES], int x, const int16_t (*level2)[TURBO_STATES], int x2, int two) {
    const metrics number = state_numbers();
    uint16_t path[TURBO_STATES];
    metrics best;
    for (int h = 0; h < 2; ++h) {
        vst1q_u16(path + 8 * h, vbslq_u16(vdupq_n_u16(15), number.val[h], m.val[h]));
        best.val[h] = vdupq_n_u16(65535);
    }
    for (int before = 0; before < TURBO_STATES; ++before) {
        for (int h = 0; h < 2; ++h) {
            uint16x8_t sum =
                vqaddq_u16(vdupq_n_u16(path[before]), error_squares(vdupq_n_s16(x), level[before] + 8 * h));
            if (two) { sum = vqaddq_u16(sum, error_squares(vdupq_n_s16(x2), level2[before] + 8 * h)); }
            best.val[h] = vminq_u16(best.val[h], sum);
        }
    }
    const uint16x8_t least = vdupq_n_u16(vminvq_u16(vminq_u16(best.val[0], best.val[1])) & 0xfff0);
    for (int h = 0; h < 2; ++h) { best.val[h] = vsubq_u16(best.val[h], least); }
    return best;
}

#include "turbo-path.inl"

#define LEVEL  "neon"
#define CHUNK  16
#define FLOATS 8

typedef int8x16_t levels;
typedef float32x4x2_t floats;

typedef struct {
    float32x4_t lane[TURBO_LANES / 4];
} sums;

INLINE float half(uint16_t bits) { return turbo_neon_f16(bits); }
INLINE floats loadu(const float * p) { return (floats) { { vld1q_f32(p), vld1q_f32(p + 4) } }; }
INLINE floats set1(float x) { return (floats) { { vdupq_n_f32(x), vdupq_n_f32(x) } }; }
INLINE floats mul(floats a, floats b) {
    return (floats) { { vmulq_f32(a.val[0], b.val[0]), vmulq_f32(a.val[1], b.val[1]) } };
}

INLINE void store_counts(floats v, const floats * threshold, int n, uint8_t * idx) {
    uint32x4_t i[2] = { vdupq_n_u32(0), vdupq_n_u32(0) };
    for (int k = 0; k < n; ++k) {
        i[0] = vsubq_u32(i[0], vcgtq_f32(v.val[0], threshold[k].val[0]));
        i[1] = vsubq_u32(i[1], vcgtq_f32(v.val[1], threshold[k].val[1]));
    }
    vst1_u8(idx, vmovn_u16(vcombine_u16(vmovn_u32(i[0]), vmovn_u32(i[1]))));
}

//
// decoding
//

#define levels_turbo4        turbo_neon_turbo4
#define levels_turbo3        turbo_neon_turbo3
#define levels_turbo4_64     turbo_neon_turbo4_64
#define levels_turbo3_64     turbo_neon_turbo3_64
#define levels_turbo4_tcq    turbo_neon_turbo4_tcq
#define levels_turbo3_tcq    turbo_neon_turbo3_tcq
#define levels_turbo4_tcq_64 turbo_neon_turbo4_tcq_64
#define levels_turbo3_tcq_64 turbo_neon_turbo3_tcq_64

INLINE void store_levels(levels level, const float * step, float * y) { turbo_neon_store(level, *step, y); }

INLINE sums clear(void) {
    const float32x4_t zero = vdupq_n_f32(0.0f);
    return (sums) { { zero, zero, zero, zero } };
}

// half a block of q8_0: chunks take turns with the sums
INLINE sums add_products(sums sum, int i, levels level, const turbo_block_q8 * q, const float * step) {
    const int32x4_t dot = vdotq_s32(vdupq_n_s32(0), level, vld1q_s8(q->qs + 16 * (i % 2)));
    sum.lane[i % 4] = vfmaq_n_f32(sum.lane[i % 4], vcvtq_f32_s32(dot), *step);
    return sum;
}

INLINE float fold(sums s) {
    const float32x4_t s4 = vaddq_f32(vaddq_f32(s.lane[0], s.lane[2]), vaddq_f32(s.lane[1], s.lane[3]));
    const float32x2_t s2 = vadd_f32(vget_low_f32(s4), vget_high_f32(s4));
    return vget_lane_f32(s2, 0) + vget_lane_f32(s2, 1);
}

#include "turbo-simd.inl"

const struct turbo_kernels turbo_kernels_neon = KERNELS;
