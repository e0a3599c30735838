// The tester itself: the executor on fixtures/group-sum.metal, the shim (SIMD-group functions and language) on
// fixtures/collectives.metal.

#include "../../native/check.h"
#include "../exec/msl-exec.h"
#include "../fixtures/group-sum-impl.h"
#include "dispatch.h"

#include <cmath>
#include <numeric>

namespace {

const int N_ROWS = 3;
const int GROUPS = 3;
const float SCALE = 0.5f;

template <class T> std::vector<T> row_values(int n) {
    std::vector<T> x(n);
    for (int i = 0; i < n; ++i) x[i] = (T) (0.25f * (float) ((i * 37) % 23) - 2.0f); // exact as half
    return x;
}

double expected(const std::vector<float> & x, int row, int n) {
    const double table[4] = { 1.0, -0.5, 0.25, 2.0 };
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += x[row * n + i] * table[i & 3];
    return sum * SCALE * 2.0;
}

msl_dispatch dispatch_of(const char * kernel, int n, msl_buffer & x, msl_buffer & y) {
    msl_dispatch d;
    d.module = "group-sum";
    d.kernel = kernel;
    d.constants = { { 3900, msl_constant::boolean, 1 } };
    d.bindings = { bind_args(0, group_sum_args{ n, SCALE }), { 1, &x }, { 2, &y } };
    d.grid = { N_ROWS };
    d.threads = { 32, GROUPS };
    d.threadgroup_memory = GROUPS * 33 * sizeof(float);
    return d;
}

template <class T> void check_sums(const char * kernel, int n) {
    const std::vector<T> values = row_values<T>(N_ROWS * n);
    const std::vector<float> exact(values.begin(), values.end());
    for (const msl_schedule & schedule : msl_all_schedules()) {
        msl_buffer x("x", values), y("y", N_ROWS * sizeof(float));
        const msl_result result = msl_run(dispatch_of(kernel, n, x, y), schedule);
        CHECK_STR(result.text(), "");
        // all terms are multiples of 1/16 below 2^12: sums are exact
        for (int row = 0; row < N_ROWS; ++row) CHECK(y.as<float>()[row] == (float) expected(exact, row, n));
    }
}

} // namespace

TEST("executor: sums over simdgroups and threadgroup, float") {
    for (int n : { 1, 31, 96, 257 }) check_sums<float>("kernel_group_sum_f32", n);
}

TEST("executor: sums over simdgroups and threadgroup, half") { check_sums<_Float16>("kernel_group_sum_f16", 257); }

TEST("executor: counters are exact") {
    const int n = 192; // twice the threads
    msl_buffer x("x", row_values<float>(N_ROWS * n)), y("y", N_ROWS * sizeof(float));
    const msl_counters c = msl_run(dispatch_of("kernel_group_sum_f32", n, x, y)).counters;
    const uint64_t lanes = 32 * GROUPS;
    CHECK(c.buffers.at("x").read == N_ROWS * n * sizeof(float));
    CHECK(c.buffers.at("x").unique == N_ROWS * n * sizeof(float));
    CHECK(c.buffers.at("y").written == N_ROWS * sizeof(float));
    CHECK(c.device.loads == (uint64_t) N_ROWS * n);
    CHECK(c.tables.read == N_ROWS * n * sizeof(float));
    CHECK(c.threadgroup_barriers == N_ROWS);
    CHECK(c.simdgroup_barriers == N_ROWS * GROUPS);
    CHECK(c.collectives == N_ROWS * (GROUPS + 1));
    // each lane stores and reads a neighbour's value; lane 0 of each group a sum; group 0 reads those and stages 32
    CHECK(c.threadgroup.written == N_ROWS * sizeof(float) * (lanes + GROUPS + 32));
    CHECK(c.threadgroup.read == N_ROWS * sizeof(float) * (lanes + GROUPS + 32));
    CHECK(c.threadgroups == N_ROWS && c.threads == N_ROWS * lanes);
}

TEST("executor: mistakes of the caller are errors") {
    msl_buffer x("x", row_values<float>(N_ROWS * 32)), y("y", N_ROWS * sizeof(float));
    const msl_dispatch good = dispatch_of("kernel_group_sum_f32", 32, x, y);
    const auto error_of = [](const msl_dispatch & d) {
        try {
            msl_run(d);
        } catch (const std::exception & e) { return std::string(e.what()); }
        return std::string();
    };
    msl_dispatch d = good;
    d.kernel = "kernel_group_sum_f64";
    CHECK(error_of(d).find("no kernel kernel_group_sum_f64") != std::string::npos);
    d = good;
    d.bindings.pop_back();
    CHECK(error_of(d).find("nothing is bound to slot 2") != std::string::npos);
    d = good;
    d.bindings[0].bytes.resize(5000);
    CHECK(error_of(d).find("beyond Metal's limits") != std::string::npos);
    d = good;
    d.constants[0].type = msl_constant::i32;
    CHECK(error_of(d).find("FC_double is bool, the dispatch sets int") != std::string::npos);
    d = good;
    d.constants.clear();
    CHECK(msl_run(d).text().find("function constant is read but not set (FC_double, index 3900)") != std::string::npos);
    d = good;
    d.threadgroup_memory = 4;
    CHECK(msl_run(d).text().find("threadgroup memory out of bounds") != std::string::npos);
}

// The second dispatch halves what the first has summed.
TEST("executor: dispatches that overlap may not share bytes") {
    const int n = 32;
    msl_buffer x("x", row_values<float>(N_ROWS * n)), sums("sums", N_ROWS * n * sizeof(float)),
        y("y", N_ROWS * sizeof(float));
    const auto reports_of = [&](bool after) {
        msl_run(dispatch_of("kernel_group_sum_f32", n, x, sums));
        msl_dispatch second = dispatch_of("kernel_group_sum_f32", 1, sums, y);
        second.after = after;
        return msl_run(second).text();
    };
    CHECK_STR(reports_of(true), "");
    CHECK(reports_of(false).find("a thread reads device bytes that another has written (sums byte 0)") == 0);
}

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
