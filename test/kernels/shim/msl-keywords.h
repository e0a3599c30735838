// MSL's keywords as macros, last so that no host header sees them, and the macros that source/rewrite.mjs writes.
#pragma once

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
