#include "self-test.h"

#include "ggml-cpp.h"
#include "ggml-cpu.h"
#include "ggml-turbo.h"

#include <stdexcept>

namespace {

// Squared errors: the decode kernel rounds queries, keys and weights to fp16 (2^-11 of each at most), upstream's attention of many rows
// its sums, too. A position too much or too little of TRIAL_KV is 1e-3.
const double BOUND = 5e-6;
const double BOUND_OF_MANY = 1e-4;
const int TRIAL_KV = 421;
// as many ranges of positions as the GPU makes of a long context: on a large one more than the kernel that joins them reads at once
const int TRIAL_KV_LONG = 8192;
// A rotation too much or too little is about 1.
const double BOUND_OF_LAYER = 1e-3;

const ggml_type all_types[] = { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 };

std::string problem_of(ggml_backend_t backend, ggml_backend_t cpu, ggml_type type) {
    const int differ = turbo_trial_differing_blocks(backend, type, 512, 20);
    if (differ < 0) return "SET_ROWS is not supported";
    if (differ > 0) return std::to_string(differ) + " blocks of the cache have other bytes";
    // prompts: the copy to f16 is one module for all types, and the attention over it upstream's
    const bool prompts = type == GGML_TYPE_TURBO4 || type == GGML_TYPE_TURBO4_64;
    for (const int n_tokens : prompts ? std::vector<int>{ 1, 64 } : std::vector<int>{ 1 }) {
        const std::string problem =
            turbo_gpu_attention_problem(backend, cpu, { type, type, 8, 2, n_tokens, TRIAL_KV, 1.0f });
        if (!problem.empty()) return problem;
    }
    if (type == GGML_TYPE_TURBO4) { // what joins ranges, and the rotations, are the same code for all
        const std::string problem =
            turbo_gpu_attention_problem(backend, cpu, { type, type, 8, 2, 1, TRIAL_KV_LONG, 1.0f });
        if (!problem.empty()) return problem;
        const turbo_fold_trial layer = turbo_trial_folds(backend, cpu, type, 1);
        if (layer.n_folded >= 0 && !(layer.cache_error < BOUND_OF_LAYER && layer.error < BOUND_OF_LAYER)) {
            return "squared errors " + std::to_string(layer.cache_error) + " and " + std::to_string(layer.error) +
                   " of a layer whose rotations are folded";
        }
    }
    return "";
}

} // namespace

void turbo_gpu_test_device(turbo_self_test_record & record, ggml_backend_dev_t dev,
    const std::function<std::string()> & driver, turbo_gpu_findings & found) {
    const ggml_backend_ptr backend(ggml_backend_dev_init(dev, nullptr));
    // not by ggml's registry: that takes every back end in, and what it has it keeps
    const ggml_backend_ptr cpu(ggml_backend_cpu_init());
    if (!backend || !cpu) throw std::runtime_error("no memory for its start");
    const std::string of_device = std::string(" on ") + ggml_backend_dev_description(dev) + ", " + driver();
    for (const ggml_type type : all_types) {
        const std::string what = ggml_type_name(type) + of_device;
        if (!record.of(what)) {
            record.begin(what);
            record.end(what, problem_of(backend.get(), cpu.get(), type));
        }
        const std::string & problem = *record.of(what);
        if (problem.empty()) continue;
        found.faulty.insert(type);
        found.warnings.push_back("The self-test disabled " + what + " (" + problem + "). Another cache type is used.");
    }
}

std::string turbo_gpu_attention_problem(
    ggml_backend_t backend, ggml_backend_t cpu, const turbo_attention_trial & trial) {
    const std::string tokens = "attention of " + std::to_string(trial.n_tokens) + " tokens";
    const double error = turbo_trial_attention_error(backend, cpu, trial);
    if (error < 0) return tokens + " is not supported";
    if (!(error < (trial.n_tokens == 1 ? BOUND : BOUND_OF_MANY))) {
        return "squared error " + std::to_string(error) + " of " + tokens;
    }
    return "";
}
