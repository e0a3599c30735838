// Binds the arguments of a kernel and registers kernels, parameters and function constants with the executor (EXEC mode).
#pragma once

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
