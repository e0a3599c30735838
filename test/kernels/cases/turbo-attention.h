// One decode attention operation on the executor, from test/native's attention_case.
#pragma once

#include "../../native/attention/attention-reference.h"
#include "turbo-plan.h"

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
