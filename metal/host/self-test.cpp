#include "self-test.h"

#include "ggml-turbo.h"

#include <algorithm>
#include <functional>
#include <set>

namespace {

typedef std::function<std::vector<turbo_metal_sample>()> samples_of;

class judge {
public:
    judge(turbo_metal_runner & runner, turbo_metal_record & record) : runner(runner), record(record) {}

    // Whether a kernel that no former call has judged is wrong. variant: of attention.
    bool finds_fault(const std::string & name, const samples_of & samples, const turbo_metal_variant * variant) {
        if (!judged.insert(name).second) { return false; }
        std::string problem;
        if (!record.knows(name, problem)) {
            record.begin(name);
            problem = first_problem(samples(), variant);
            record.end(name, problem, runner.note());
        }
        if (!problem.empty()) { faults[name] = problem; }
        return !problem.empty();
    }

    turbo_metal_faults faults;

private:
    std::string first_problem(const std::vector<turbo_metal_sample> & samples, const turbo_metal_variant * variant) {
        for (const turbo_metal_sample & s : samples) {
            std::vector<uint8_t> result;
            const std::string failure = runner.run(s, variant, result);
            const std::string problem = failure.empty() ? s.compare(result) : failure;
            if (!problem.empty()) { return s.label + ": " + problem; }
        }
        return "";
    }

    turbo_metal_runner & runner;
    turbo_metal_record & record;
    std::set<std::string> judged;
};

// set_rows and copies: one kernel each for a type, no other to take instead.
void test_copies(const turbo_metal_device & device, judge & all) {
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 }) {
        for (const turbo_metal_copy what : { TURBO_METAL_SET_ROWS, TURBO_METAL_COPY_FROM, TURBO_METAL_COPY_TO }) {
            const auto both = [=] {
                std::vector<turbo_metal_sample> samples;
                samples.push_back(turbo_metal_copy_sample(what, type, GGML_TYPE_F32));
                samples.push_back(turbo_metal_copy_sample(what, type, GGML_TYPE_F16));
                return samples;
            };
            all.finds_fault(turbo_metal_make_plan(device, both().front().op).front().kernel, both, nullptr);
        }
    }
}

struct candidate {
    int dim_k, dim_v;
    turbo_metal_variant variant;
};

// What dispatch takes for these head dims at any ratio and depth.
std::vector<candidate> candidates(const turbo_metal_device & device, const std::vector<std::pair<int, int>> & dims) {
    std::vector<candidate> found;
    for (const auto & d : dims) {
        for (int gqa = 1; gqa <= 32; ++gqa) {
            for (int64_t n_kv = 1024; n_kv <= 256 * 1024; n_kv *= 2) {
                for (const bool has_turbo4 : { false, true }) {
                    const turbo_metal_variant v = turbo_metal_choose_with(
                        device, { n_kv, d.first, d.second, gqa, 1, has_turbo4 }, TURBO_METAL_SAMPLE_SPLITS, "");
                    if (v.queries > 0) { found.push_back({ d.first, d.second, v }); }
                }
            }
        }
    }
    return found;
}

} // namespace

turbo_metal_faults turbo_metal_self_test(turbo_metal_device device, turbo_metal_runner & runner,
    turbo_metal_record & record, const std::vector<std::pair<int, int>> & dims) {
    device.faults = nullptr;
    judge all(runner, record);
    test_copies(device, all);
    device.faults = &all.faults;
    // a fault makes dispatch take others
    for (bool again = true; again;) {
        again = false;
        for (const candidate & c : candidates(device, dims)) {
            const auto samples = [&] { return turbo_metal_attention_samples(c.dim_k, c.dim_v, c.variant.queries); };
            again |= all.finds_fault(turbo_metal_fault_name(c.dim_k, c.dim_v, c.variant), samples, &c.variant);
        }
    }
    return all.faults;
}
