// The calls from a compiled kernel into the executor. Both sides include this header.
#pragma once

#include <stddef.h>
#include <stdint.h>

// What is not counted as an access of the kernel.
#define MSL_QUIET __attribute__((no_sanitize("kernel-address", "undefined")))

namespace msl {

constexpr int SIMD_WIDTH = 32;
constexpr int MAX_VALUE = 64; // bytes of the widest value that a lane hands to the others: float4x4

// The values that the lanes of a SIMD-group brought to one collective; lanes that have returned bring none.
struct exchange {
    bool present[SIMD_WIDTH];
    alignas(64) unsigned char value[SIMD_WIDTH][MAX_VALUE];
};

// Where a kernel runs: what the attributes of its parameters ask for.
struct vec3 {
    uint32_t v[3];
};
struct thread_position {
    vec3 threadgroup, in_threadgroup, in_grid, threads_per_threadgroup, threadgroups;
    uint32_t index_in_threadgroup, lane, simdgroup, simdgroups;
};

// One parameter of a kernel: attribute without brackets and index, and the index ("buffer", 3).
struct parameter {
    const char * role;
    int index;
};

struct call_context {
    const thread_position * position;
    const parameter * parameters;
    void * const * pointers;  // per parameter; nullptr for positions
};

typedef void (*kernel_call)(void * function, const call_context & context);

} // namespace msl

// site: return address in the kernel's code, for reports
extern "C" {
__attribute__((convergent)) const msl::exchange * msl_exchange(const void * value, unsigned bytes, const void * site);
__attribute__((convergent)) void msl_simdgroup_barrier(int flags, const void * site);
__attribute__((convergent)) void msl_threadgroup_barrier(int flags, const void * site);
int msl_lane(void);
void msl_inactive_lane(int from, const void * site); // a shuffle read a lane that has returned
void * msl_threadgroup_variable(const void * key, size_t bytes);
msl::vec3 msl_position(const msl::thread_position * position, const char * role);
void msl_register_kernel(const char * name, const char * function, msl::kernel_call call, void * f, int n_parameters);
void msl_register_parameters(const char * function, const msl::parameter * parameters, int n);
void msl_register_constant(int index, const char * name, const char * type, void * value, size_t bytes);
}
