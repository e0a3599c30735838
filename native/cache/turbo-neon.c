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

// number of thresholds below v, added to `from`
INLINE uint32x4_t count(float32x4_t v, const struct thresholds * th, int n_levels, uint32_t from) {
    uint32x4_t n = vdupq_n_u32(from);
    for (int k = 0; k + 1 < n_levels; ++k) {
        n = vsubq_u32(n, vcgtq_f32(v, th->t[k]));
    }
    return n;
}

// Level nearest to v. The upper bytes of an index are 255, which the table lookup turns to 0.
INLINE float32x4_t nearest(float32x4_t v, const struct thresholds * th, int n_levels, uint8x16_t levels) {
    const uint32x4_t i = count(v, th, n_levels, 0xffffff00);
    return vcvtq_f32_u32(vreinterpretq_u32_u8(vqtbl1q_u8(levels, vreinterpretq_u8_u32(i))));
}

// folded 8, 4, 2, 1: the order that turbo-codec.h prescribes
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

INLINE void search_n(const struct turbo_format * f, int n_levels, int quarter, const float * a, const float scale[16], struct turbo_fit * fit) {
    const struct thresholds th = load_thresholds(f, n_levels);
    const uint8x16_t levels = load_levels(f);

    float best = 0.0f;
    int   best_s = 0;
    for (int s = 0; s < 16; ++s) {
        const float inv = 1.0f/scale[s];
        float32x4_t sum[LANES4];
        clear(sum);
        for (int i = 0; i < quarter; i += 4) {
            const float32x4_t v = vmulq_n_f32(vld1q_f32(a + i), inv);
            const float32x4_t e = vsubq_f32(v, nearest(v, &th, n_levels, levels));
            sum[i/4 % LANES4] = vaddq_f32(sum[i/4 % LANES4], vmulq_f32(e, e));
        }
        const float error = fold(sum)*(scale[s]*scale[s]);
        if (s == 0 || error < best) {
            best   = error;
            best_s = s;
        }
    }

    const float inv = 1.0f/scale[best_s];
    float32x4_t dot[LANES4];
    float32x4_t norm[LANES4];
    clear(dot);
    clear(norm);
    for (int i = 0; i < quarter; i += 4) {
        const float32x4_t x     = vld1q_f32(a + i);
        const float32x4_t level = nearest(vmulq_n_f32(x, inv), &th, n_levels, levels);
        dot [i/4 % LANES4] = vaddq_f32(dot [i/4 % LANES4], vmulq_f32(x, level));
        norm[i/4 % LANES4] = vaddq_f32(norm[i/4 % LANES4], vmulq_f32(level, level));
    }
    fit->s    = best_s;
    fit->dot  = fold(dot);
    fit->norm = fold(norm);
}

static void search_neon(const struct turbo_format * f, const float * a, const float scale[16], struct turbo_fit * fit) {
    if (f->n_levels == 8) {
        if (f->quarter == 32) {
            search_n(f, 8, 32, a, scale, fit);
        } else {
            search_n(f, 8, 16, a, scale, fit);
        }
    } else {
        if (f->quarter == 32) {
            search_n(f, 4, 32, a, scale, fit);
        } else {
            search_n(f, 4, 16, a, scale, fit);
        }
    }
}

static void assign_neon(const struct turbo_format * f, const float * a, float scale, uint8_t * idx) {
    const struct thresholds th = load_thresholds(f, f->n_levels);
    const float inv = 1.0f/scale;
    for (int i = 0; i < f->quarter; i += 8) {
        const uint32x4_t lo = count(vmulq_n_f32(vld1q_f32(a + i),     inv), &th, f->n_levels, 0);
        const uint32x4_t hi = count(vmulq_n_f32(vld1q_f32(a + i + 4), inv), &th, f->n_levels, 0);
        vst1_u8(idx + i, vmovn_u16(vcombine_u16(vmovn_u32(lo), vmovn_u32(hi))));
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
