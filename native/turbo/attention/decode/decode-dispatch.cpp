// Tables of the decode kernels by level.

#include "decode-kernels.h"
#include "turbo-codec.h"

#include <cstring>

const decode_kernels * decode_kernels_at(const char * level) {
    if (turbo_kernels_at(level) == nullptr) { return nullptr; }
#ifdef TURBO_X86_KERNELS
    if (strcmp(level, "avx512") == 0) { return &decode_kernels_avx512; }
    if (strcmp(level, "avx2") == 0) { return &decode_kernels_avx2; }
#endif
#ifdef TURBO_NEON_KERNELS
    if (strcmp(level, "neon") == 0) { return &decode_kernels_neon; }
#endif
    return &decode_kernels_scalar;
}
