// Pieces of plan.cpp: the plans of single operations.
#pragma once

#include "plan.h"

#include "turbo-metal-impl.h"

#include <cstring>

template <class T> std::vector<uint8_t> turbo_metal_bytes(const T & args) {
    std::vector<uint8_t> bytes(sizeof(T));
    memcpy(bytes.data(), &args, sizeof(T));
    return bytes;
}

turbo_metal_encode turbo_metal_plan_set_rows(const ggml_tensor * op);
turbo_metal_encode turbo_metal_plan_copy(const ggml_tensor * op);
