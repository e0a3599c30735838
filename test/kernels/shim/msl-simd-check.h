// SIMD-group functions, barriers and atomics for CHECK mode: declarations.
#pragma once

namespace metal {

enum class mem_flags {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_threadgroup_imageblock = 8
};
mem_flags operator|(mem_flags a, mem_flags b);
void simdgroup_barrier(mem_flags f);
void threadgroup_barrier(mem_flags f);

// clang-format off: a table of macros
#define X(name) template <class T> T name(T v, ushort lane);
X(simd_shuffle) X(simd_broadcast) X(simd_shuffle_xor) X(simd_shuffle_down) X(simd_shuffle_up)
X(simd_shuffle_rotate_down) X(simd_shuffle_rotate_up)
#undef X
#define X(name) template <class T> T name(T v);
X(simd_sum) X(simd_product) X(simd_max) X(simd_min) X(simd_and) X(simd_or) X(simd_xor) X(simd_broadcast_first)
X(simd_prefix_exclusive_sum) X(simd_prefix_inclusive_sum)
#undef X
    // clang-format on
    bool simd_all(bool v);
bool simd_any(bool v);

// OpenCL owns the plain names
template <class T> struct atomic_box {
    T v;
};
typedef atomic_box<int> msl_atomic_int;
typedef atomic_box<uint> msl_atomic_uint;
typedef atomic_box<float> msl_atomic_float;
enum memory_order { memory_order_relaxed };
// clang-format off: a table of macros
#define X(AS) \
    template <class T, class U> T atomic_fetch_add_explicit(volatile AS atomic_box<T> * p, U x, memory_order); \
    template <class T, class U> void atomic_store_explicit(volatile AS atomic_box<T> * p, U x, memory_order); \
    template <class T> T atomic_load_explicit(const volatile AS atomic_box<T> * p, memory_order);
X(__global) X(__local)
#undef X
// clang-format on

} // namespace metal
