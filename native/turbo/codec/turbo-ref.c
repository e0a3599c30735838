// Reference inner loops, dequantization and dot product: plain loops, the judge of every other back end.

#include "turbo-codec.h"
#include "turbo-trellis.h"

#include "ggml.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MAX_QUARTER (TURBO_GROUP / TURBO_SUBSCALES)

#define INLINE static inline

static const uint8_t turbo4_levels[8] = TURBO4_MAGNITUDES;
static const uint8_t turbo3_levels[4] = TURBO3_MAGNITUDES;

static const struct turbo_trellis turbo4_tcq = { 4, 2, turbo4_tcq_own, turbo4_tcq_before };
static const struct turbo_trellis turbo3_tcq = { 3, 1, turbo3_tcq_own, turbo3_tcq_before };

// d_of_rms = 2^13 / (187.5 * S), S = table units per sigma: 41.55 and 50.56, with a trellis what turbo-trellis.h says
const struct turbo_format turbo_formats[TURBO_FORMAT_COUNT] = {
    [TURBO_FORMAT_TURBO4] = { 128, 32, 8, sizeof(block_turbo4), turbo4_levels, NULL, 1.0515f },
    [TURBO_FORMAT_TURBO3] = { 128, 32, 4, sizeof(block_turbo3), turbo3_levels, NULL, 0.8642f },
    [TURBO_FORMAT_TURBO4_64] = { 64, 16, 8, sizeof(block_turbo4_64), turbo4_levels, NULL, 1.0515f },
    [TURBO_FORMAT_TURBO3_64] = { 64, 16, 4, sizeof(block_turbo3_64), turbo3_levels, NULL, 0.8642f },
    [TURBO_FORMAT_TURBO4_TCQ] = { 128, 32, 0, sizeof(block_turbo4_tcq), NULL, &turbo4_tcq, TURBO4_TCQ_D_OF_RMS },
    [TURBO_FORMAT_TURBO3_TCQ] = { 128, 32, 0, sizeof(block_turbo3_tcq), NULL, &turbo3_tcq, TURBO3_TCQ_D_OF_RMS },
    [TURBO_FORMAT_TURBO4_TCQ_64] = { 64, 16, 0, sizeof(block_turbo4_tcq_64), NULL, &turbo4_tcq, TURBO4_TCQ_D_OF_RMS },
    [TURBO_FORMAT_TURBO3_TCQ_64] = { 64, 16, 0, sizeof(block_turbo3_tcq_64), NULL, &turbo3_tcq, TURBO3_TCQ_D_OF_RMS },
};

// Levels of n values in the search's units for a multiplier; the thresholds between levels are rounded to 32 units. Summing the
// steps below a value in place of searching keeps the loop free of branches, so that compilers vectorize it.
static void search_levels(const struct turbo_format * f, const int16_t * a, int n, int mult, int16_t * level) {
    for (int i = 0; i < n; ++i) { level[i] = f->levels[0]; }
    for (int k = 0; k + 1 < f->n_levels; ++k) {
        const int16_t threshold = ((f->levels[k] + f->levels[k + 1]) * mult + 128) / 256 - 1;
        const int16_t step = f->levels[k + 1] - f->levels[k];
        for (int i = 0; i < n; ++i) { level[i] += a[i] >> 5 > threshold ? step : 0; }
    }
}

static void search_ref(const struct turbo_format * f, const int16_t * a, int first, int step, struct turbo_fit * fit) {
    for (int q = 0; q < TURBO_SUBSCALES; ++q, a += f->quarter, ++fit) {
        float best = INFINITY;
        for (int s = first; s < 16; s += step) {
            const int mult = TURBO_MULT(s);
            int16_t level[MAX_QUARTER];
            search_levels(f, a, f->quarter, mult, level);
            int dot = 0;
            int norm = 0;
            for (int i = 0; i < f->quarter; ++i) {
                dot += a[i] * level[i];
                norm += level[i] * level[i];
            }
            const float error = (float) (mult * norm - 8 * dot) * mult;
            if (error < best) {
                best = error;
                *fit = (struct turbo_fit) { s, dot, norm };
            }
        }
    }
}

static void assign_ref(const struct turbo_format * f, const float * a, float scale, uint8_t * idx) {
    const float inv = 1.0f / scale;
    for (int i = 0; i < f->quarter; ++i) {
        const float v = a[i] * inv;
        idx[i] = 0;
        for (int k = 0; k + 1 < f->n_levels; ++k) { idx[i] += v > 0.5f * (f->levels[k] + f->levels[k + 1]); }
    }
}

typedef struct {
    uint16_t of[TURBO_STATES];
} metrics;

INLINE metrics equal_metrics(void) { return (metrics) { { 0 } }; }

INLINE metrics one_metric(int state) {
    metrics m;
    for (int s = 0; s < TURBO_STATES; ++s) { m.of[s] = s == state ? 0 : 0xfff0; }
    return m;
}

INLINE void store_metrics(uint16_t * p, metrics m) { memcpy(p, m.of, sizeof(m.of)); }

INLINE uint32_t metric_of(int x, int level) {
    const int e = x > level ? x - level : level - x;
    return e > 252 ? 252 * 252 : e * e;
}

INLINE metrics extend(
    metrics m, const int16_t (*level)[TURBO_STATES], int x, const int16_t (*level2)[TURBO_STATES], int x2, int two) {
    uint32_t best[TURBO_STATES];
    for (int c = 0; c < TURBO_STATES; ++c) { best[c] = 65535; }
    for (int before = 0; before < TURBO_STATES; ++before) {
        const uint32_t path = (m.of[before] & 0xfff0) | before;
        for (int c = 0; c < TURBO_STATES; ++c) {
            uint32_t sum = path + metric_of(x, level[before][c]);
            if (two) { sum += metric_of(x2, level2[before][c]); }
            best[c] = sum < best[c] ? sum : best[c];
        }
    }
    uint32_t least = 65535;
    for (int c = 0; c < TURBO_STATES; ++c) { least = best[c] < least ? best[c] : least; }
    for (int c = 0; c < TURBO_STATES; ++c) { m.of[c] = best[c] - (least & 0xfff0); }
    return m;
}

#include "turbo-path.inl"

static void to_float_ref(enum turbo_format_id id, const void * x, float * y, int64_t k) {
    const struct turbo_format * f = &turbo_formats[id];
    assert(k % f->group == 0);
    for (const uint8_t * block = x; k > 0; k -= f->group, block += f->block_size, y += f->group) {
        uint16_t d;
        uint8_t sub[TURBO_SUBSCALES];
        int8_t level[TURBO_GROUP];
        turbo_unpack(id, block, &d, sub, level);
        const float unit = ggml_fp16_to_fp32(d) * TURBO_UNIT;
        for (int i = 0; i < f->group; ++i) { y[i] = unit * TURBO_MULT(sub[i / f->quarter]) * level[i]; }
    }
}

static void vec_dot_ref(enum turbo_format_id id, int n, float * s, const void * vx, const void * vy) {
    const struct turbo_format * f = &turbo_formats[id];
    const turbo_block_q8 * q = vy;
    assert(n % f->group == 0);
    float sum = 0.0f;
    for (const uint8_t * block = vx; n > 0; n -= f->group, block += f->block_size, q += f->group / TURBO_Q8_BLOCK) {
        uint16_t d;
        uint8_t sub[TURBO_SUBSCALES];
        int8_t level[TURBO_GROUP];
        turbo_unpack(id, block, &d, sub, level);
        const float unit = ggml_fp16_to_fp32(d) * TURBO_UNIT;
        for (int i = 0; i < TURBO_SUBSCALES; ++i) {
            const int first = i * f->quarter;
            const turbo_block_q8 * qb = q + first / TURBO_Q8_BLOCK;
            int isum = 0;
            for (int j = first; j < first + f->quarter; ++j) { isum += level[j] * qb->qs[j % TURBO_Q8_BLOCK]; }
            sum += unit * TURBO_MULT(sub[i]) * ggml_fp16_to_fp32(qb->d) * isum;
        }
    }
    *s = sum;
}

#define TURBO_REF_FUNCTIONS(ID, name, group) \
    static void to_float_##name(const void * x, float * y, int64_t k) { to_float_ref(TURBO_FORMAT_##ID, x, y, k); } \
    static void vec_dot_##name( \
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) { \
        (void) bs; \
        (void) bx; \
        (void) by; \
        (void) nrc; \
        vec_dot_ref(TURBO_FORMAT_##ID, n, s, vx, vy); \
    }

TURBO_EACH_TYPE(TURBO_REF_FUNCTIONS)

const struct turbo_kernels turbo_kernels_ref = {
    .level = "scalar",
    .search = search_ref,
    .assign = assign_ref,
    .paths = paths,
    .to_float = { TURBO_EACH_TYPE(TURBO_TO_FLOAT) },
    .vec_dot = { TURBO_EACH_TYPE(TURBO_VEC_DOT) },
};
