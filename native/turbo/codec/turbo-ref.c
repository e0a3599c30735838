// Reference inner loops, dequantization and dot product: plain loops, the judge of every other back end.

#include "turbo-codec.h"

#include "ggml.h"

#include <assert.h>
#include <math.h>

#define MAX_QUARTER (TURBO_GROUP / TURBO_SUBSCALES)

static const uint8_t turbo4_levels[8] = TURBO4_MAGNITUDES;
static const uint8_t turbo3_levels[4] = TURBO3_MAGNITUDES;

// d_of_rms = 2^13 / (187.5 * S), S = table units per sigma: 41.55 and 50.56
const struct turbo_format turbo_formats[TURBO_FORMAT_COUNT] = {
    [TURBO_FORMAT_4] = { 128, 32, 8, sizeof(block_turbo4), turbo4_levels, 1.0515f },
    [TURBO_FORMAT_3] = { 128, 32, 4, sizeof(block_turbo3), turbo3_levels, 0.8642f },
    [TURBO_FORMAT_4_64] = { 64, 16, 8, sizeof(block_turbo4_64), turbo4_levels, 1.0515f },
    [TURBO_FORMAT_3_64] = { 64, 16, 4, sizeof(block_turbo3_64), turbo3_levels, 0.8642f },
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

#define TURBO_REF_FUNCTIONS(name, id) \
    static void to_float_##name(const void * x, float * y, int64_t k) { to_float_ref(id, x, y, k); } \
    static void vec_dot_##name( \
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) { \
        (void) bs; \
        (void) bx; \
        (void) by; \
        (void) nrc; \
        vec_dot_ref(id, n, s, vx, vy); \
    }

TURBO_REF_FUNCTIONS(turbo4, TURBO_FORMAT_4)
TURBO_REF_FUNCTIONS(turbo3, TURBO_FORMAT_3)
TURBO_REF_FUNCTIONS(turbo4_64, TURBO_FORMAT_4_64)
TURBO_REF_FUNCTIONS(turbo3_64, TURBO_FORMAT_3_64)

const struct turbo_kernels turbo_kernels_ref = {
    .level = "scalar",
    .search = search_ref,
    .assign = assign_ref,
    .to_float = { to_float_turbo4, to_float_turbo3, to_float_turbo4_64, to_float_turbo3_64 },
    .vec_dot = { vec_dot_turbo4, vec_dot_turbo3, vec_dot_turbo4_64, vec_dot_turbo3_64 },
};
