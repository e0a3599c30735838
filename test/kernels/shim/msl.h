// Enough of the Metal Shading Language for clang 19 on x86-64; force-included before a rewritten .metal source.
//   CHECK mode  -x clcpp   address spaces are real (device = __global, constant = const __constant, threadgroup = __local,
//                          thread = __private); declarations only, nothing is linked
//   EXEC mode   -x c++     address spaces are erased; collectives and barriers call the executor (msl-abi.h)
// What is not here does not compile: an unknown function must be an error, not a guess.
#pragma once

// --- modes, scalar types, constants and the three type traits that the rest needs (no host header in CHECK mode)

#ifdef __OPENCL_CPP_VERSION__
#define MSL_CHECK 1
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define FLT_MAX     __FLT_MAX__
#define FLT_MIN     __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define INT_MAX     __INT_MAX__
// functions that exist once per address space
#define MSL_EACH_SPACE(X)    X(__global) X(__local) X(__private)
#define MSL_EACH_CONSTANT(X) X(__constant)
#else
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
typedef _Float16 half;
constexpr half operator""h(long double x) { return (half) x; }
#define MSL_EACH_SPACE(X)
#define MSL_EACH_CONSTANT(X)
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __bf16 bfloat;

#define __METAL_VERSION__ 320
#define __METAL__         1

#define M_PI_F   3.14159265358979323846f
#define M_E_F    2.71828182845904523536f
#define MAXHALF  ((half) 65504.0f)
#define HALF_MAX ((half) 65504.0f)
#undef NAN
#define NAN (__builtin_nanf(""))
#undef INFINITY
#define INFINITY (__builtin_inff())

namespace metal {

template <class A, class B> struct is_same {
    static constexpr bool value = false;
};
template <class A> struct is_same<A, A> {
    static constexpr bool value = true;
};

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> {
    typedef T type;
};
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template <bool B, class T, class F> struct conditional {
    typedef T type;
};
template <class T, class F> struct conditional<false, T, F> {
    typedef F type;
};
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;

template <class T> struct is_scalar {
    static constexpr bool value = __is_arithmetic(T) || is_same<T, half>::value || is_same<T, bfloat>::value;
};
template <class T> using if_scalar = enable_if_t<is_scalar<T>::value>;

} // namespace metal

#include "msl-vector.h"
#include "msl-math.h"
#include "msl-simd.h"

// --- binds the arguments of a kernel and registers kernels, parameters and function constants with the executor

#ifndef MSL_CHECK
#include <utility>

namespace msl {

template <class P> struct argument { // a scalar position
    MSL_QUIET static P get(const call_context & c, int i) {
        return (P) msl_position(c.position, c.parameters[i].role).v[0];
    }
};
template <class T> struct argument<T &> {
    MSL_QUIET static T & get(const call_context & c, int i) { return *(T *) c.pointers[i]; }
};
template <class T> struct argument<T *> {
    MSL_QUIET static T * get(const call_context & c, int i) { return (T *) c.pointers[i]; }
};
template <class T, int N> struct argument<metal::vec<T, N>> {
    MSL_QUIET static metal::vec<T, N> get(const call_context & c, int i) {
        const vec3 p = msl_position(c.position, c.parameters[i].role);
        metal::vec<T, N> r;
        for (int k = 0; k < N; ++k) r.e[k] = (T) p.v[k];
        return r;
    }
};

template <class... A, size_t... I>
MSL_QUIET inline void call(void (*f)(A...), const call_context & c, std::index_sequence<I...>) {
    f(argument<A>::get(c, (int) I)...);
}

struct kernel_entry {
    template <class... A> kernel_entry(const char * name, const char * function, void (*f)(A...)) {
        const kernel_call bound = [](void * p, const call_context & c) {
            call((void (*)(A...)) p, c, std::index_sequence_for<A...>{});
        };
        msl_register_kernel(name, function, bound, (void *) f, (int) sizeof...(A));
    }
};
struct parameters_entry {
    template <int N> parameters_entry(const char * function, const parameter (&p)[N]) {
        msl_register_parameters(function, p, N);
    }
};
struct constant_entry {
    template <class T> constant_entry(int index, const char * name, const char * type, T & value) {
        msl_register_constant(index, name, type, &value, sizeof(T));
    }
};

} // namespace msl
#endif

// --- MSL's keywords as macros, last so that no host header sees them, and the macros that rewrite.mjs writes

#define MSL_JOIN2(a, b) a##b
#define MSL_JOIN1(a, b) MSL_JOIN2(a, b)
#define MSL_UNIQUE(a)   MSL_JOIN1(a, __COUNTER__)

#undef kernel
#define kernel

#ifdef MSL_CHECK
// OpenCL keywords that are plain identifiers in MSL
#define local        msl_id_local
#define global       msl_id_global
#define generic      msl_id_generic
#define atomic_int   msl_atomic_int
#define atomic_uint  msl_atomic_uint
#define atomic_float msl_atomic_float

#define device      __global
#define threadgroup __local
#define thread      __private
#define constant    const __constant

#define MSL_FUNCTION_CONSTANT(T, name, index)   extern constant T name;
#define MSL_THREADGROUP_VARIABLE(T, name, dims) threadgroup T(&name) dims = *(threadgroup T(*) dims) 0
#else
#define device
#define threadgroup
#define thread
#define constant const

#define MSL_FUNCTION_CONSTANT(T, name, index) \
    static T name; \
    static msl::constant_entry MSL_UNIQUE(msl_constant_)((index), #name, #T, name);
#define MSL_THREADGROUP_VARIABLE(T, name, dims) \
    static char MSL_JOIN2(msl_key_, name); \
    T(&name) dims = *(T(*) dims) msl_threadgroup_variable(&MSL_JOIN2(msl_key_, name), sizeof(T dims))
#define MSL_KERNEL(name, function, ...) static msl::kernel_entry MSL_UNIQUE(msl_kernel_)(name, function, &__VA_ARGS__);
#define MSL_PARAMETERS(function, ...) \
    static const msl::parameter MSL_JOIN2(msl_parameters_, function)[] = { __VA_ARGS__ }; \
    static msl::parameters_entry MSL_UNIQUE(msl_parameters_entry_)(#function, MSL_JOIN2(msl_parameters_, function));
#endif
