// Runs every turbo kernel that dispatch may take on a GPU on small data and compares with the CPU. What gives wrong values is a
// fault, which dispatch passes over. Called by mac/self-test.cpp when the engine starts, and by test/kernels/cases.
#pragma once

#include "plan.h"
#include "self-test-record.h"
#include "self-test-sample.h"

class turbo_metal_runner {
public:
    virtual ~turbo_metal_runner() = default;
    // Runs a sample's operation, attention as the variant, and fetches its result. Returns what went wrong; empty: nothing.
    virtual std::string run(
        const turbo_metal_sample & sample, const turbo_metal_variant * variant, std::vector<uint8_t> & result) = 0;
    // Of the kernel that ran last, for the record.
    virtual std::string note() const { return ""; }
};

// Tests what the record does not know yet, until dispatch takes nothing untested. device.faults is not read. dims: of attention,
// {dim_k, dim_v}; turbo_metal_dims() in the app.
turbo_metal_faults turbo_metal_self_test(turbo_metal_device device, turbo_metal_runner & runner,
    turbo_metal_record & record, const std::vector<std::pair<int, int>> & dims);
