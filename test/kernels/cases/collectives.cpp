// The shim: SIMD-group functions and language, on fixtures/collectives.metal.

#include "../../native/check.h"
#include "../exec/msl-exec.h"
#include "dispatch.h"

#include <cmath>
#include <numeric>

namespace {

std::vector<int> squares() {
    std::vector<int> v(32);
    for (int i = 0; i < 32; ++i) v[i] = i * i + 1;
    return v;
}

struct outcome {
    std::vector<int> values;
    std::string reports;
};

outcome run(const char * kernel, int n_out, const msl_schedule & schedule) {
    msl_buffer in("in", squares()), out("out", std::vector<int>(n_out, -1));
    msl_dispatch d;
    d.module = "collectives";
    d.kernel = kernel;
    d.bindings = { { 0, &in }, { 1, &out } };
    d.threads = { 32 };
    const msl_result result = msl_run(d, schedule);
    return { out.to<int>(), result.text() };
}

// what each function gives lane l
std::vector<std::function<int(int)>> expected_functions() {
    const std::vector<int> v = squares();
    const auto fold = [v](int first, int n, auto op) {
        return std::accumulate(v.begin() + 1, v.begin() + n, first, op);
    };
    const int sum = fold(1, 32, [](int a, int b) { return a + b; });
    const int all = fold(1, 32, [](int a, int b) { return a & b; });
    const int any = fold(1, 32, [](int a, int b) { return a | b; });
    const int odd = fold(1, 32, [](int a, int b) { return a ^ b; });
    const auto below = [v](int end) { return std::accumulate(v.begin(), v.begin() + end, 0); };
    return {
        [v](int l) { return v[31 - l]; },
        [v](int) { return v[5]; },
        [v](int l) { return v[l ^ 4]; },
        [v](int l) { return l + 3 < 32 ? v[l + 3] : v[l]; },
        [v](int l) { return l >= 3 ? v[l - 3] : v[l]; },
        [v](int l) { return v[(l + 3) % 32]; },
        [v](int l) { return v[(l + 29) % 32]; },
        [=](int) { return sum; },
        [v](int) { return v[31]; },
        [v](int) { return v[0]; },
        [=](int) { return all; },
        [=](int) { return any; },
        [=](int) { return odd; },
        [=](int l) { return below(l); },
        [=](int l) { return below(l + 1); },
        [v](int) { return v[0]; },
        [](int) { return 3; },
    };
}

} // namespace

TEST("shim: SIMD-group functions") {
    const auto functions = expected_functions();
    for (const msl_schedule & schedule : msl_all_schedules()) {
        const outcome o = run("kernel_collectives", 32 * (int) functions.size(), schedule);
        CHECK_STR(o.reports, "");
        for (size_t k = 0; k < functions.size(); ++k) {
            for (int l = 0; l < 32; ++l)
                check(o.values[32 * k + l] == functions[k](l), __FILE__, __LINE__,
                    "function " + std::to_string(k) + " of the list, lane " + std::to_string(l));
        }
    }
}

TEST("shim: lanes that have returned take no part") {
    const std::vector<int> v = squares();
    const int sum = std::accumulate(v.begin(), v.begin() + 20, 0);
    for (const msl_schedule & schedule : msl_all_schedules()) {
        const outcome o = run("kernel_early_return", 64, schedule);
        CHECK_STR(o.reports, "");
        for (int l = 0; l < 32; ++l)
            CHECK(o.values[l] == (l < 20 ? sum : -1) && o.values[32 + l] == (l < 20 ? v[19 - l] : -1));
        CHECK(
            run("kernel_inactive_shuffle", 32, schedule).reports.find("shuffle reads a lane that has returned (lane") ==
            0);
    }
}

TEST("shim: layouts, conversions, half arithmetic") {
    msl_buffer out("out", std::vector<float>(15, -1.0f));
    msl_dispatch d;
    d.module = "collectives";
    d.kernel = "kernel_language";
    d.bindings = { { 0, &out } };
    d.grid = { 2 };
    d.threads = { 64 };
    CHECK_STR(msl_run(d).text(), "");
    const std::vector<float> expected = { 16, 12, 48, 3.14159274f, 0.333251953f, 2048, 0.0999755859f, 1, 2048, INFINITY,
        0.1f, 1, 9 + 15 + 3 + 0xbc, -2 + 2 + 5, -4 - 1 };
    const std::vector<float> got = out.to<float>();
    for (size_t i = 0; i < expected.size(); ++i)
        check(
            got[i] == expected[i], __FILE__, __LINE__, "value " + std::to_string(i) + " is " + std::to_string(got[i]));
}
