// Modes, scalar types, constants and the three type traits that the rest needs (no host header in CHECK mode).
#pragma once

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
