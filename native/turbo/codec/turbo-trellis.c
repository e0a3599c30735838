// The quantizer of the types with a trellis, and their codes in a block. turbo-path.inl finds the path of a quarter; here is what
// stands around it: sub-scales, d and bytes.

#include "turbo-codec.h"

#include "ggml.h"

#include <math.h>
#include <string.h>

#define MAX_QUARTER (TURBO_GROUP / TURBO_SUBSCALES)
#define LANES       4

// Sub-scales tried for a quarter, an even number, around the one that makes its energy that of the group. The path of each has an
// error of its own: README.md says what more of them bring.
#define TRIES 8

// A quarter as a ring: words of a lane, then those of the next.
struct ring {
    int n; // codes
    int words; // codes of a lane
    int n_value; // values of a lane
};

static struct ring ring_of(const struct turbo_format * f) {
    const int n_value = f->quarter / LANES;
    const int words = n_value / 4 * f->trellis->words;
    return (struct ring) { LANES * words, words, n_value };
}

// the word of value e of a lane
static int word_of(const struct turbo_trellis * t, int e) {
    return t->words == 4 ? e : 3 * (e / 4) + (e % 4 < 2 ? e % 4 : 2);
}

static int level_of(const struct turbo_trellis * t, int e, int code, int before) {
    const int table = t->words == 4 ? 0 : e % 4;
    return t->own[table][code] + t->before[table][before];
}

void turbo_trellis_branches(const struct turbo_trellis * t, struct turbo_branches * b) {
    for (int e = 0; e < (t->words == 4 ? 1 : 4); ++e) {
        for (int before = 0; before < TURBO_STATES; ++before) {
            for (int code = 0; code < TURBO_STATES; ++code) {
                b->level[e][before][code] = 4 * t->unit * level_of(t, e, code, before);
            }
        }
    }
}

// Levels of a quarter's values in the order of the ring.
static void ring_levels(const struct turbo_format * f, const uint8_t * code, int8_t * level) {
    const struct ring ring = ring_of(f);
    for (int lane = 0; lane < LANES; ++lane) {
        for (int e = 0; e < ring.n_value; ++e) {
            const int i = lane * ring.words + word_of(f->trellis, e);
            level[lane * ring.n_value + e] = level_of(f->trellis, e, code[i], code[i > 0 ? i - 1 : ring.n - 1]);
        }
    }
}

// where code i of a quarter lies: the byte of qs; the bits are those from quarter/2*4 on
static int byte_of(const struct ring * ring, int quarter, int i) {
    return quarter % 2 * ring->n + i % ring->words * LANES + i / ring->words;
}

void turbo_trellis_levels(const struct turbo_format * f, const uint8_t * qs, int8_t * level) {
    const struct ring ring = ring_of(f);
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        uint8_t code[MAX_QUARTER];
        int8_t in_ring[MAX_QUARTER];
        for (int i = 0; i < ring.n; ++i) { code[i] = qs[byte_of(&ring, q, i)] >> q / 2 * 4 & 15; }
        ring_levels(f, code, in_ring);
        for (int i = 0; i < f->quarter; ++i) {
            level[q * f->quarter + i] = in_ring[i % LANES * ring.n_value + i / LANES];
        }
    }
}

// Values of a quarter in quarters of a step of path metrics, as far as levels reach: whole is in search units.
static void steps_of_values(const struct turbo_trellis * t, const int16_t * whole, int n, int mult, int16_t * x) {
    const int most = TURBO_TCQ_LEVEL_MAX * t->unit;
    const int inverse =
        (4 * t->unit * 32768 + mult / 2) / mult; // a step is 1/(4*unit) of a level's search units, 1/2^15 of this
    for (int i = 0; i < n; ++i) {
        const int step = (whole[i] * inverse + 0x4000) >> 15;
        x[i] = 4 * (step > most ? most : step < -most ? -most : step);
    }
}

// Tries sub-scales for a quarter: the best, the lowest on a tie, and its codes.
static struct turbo_fit fit_quarter(const struct turbo_kernels * kern, const struct turbo_format * f,
    const struct turbo_branches * b, const int16_t * whole, int nearest, uint8_t * code) {
    const struct ring ring = ring_of(f);
    const int lowest = nearest - (TRIES - 1) / 2;
    const int first = lowest < 0 ? 0 : lowest > 16 - TRIES ? 16 - TRIES : lowest;
    struct turbo_fit fit = { 0 };
    float best = INFINITY;
    for (int s = first; s < first + TRIES; s += 2) {
        int16_t x[2][MAX_QUARTER];
        uint8_t path[2][MAX_QUARTER];
        for (int i = 0; i < 2; ++i) { steps_of_values(f->trellis, whole, f->quarter, TURBO_MULT(s + i), x[i]); }
        kern->paths(b, f->trellis->words, ring.n, (const int16_t (*)[MAX_QUARTER]) x, path);
        for (int i = 0; i < 2; ++i) {
            const int mult = TURBO_MULT(s + i);
            int8_t level[MAX_QUARTER];
            ring_levels(f, path[i], level);
            int dot = 0;
            int norm = 0;
            for (int j = 0; j < f->quarter; ++j) {
                dot += whole[j] * level[j];
                norm += level[j] * level[j];
            }
            const float error = (float) (mult * norm - 8 * dot) * mult;
            if (error < best) {
                best = error;
                fit = (struct turbo_fit) { s + i, dot, norm };
                memcpy(code, path[i], ring.n);
            }
        }
    }
    return fit;
}

// The sub-scale whose multiplier is nearest to what gives a quarter the energy of the group: (187.5 * rms of the quarter / rms)^2
// against the squares of the middles between multipliers.
static int nearest_subscale(int64_t energy, int64_t of_group) {
    int s = 0;
    while (s < 15 && (int64_t) (TURBO_MULT(s) + 4) * (TURBO_MULT(s) + 4) * of_group < 140625 * energy) { ++s; }
    return s;
}

void turbo_trellis_encode(const struct turbo_kernels * kern, const struct turbo_format * f,
    const struct turbo_branches * b, const float * x, const float * a, float d, void * block) {
    const struct ring ring = ring_of(f);
    struct turbo_block_head * head = block;
    uint8_t * qs = (uint8_t *) (head + 1);
    // A trellis has no path of many values far outside a Gaussian, so a group that is too large for d is cut to the size of d.
    const float most = d < TURBO_FP16_MAX ? INFINITY : TURBO_FP16_MAX / f->d_of_rms;
    d = d < TURBO_FP16_MAX ? d : TURBO_FP16_MAX;

    const float inv = 1.0f / (TURBO_SEARCH_UNIT * d);
    int16_t whole[TURBO_GROUP]; // each quarter in the order of its ring
    int64_t energy[TURBO_SUBSCALES] = { 0 };
    int64_t of_group = 0;
    for (int i = 0; i < f->group; ++i) {
        const int q = i / f->quarter;
        const int at = q * f->quarter + i % LANES * ring.n_value + i % f->quarter / LANES;
        const float v = (a[i] < most ? a[i] : most) * inv + 0.5f;
        const int size = (int) (v < 32767.0f ? v : 32767.0f);
        whole[at] = x[i] < 0 ? -size : size;
        energy[q] += (int64_t) size * size;
    }
    for (int q = 0; q < TURBO_SUBSCALES; ++q) { of_group += energy[q]; }

    int64_t dot = 0;
    int64_t norm = 0;
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        uint8_t code[MAX_QUARTER];
        const struct turbo_fit fit =
            fit_quarter(kern, f, b, whole + q * f->quarter, nearest_subscale(energy[q], of_group), code);
        const int64_t mult = TURBO_MULT(fit.s);
        dot += mult * fit.dot;
        norm += mult * mult * fit.norm;
        head->sub |= fit.s << 4 * q;
        for (int i = 0; i < ring.n; ++i) { qs[byte_of(&ring, q, i)] |= code[i] << q / 2 * 4; }
    }

    d *= norm > 0 ? 4.0f * (float) dot / (float) norm : 0.0f;
    head->d = ggml_fp32_to_fp16(d < TURBO_FP16_MAX ? d : TURBO_FP16_MAX);
    if (head->d == 0 || dot <= 0) { memset(block, 0, f->block_size); }
}
