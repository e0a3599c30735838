// Inner loops for NEON with dotprod (AArch64). The rules of turbo-avx2.c apply.

#include "turbo-codec.h"
#include "turbo-neon.h"

#define INLINE static inline __attribute__((always_inline))

#define LANES4 (TURBO_LANES/4)

// magnitudes in the bytes of a table register, zeros behind
INLINE uint8x16_t load_levels(const struct turbo_format * f) {
    uint8_t level[16] = { 0 };
    memcpy(level, f->levels, f->n_levels);
    return vld1q_u8(level);
}

struct thresholds {
    float32x4_t t[7];
};

INLINE struct thresholds load_thresholds(const struct turbo_format * f, int n_levels) {
    struct thresholds th;
    for (int i = 0; i + 1 < n_levels; ++i) {
        th.t[i] = vdupq_n_f32(0.5f*(f->levels[i] + f->levels[i + 1]));
    }
    return th;
}

// number of thresholds below v
INLINE uint32x4_t count(float32x4_t v, const struct thresholds * th, int n_levels) {
    uint32x4_t n = vdupq_n_u32(0);
    for (int k = 0; k + 1 < n_levels; ++k) {
        n = vsubq_u32(n, vcgtq_f32(v, th->t[k]));
    }
    return n;
}

INLINE void search_n(const struct turbo_format * f, int n_levels, int quarter, const int16_t * a, int first, int step, struct turbo_fit * fit) {
    const uint8x16_t levels = load_levels(f);
    uint16_t sum[8] = { 0 };
    for (int k = 0; k + 1 < n_levels; ++k) {
        sum[k] = f->levels[k] + f->levels[k + 1];
    }

    float best[TURBO_SUBSCALES];
    for (int s = first; s < 16; s += step) {
        const int mult = TURBO_MULT(s);
        const uint16x8_t t = vshrq_n_u16(vmlaq_n_u16(vdupq_n_u16(128), vld1q_u16(sum), mult), 8);
        uint8_t threshold[8];
        vst1_u8(threshold, vmovn_u16(vsubq_u16(t, vdupq_n_u16(1))));
        for (int q = 0; q < TURBO_SUBSCALES; ++q) {
            int32x4_t  dots  = vdupq_n_s32(0);
            uint32x4_t norms = vdupq_n_u32(0);
            for (int i = q*quarter; i < (q + 1)*quarter; i += 16) {
                const int16x8_t  lo = vld1q_s16(a + i);
                const int16x8_t  hi = vld1q_s16(a + i + 8);
                const uint8x16_t coarse = vcombine_u8(vqshrun_n_s16(lo, 5), vqshrun_n_s16(hi, 5));
                uint8x16_t n = vdupq_n_u8(0);
                for (int k = 0; k + 1 < n_levels; ++k) {
                    n = vsubq_u8(n, vcgtq_u8(coarse, vdupq_n_u8(threshold[k])));
                }
                const uint8x16_t level = vqtbl1q_u8(levels, n);
                const int16x8_t  l0 = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8 (level)));
                const int16x8_t  l1 = vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(level)));
                dots  = vmlal_s16(vmlal_s16(dots, vget_low_s16(lo), vget_low_s16(l0)), vget_high_s16(lo), vget_high_s16(l0));
                dots  = vmlal_s16(vmlal_s16(dots, vget_low_s16(hi), vget_low_s16(l1)), vget_high_s16(hi), vget_high_s16(l1));
                norms = vdotq_u32(norms, level, level);
            }
            const int   dot   = vaddvq_s32(dots);
            const int   norm  = vaddvq_u32(norms);
            const float error = (float) (mult*norm - 8*dot)*mult;
            if (s == first || error < best[q]) {
                best[q] = error;
                fit[q] = (struct turbo_fit) { s, dot, norm };
            }
        }
    }
}

static void search_neon(const struct turbo_format * f, const int16_t * a, int first, int step, struct turbo_fit * fit) {
    if (f->n_levels == 8) {
        search_n(f, 8, f->quarter, a, first, step, fit);
    } else {
        search_n(f, 4, f->quarter, a, first, step, fit);
    }
}

static void assign_neon(const struct turbo_format * f, const float * a, float scale, uint8_t * idx) {
    const struct thresholds th = load_thresholds(f, f->n_levels);
    const float inv = 1.0f/scale;
    for (int i = 0; i < f->quarter; i += 8) {
        const uint32x4_t lo = count(vmulq_n_f32(vld1q_f32(a + i),     inv), &th, f->n_levels);
        const uint32x4_t hi = count(vmulq_n_f32(vld1q_f32(a + i + 4), inv), &th, f->n_levels);
        vst1_u8(idx + i, vmovn_u16(vcombine_u16(vmovn_u32(lo), vmovn_u32(hi))));
    }
}

// folded 8, 4, 2, 1
INLINE float fold(const float32x4_t lane[LANES4]) {
    const float32x4_t s4 = vaddq_f32(vaddq_f32(lane[0], lane[2]), vaddq_f32(lane[1], lane[3]));
    const float32x2_t s2 = vadd_f32(vget_low_f32(s4), vget_high_f32(s4));
    return vget_lane_f32(s2, 0) + vget_lane_f32(s2, 1);
}

INLINE void clear(float32x4_t lane[LANES4]) {
    for (int i = 0; i < LANES4; ++i) {
        lane[i] = vdupq_n_f32(0.0f);
    }
}

//
// decoding
//

INLINE float unit_of(uint16_t d) {
    return turbo_neon_f16(d)*TURBO_UNIT;
}

INLINE float step_of(float unit, uint16_t sub, int i) {
    return unit*TURBO_MULT(sub >> 4*i & 15);
}

// four partial sums of level * q over 16 values
INLINE float32x4_t dot_partial(int8x16_t level, const int8_t * q) {
    return vcvtq_f32_s32(vdotq_s32(vdupq_n_s32(0), level, vld1q_s8(q)));
}

// chunks of 16 values per block; a quarter is two chunks or one
#define DECODE_FUNCTIONS(name, levels_of, chunks)                                                                                 \
    static void to_float_##name(const void * x, float * y, int64_t k) {                                                           \
        for (const block_##name * b = x; k > 0; k -= 16*(chunks), ++b) {                                                          \
            const float unit = unit_of(b->d);                                                                                     \
            for (int i = 0; i < (chunks); ++i, y += 16) {                                                                         \
                turbo_neon_store(levels_of(b, i), step_of(unit, b->sub, 4*i/(chunks)), y);                                            \
            }                                                                                                                     \
        }                                                                                                                         \
    }                                                                                                                             \
    static void vec_dot_##name(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {    \
        (void) bs; (void) bx; (void) by; (void) nrc;                                                                              \
        const turbo_block_q8 * q8 = vy;                                                                                           \
        float32x4_t sum[LANES4];                                                                                                  \
        clear(sum);                                                                                                               \
        for (const block_##name * b = vx; n > 0; n -= 16*(chunks), ++b, q8 += (chunks)/2) {                                       \
            const float unit = unit_of(b->d);                                                                                     \
            for (int i = 0; i < (chunks); ++i) {                                                                                  \
                const float step = step_of(unit*turbo_neon_f16(q8[i/2].d), b->sub, 4*i/(chunks));                                       \
                sum[i % LANES4] = vfmaq_n_f32(sum[i % LANES4], dot_partial(levels_of(b, i), q8[i/2].qs + 16*(i % 2)), step);      \
            }                                                                                                                     \
        }                                                                                                                         \
        *s = fold(sum);                                                                                                           \
    }

DECODE_FUNCTIONS(turbo4,    turbo_neon_turbo4,    8)
DECODE_FUNCTIONS(turbo3,    turbo_neon_turbo3,    8)
DECODE_FUNCTIONS(turbo4_64, turbo_neon_turbo4_64, 4)
DECODE_FUNCTIONS(turbo3_64, turbo_neon_turbo3_64, 4)

const struct turbo_kernels turbo_kernels_neon = {
    .level    = "neon",
    .search   = search_neon,
    .assign   = assign_neon,
    .to_float = { to_float_turbo4, to_float_turbo3, to_float_turbo4_64, to_float_turbo3_64 },
    .vec_dot  = { vec_dot_turbo4,  vec_dot_turbo3,  vec_dot_turbo4_64,  vec_dot_turbo3_64  },
};
