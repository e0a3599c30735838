// Inside of the prefill kernels: the primitives that a SIMD level supplies, and the plan of an operation.
// Only the prefill files include it.
#pragma once

#include "attention.h"

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Positions of a tile of K and V. Two tiles of 128 values a row are 128 KiB: a quarter of the second-level cache.
#define PREFILL_TILE 128

// What all rows of the mask know about a tile: nothing to add, nothing to see, or entries of both kinds.
enum prefill_view { PREFILL_HIDDEN, PREFILL_OPEN, PREFILL_MIXED };

// One table per SIMD level. Matrices are f32; `cols` of a score row is a multiple of nr.
// A NaN comes out of every function as a NaN.
struct prefill_kernels {
    const char * level;
    int mr; // rows of the register tile
    int nr; // and its columns

    // c[rows][nr] = a[rows][k] . panel[k][nr], or += when accumulate; rows is a multiple of mr
    void (*gemm)(const float * a, int lda, const float * panel, int k, float * c, int ldc, int rows, bool accumulate);
    // c[i][nr] = start[i*nr] + a . panel
    void (*gemm_from)(
        const float * start, const float * a, int lda, const float * panel, int k, float * c, int ldc, int rows);
    // panel[k][nr] of nr rows of k values
    void (*transpose)(const float * rows, int ld, int k, float * panel);

    // s = cap*tanh(s)
    void (*soft_cap)(float * s, int cols, float cap);
    // s += slope*mask (fp16); where the mask is -inf, s is -inf whatever it was
    void (*add_mask)(float * s, const uint16_t * mask, int n, float slope);
    enum prefill_view (*view)(const uint16_t * mask, int n);

    float (*max)(const float * s, int cols);
    // s = 2^(s - max), 0 where s is -inf and nowhere else; returns the sum. No s is above max.
    float (*exp2_sum)(float * s, int cols, float max);
    void (*scale)(float * x, int n, float factor);
    bool (*finite)(const float * x, int n);

    // n values of a row
    ggml_to_float_t f16;
    ggml_to_float_t q8_0;
    ggml_to_float_t q4_0;
};

extern const struct prefill_kernels prefill_kernels_scalar;
extern const struct prefill_kernels prefill_kernels_avx2;
extern const struct prefill_kernels prefill_kernels_avx512;
extern const struct prefill_kernels prefill_kernels_neon;

#ifdef __cplusplus
}

// Logits are in base 2: log2(e) is part of the scale.
constexpr float LOG2E = 1.44269504f;

// How an operation is cut into items for the threads: one KV head of one stream with a block of its query vectors, and with all
// tiles of K and V or, where the query vectors are few, some of them. Query vector i of a KV head is row i/gqa with head i%gqa of
// the group.
struct prefill_plan {
    const prefill_kernels * kern;
    ggml_to_float_t k_decoder; // NULL: f32
    ggml_to_float_t v_decoder;
    ggml_to_float_t recent_decoder; // of both sides

    int n_query;  // query vectors of a KV head
    int block;    // of an item
    int n_block;  // per KV head
    int part;     // query vectors whose scores are held at once
    int n_tile;
    int n_split;  // of the tiles; 1: an item has all of them
    int z_stride; // values of a row of z; 0: no bias
    int k_stride; // values of a row of Q and of K, rounded up to whole panels for V
    int v_stride;

    // bytes
    size_t view_size;   // shared: prefill_view of [mask stream][mask head][row][tile]
    size_t split_size;  // shared, for each head and split: what its item gathered (prefill_gathered)
    size_t thread_size; // each thread's buffers
};

// Buffers of a thread, f32. T = PREFILL_TILE.
struct prefill_buffers {
    float * q;      // [block][k_stride], scaled to logits of base 2
    float * out;    // [block][v_stride]
    float * max;    // [block]
    float * sum;    // [block]
    float * scores; // [part][T]
    float * k;      // [T/nr][k.head_dim][nr]
    float * v;      // [v_stride/nr][T][nr]
    float * rows;   // [nr][max of the strides]
    float * z;      // [block][z_stride], scaled as q
    float * turns;  // [z_stride][nr]: T of a window
    float * bias;   // [block][nr]
};

// What the query vectors of an item gathered over the tiles that it saw: weights are relative to 2^max, out is not divided by sum.
struct prefill_gathered {
    float * out; // [block][v_stride]
    float * max; // [block]
    float * sum; // [block]
};

// Bytes of one.
size_t prefill_gathered_size(const prefill_plan & plan);
// Where split `split` of head `head` (of all streams) puts it. splits: the memory of all.
prefill_gathered prefill_split(const prefill_plan & plan, char * splits, int head, int split);
// Makes the row of the result of a query vector out of it: the sink takes part in the sum, then out is divided.
void prefill_store(const turbo_attention & at, const prefill_plan & plan, int stream, int row, int head, float max,
    float sum, float * out);
// This thread's share of the results, from those of the splits.
void prefill_merge(const turbo_attention & at, const prefill_plan & plan, char * splits);

// The bias (turbo_bias) of the query vectors of an item. Blocks are worked through in windows of as many as a panel has columns:
// the positions of a tile are nearly always in one.
class prefill_bias {
public:
    prefill_bias(const turbo_attention & at, const prefill_plan & plan, const prefill_buffers & buf)
        : at(at), plan(plan), buf(buf) {}

    void begin();
    // z of query vector i of the item
    void load(int stream, int row, int head, int i, float scale);
    // of a tile of n positions
    void list_runs(int stream, int first, int n);
    // What the scores of query vectors part .. part + n_part - 1 begin with at positions first .. last - 1 of the tile, at most nr. Where
    // they lie in one block: of vector i at [i*nr]. Otherwise NULL, and it is in buf.scores.
    const float * begin_scores(int part, int n_part, int first, int last);

private:
    static const int MAX_PARTS = 64;

    struct run {
        int end; // the first position that is in another block
        int block;
    };

    void load_turns(int window);
    const float * of_block(int part, int n_part, int block);

    const turbo_attention & at;
    const prefill_plan & plan;
    const prefill_buffers & buf;
    int turns_window; // what buf.turns holds
    int held[MAX_PARTS]; // the window that buf.bias holds of each part
    run runs[PREFILL_TILE];
    int n_run;
};

#endif
