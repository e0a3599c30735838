// Every hook: what the patches call, from where, and what a return value means. The patches hold call
// sites only; all behavior is in the files of native/turbo.
//
// | hook                        | called from (upstream function)                         | lives in          |
// |-----------------------------|---------------------------------------------------------|-------------------|
// | TURBO_TYPE_TRAITS           | ggml.c, table type_traits                               | turbo-types.c     |
// | turbo_quantize_chunk        | ggml.c, ggml_quantize_chunk, default case               | turbo-types.c     |
// | TURBO_CPU_TYPE_TRAITS       | ggml-cpu.c, table type_traits_cpu                       | turbo-dispatch.cpp|
// | turbo_v_decoder             | ops.cpp, ggml_compute_forward_flash_attn_ext_f16_one_chunk | turbo-dispatch.cpp |
// | turbo_compute_forward       | ggml-cpu.c, ggml_compute_forward                        | turbo-dispatch.cpp|
// | turbo_flash_attn_work       | ggml-cpu.c, ggml_graph_plan                             | attention/attention.cpp |
// | ggml_turbo_is_turbo         | ops.cpp, ggml_compute_forward_get_rows                  | turbo-types.c     |
// | llama_turbo_apply           | llama-context.cpp, llama_init_from_model                | llama-turbo.cpp   |
// | turbo_v_rotation_of         | llama-kv-cache.cpp, llama_kv_cache::build_input_v_rot   | llama/layer-types.h |
// | turbo_layer_type            | llama-kv-cache.cpp, llama_kv_cache::llama_kv_cache      | llama/layer-types.cpp |
// | turbo_kv_mean_cache          | llama-kv-cache.cpp, end of llama_kv_cache::llama_kv_cache | kv-mean.cpp (kv-mean.h) |
// | turbo_kv_mean_in, _out       | llama-graph.cpp, build_attn with llm_graph_input_attn_kv and _kv_iswa | kv-mean.cpp |
// | turbo_kv_mean_undo, _redo    | llama-kv-cache.cpp, llama_kv_cache::build_rope_shift    | kv-mean.cpp |
// | turbo_state_type, _to_read   | llama-kv-cache.cpp, state_write_data, state_read_data   | kv-mean.cpp |
// | turbo_store                 | llama-kv-cache.cpp, cpy_k, cpy_v                        | recent-window.cpp (kv-mean.h) |
// | GGML_TYPE_TURBO4 ...        | common/arg.cpp, kv_cache_types                          | ggml-turbo.h      |
// | ggml_turbo_type_from_name   | llama-bench.cpp, ggml_type_from_name                    | turbo-types.c     |
#pragma once

#include "ggml-turbo.h"
#include "turbo-layout.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Rows of ggml.c's type_traits.
#define TURBO_TYPE_TRAITS TURBO_EACH_TYPE(TURBO_TRAITS_ROW)

#define TURBO_TRAITS_ROW(ID, name, group) \
    [GGML_TYPE_##ID] = { .type_name = #name, \
        .blck_size = group, \
        .type_size = sizeof(block_##name), \
        .is_quantized = true, \
        .to_float = turbo_to_float_##name, \
        .from_float_ref = turbo_from_float_ref_##name },

// Rows of ggml-cpu.c's type_traits_cpu.
#define TURBO_CPU_TYPE_TRAITS TURBO_EACH_TYPE(TURBO_CPU_TRAITS_ROW)

#define TURBO_CPU_TRAITS_ROW(ID, name, group) \
    [GGML_TYPE_##ID] = { .from_float = turbo_from_float_##name, \
        .vec_dot = turbo_vec_dot_##name, \
        .vec_dot_type = GGML_TYPE_Q8_0, \
        .nrows = 1 },

#define TURBO_DECLARE(ID, name, group) \
    void turbo_to_float_##name(const void * x, float * y, int64_t k); \
    void turbo_from_float_ref_##name(const float * x, void * y, int64_t k); \
    void turbo_from_float_##name(const float * x, void * y, int64_t k); \
    void turbo_vec_dot_##name( \
        int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc);

TURBO_EACH_TYPE(TURBO_DECLARE)

// Quantizes nrows rows of n_per_row values with the reference.
// Returns the bytes written; 0 when type is not a turbo type, on which the caller's size check aborts.
size_t turbo_quantize_chunk(enum ggml_type type, const float * src, void * dst, int64_t nrows, int64_t n_per_row);

// Decoder of V rows in flash attention: for turbo types the one of the SIMD level in effect (ggml-base, where
// the traits' to_float lives, is compiled for the baseline CPU only), for all others `to_float` itself.
ggml_to_float_t turbo_v_decoder(enum ggml_type type, ggml_to_float_t to_float);

struct ggml_compute_params;

// Computes an operation of a graph by one of the three below. Like them it returns false, in every thread alike and before
// anything is written, when upstream's path must do it.
bool turbo_compute_forward(const struct ggml_compute_params * params, struct ggml_tensor * dst);

// A SET_ROWS operation of f32 rows into a turbo type, or with rows that are stored twice; the threads share the groups of each row.
bool turbo_set_rows(const struct ggml_compute_params * params, struct ggml_tensor * dst);

// A FLASH_ATTN_EXT operation that the kernels of native/turbo/attention take.
bool turbo_flash_attn_ext(const struct ggml_compute_params * params, struct ggml_tensor * dst);

// Further sources of a FLASH_ATTN_EXT operation with a part of the score beside q . k (llama/key-blocks.h), all or none of them:
// logit = cap(scale * (q . k + z . T[block of the cell])) + mask. No back end but ours reads them: turbo_flash_attn_ext
// takes every such operation.
#define TURBO_SRC_BIAS_QUERIES 5 // z, f32 [n_row, n_head, n_tokens of all streams]
#define TURBO_SRC_BIAS_TURNS   6 // T, f16 [TURBO_BIAS_PANEL, n_row or more, n_panel]; the last n_row rows count
#define TURBO_SRC_BIAS_BLOCKS  7 // i32 [turbo_bias_row(n_kv), n_stream of the cache]: see turbo_bias_runs

// Rows of K and V that are held once more, in a finer type (llama/recent-window.h). Sources of FLASH_ATTN_EXT, both or none of
// them: the kernels of native/turbo/attention and of metal/kernels read these rows in place of the cache's (Metal those of turbo
// sides; a side of q8_0 is as fine); other paths do not know them.
#define TURBO_SRC_RECENT_ROWS 8 // q8_0 [n_embd_k_gqa + n_embd_v_gqa, n_row]: K, then V
#define TURBO_SRC_RECENT_SLOTS \
    9 // i32 [n_kv / TURBO_RECENT_TILE]: tile of rows that holds a tile of cells; -1: none does
#define TURBO_RECENT_TILE 32

// Sources of SET_ROWS into such a cache: where it stores the rows once more. TURBO_SRC_RECENT_ROWS is the side alone.
#define TURBO_SRC_RECENT_PLACES 9 // i64 [n_tokens]: the row of each; -1: it has none

// T[b] is column b % TURBO_BIAS_PANEL of panel b / TURBO_BIAS_PANEL.
#define TURBO_BIAS_PANEL 16

// A row of TURBO_SRC_BIAS_BLOCKS: the block of each cell, then a turbo_bias_runs for each tile of cells. Cells are mostly in the order of
// their positions, so that few tiles have more than two blocks.
#define TURBO_BIAS_TILE 32

struct turbo_bias_runs {
    int32_t n; // cells at the beginning of the tile that lie in one block, where all others lie in one, too; else 0
    int32_t block; // of these cells
    int32_t behind; // block of the last cell
};

static inline int64_t turbo_bias_row(int64_t n_kv) {
    const int64_t n_tile = (n_kv + TURBO_BIAS_TILE - 1) / TURBO_BIAS_TILE;
    return n_kv + n_tile * (int64_t) (sizeof(struct turbo_bias_runs) / sizeof(int32_t));
}

// Makes the second part of a row from its first one: once for all layers and threads.
void turbo_bias_list_runs(int32_t * row, int64_t n_kv);

// A MUL_MAT operation of q6_K weights that the kernels of native/turbo/matmul take, with the scratch memory that upstream's
// path has: the activations as q8_K.
bool turbo_mul_mat(const struct ggml_compute_params * params, struct ggml_tensor * dst);

// Bytes of scratch memory that turbo_flash_attn_ext may want for the operation.
size_t turbo_flash_attn_work(const struct ggml_tensor * dst, int n_threads);

// Width of the Hadamard rotation of V for a cache type: the group for turbo types, so that one scale covers
// values of one energy; 64, upstream's choice, for all others. The width divides head_dim when the type does.
int turbo_v_rotation(enum ggml_type type);

struct llama_model;
struct llama_context_params;

// Replaces type_k and type_v in params by the types that this model can use (llama_turbo_resolve) and logs
// why they differ. Returns false, with the reason logged, when a context must not be made: turbo types
// with LLAMA_ATTN_ROT_DISABLE set.
bool llama_turbo_apply(const struct llama_model * model, struct llama_context_params * params);

#ifdef __cplusplus
}
#endif
