// Matrices, column major: m[column][row]. simdgroup_matrix is declared only: kernels that use it type-check, and fail to link
// in EXEC mode (none of ours does).
#pragma once

namespace metal {

template <class T, int C, int R> struct matrix {
    typedef vec<T, R> col;
    col c[C];

    matrix() = default;
    matrix(const matrix &) = default;
    matrix & operator=(const matrix &) = default;
    template <class S, class = if_scalar<S>> explicit matrix(S s) {
        for (int i = 0; i < C; ++i)
            for (int j = 0; j < R; ++j) c[i][j] = i == j ? (T) s : (T) 0;
    }
    matrix(col a, col b) {
        c[0] = a;
        c[1] = b;
    }
    matrix(col a, col b, col d, col f) {
        c[0] = a;
        c[1] = b;
        c[2] = d;
        c[3] = f;
    }
    template <class U, class = enable_if_t<!is_same<U, T>::value>> explicit matrix(const matrix<U, C, R> & o) {
        for (int i = 0; i < C; ++i) c[i] = col(o.c[i]);
    }

    constexpr col & operator[](int i) { return c[i]; }
    constexpr const col & operator[](int i) const { return c[i]; }

#define X(AS) \
    matrix(const AS matrix & o) { \
        for (int i = 0; i < C; ++i) c[i] = o.c[i]; \
    } \
    template <class U, class = enable_if_t<!is_same<U, T>::value>> explicit matrix(const AS matrix<U, C, R> & o) { \
        for (int i = 0; i < C; ++i) c[i] = col(o.c[i]); \
    } \
    const AS col & operator[](int i) const AS { return c[i]; }
    MSL_EACH_CONSTANT(X)
#undef X
#define X(AS) \
    AS col & operator[](int i) AS { return c[i]; } \
    const AS col & operator[](int i) const AS { return c[i]; }
    MSL_EACH_SPACE(X)
#undef X

    friend matrix operator*(matrix a, T s) {
        matrix r;
        for (int i = 0; i < C; ++i) r.c[i] = a.c[i] * col(s);
        return r;
    }
    friend matrix operator*(T s, matrix a) { return a * s; }
    friend matrix operator+(matrix a, matrix b) {
        matrix r;
        for (int i = 0; i < C; ++i) r.c[i] = a.c[i] + b.c[i];
        return r;
    }
    friend matrix operator-(matrix a, matrix b) {
        matrix r;
        for (int i = 0; i < C; ++i) r.c[i] = a.c[i] - b.c[i];
        return r;
    }
};

typedef matrix<float, 2, 2> float2x2;
typedef matrix<float, 3, 3> float3x3;
typedef matrix<float, 4, 4> float4x4;
typedef matrix<float, 2, 4> float2x4;
typedef matrix<half, 4, 4> half4x4;
typedef matrix<half, 2, 4> half2x4;

template <class T, int C, int R> struct simdgroup_matrix {
    T m[R][C];
    constexpr simdgroup_matrix() : m{} {}
    explicit simdgroup_matrix(T);
};
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

#ifdef MSL_CHECK
#define MSL_PRIVATE         __private
#define MSL_EACH_POINTER(X) X(__global) X(__local)
#else
#define MSL_PRIVATE
#define MSL_EACH_POINTER(X) X()
#endif

template <class T, int C, int R = C> simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v);
#define X(AS) \
    template <class T> \
    void simdgroup_load(MSL_PRIVATE simdgroup_matrix<T, 8, 8> & d, const AS T * src, ulong ld = 8, ulong2 o = 0, \
        bool transpose = false); \
    template <class T> \
    void simdgroup_store(const MSL_PRIVATE simdgroup_matrix<T, 8, 8> & d, AS T * dst, ulong ld = 8, ulong2 o = 0, \
        bool transpose = false);
MSL_EACH_POINTER(X)
#undef X
template <class D, class A, class B, class C>
void simdgroup_multiply_accumulate(MSL_PRIVATE simdgroup_matrix<D, 8, 8> & d,
    const MSL_PRIVATE simdgroup_matrix<A, 8, 8> & a, const MSL_PRIVATE simdgroup_matrix<B, 8, 8> & b,
    const MSL_PRIVATE simdgroup_matrix<C, 8, 8> & c);
template <class D, class A, class B>
void simdgroup_multiply(MSL_PRIVATE simdgroup_matrix<D, 8, 8> & d, const MSL_PRIVATE simdgroup_matrix<A, 8, 8> & a,
    const MSL_PRIVATE simdgroup_matrix<B, 8, 8> & b);

} // namespace metal
