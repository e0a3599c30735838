// Short forms for filling an msl_dispatch.
#pragma once

#include "../exec/msl-exec.h"

#include <cstring>

template <class T> msl_binding bind_args(int slot, const T & args) {
    msl_binding b = { slot };
    b.bytes.resize(sizeof args);
    memcpy(b.bytes.data(), &args, sizeof args);
    return b;
}

inline msl_constant constant_bool(int index, bool value) { return { index, msl_constant::boolean, value }; }
inline msl_constant constant_i32(int index, int32_t value) { return { index, msl_constant::i32, value }; }

// One line for the table of counts. Buffers "k" and "v" are the cache; cells: cached positions times KV heads.
void print_counts(const std::string & what, const msl_counters & counters, uint64_t cells);
