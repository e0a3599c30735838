// What host and shader share: argument structs, numbers of function constants, limits. Compiles as C, C++ and Metal.
// Strides are in bytes, as ggml's nb; a vector's own elements are adjacent.
#pragma once

#ifndef __METAL_VERSION__
#include <stdint.h>
#endif

#define TURBO_METAL_LANES 32

// Upstream's blocks of function constants go up to 2000; ours stand well above.
#define FC_TURBO         3000
#define FC_TURBO_TABLE   (FC_TURBO + 0) // int: enum turbo_metal_table
#define FC_TURBO_TYPE_K  (FC_TURBO + 1) // int: enum turbo_metal_kind
#define FC_TURBO_TYPE_V  (FC_TURBO + 2) // int: enum turbo_metal_kind
#define FC_TURBO_MASK    (FC_TURBO + 3) // int: enum turbo_metal_mask
#define FC_TURBO_ALIBI   (FC_TURBO + 4) // bool
#define FC_TURBO_SOFTCAP (FC_TURBO + 5) // bool
#define FC_TURBO_SKIP_V \
    (FC_TURBO + 6) // bool: rows of V whose weights are all below TURBO_METAL_NEGLIGIBLE are not read
#define FC_TURBO_SINKS (FC_TURBO + 7) // bool
#define FC_TURBO_HALF  (FC_TURBO + 8) // bool: the other side of a copy or of set_rows is f16, else f32
#define FC_TURBO_LONG  (FC_TURBO + 9) // bool: row indices are int64, else int32
#define FC_TURBO_SAME  (FC_TURBO + 10) // bool: a copy between tensors of one shape
#define FC_TURBO_RECENT \
    (FC_TURBO + 11) // bool: a window of q8_0 rows is stored beside a turbo cache, and read in its place

// How an index becomes a level.
enum turbo_metal_table {
    TURBO_METAL_TABLE_SIGNED = 0,    // all levels, negative ones too: 8 entries for turbo3, 16 for turbo4
    TURBO_METAL_TABLE_MAGNITUDE = 1, // 4 and 8 entries, the sign flipped into the product with XOR
    TURBO_METAL_TABLE_SHUFFLE = 2,   // the same entries in the registers of a quad, read by quad_shuffle
    TURBO_METAL_TABLES = 3,
};

// Formats of a row of K or V. The group of a turbo row follows from its length: 64 when that is 64, else 128.
enum turbo_metal_kind {
    TURBO_METAL_TURBO4 = 0,
    TURBO_METAL_TURBO3 = 1,
    TURBO_METAL_Q8_0 = 2,
    TURBO_METAL_F16 = 3,
};

enum turbo_metal_mask {
    TURBO_METAL_MASK_NONE = 0,
    TURBO_METAL_MASK_SHARED = 1, // one row of mask for all queries of a KV head
    TURBO_METAL_MASK_OWN = 2, // one per query
};

#define TURBO_METAL_POSITIONS  32 // positions that a SIMD-group takes at a time; a tile of a window (TURBO_RECENT_TILE)
#define TURBO_METAL_MAX_SPLITS 256 // of the KV range
#define TURBO_METAL_NEGLIGIBLE 1e-6f // relative to the largest weight so far
#define TURBO_METAL_MAX_DIM_V  256
#define TURBO_METAL_MERGERS    4 // SIMD-groups that add up the parts of one vector

// One threadgroup memory area per threadgroup for Q, and one per SIMD-group:
//   Q       float  [queries][dim_k]
//   scales  float4 [positions][groups of V]
//   scores  float  [queries][positions]      then weights
//   heavy   float  [positions]               largest weight of a position
// After the last position it holds sums that one SIMD-group hands to another (turbo-join.h), which need no more.
#define TURBO_METAL_V_GROUPS(dim_v)              ((dim_v) <= 128 ? 1 : (dim_v) / 128)
#define TURBO_METAL_SHARED_BYTES(dim_k, queries) ((queries) * (dim_k) * 4)
#define TURBO_METAL_GROUP_BYTES(dim_v, queries) \
    (TURBO_METAL_POSITIONS * ((queries) * 4 + TURBO_METAL_V_GROUPS(dim_v) * 16 + 4))

// The queries of a KV head are numbered row*gqa + head within the group.
typedef struct {
    int32_t n_kv;
    int32_t n_rows; // rows of Q per head
    int32_t gqa; // heads per KV head
    int32_t n_head;
    int32_t n_stream;
    int32_t n_split; // parts of the KV range, a multiple of simdgroups
    int32_t simdgroups; // per threadgroup, a power of two; each does a split, and together they write one part
    int32_t mask_heads; // sizes of the mask; heads and streams wrap round
    int32_t mask_streams;
    int32_t n_head_log2; // ALiBi
    float m0;
    float m1;
    float scale; // divided by softcap when that is not 0
    float softcap;
    uint64_t q_nb_row;
    uint64_t q_nb_head;
    uint64_t q_nb_stream;
    uint64_t k_nb_row;
    uint64_t k_nb_head;
    uint64_t k_nb_stream;
    uint64_t v_nb_row;
    uint64_t v_nb_head;
    uint64_t v_nb_stream;
    uint64_t mask_nb_row;
    uint64_t mask_nb_head;
    uint64_t mask_nb_stream;
    uint64_t recent_nb_row; // of the window: heads of K one after the other, then those of V
    uint64_t recent_v; // where V begins in it
} turbo_metal_args_attention;

// parts: float [n_vec][n_part][dim_v], then [n_vec][n_part][2] of maximum and sum
typedef struct {
    int32_t n_vec; // output vectors: [stream][row][head]
    int32_t n_head;
    int32_t n_part; // n_split/simdgroups
    int32_t dim_v;
} turbo_metal_args_merge;

// A copy of rows; nk0: groups per row of the turbo side.
typedef struct {
    int64_t nk0;
    int64_t ne00;
    int64_t ne01;
    int64_t ne02;
    int64_t ne03;
    uint64_t nb01;
    uint64_t nb02;
    uint64_t nb03;
    int64_t ne0;
    int64_t ne1;
    int64_t ne2;
    uint64_t nb1;
    uint64_t nb2;
    uint64_t nb3;
    uint64_t recent_nb_row; // of the window
    uint64_t recent_nb_head;
} turbo_metal_args_copy;

typedef struct {
    int32_t nk0; // groups per row
    int32_t ne01; // rows
    int32_t ne02;
    int32_t ne11; // index tensor: dimensions wrap round
    int32_t ne12;
    uint64_t nb01;
    uint64_t nb02;
    uint64_t nb03;
    uint64_t nb10;
    uint64_t nb11;
    uint64_t nb12;
    uint64_t nb1;
    uint64_t nb2;
    uint64_t nb3;
    uint64_t place_nb; // of the index tensor of the window
    uint64_t recent_nb_row; // of the window
} turbo_metal_args_set_rows;
