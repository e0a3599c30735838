// A self-test of the turbo types on one GPU, for back ends whose kernels differ from the CPU's: Vulkan's and CUDA's.
#pragma once

#include "ggml-backend.h"
#include "ggml.h"
#include "self-test-record.h"
#include "trials.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

struct turbo_gpu_findings {
    std::set<ggml_type> faulty; // on one GPU: used on none
    std::vector<std::string> warnings;
};

// Tests every type that the record has no result of, and adds what was found wrong. driver: names the GPU's driver and what else a
// result depends on; asked after the device was started. Throws when the device cannot be started.
void turbo_gpu_test_device(turbo_self_test_record & record, ggml_backend_dev_t dev,
    const std::function<std::string()> & driver, turbo_gpu_findings & found);

// What is wrong with attention on the back end, "" when nothing is.
std::string turbo_gpu_attention_problem(
    ggml_backend_t backend, ggml_backend_t cpu, const turbo_attention_trial & trial);
