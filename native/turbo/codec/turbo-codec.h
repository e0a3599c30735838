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
    TURBO_FORMAT_4,
    TURBO_FORMAT_3,
    TURBO_FORMAT_4_64,
    TURBO_FORMAT_3_64,
    TURBO_FORMAT_COUNT,
};

struct turbo_format {
    int group;      // values per block
    int quarter;    // values per sub-scale: group/4, 32 or 16
    int n_levels;   // magnitudes: 8 or 4
    size_t block_size; // bytes
    const uint8_t * levels;     // magnitudes, ascending
    float d_of_rms;   // first guess of d for a group of rms 1
};

extern const struct turbo_format turbo_formats[TURBO_FORMAT_COUNT];

// The mean square of a group is summed in 16 lanes (lane = index % 16), folded 8, 4, 2, 1: the order is part
// of the quantizer, so that every SIMD level stores the same bytes.
#define TURBO_LANES 16

// The search over sub-scales counts magnitudes in units of 4*d*TURBO_UNIT, in whole numbers: sums have no order there. A
// multiplier m then costs m*(m*norm - 8*dot), in units of (d*TURBO_UNIT)^2 and up to a constant.
#define TURBO_SEARCH_UNIT (4.0f * TURBO_UNIT)

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

    // k values, a multiple of the group, in blocks at x
    void (*to_float[TURBO_FORMAT_COUNT])(const void * x, float * y, int64_t k);
    // n values in blocks at vx against n values in turbo_block_q8 at vy; the other arguments are ggml_vec_dot_t's
    // and unused: one row at a time (nrc == 1)
    void (*vec_dot[TURBO_FORMAT_COUNT])(
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc);
};

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

// Unpacks one block: d as fp16 bits, sub-scales, and per value the signed level.
void turbo_unpack(
    enum turbo_format_id id, const void * block, uint16_t * d, uint8_t sub[TURBO_SUBSCALES], int8_t * level);

#ifdef __cplusplus
}
#endif
