// Vectors as classes: clang's ext_vector_type has no element-wise (half4) cast from float4, which MSL has.
// Elements convert only explicitly, as in MSL. No swizzles of several elements.
#pragma once

namespace metal {

template <class T, int N> struct vec_elements;
template <class T> struct alignas(2 * sizeof(T)) vec_elements<T, 2> {
    union {
        T e[2];
        struct {
            T x, y;
        };
        struct {
            T r, g;
        };
    };
};
template <class T> struct alignas(4 * sizeof(T)) vec_elements<T, 3> {
    union {
        T e[3];
        struct {
            T x, y, z;
        };
        struct {
            T r, g, b;
        };
    };
};
template <class T> struct alignas(4 * sizeof(T)) vec_elements<T, 4> {
    union {
        T e[4];
        struct {
            T x, y, z, w;
        };
        struct {
            T r, g, b, a;
        };
    };
};

template <class T> struct packed4;

#define MSL_EACH for (int i = 0; i < N; ++i)

template <class T, int N> struct vec : vec_elements<T, N> {
    typedef vec_elements<T, N> base;
    using base::e;

    vec() = default;
    vec(const vec &) = default;
    vec & operator=(const vec &) = default;

    template <class S, class = if_scalar<S>> constexpr vec(S s) : base{} { MSL_EACH e[i] = (T) s; }
    template <class A, class B, int M = N, class = enable_if_t<M == 2 && is_scalar<A>::value && is_scalar<B>::value>>
    constexpr vec(A a, B b) : base{} {
        e[0] = (T) a;
        e[1] = (T) b;
    }
    template <class A, class B, class C, int M = N,
        class = enable_if_t<M == 3 && is_scalar<A>::value && is_scalar<C>::value>>
    constexpr vec(A a, B b, C c) : base{} {
        e[0] = (T) a;
        e[1] = (T) b;
        e[2] = (T) c;
    }
    template <class A, class B, class C, class D, int M = N,
        class = enable_if_t<M == 4 && is_scalar<A>::value && is_scalar<D>::value>>
    constexpr vec(A a, B b, C c, D d) : base{} {
        e[0] = (T) a;
        e[1] = (T) b;
        e[2] = (T) c;
        e[3] = (T) d;
    }
    template <class A, class B, int M = N, class = enable_if_t<M == 4>>
    constexpr vec(vec<A, 2> a, vec<B, 2> b) : base{} {
        e[0] = (T) a.e[0];
        e[1] = (T) a.e[1];
        e[2] = (T) b.e[0];
        e[3] = (T) b.e[1];
    }
    template <class A, class B, int M = N, class = enable_if_t<M == 4 && is_scalar<B>::value>>
    constexpr vec(vec<A, 3> a, B b) : base{} {
        e[0] = (T) a.e[0];
        e[1] = (T) a.e[1];
        e[2] = (T) a.e[2];
        e[3] = (T) b;
    }

    template <class U, int M = N, class = enable_if_t<M == 4>> explicit constexpr vec(const packed4<U> & o) : base{} {
        MSL_EACH e[i] = (T) o.e[i];
    }
    template <class U, class = enable_if_t<!is_same<U, T>::value>>
    explicit constexpr vec(const vec<U, N> & o) : base{} {
        MSL_EACH e[i] = (T) o.e[i];
    }

    constexpr T & operator[](int i) { return e[i]; }
    constexpr const T & operator[](int i) const { return e[i]; }

    // clang-format off: a table of macros
#define X(AS) \
    constexpr vec(const AS vec & o) : base{} { MSL_EACH e[i] = o.e[i]; } \
    template <class U, class = enable_if_t<!is_same<U, T>::value>> \
    explicit constexpr vec(const AS vec<U, N> & o) : base{} { MSL_EACH e[i] = (T) o.e[i]; } \
    constexpr const AS T & operator[](int i) const AS { return e[i]; }
    MSL_EACH_CONSTANT(X)
#undef X
#define X(AS) \
    AS T & operator[](int i) AS { return e[i]; } \
    const AS T & operator[](int i) const AS { return e[i]; }
    MSL_EACH_SPACE(X)
#undef X

#define X(op) \
    friend vec & operator op##=(vec & a, vec b) { MSL_EACH a.e[i] = (T) (a.e[i] op b.e[i]); return a; } \
    friend vec operator op(vec a, vec b) { vec r; MSL_EACH r.e[i] = (T) (a.e[i] op b.e[i]); return r; }
    X(+) X(-) X(*) X(/) X(%) X(&) X(|) X(^) X(<<) X(>>)
#undef X
#define X(op) friend vec<bool, N> operator op(vec a, vec b) { vec<bool, N> r; MSL_EACH r.e[i] = a.e[i] op b.e[i]; return r; }
    X(==) X(!=) X(<) X(>) X(<=) X(>=)
#undef X
        // clang-format on
        friend vec operator+(vec a) {
        return a;
    }
    friend vec operator-(vec a) {
        vec r;
        MSL_EACH r.e[i] = (T) -a.e[i];
        return r;
    }
    friend vec operator~(vec a) {
        vec r;
        MSL_EACH r.e[i] = (T) ~a.e[i];
        return r;
    }
};

// clang-format off: a table of macros
#define X(T) typedef vec<T, 2> T##2; typedef vec<T, 3> T##3; typedef vec<T, 4> T##4;
X(float) X(half) X(bfloat) X(int) X(uint) X(short) X(ushort) X(char) X(uchar) X(long) X(ulong) X(bool)
#undef X
    // clang-format on

    // Packed vectors are aligned to their element.
    template <class T>
    struct packed3 {
    T x, y, z;
};
typedef packed3<float> packed_float3;

template <class T> struct packed4 {
    T e[4];
    packed4() = default;
    packed4(const packed4 &) = default;
    packed4 & operator=(const packed4 &) = default;
    constexpr packed4(const vec<T, 4> & o) : e{ o.e[0], o.e[1], o.e[2], o.e[3] } {}
    operator vec<T, 4>() const { return vec<T, 4>(e[0], e[1], e[2], e[3]); }
    T operator[](int i) const { return e[i]; }
    T & operator[](int i) { return e[i]; }
    // clang-format off: a table of macros
#define X(AS) \
    constexpr packed4(const AS packed4 & o) : e{ o.e[0], o.e[1], o.e[2], o.e[3] } {} \
    const AS T & operator[](int i) const AS { return e[i]; } \
    operator vec<T, 4>() const AS { return vec<T, 4>(e[0], e[1], e[2], e[3]); }
    MSL_EACH_CONSTANT(X)
#undef X
};

#define X(T) typedef packed4<T> packed_##T##4;
X(char) X(uchar) X(half) X(float) X(short) X(ushort)
#undef X
// clang-format on

} // namespace metal

// --- matrices, column major: m[column][row]. simdgroup_matrix is declared only: kernels that use it type-check, and fail to link
// in EXEC mode (none of ours does).

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
