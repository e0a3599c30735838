// The inner loops of decode, one table per SIMD level. K and V sides are apart, so that any two types mix.
//
// A kernel call covers one tile of one KV head: DECODE_TILE positions, and all query vectors of the head (rows * gqa).
// Included by the files of decode only.
#pragma once

#include "turbo-hooks.h"
#include "turbo-layout.h"
#include "turbo-trellis.h"

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"

#include <stddef.h>
#include <stdint.h>

#define DECODE_TILE        32
#define DECODE_MAX_QUERIES 32

// The levels of ggml's iq4_nl, whose table has no header of its own.
#define IQ4_NL_LEVELS { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 }

// Rows of one KV head: row p at data + p*stride, 0 <= p < DECODE_TILE, dim values each.
struct decode_rows {
    const char * data;
    size_t stride;
    int dim;

    // memory that will be wanted soon: a kernel may prefetch this much of it, spread over its work
    const char * ahead;
    size_t ahead_size;
};

// A running softmax over tiles: weights so far are relative to exp(max), sum is their sum.
struct decode_state {
    float max;
    float sum;
};

// What the softmax needs of a query vector beside its logits.
struct decode_row {
    const uint16_t * mask;
    float slope;
    struct decode_state * state;
};

// What a tile did to the state.
struct decode_step {
    float rescale; // factor of what was summed before, for a grown maximum
    float top;     // largest weight of the tile as its logarithm; -inf when all is masked
};

struct decode_k_kernels {
    // Bytes of a query vector of dim values as `scores` takes it; a multiple of 64.
    size_t (*query_size)(int dim);
    // x: dim values. scale: factor of all scores.
    void (*query)(const float * x, int dim, float scale, void * query);
    // score[j*DECODE_TILE + p] = query[j] . row p
    void (*scores)(const struct decode_rows * k, const void * const * query, int n_query, float * score);
};

struct decode_v_kernels {
    // acc[j] = acc[j]*rescale[j] + sum over p of weight[j*DECODE_TILE + p] * row p. Weights are >= 0; a
    // row of weight 0 for all queries counts as zeros, whatever it holds. acc is in the kernel's own order of values.
    void (*accumulate)(
        const struct decode_rows * v, const float * weight, const float * rescale, int n_query, float * const * acc);
    // puts acc into the order of the row
    void (*finish)(float * acc, int dim);
};

// Cache types by place in the tables.
enum decode_type {
#define DECODE_TURBO_TYPE(ID, name, group) DECODE_##ID,
    TURBO_EACH_TYPE(DECODE_TURBO_TYPE) DECODE_Q8_0,
    DECODE_Q5_0,
    DECODE_IQ4_NL,
    DECODE_Q4_0,
    DECODE_F16,
    DECODE_TYPE_COUNT,
};

// Neighboring positions of a tile that lie in one block.
struct decode_run {
    int32_t end; // the first position that does not
    const float * values; // of query vector i of the stream at values + i*TURBO_BIAS_PANEL
};

struct decode_kernels {
    const char * level;

    // One tile of n_query <= DECODE_MAX_QUERIES query vectors. score[j*DECODE_TILE + p]: in, logits; out, weights
    // exp(logit + slope*mask - state->max), 0 where the mask (DECODE_TILE fp16 values; NULL: all 0) is -inf. A NaN logit that
    // is not masked makes state->sum NaN.
    void (*softmax)(float * score, const struct decode_row * row, int n_query, struct decode_step * step);

    // s = cap*tanh(s) for n logits; n: a multiple of DECODE_TILE
    void (*soft_cap)(float * s, int n, float cap);

    // out[j*TURBO_BIAS_PANEL + i] = scale * sum over r < n_row of z[j][r] * panel[r*TURBO_BIAS_PANEL + i] (fp16), j < n
    void (*bias)(const uint16_t * panel, int n_row, const float * const * z, int n, float scale, float * out);

    // score[j*DECODE_TILE + p] += that of query vector vec[j] of the stream at position p < n; runs end with position n
    void (*add_bias)(const struct decode_run * runs, int n, const int * vec, int n_query, float * score);

    // all NULL where a type has no kernels
    struct decode_k_kernels k[DECODE_TYPE_COUNT];
    struct decode_v_kernels v[DECODE_TYPE_COUNT];
};

// The table of a level's file, which defines K_KERNELS and V_KERNELS of its formats, and those of f16.
#define DECODE_K_OF_TURBO(ID, name, group) K_KERNELS(format_##name),
#define DECODE_V_OF_TURBO(ID, name, group) V_KERNELS(format_##name),
#define DECODE_TABLE(level) \
    { \
        level, \
        softmax, \
        soft_cap, \
        bias, \
        add_bias, \
        { \
            TURBO_EACH_TYPE(DECODE_K_OF_TURBO) K_KERNELS(format_q8_0), \
            K_KERNELS(format_q5_0), \
            K_KERNELS(format_iq4_nl), \
            K_KERNELS(format_q4_0), \
            K_KERNELS_F16, \
        }, \
        { \
            TURBO_EACH_TYPE(DECODE_V_OF_TURBO) V_KERNELS(format_q8_0), \
            V_KERNELS(format_q5_0), \
            V_KERNELS(format_iq4_nl), \
            V_KERNELS(format_q4_0), \
            V_KERNELS_F16, \
        }, \
    }

extern const struct decode_kernels decode_kernels_scalar;
extern const struct decode_kernels decode_kernels_avx2;
extern const struct decode_kernels decode_kernels_avx512;
extern const struct decode_kernels decode_kernels_neon;

// --- what decode has to read of the cache: the tiles of DECODE_TILE positions that the mask leaves, and the chunks of them that
// threads take

struct turbo_attention;

#define HALF_NEVER 0xfc00 // fp16 -inf: a mask that hides

// A tile with a visible position, of a stream.
struct decode_tile {
    int32_t stream;
    int32_t p0; // its first position
    bool open; // the mask is 0 for all of it
    bool recent; // read from turbo_recent
};

// Tiles first .. last - 1, of one stream and one source.
struct decode_chunk {
    int32_t first;
    int32_t last;
};

// fp16 mask from position p0 on
const uint16_t * decode_mask(const struct turbo_attention * at, int row, int head, int stream, int p0);

// Positions of a tile: DECODE_TILE, or less at the end.
int decode_tile_size(const struct turbo_attention * at, int p0);

// Visible tiles, stream by stream, those of turbo_recent behind the others of a stream; at most ceil(n_kv/DECODE_TILE) a stream.
int decode_list_tiles(const struct turbo_attention * at, decode_tile * tiles);

// --- the bias (turbo_bias) of all query vectors: for the panels of T in which the visible tiles have cells, before the scores

struct decode_bias {
    const struct turbo_attention * at; // one with a bias
    int n_vec; // query vectors of a stream
    float * values; // [stream][slot][n_vec][TURBO_BIAS_PANEL], of all threads
    int32_t * slot_of; // [stream][panel], -1: not used; of this thread
};

// Bytes of `values` and of `slot_of`.
size_t decode_bias_size(const struct turbo_attention * at, int n_vec);
size_t decode_bias_map_size(const struct turbo_attention * at);

// Fills slot_of, and this thread's share of values.
void decode_bias_fill(
    struct decode_bias * bias, const struct decode_kernels * kernels, const struct decode_tile * tiles, int n_tile);

// Runs of a tile; at most DECODE_TILE.
void decode_bias_runs(const struct decode_bias * bias, const struct decode_tile * tile, struct decode_run * runs);

// Chunks of equal numbers of tiles, but for the last of a stream and source; at most n_chunk + that many.
int decode_list_chunks(const decode_tile * tiles, int n_tile, int n_chunk, decode_chunk * chunks);
