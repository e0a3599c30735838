// What the cases run: a dispatch, a plan of metal/host on tensors whose data lies in msl_buffers, one decode attention operation from
// test/native's attention_case; and a row of counts.
#pragma once

#include "../../native/attention/attention-reference.h"
#include "../exec/msl-exec.h"

#include "plan.h"

#include "ggml.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

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

// An M2 as far as the plans care; family is what the cases vary.
inline turbo_metal_device test_device(int family = 8) { return { family, true, true, 32768, true }; }

// Tensors without data of their own, and buffers for them.
class turbo_tensors {
public:
    turbo_tensors();
    ~turbo_tensors();
    ggml_context * ctx;

    // Gives a tensor a buffer of its own with room for `extra` bytes after it.
    msl_buffer & allocate(ggml_tensor * t, const char * name, size_t extra = 0);
    template <class T> void fill(ggml_tensor * t, const char * name, const std::vector<T> & values) {
        msl_buffer & b = allocate(t, name);
        memcpy(b.data(), values.data(), std::min(b.size(), values.size() * sizeof(T)));
    }
    // The place of a tensor's data (of a view's too).
    std::pair<msl_buffer *, size_t> find(const ggml_tensor * t) const;

private:
    std::vector<std::unique_ptr<msl_buffer>> buffers;
};

// Runs all encodes; the counters and reports of all of them together.
msl_result run_plan(const turbo_metal_plan & plan, const ggml_tensor * op, const turbo_tensors & tensors,
    const msl_schedule & schedule = {});

struct turbo_attention_run {
    std::vector<float> values; // [stream][row][head][dim_v]
    msl_result result;
};

// The variant that a device would take, for cases that change one part of it.
turbo_metal_variant variant_for(const attention_case & c, int family = 8);

turbo_attention_run run_attention(const attention_case & c, attention_data & data, const turbo_metal_variant & variant,
    const msl_schedule & schedule = {});

std::string describe(const attention_case & c, const turbo_metal_variant & v);

// Runs the case and checks its values against double precision, and that nothing was reported. extra: allowed besides rounding,
// relative to the largest value of V.
void check_attention(const attention_case & c, const turbo_metal_variant & variant, const msl_schedule & schedule = {},
    double extra = 0.0);
void check_attention(const attention_case & c, attention_data & data, const turbo_metal_variant & variant,
    const msl_schedule & schedule, double extra);
