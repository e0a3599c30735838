// metal_math for float and half: half is computed in float and rounded once. metal_integer: absolute value and bit counts.
#pragma once

namespace metal {

template <class To, class From> constexpr To as_type(From f) {
    static_assert(sizeof(To) == sizeof(From), "as_type: sizes differ");
    To t;
    __builtin_memcpy(&t, &f, sizeof(t));
    return t;
}

// clang-format off: a table of macros
#define X(name, expr) \
    inline float name(float x) { return expr; } \
    inline half name(half h) { float x = (float) h; return (half) (expr); } \
    template <class T, int N> vec<T, N> name(const vec<T, N> & v) { vec<T, N> r; MSL_EACH r.e[i] = name(v.e[i]); return r; }
#define MSL_FUNCTIONS \
    X(exp,   __builtin_expf(x))   X(exp2,  __builtin_exp2f(x))  X(exp10, __builtin_powf(10.0f, x)) \
    X(log,   __builtin_logf(x))   X(log2,  __builtin_log2f(x))  X(log10, __builtin_log10f(x)) \
    X(sqrt,  __builtin_sqrtf(x))  X(rsqrt, 1.0f/__builtin_sqrtf(x)) \
    X(sin,   __builtin_sinf(x))   X(cos,   __builtin_cosf(x))   X(tan,   __builtin_tanf(x)) \
    X(asin,  __builtin_asinf(x))  X(acos,  __builtin_acosf(x))  X(atan,  __builtin_atanf(x)) \
    X(sinh,  __builtin_sinhf(x))  X(cosh,  __builtin_coshf(x))  X(tanh,  __builtin_tanhf(x)) \
    X(fabs,  __builtin_fabsf(x))  X(floor, __builtin_floorf(x)) X(ceil,  __builtin_ceilf(x)) \
    X(round, __builtin_roundf(x)) X(rint,  __builtin_rintf(x))  X(trunc, __builtin_truncf(x)) \
    X(fract, x - __builtin_floorf(x)) \
    X(sign,  (x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f)) \
    X(saturate, (x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x))
MSL_FUNCTIONS
inline float pow(float a, float b) { return __builtin_powf(a, b); }
// divide: exact in both, which fast allows
#define MSL_BINARY_FUNCTIONS \
    inline float pow(float a, float b)    { return __builtin_powf(a, b); } \
    inline float divide(float a, float b) { _Pragma("clang fp reciprocal(off)") return a/b; }
namespace precise { MSL_FUNCTIONS MSL_BINARY_FUNCTIONS }
namespace fast    { MSL_FUNCTIONS MSL_BINARY_FUNCTIONS }
#undef X
// clang-format on

template <int N> vec<float, N> pow(const vec<float, N> & a, const vec<float, N> & b) {
    vec<float, N> r;
    MSL_EACH r.e[i] = __builtin_powf(a.e[i], b.e[i]);
    return r;
}
inline float fmod(float a, float b) { return __builtin_fmodf(a, b); }
inline float atan2(float a, float b) { return __builtin_atan2f(a, b); }
inline float copysign(float a, float b) { return __builtin_copysignf(a, b); }
inline float ldexp(float a, int b) { return __builtin_ldexpf(a, b); }

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// rounded twice, to float and to half
inline half fma(half a, half b, half c) { return (half) __builtin_fmaf((float) a, (float) b, (float) c); }
template <class T, int N> vec<T, N> fma(const vec<T, N> & a, const vec<T, N> & b, const vec<T, N> & c) {
    vec<T, N> r;
    MSL_EACH r.e[i] = fma(a.e[i], b.e[i], c.e[i]);
    return r;
}

template <class T> inline bool isfinite(T x) { return __builtin_isfinite((float) x); }
template <class T> inline bool isinf(T x) { return __builtin_isinf((float) x); }
template <class T> inline bool isnan(T x) { return __builtin_isnan((float) x); }

// Mixed arguments take the promoted type; two of the same type keep it.
template <class A, class B> using promoted = conditional_t<is_same<A, B>::value, A, decltype(A() + B())>;
template <class A, class B> using if_scalars = enable_if_t<is_scalar<A>::value && is_scalar<B>::value>;
template <class A, class B, class = if_scalars<A, B>> constexpr promoted<A, B> min(A a, B b) {
    typedef promoted<A, B> R;
    return (R) b < (R) a ? (R) b : (R) a;
}
template <class A, class B, class = if_scalars<A, B>> constexpr promoted<A, B> max(A a, B b) {
    typedef promoted<A, B> R;
    return (R) a < (R) b ? (R) b : (R) a;
}
template <class A, class B, class = if_scalars<A, B>> constexpr promoted<A, B> fmin(A a, B b) {
    return metal::min(a, b);
}
template <class A, class B, class = if_scalars<A, B>> constexpr promoted<A, B> fmax(A a, B b) {
    return metal::max(a, b);
}
template <class T, class A, class B, class = if_scalar<T>> constexpr T clamp(T x, A lo, B hi) {
    return x<(T) lo ? (T) lo : x>(T) hi ? (T) hi : x;
}
template <class T, int N> vec<T, N> min(const vec<T, N> & a, const vec<T, N> & b) {
    vec<T, N> r;
    MSL_EACH r.e[i] = b.e[i] < a.e[i] ? b.e[i] : a.e[i];
    return r;
}
template <class T, int N> vec<T, N> max(const vec<T, N> & a, const vec<T, N> & b) {
    vec<T, N> r;
    MSL_EACH r.e[i] = a.e[i] < b.e[i] ? b.e[i] : a.e[i];
    return r;
}
template <class T, int N> vec<T, N> fmin(const vec<T, N> & a, vec<T, N> b) { return min(a, b); }
template <class T, int N> vec<T, N> fmax(const vec<T, N> & a, vec<T, N> b) { return max(a, b); }
template <class T, int N, class S, class = if_scalar<S>> vec<T, N> fmin(S a, const vec<T, N> & b) {
    return min(vec<T, N>(a), b);
}
template <class T, int N, class S, class = if_scalar<S>> vec<T, N> fmax(S a, const vec<T, N> & b) {
    return max(vec<T, N>(a), b);
}
template <class T, int N, class A, class B> vec<T, N> clamp(const vec<T, N> & x, A lo, B hi) {
    return min(max(x, vec<T, N>(lo)), vec<T, N>(hi));
}

template <class T> constexpr T mix(T a, T b, T t) { return a + (b - a) * t; }
template <class T, class = if_scalar<T>> constexpr T select(T a, T b, bool c) { return c ? b : a; }
template <class T, int N> vec<T, N> select(const vec<T, N> & a, const vec<T, N> & b, const vec<bool, N> & c) {
    vec<T, N> r;
    MSL_EACH r.e[i] = c.e[i] ? b.e[i] : a.e[i];
    return r;
}
template <class T, int N> T dot(const vec<T, N> & a, const vec<T, N> & b) {
    T s = a.e[0] * b.e[0];
    for (int i = 1; i < N; ++i) s = (T) (s + a.e[i] * b.e[i]);
    return s;
}
template <class T, int N> T length(const vec<T, N> & a) { return sqrt(dot(a, a)); }
template <int N> bool any(const vec<bool, N> & a) {
    MSL_EACH if (a.e[i]) return true;
    return false;
}
template <int N> bool all(const vec<bool, N> & a) {
    MSL_EACH if (!a.e[i]) return false;
    return true;
}

// --- metal_integer

template <class T, class = if_scalar<T>> inline T abs(T x) { return x < 0 ? (T) -x : x; }

template <class T> inline unsigned long long bits_of(T x) {
    return (unsigned long long) x & (~0ull >> (64 - 8 * sizeof(T)));
}
template <class T> inline T popcount(T x) { return (T) __builtin_popcountll(bits_of(x)); }
template <class T> inline T clz(T x) {
    return x ? (T) (__builtin_clzll(bits_of(x)) - (64 - 8 * (int) sizeof(T))) : (T) (8 * sizeof(T));
}
template <class T> inline T ctz(T x) { return x ? (T) __builtin_ctzll(bits_of(x)) : (T) (8 * sizeof(T)); }
template <class T> inline T extract_bits(T x, uint offset, uint bits) {
    return (T) ((x >> offset) & (T) ((1ull << bits) - 1));
}

} // namespace metal
