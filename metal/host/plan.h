// What one ggml operation encodes on Metal, as plain data: the app encodes from it on a Mac, the tests run it on Linux.
// Called by encode.cpp (mac/) and test/kernels/cases.
#pragma once

#include "dispatch.h"

#include "ggml.h"

#include <cstdint>
#include <string>
#include <vector>

struct turbo_metal_constant {
    int index; // FC_TURBO_...
    bool boolean; // else int32
    int32_t value;
};

// A buffer slot. tensor: 0.. is src[tensor]; RESULT is the operation's own, whose memory goes on after its bytes with scratch.
struct turbo_metal_binding {
    static constexpr int RESULT = -1;
    int slot;
    int tensor;
    size_t offset; // bytes from the tensor's first
};

struct turbo_metal_encode {
    std::string kernel; // host_name
    std::vector<turbo_metal_constant> constants;
    std::vector<uint8_t> args; // slot 0
    std::vector<turbo_metal_binding> bindings;
    size_t shared; // bytes of threadgroup memory 0
    int grid[3]; // threadgroups
    int threads[3];
    bool after; // reads what the one before wrote
};

// Empty when upstream's code must do the operation (or, for a prefill, finish it).
typedef std::vector<turbo_metal_encode> turbo_metal_plan;

// Whether a turbo type takes part in the operation.
extern "C" bool turbo_metal_involves(const ggml_tensor * op);

// Why Metal cannot do an operation with a turbo type, and what can be chosen instead; empty: it can.
std::string turbo_metal_refusal(const turbo_metal_device & device, const ggml_tensor * op);

// SET_ROWS, CPY, DUP, CONT, and FLASH_ATTN_EXT of few rows, of operations that are not refused. Attention takes scratch after
// the result: at most turbo_metal_scratch(op), which is less than upstream allocates there for any cache type.
turbo_metal_plan turbo_metal_make_plan(const turbo_metal_device & device, const ggml_tensor * op);

// Attention of few rows: the variant for it, and the plan of a variant.
turbo_metal_variant turbo_metal_variant_of(const turbo_metal_device & device, const ggml_tensor * op);
turbo_metal_plan turbo_metal_plan_attention(const turbo_metal_variant & variant, const ggml_tensor * op);

// FLASH_ATTN_EXT of many rows: K and V expanded to contiguous f16, which upstream's kernels then take. side: 1 for K, 2 for V;
// offset: of the copy after the start of the result. Empty when that side is f16 already.
turbo_metal_plan turbo_metal_plan_f16(const ggml_tensor * op, int side, size_t offset);

// Attention with so few rows of Q is decode; as in upstream's choice of its vector kernel.
const int TURBO_METAL_DECODE_ROWS = 20;
bool turbo_metal_is_decode(const ggml_tensor * op);
size_t turbo_metal_scratch(const ggml_tensor * op);
