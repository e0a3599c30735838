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
