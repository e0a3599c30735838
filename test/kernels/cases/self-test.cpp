// The self-test that the app runs at its first start on a GPU, here with the executor in the GPU's place, and what its faults do
// to dispatch.

#include "../../native/check.h"
#include "../mac/fake-metal.h"
#include "dispatch.h"

#include "ggml-turbo.h"
#include "encode.h"
#include "self-test.h"
#include "turbo-metal-app.h"
#include "turbo-metal-impl.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <unistd.h>

namespace {

turbo_metal_plan plan_of(const turbo_metal_sample & s, const turbo_metal_variant * variant) {
    return variant ? turbo_metal_plan_attention(*variant, s.op) : turbo_metal_make_plan(test_device(), s.op);
}

class executor : public turbo_metal_runner {
public:
    std::string run(
        const turbo_metal_sample & s, const turbo_metal_variant * variant, std::vector<uint8_t> & result) override {
        const turbo_metal_plan plan = plan_of(s, variant);
        turbo_tensors t;
        for (const turbo_metal_input & input : s.inputs) { t.fill(input.tensor, "input", input.bytes); }
        if (s.op->view_src == nullptr) {
            t.allocate(s.op, "result", s.op->op == GGML_OP_FLASH_ATTN_EXT ? turbo_metal_scratch(s.op) : 0);
        }
        const msl_result r = run_plan(plan, s.op, t);
        const auto place = t.find(s.op);
        result.assign(place.first->data() + place.second, place.first->data() + place.second + ggml_nbytes(s.op));
        ++runs;
        return r.text();
    }
    int runs = 0;
};

std::string fault_name(const turbo_metal_encode & e) {
    for (const turbo_metal_constant & c : e.constants) {
        if (c.index == FC_TURBO_TABLE && e.kernel.find("attention") != std::string::npos) {
            return e.kernel + (c.value == TURBO_METAL_TABLE_SIGNED ? " signed" : " magnitude");
        }
    }
    return e.kernel;
}

// Gives what is wanted, but for the kernels named: for cases about what follows from a fault.
class pretender : public turbo_metal_runner {
public:
    explicit pretender(std::set<std::string> wrong) : wrong(std::move(wrong)) {}
    std::string run(
        const turbo_metal_sample & s, const turbo_metal_variant * variant, std::vector<uint8_t> & result) override {
        const std::string name = fault_name(plan_of(s, variant).front());
        tested.insert(name);
        std::vector<float> values = s.want;
        if (wrong.count(name) > 0) { values[values.size() / 2] += 3.0f; }
        result.resize(ggml_nbytes(s.op));
        if (s.op->type == GGML_TYPE_F32) {
            memcpy(result.data(), values.data(), result.size());
        } else {
            ggml_get_type_traits(s.op->type)->from_float_ref(values.data(), result.data(), values.size());
        }
        return "";
    }
    std::set<std::string> wrong, tested;
};

const std::vector<std::pair<int, int>> DIM_128 = { { 128, 128 } };

turbo_metal_faults faults_of(
    turbo_metal_runner & runner, const std::vector<std::pair<int, int>> & dims = DIM_128, int family = 8) {
    turbo_metal_record record("", "");
    return turbo_metal_self_test(test_device(family), runner, record, dims);
}

std::string names(const turbo_metal_faults & faults) {
    std::string all;
    for (const auto & f : faults) all += (all.empty() ? "" : ", ") + f.first;
    return all;
}

turbo_metal_device faulty_device(const turbo_metal_faults & faults) {
    turbo_metal_device device = test_device();
    device.faults = &faults;
    return device;
}

turbo_metal_variant chosen(const turbo_metal_faults & faults, int gqa) {
    return turbo_metal_choose_with(faulty_device(faults), { 4096, 128, 128, gqa, 1, false }, 32, "");
}

// Decode attention over turbo4, of 8 heads on one: an operation to ask about.
std::string refusal_of_attention(const turbo_metal_faults & faults, int n_rows) {
    turbo_tensors t;
    ggml_tensor * q = ggml_new_tensor_3d(t.ctx, GGML_TYPE_F32, 128, n_rows, 8);
    ggml_tensor * k = ggml_new_tensor_3d(t.ctx, GGML_TYPE_TURBO4, 128, 256, 1);
    ggml_tensor * v = ggml_new_tensor_3d(t.ctx, GGML_TYPE_TURBO4, 128, 256, 1);
    return turbo_metal_refusal(faulty_device(faults), ggml_flash_attn_ext(t.ctx, q, k, v, nullptr, 1.0f, 0.0f, 0.0f));
}

std::set<std::string> every_kernel(int dim) {
    std::set<std::string> all;
    for (const int queries : { 1, 2, 4, 8, 16 }) {
        for (const int table : { TURBO_METAL_TABLE_SIGNED, TURBO_METAL_TABLE_MAGNITUDE }) {
            turbo_metal_variant v = {};
            v.queries = queries;
            v.table = table;
            all.insert(turbo_metal_fault_name(dim, dim, v));
        }
    }
    return all;
}

const std::string Q8 = "kernel_turbo_attention_dk128_dv128_q8";

// The file of a record in a folder of its own, gone with the object.
struct record_file {
    std::string folder, path;
    record_file() {
        char name[] = "/tmp/turbo-self-test-XXXXXX";
        folder = mkdtemp(name);
        path = folder + "/metal-self-test.txt";
    }
    ~record_file() {
        remove(path.c_str());
        rmdir(folder.c_str());
    }
};

} // namespace

// An M5 takes both tables, so this is every kernel.
TEST("self-test: every kernel gives the CPU's values") {
    executor gpu;
    const turbo_metal_faults faults = faults_of(gpu, turbo_metal_dims(), 10);
    for (const auto & f : faults) { check(false, __FILE__, __LINE__, f.first + ": " + f.second); }
    CHECK(gpu.runs > 200);
}

// What mutants-turbo.mjs plants mistakes for.
TEST("self-test of one kernel") {
    executor gpu;
    turbo_metal_variant v = {};
    v.queries = 4;
    v.splits = TURBO_METAL_SAMPLE_SPLITS;
    v.simdgroups = 4;
    for (const int table : { TURBO_METAL_TABLE_SIGNED, TURBO_METAL_TABLE_MAGNITUDE }) {
        v.table = table;
        for (const turbo_metal_sample & s : turbo_metal_attention_samples(128, 128, v.queries)) {
            std::vector<uint8_t> result;
            CHECK_STR(gpu.run(s, &v, result), "");
            CHECK_STR(s.compare(result), "");
        }
    }
}

// mac/self-test.cpp on the stand-in for ggml's Metal backend, where one kernel does not compile and two take few threads.
TEST("self-test: through ggml's Metal backend, with what the app is told") {
    const record_file file;
    CHECK(fake_metal_backend() != nullptr);
    CHECK_STR(turbo_metal_family(), "Apple8");
    fake_metal_refuse("kernel_turbo_attention_dk192_dv128_q8");
    fake_metal_limit("kernel_turbo_attention_dk96_dv64_q8", 16); // less than a SIMD-group
    fake_metal_limit("kernel_turbo_attention_dk96_dv64_q4", 96); // fewer SIMD-groups do
    turbo_metal_start(file.folder);
    std::string warnings;
    for (const std::string & text : turbo_metal_warnings()) warnings += text + "\n";
    const std::string disabled = "Disabled by the self-test on this GPU: kernel_turbo_attention_",
                      other = "Another kernel or cache type is used.\n";
    CHECK_STR(warnings,
        disabled +
            "dk192_dv128_q8 magnitude (K q8_0, V turbo4: kernel_turbo_attention_dk192_dv128_q8 does not compile). " +
            other + disabled +
            "dk192_dv128_q8 signed (K q8_0, V turbo4: kernel_turbo_attention_dk192_dv128_q8 does not compile). " +
            other + disabled +
            "dk96_dv64_q8 magnitude (K q8_0, V turbo4_64: kernel_turbo_attention_dk96_dv64_q8 cannot run with 32 "
            "threads). " +
            other + disabled +
            "dk96_dv64_q8 signed (K q8_0, V turbo4_64: kernel_turbo_attention_dk96_dv64_q8 cannot run with 32 "
            "threads). " +
            other);

    const auto why = [](int dim_k, int dim_v) {
        const std::vector<turbo_metal_use> uses = turbo_metal_uses_here(dim_k, dim_v, 8, 4096, false);
        if (uses.size() != 1) return std::string();
        // the chip and where the choice is from, without what was measured there
        const std::string & why = uses[0].why;
        return uses[0].name + ", " + why.substr(0, why.find_first_of(":,", why.find(':') + 1));
    };
    CHECK_STR(why(192, 128), "magnitude table, 4 queries per SIMD-group, Apple8: self-test");
    CHECK_STR(why(128, 128), "magnitude table, 8 queries per SIMD-group, Apple8: turboquant_plus");

    std::ifstream in(file.path);
    const std::string lines((std::istreambuf_iterator<char>(in)), {});
    CHECK(lines.find("\npassed\tkernel_turbo_attention_dk96_dv64_q4 magnitude\tat most 96 threads\n") !=
          std::string::npos);
    turbo_metal_set_faults(nullptr); // other cases share the backend
    fake_metal_refuse("");
    fake_metal_limit("", 0);
}

TEST("self-test: tests what the chip takes, and more only when that is wrong") {
    pretender m2({}), m5({}), broken({ Q8 + " magnitude" });
    faults_of(m2);
    faults_of(m5, DIM_128, 10);
    faults_of(broken);
    CHECK(m2.tested.count(Q8 + " magnitude") == 1);
    CHECK(m2.tested.count(Q8 + " signed") == 0);
    CHECK(m5.tested.count(Q8 + " signed") == 1);
    CHECK(m5.tested.count(Q8 + " magnitude") == 1);
    CHECK(broken.tested.count(Q8 + " signed") == 1);
    CHECK(m2.tested.count("kernel_turbo_set_rows_turbo3_64") == 1);
    CHECK(m2.tested.count("kernel_turbo_copy_to_turbo4") == 1);
    CHECK(m2.tested.count("kernel_turbo_copy_from_turbo4") == 1);
}

TEST("self-test: dispatch takes the other table, then another number of queries, and says why") {
    CHECK(chosen({}, 8).queries == 8 && chosen({}, 8).table == TURBO_METAL_TABLE_MAGNITUDE);

    pretender one({ Q8 + " magnitude" });
    const turbo_metal_faults table = faults_of(one);
    CHECK_STR(names(table), Q8 + " magnitude");
    CHECK(chosen(table, 8).queries == 8 && chosen(table, 8).table == TURBO_METAL_TABLE_SIGNED);
    CHECK(std::string(chosen(table, 8).source).find("self-test") == 0);
    CHECK(chosen(table, 4).table == TURBO_METAL_TABLE_MAGNITUDE); // another kernel

    pretender two({ Q8 + " magnitude", Q8 + " signed" });
    const turbo_metal_faults both = faults_of(two);
    CHECK(chosen(both, 8).queries == 4 && chosen(both, 8).table == TURBO_METAL_TABLE_MAGNITUDE);
    CHECK_STR(refusal_of_attention(both, 1), "");
}

TEST("self-test: where no kernel is right, supports_op says so and names what to choose") {
    pretender none(every_kernel(128));
    const turbo_metal_faults faults = faults_of(none);
    CHECK(faults.size() == 10);
    CHECK(chosen(faults, 8).queries == 0);
    CHECK_STR(refusal_of_attention(faults, 1),
        "the self-test found every attention kernel for head_dim 128/128 wrong on this GPU: choose q8_0 for both");
}

TEST("self-test: a wrong set_rows or copy is refused, and the prefill that needs it") {
    pretender wrong({ "kernel_turbo_set_rows_turbo4", "kernel_turbo_copy_to_turbo4" });
    const turbo_metal_faults faults = faults_of(wrong);
    CHECK_STR(names(faults), "kernel_turbo_copy_to_turbo4, kernel_turbo_set_rows_turbo4");
    const turbo_metal_sample rows = turbo_metal_copy_sample(TURBO_METAL_SET_ROWS, GGML_TYPE_TURBO4, GGML_TYPE_F32);
    const turbo_metal_sample other = turbo_metal_copy_sample(TURBO_METAL_SET_ROWS, GGML_TYPE_TURBO3, GGML_TYPE_F32);
    const turbo_metal_sample copy = turbo_metal_copy_sample(TURBO_METAL_COPY_TO, GGML_TYPE_TURBO4, GGML_TYPE_F16);
    const std::string sentence = " wrong on this GPU: choose q8_0 instead of turbo4";
    CHECK_STR(turbo_metal_refusal(faulty_device(faults), rows.op),
        "the self-test found kernel_turbo_set_rows_turbo4" + sentence);
    CHECK_STR(turbo_metal_refusal(faulty_device(faults), copy.op),
        "the self-test found kernel_turbo_copy_to_turbo4" + sentence);
    CHECK_STR(refusal_of_attention(faults, 64), "the self-test found kernel_turbo_copy_to_turbo4" + sentence);
    CHECK_STR(refusal_of_attention(faults, 1), "");
    CHECK_STR(turbo_metal_refusal(faulty_device(faults), other.op), "");
}

TEST("self-test: what is known for this GPU and build is not tested again") {
    const record_file file;
    pretender first({ Q8 + " magnitude" }), second({}), other({});
    {
        turbo_metal_record record(file.path, "M2, build 1");
        turbo_metal_self_test(test_device(), first, record, DIM_128);
    }
    turbo_metal_record record(file.path, "M2, build 1");
    CHECK_STR(names(turbo_metal_self_test(test_device(), second, record, DIM_128)), Q8 + " magnitude");
    CHECK(second.tested.empty());
    turbo_metal_record anew(file.path, "M2, build 2");
    CHECK_STR(names(turbo_metal_self_test(test_device(), other, anew, DIM_128)), "");
    CHECK(other.tested.count(Q8 + " magnitude") == 1);
}

TEST("self-test: a kernel that ended the engine is wrong; one that another engine tests now is tested here too") {
    const record_file file;
    const pid_t gone = 999999999;
    std::ofstream(file.path) << "concertina metal self-test 1: M2\ntesting\t" << Q8 << " magnitude\t" << gone << "\n"
                             << "testing\tkernel_turbo_set_rows_turbo4\t" << getppid() << "\n";
    pretender gpu({});
    turbo_metal_record record(file.path, "M2");
    CHECK_STR(names(turbo_metal_self_test(test_device(), gpu, record, DIM_128)), Q8 + " magnitude");
    CHECK(gpu.tested.count(Q8 + " magnitude") == 0);
    CHECK(gpu.tested.count("kernel_turbo_set_rows_turbo4") == 1);
    CHECK(gpu.tested.count(Q8 + " signed") == 1);
}
