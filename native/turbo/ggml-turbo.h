// Type ids and queries of the turbo cache types: what programs that use ggml include (addon, tools, tests).
#pragma once

#include "ggml.h"

// Ids are written into session files, so they stay for ever. These are slots of types that upstream removed
// and never gives out again; ids.cmake stops the configuration if a new pin uses one.
#define GGML_TYPE_TURBO4        ((enum ggml_type) 36)
#define GGML_TYPE_TURBO3        ((enum ggml_type) 37)
#define GGML_TYPE_TURBO4_64     ((enum ggml_type) 38)
#define GGML_TYPE_TURBO3_64     ((enum ggml_type) 33)
#define GGML_TYPE_TURBO4_TCQ    ((enum ggml_type) 31)
#define GGML_TYPE_TURBO3_TCQ    ((enum ggml_type) 32)
#define GGML_TYPE_TURBO4_TCQ_64 ((enum ggml_type) 4)
#define GGML_TYPE_TURBO3_TCQ_64 ((enum ggml_type) 5)

#ifdef __cplusplus
extern "C" {
#endif

// True for the turbo types.
GGML_API bool ggml_turbo_is_turbo(enum ggml_type type);

// The type with blocks of the same bytes and no trellis, for devices that have no kernels of one; any other type itself.
GGML_API enum ggml_type ggml_turbo_without_trellis(enum ggml_type type);

// Type of the names a user may ask for: "turbo4", "turbo3", "turbo4_tcq" and "turbo3_tcq"; GGML_TYPE_COUNT for any other
// name. The _64 types are chosen by llama_turbo_resolve, never asked for.
GGML_API enum ggml_type ggml_turbo_type_from_name(const char * name);

// Level of the CPU kernels in effect: "scalar", "avx2", "avx512" or "neon". The environment variable
// CONCERTINA_SIMD caps it (README.md).
const char * ggml_turbo_simd_level(void);

// The best level that this processor has instructions for, whatever this build was compiled for.
const char * ggml_turbo_cpu_level(void);

// Switches the CPU's attention kernels of native/turbo/attention for the whole process; on at start. Off, every
// flash attention operation takes upstream's own path: what measurements call "stock".
void ggml_turbo_attention_enable(bool on);

#ifdef __cplusplus
}
#endif
