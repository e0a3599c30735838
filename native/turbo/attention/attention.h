// Flash attention of the CPU with K/V blocks expanded once for all query heads of a group. One operation of the graph as
// the kernels see it, and what each kernel family offers. Included by native/turbo/attention and its tests only.
//
// Upstream's own path expands a K and a V row for every query head and row, and splits the KV range over threads for
// f16 and f32 only. The two families here are
//   decode   few query vectors per KV head (one token, speculative drafts, several sequences)
//   prefill  many: a tile of K and V is expanded once for all rows and heads of the group
// Either may decline an operation, which then goes to the other or to upstream's path: results agree within the bound of
// test-backend-ops, never the last bit.
#pragma once

#include "ggml-turbo.h"
#include "turbo-hooks.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_threadpool;

// One side of the cache. Row of position p, KV head h, stream s: data + p*nb_pos + h*nb_head + s*nb_stream, in blocks of type.
struct turbo_kv {
    const char * data;
    enum ggml_type type;
    int head_dim;
    int n_stream; // streams of the cache; a stream of queries uses stream * n_stream / n_stream_q
    size_t nb_pos;
    size_t nb_head;
    size_t nb_stream;
};

// A part of the score beside q.k: z . T[b], where b is the block of the position (TURBO_SRC_BIAS_* of turbo-hooks.h).
struct turbo_bias {
    int n_row; // values of z; 0: there is none
    int n_panel; // of T
    const uint16_t * turns; // T, fp16, from the first row that counts on: panels of TURBO_BIAS_PANEL blocks
    size_t panel_size; // from one to the next, in values

    const char * z; // n_row values at row*z_nb_row + head*z_nb_head + stream*z_nb_stream
    size_t z_nb_row;
    size_t z_nb_head;
    size_t z_nb_stream;

    const int32_t * block; // [stream of the cache][turbo_bias_row(n_kv)]
};

// Rows that are held once more, in a finer type (TURBO_SRC_RECENT_* of turbo-hooks.h): those of positions 32*t .. 32*t + 31, where
// slot[t] >= 0, at row slot[t]*32 and behind of both sides, to be read in place of the cache's.
struct turbo_recent {
    const int32_t * slot;
    struct turbo_kv k; // head_dim 0: there are none
    struct turbo_kv v;
};

// softmax(scale * (q.k [+ bias]) [soft-capped] + slope * mask [, sink]) . v for every row, head and stream. All sizes in values, all nb in bytes.
struct turbo_attention {
    int n_kv; // positions, masked ones included
    int n_rows; // query rows (tokens) per stream
    int n_head; // query heads
    int n_head_kv; // KV heads; gqa = n_head/n_head_kv query heads share one
    int gqa;
    int n_stream; // streams of queries

    struct turbo_kv k;
    struct turbo_kv v;
    struct turbo_bias bias;
    struct turbo_recent recent;

    const char * q; // f32, k.head_dim values at row*nb_row + head*nb_head + stream*nb_stream
    size_t q_nb_row;
    size_t q_nb_head;
    size_t q_nb_stream;

    const char *
        mask; // fp16, n_kv values at row*nb_row + (head % n_head)*nb_head + (stream % n_stream)*nb_stream; NULL: none
    size_t mask_nb_row;
    size_t mask_nb_head;
    size_t mask_nb_stream;
    int mask_n_head;
    int mask_n_stream;

    const float * sinks; // one logit per query head that takes part in the sum only; NULL: none

    float scale; // of q.k; already divided by softcap when there is one
    float softcap; // 0: none; else logit = softcap*tanh(scale * q.k)
    float max_bias; // 0: slope is 1; else ALiBi

    char * dst; // f32, v.head_dim values at head*nb_head + row*nb_row + stream*nb_stream
    size_t dst_nb_head;
    size_t dst_nb_row;
    size_t dst_nb_stream;

    // this thread, and the scratch memory that all threads of the operation share
    int ith;
    int nth;
    struct ggml_threadpool * threadpool;
    char * work;
    size_t work_size;
};

// ALiBi's slope of a query head; 1 without ALiBi.
float turbo_attention_slope(const struct turbo_attention * at, int head);

// The stream of the cache that a stream of queries reads. Asked for with every tile, so without a division where there is one alone.
static inline int turbo_stream_of(const struct turbo_kv * kv, const struct turbo_attention * at, int stream) {
    return stream == 0 ? 0 : stream * kv->n_stream / at->n_stream;
}

static inline bool turbo_has_recent(const struct turbo_attention * at) { return at->recent.k.head_dim > 0; }

// The blocks of positions p0 and on, for a stream of queries.
static inline const int32_t * turbo_blocks_of(const struct turbo_attention * at, int stream, int p0) {
    return at->bias.block + turbo_stream_of(&at->k, at, stream) * turbo_bias_row(at->n_kv) + p0;
}

// Of the tile that begins at position p0, a multiple of TURBO_BIAS_TILE.
static inline const struct turbo_bias_runs * turbo_runs_of(const struct turbo_attention * at, int stream, int p0) {
    const int32_t * runs = turbo_blocks_of(at, stream, 0) + at->n_kv;
    return (const struct turbo_bias_runs *) runs + p0 / TURBO_BIAS_TILE;
}

// The families. `run` returns false, in all threads alike and before any of them wrote, when it does not take the
// operation; `work` is the scratch memory in bytes that `run` needs for it with that number of threads.
// `at` of `work` has no pointers and no thread.
bool turbo_decode_run(const struct turbo_attention * at);
size_t turbo_decode_work(const struct turbo_attention * at, int n_threads);
bool turbo_prefill_run(const struct turbo_attention * at);
size_t turbo_prefill_work(const struct turbo_attention * at, int n_threads);

// Query vectors per KV head (rows * gqa) up to which decode is asked first. Measured: see docs/performance.md.
#define TURBO_DECODE_MAX_QUERIES 32

#ifdef __cplusplus
}
#endif
