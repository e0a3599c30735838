// SIMD-group functions, barriers and atomics: declarations in CHECK mode; in EXEC mode every one is a rendezvous in the executor.
#pragma once

namespace metal {

enum class mem_flags {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_threadgroup_imageblock = 8
};
enum memory_order { memory_order_relaxed };
template <class T> struct atomic_box {
    T v;
};

} // namespace metal

#ifdef MSL_CHECK

namespace metal {

mem_flags operator|(mem_flags a, mem_flags b);
void simdgroup_barrier(mem_flags f);
void threadgroup_barrier(mem_flags f);

// clang-format off: a table of macros
#define X(name) template <class T> T name(T v, ushort lane);
X(simd_shuffle) X(simd_broadcast) X(simd_shuffle_xor) X(simd_shuffle_down) X(simd_shuffle_up)
X(simd_shuffle_rotate_down) X(simd_shuffle_rotate_up) X(quad_shuffle)
#undef X
#define X(name) template <class T> T name(T v);
X(simd_sum) X(simd_product) X(simd_max) X(simd_min) X(simd_and) X(simd_or) X(simd_xor) X(simd_broadcast_first)
X(simd_prefix_exclusive_sum) X(simd_prefix_inclusive_sum)
#undef X
    // clang-format on
    bool simd_all(bool v);
bool simd_any(bool v);

// OpenCL owns the plain names
typedef atomic_box<int> msl_atomic_int;
typedef atomic_box<uint> msl_atomic_uint;
typedef atomic_box<float> msl_atomic_float;
// clang-format off: a table of macros
#define X(AS) \
    template <class T, class U> T atomic_fetch_add_explicit(volatile AS atomic_box<T> * p, U x, memory_order); \
    template <class T, class U> void atomic_store_explicit(volatile AS atomic_box<T> * p, U x, memory_order); \
    template <class T> T atomic_load_explicit(const volatile AS atomic_box<T> * p, memory_order);
X(__global) X(__local)
#undef X
// clang-format on

} // namespace metal

#else

// None is inlined, so that its return address is a line of the kernel.
#include "msl-abi.h"

#define MSL_COLLECTIVE __attribute__((noinline, convergent)) MSL_QUIET
#define MSL_SITE       __builtin_return_address(0)

namespace metal {

inline mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags) ((int) a | (int) b); }

MSL_COLLECTIVE inline void simdgroup_barrier(mem_flags f) { msl_simdgroup_barrier((int) f, MSL_SITE); }
MSL_COLLECTIVE inline void threadgroup_barrier(mem_flags f) { msl_threadgroup_barrier((int) f, MSL_SITE); }

template <class T> struct lanes {
    const msl::exchange * x;
    MSL_QUIET lanes(const T & mine, const void * site) {
        static_assert(sizeof(T) <= msl::MAX_VALUE, "wider than a lane's slot");
        x = msl_exchange(&mine, sizeof(T), site);
    }
    MSL_QUIET bool has(int i) const { return x->present[i]; }
    MSL_QUIET T operator[](int i) const {
        T r;
        __builtin_memcpy(&r, x->value[i], sizeof(T));
        return r;
    }
};

template <class T> MSL_QUIET inline T from_lane(const lanes<T> & all, int source, const void * site) {
    if (!all.has(source)) msl_inactive_lane(source, site);
    return all[source];
}

// a lane that would read beyond either end keeps its own value
// clang-format off: a table of macros
#define X(name, source) \
    template <class T> MSL_COLLECTIVE T name(T v, ushort a) { \
        const void * site = MSL_SITE; \
        const int l = msl_lane(); \
        const lanes<T> all(v, site); \
        (void) l; \
        return from_lane(all, (source), site); \
    }
X(simd_shuffle,             a & 31)
X(simd_broadcast,           a & 31)
X(simd_shuffle_xor,         (l ^ a) & 31)
X(simd_shuffle_down,        l + a < 32 ? l + a : l)
X(simd_shuffle_up,          l >= a ? l - a : l)
X(simd_shuffle_rotate_down, (l + a) & 31)
X(simd_shuffle_rotate_up,   (l - a) & 31)
X(quad_shuffle,             (l & ~3) | (a & 3)) // all quads of a SIMD-group meet here
#undef X
// clang-format on

template <class T> MSL_COLLECTIVE T simd_broadcast_first(T v) {
    const lanes<T> all(v, MSL_SITE);
    int i = 0;
    while (!all.has(i)) ++i;
    return all[i];
}

// Halving tree over the lanes present; all lanes get the same bits.
template <class T, class Op> MSL_QUIET inline T reduce(T v, const void * site, Op op) {
    const lanes<T> all(v, site);
    T t[32];
    bool has[32];
    for (int i = 0; i < 32; ++i)
        if ((has[i] = all.has(i))) t[i] = all[i];
    for (int d = 16; d > 0; d /= 2) {
        for (int i = 0; i < d; ++i) {
            if (!has[i + d]) continue;
            t[i] = has[i] ? op(t[i], t[i + d]) : t[i + d];
            has[i] = true;
        }
    }
    return t[0];
}
// clang-format off: a table of macros
#define X(name, expr) \
    template <class T> MSL_COLLECTIVE T name(T v) { return reduce(v, MSL_SITE, [](T a, T b) MSL_QUIET { return (T) (expr); }); }
X(simd_sum, a + b) X(simd_product, a*b) X(simd_max, metal::max(a, b)) X(simd_min, metal::min(a, b))
X(simd_and, a & b) X(simd_or, a | b) X(simd_xor, a ^ b)
#undef X
    // clang-format on
    MSL_COLLECTIVE inline bool simd_all(bool v) {
    return reduce((int) v, MSL_SITE, [](int a, int b) MSL_QUIET { return a & b; });
}
MSL_COLLECTIVE inline bool simd_any(bool v) {
    return reduce((int) v, MSL_SITE, [](int a, int b) MSL_QUIET { return a | b; });
}

template <class T> MSL_QUIET inline T sum_below(T v, int end, const void * site) {
    const lanes<T> all(v, site);
    T s = (T) 0;
    for (int i = 0; i < end; ++i)
        if (all.has(i)) s = s + all[i];
    return s;
}
template <class T> MSL_COLLECTIVE T simd_prefix_exclusive_sum(T v) { return sum_below(v, msl_lane(), MSL_SITE); }
template <class T> MSL_COLLECTIVE T simd_prefix_inclusive_sum(T v) { return sum_below(v, msl_lane() + 1, MSL_SITE); }

// Fibres share one OS thread, so plain operations are atomic. Not seen by the race detector.
typedef atomic_box<int> atomic_int;
typedef atomic_box<uint> atomic_uint;
typedef atomic_box<float> atomic_float;
template <class T, class U> MSL_QUIET T atomic_fetch_add_explicit(volatile atomic_box<T> * p, U x, memory_order) {
    T old = p->v;
    p->v = old + (T) x;
    return old;
}
template <class T, class U> MSL_QUIET void atomic_store_explicit(volatile atomic_box<T> * p, U x, memory_order) {
    p->v = (T) x;
}
template <class T> MSL_QUIET T atomic_load_explicit(const volatile atomic_box<T> * p, memory_order) { return p->v; }

} // namespace metal

#endif
