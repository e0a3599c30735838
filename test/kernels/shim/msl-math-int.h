// metal_integer: absolute value and bit counts.
#pragma once

namespace metal {

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
