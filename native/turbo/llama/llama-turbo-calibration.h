// Calibration of a model for centering: means of the keys and values that it computes, taken off before they are
// quantized (kv-mean.h). For the addon and the tools.
//
// Exact, and free of bits: softmax does not change when one vector is subtracted from all keys of a head, and
// attention weights sum to one, so a vector taken off all values is added back once to the attention's output. What is
// left of the keys is scaled by channel, and the queries by the inverse.
#pragma once

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// Statistics of one model on one text. Immutable once made.
struct llama_turbo_calibration;

// How positions are scaled in the contexts that a calibration is for: rope_scaling_type, rope_freq_scale, yarn_ext_factor
// and yarn_orig_ctx of their llama_context_params. RoPE turns keys, so another scaling makes other means.
struct llama_turbo_rope {
    enum llama_rope_scaling_type type;
    float freq_scale;
    float ext_factor;
    uint32_t orig_ctx;
};

// Called on the calling thread, several times a micro-batch. Return false to cancel.
typedef bool (*llama_turbo_progress)(int32_t n_done, int32_t n_total, void * data);

// Runs n_tokens tokens through the model with an f16 cache and accumulates, in double, per layer and KV head: moments of K
// and of the queries of the head's group, freed of RoPE, and of V. From them it makes the constants of contexts of n_positions
// (rope-stats.h). The same model, text and back end give the same result; another number of threads may move its last bits.
// n_positions: depth of the contexts it is meant for; 0, or more than the model was trained for: that. RoPE turns keys by
// their position, so the constant that is best for a deep context is not for a short one.
// block: positions of K that are centered alike, a power of two up to 32; 0: 32, or where the K projection has a bias the most whose
// error is hardly above that of single positions.
// rope: NULL for the model's own; else n_positions may be more than the model was trained for.
// No other context of the model may be made meanwhile. progress may be NULL.
// Returns NULL when canceled, or with the reason logged.
LLAMA_API struct llama_turbo_calibration * llama_turbo_calibrate(struct llama_model * model, const llama_token * tokens,
    int32_t n_tokens, int32_t n_positions, int32_t block, int32_t n_threads, const struct llama_turbo_rope * rope,
    llama_turbo_progress progress, void * data);

LLAMA_API void llama_turbo_calibration_free(struct llama_turbo_calibration * calibration);

// Bytes of the serialized form, numbers as this machine stores them.
LLAMA_API size_t llama_turbo_calibration_get_size(const struct llama_turbo_calibration * calibration);

// Writes that many bytes to dst.
LLAMA_API void llama_turbo_calibration_get_data(const struct llama_turbo_calibration * calibration, void * dst);

// NULL when the bytes are damaged or of another version.
LLAMA_API struct llama_turbo_calibration * llama_turbo_calibration_init_from_data(const void * src, size_t size);

// Of all statistics, never 0: caches with different hashes hold different things.
LLAMA_API uint64_t llama_turbo_calibration_hash(const struct llama_turbo_calibration * calibration);

// Positions of K that are centered alike where attention runs on the CPU.
LLAMA_API int32_t llama_turbo_calibration_block(const struct llama_turbo_calibration * calibration);

// Tokens that the statistics were taken from.
LLAMA_API int32_t llama_turbo_calibration_n_tokens(const struct llama_turbo_calibration * calibration);

// Contexts of the model made from now on are centered with the calibration (a copy is kept), or with NULL not centered.
// Those that exist stay as they are. To be called with NULL before the model is freed.
// Returns false, changing nothing, when the calibration is of a model of another shape or holds a number that is not finite.
LLAMA_API bool llama_turbo_calibration_attach(
    struct llama_model * model, const struct llama_turbo_calibration * calibration);

struct llama_turbo_centering {
    bool k;        // a context made now centers K
    bool v;
    const char * reason_k; // NULL when it does; else one static sentence for the user
    const char * reason_v;
    uint64_t hash;     // of the attached calibration and of k_blocks; 0 when neither K nor V is centered
    bool wanted;   // only a calibration is missing, for K or for V
    bool k_blocks; // what is taken off K turns with the positions (key-blocks.h); else one constant serves all
    const char * reason_blocks; // where K is centered by a constant: why, one static sentence for the user
};

// What a context of these effective types (llama_turbo_resolve) would center. flash_attn: as there.
LLAMA_API struct llama_turbo_centering llama_turbo_centering_resolve(
    const struct llama_model * model, enum ggml_type type_k, enum ggml_type type_v, bool flash_attn);

// Bytes that centering by blocks takes beside a K cache of this effective type with so many cells, once the model is calibrated.
LLAMA_API size_t llama_turbo_block_bytes(
    const struct llama_model * model, enum ggml_type type_k, bool flash_attn, uint32_t n_cells);

// For tests: center all cache types, so that exactness can be seen without the noise of quantizing. K-shift then works
// with quantized types only.
LLAMA_API void llama_turbo_centering_every_type(bool on);

#ifdef __cplusplus
}
#endif
