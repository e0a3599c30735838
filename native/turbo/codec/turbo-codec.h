// Inside of the codec: what reference, SIMD kernels and tests share. Nothing outside native/turbo and
// test/native includes it.
#pragma once

#include "turbo-layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum turbo_format_id {
#define TURBO_FORMAT_ID(ID, name, group) TURBO_FORMAT_##ID,
    TURBO_EACH_TYPE(TURBO_FORMAT_ID)
#undef TURBO_FORMAT_ID
        TURBO_FORMAT_COUNT,
};

#define TURBO_STATES 16 // of a trellis: the codes of 4 bits

// A trellis as turbo-layout.h describes it.
struct turbo_trellis {
    int words; // codes for four values: 4, or 3
    int unit;  // of path metrics: steps of a level
    const int8_t (*own)[TURBO_STATES];    // tables by e%4: all four, or one for all where words is 4
    const int8_t (*before)[TURBO_STATES];
};

// Its levels as the path search takes them, in quarters of a step: [e%4][code before][code].
struct turbo_branches {
    int16_t level[4][TURBO_STATES][TURBO_STATES];
};

struct turbo_format {
    int group;      // values per block
    int quarter;    // values per sub-scale: group/4, 32 or 16
    int n_levels;   // magnitudes: 8 or 4; 0 with a trellis
    size_t block_size; // bytes
    const uint8_t * levels;     // magnitudes, ascending; NULL with a trellis
    const struct turbo_trellis * trellis; // or NULL
    float d_of_rms;   // first guess of d for a group of rms 1
};

extern const struct turbo_format turbo_formats[TURBO_FORMAT_COUNT];

// The mean square of a group is summed in 16 lanes (lane = index % 16), folded 8, 4, 2, 1: the order is part
// of the quantizer, so that every SIMD level stores the same bytes.
#define TURBO_LANES 16

// The search over sub-scales counts magnitudes in units of 4*d*TURBO_UNIT, in whole numbers: sums have no order there. A
// multiplier m then costs m*(m*norm - 8*dot), in units of (d*TURBO_UNIT)^2 and up to a constant.
#define TURBO_SEARCH_UNIT (4.0f * TURBO_UNIT)

#define TURBO_SATURATE 262144.0f // 2^18, beyond the largest value of a block
#define TURBO_FP16_MAX 65504.0f

// All layouts begin with d and sub, before qs.
struct turbo_block_head {
    uint16_t d;
    uint16_t sub;
};

// Result of the search over one quarter.
struct turbo_fit {
    int s;    // sub-scale of least squared error; the lowest on a tie
    int dot;  // sum of |x| * level at that sub-scale
    int norm; // sum of level^2
};

// The inner loops that a SIMD level may replace. All pointers are set in every table.
struct turbo_kernels {
    const char * level;

    // a: |x| of a group in search units; tries sub-scales first, first + step, ... 15; fit: one per quarter
    void (*search)(const struct turbo_format * f, const int16_t * a, int first, int step, struct turbo_fit * fit);
    // idx: magnitude index of each value of a quarter for the given step
    void (*assign)(const struct turbo_format * f, const float * a, float scale, uint8_t * idx);

    // Codes of the path of least error around the ring of a quarter: n of them, in the order of the ring, for each of two sets of
    // values (a path waits for the step before, and two of them for each other's less). x: these in the same order, in quarters of
    // a step. Metrics are whole numbers of 16 bits (turbo-path.inl), so that every SIMD level finds the same paths.
    void (*paths)(const struct turbo_branches * b, int words, int n, const int16_t x[2][TURBO_GROUP / TURBO_SUBSCALES],
        uint8_t code[2][TURBO_GROUP / TURBO_SUBSCALES]);

    // k values, a multiple of the group, in blocks at x
    void (*to_float[TURBO_FORMAT_COUNT])(const void * x, float * y, int64_t k);
    // n values in blocks at vx against n values in turbo_block_q8 at vy; the other arguments are ggml_vec_dot_t's
    // and unused: one row at a time (nrc == 1)
    void (*vec_dot[TURBO_FORMAT_COUNT])(
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc);
};

// Entries of these two, of functions of a level's file.
#define TURBO_TO_FLOAT(ID, name, group) [TURBO_FORMAT_##ID] = to_float_##name,
#define TURBO_VEC_DOT(ID, name, group)  [TURBO_FORMAT_##ID] = vec_dot_##name,

extern const struct turbo_kernels turbo_kernels_ref;
extern const struct turbo_kernels turbo_kernels_avx2;
extern const struct turbo_kernels turbo_kernels_avx512;
extern const struct turbo_kernels turbo_kernels_neon;

// Whether this CPU can run the kernels of a level that this build has.
bool turbo_cpu_has(const char * level);

// Table of the named level; NULL when this build or this CPU does not have it.
const struct turbo_kernels * turbo_kernels_at(const char * level);

// Quantizes k values (a multiple of the group) with the given inner loops. Input policy:
//   magnitudes beyond 2^18 (infinity too) saturate: the largest value a block can hold is 226 k;
//   a NaN makes d of its group NaN, so that the damage stays as visible as in an f16 cache;
//   a group too small for an fp16 scale is stored as zero.
void turbo_quantize(const struct turbo_kernels * kern, enum turbo_format_id id, const float * x, void * y, int64_t k);

// The same for a format that is in no table, such as one whose trellis is being trained (test/native/trellis).
void turbo_quantize_as(
    const struct turbo_kernels * kern, const struct turbo_format * f, const float * x, void * y, int64_t k);

// The levels of a trellis as turbo_kernels.paths wants them.
void turbo_trellis_branches(const struct turbo_trellis * t, struct turbo_branches * b);

// Writes d, sub-scales and codes of a group. a: |x|, none of them a NaN; d: a first guess.
void turbo_trellis_encode(const struct turbo_kernels * kern, const struct turbo_format * f,
    const struct turbo_branches * b, const float * x, const float * a, float d, void * block);

// The signed levels of a block's codes, by value.
void turbo_trellis_levels(const struct turbo_format * f, const uint8_t * qs, int8_t * level);

// Unpacks one block: d as fp16 bits, sub-scales, and per value the signed level.
void turbo_unpack(
    enum turbo_format_id id, const void * block, uint16_t * d, uint8_t sub[TURBO_SUBSCALES], int8_t * level);

#ifdef __cplusplus
}
#endif
