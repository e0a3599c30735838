// Runs the plans of metal/host on tensors whose data lies in msl_buffers.
#pragma once

#include "../exec/msl-exec.h"

#include "plan.h"

#include "ggml.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

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
