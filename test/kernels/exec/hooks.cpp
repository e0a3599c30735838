// What instrumented kernels call: clang's outline checks of -fsanitize=kernel-address, answered by memory.cpp instead of a
// sanitizer's runtime, and the handlers of its checks for undefined behaviour.

#include "memory.h"
#include "report.h"

#include <cstring>

using namespace msl;

#define SITE __builtin_return_address(0)

extern "C" {

// clang-format off: a table of macros
#define X(n) \
    void __asan_load##n##_noabort(const void * p)  { memory_access(p, n, false, SITE); } \
    void __asan_store##n##_noabort(const void * p) { memory_access(p, n, true, SITE); }
X(1) X(2) X(4) X(8) X(16)
#undef X
    // clang-format on
    void __asan_loadN_noabort(const void * p, size_t n) {
    memory_access(p, n, false, SITE);
}
void __asan_storeN_noabort(const void * p, size_t n) { memory_access(p, n, true, SITE); }

void * __asan_memcpy(void * d, const void * s, size_t n) {
    memory_access(s, n, false, SITE);
    memory_access(d, n, true, SITE);
    return memcpy(d, s, n);
}
void * __asan_memmove(void * d, const void * s, size_t n) {
    memory_access(s, n, false, SITE);
    memory_access(d, n, true, SITE);
    return memmove(d, s, n);
}
void * __asan_memset(void * d, int c, size_t n) {
    memory_access(d, n, true, SITE);
    return memset(d, c, n);
}
void __asan_handle_no_return() {}

// The arguments (description of the place, operands) are not needed: the return address says the line.
// clang-format off: a table of macros
#define X(name, text) void __ubsan_handle_##name() { report("undefined behaviour: " text, "", { SITE }); }
X(type_mismatch_v1, "misaligned or null pointer")
X(alignment_assumption, "misaligned pointer")
X(add_overflow, "signed overflow of +")
X(sub_overflow, "signed overflow of -")
X(mul_overflow, "signed overflow of *")
X(negate_overflow, "signed overflow of unary -")
X(divrem_overflow, "division by zero or overflow")
X(shift_out_of_bounds, "shift count")
X(out_of_bounds, "array index")
X(float_cast_overflow, "float to integer out of range")
#undef X
// clang-format on
}
