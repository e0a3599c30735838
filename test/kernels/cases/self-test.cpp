// The self-test that the app runs at its first start on a GPU, on the stand-in for ggml's Metal backend: the executor in the GPU's
// place, and a driver that compiles kernels wrongly. And what the faults do to dispatch.

#include "../../native/check.h"
#include "../mac/fake-metal.h"
#include "dispatch.h"

#include "encode.h"
#include "ggml-turbo.h"
#include "turbo-metal-app.h"
#include "turbo-metal-impl.h"

#include "ggml-backend-impl.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace {

typedef std::vector<std::pair<int, int>> dims_list;
const dims_list COPIES = {}; // no attention
const dims_list DIM_128 = { { 128, 128 } };
const int M2 = 8, M5 = 10;

const std::string ATTENTION = "kernel_turbo_attention_dk128_dv128_";

// A GPU of its own for a case: other cases share the backend.
struct fake_gpu {
    explicit fake_gpu(int family = M2, const std::set<std::string> & damaged = {}) {
        fake_metal_family(family);
        fake_metal_damage(damaged);
    }
    ~fake_gpu() {
        fake_metal_family(M2);
        fake_metal_damage({});
        fake_metal_refuse("");
        fake_metal_limit("", 0);
        turbo_metal_set_faults(nullptr);
        turbo_metal_set_speeds(nullptr);
    }
    turbo_metal_faults test(const dims_list & dims, const std::string & file = "", const std::string & key = "") const {
        const auto device = (ggml_metal_device_t) ggml_backend_get_device(fake_metal_backend())->context;
        return turbo_metal_self_test(device, file, key, dims);
    }
};

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
        remove((folder + "/metal-speed.txt").c_str());
        rmdir(folder.c_str());
    }
    std::string text() const {
        std::ifstream in(path);
        return { std::istreambuf_iterator<char>(in), {} };
    }
    int count(const std::string & part) const {
        const std::string all = text();
        int n = 0;
        for (size_t at = 0; (at = all.find(part, at)) != std::string::npos; ++at) ++n;
        return n;
    }
    // how the test of a kernel ended
    bool has(const std::string & outcome, const std::string & kernel) const {
        return count("\n" + outcome + "\t" + kernel + (outcome == "passed" ? "\n" : "\t")) > 0;
    }
};

std::string names(const turbo_metal_faults & faults) {
    std::string all;
    for (const auto & f : faults) all += (all.empty() ? "" : ", ") + f.first;
    return all;
}

std::string problem(const turbo_metal_faults & faults, const std::string & kernel) {
    const auto found = faults.find(kernel);
    return found == faults.end() ? "" : found->second;
}

// As pipelines are named: with the table, and the kinds of K and V.
std::string pipeline(const std::string & kernel, int table) { return kernel + "_3000=" + std::to_string(table) + "_"; }
std::string pipeline(const std::string & kernel, int table, int k, int v) {
    return pipeline(kernel, table) + "3001=" + std::to_string(k) + "_3002=" + std::to_string(v) + "_";
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
std::string refusal_of_attention(const turbo_metal_faults & faults, int n_rows, ggml_type type_v = GGML_TYPE_TURBO4) {
    turbo_tensors t;
    ggml_tensor * q = ggml_new_tensor_3d(t.ctx, GGML_TYPE_F32, 128, n_rows, 8);
    ggml_tensor * k = ggml_new_tensor_3d(t.ctx, GGML_TYPE_TURBO4, 128, 256, 1);
    ggml_tensor * v = ggml_new_tensor_3d(t.ctx, type_v, 128, 256, 1);
    return turbo_metal_refusal(faulty_device(faults), ggml_flash_attn_ext(t.ctx, q, k, v, nullptr, 1.0f, 0.0f, 0.0f));
}

std::string refusal_of_set_rows(const turbo_metal_faults & faults, ggml_type type) {
    turbo_tensors t;
    ggml_tensor * rows = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 128, 4);
    ggml_tensor * index = ggml_new_tensor_1d(t.ctx, GGML_TYPE_I64, 4);
    return turbo_metal_refusal(
        faulty_device(faults), ggml_set_rows(t.ctx, ggml_new_tensor_2d(t.ctx, type, 128, 4), rows, index));
}

std::string refusal_of_expansion(const turbo_metal_faults & faults, ggml_type type) {
    turbo_tensors t;
    return turbo_metal_refusal(
        faulty_device(faults), ggml_cast(t.ctx, ggml_new_tensor_2d(t.ctx, type, 128, 4), GGML_TYPE_F16));
}

} // namespace

// An M5 takes both tables, so this is every kernel that is ever the first choice: twelve copies, and both tables for each
// number of queries.
TEST("self-test: every kernel gives the CPU's values") {
    const record_file file;
    for (const auto & f : fake_gpu(M5).test(turbo_metal_dims(), file.path)) {
        check(false, __FILE__, __LINE__, f.first + ": " + f.second);
    }
    CHECK(file.count("\npassed\tkernel_turbo_set_rows_") == 4);
    CHECK(file.count("\npassed\tkernel_turbo_copy_from_") == 4);
    CHECK(file.count("\npassed\tkernel_turbo_copy_to_") == 4);
    CHECK(file.count("\npassed\tkernel_turbo_attention_dk64_dv64_") == 2 * 4);
    CHECK(file.count("\npassed\tkernel_turbo_attention_dk96_dv64_") == 2 * 2);
    CHECK(file.count("\npassed\tkernel_turbo_attention_dk128_dv128_") == 2 * 4);
    CHECK(file.count("\npassed\tkernel_turbo_attention_dk192_dv128_") == 2 * 2);
    CHECK(file.count("\npassed\tkernel_turbo_attention_dk256_dv256_") == 2 * 3);
}

// What mutants-turbo.mjs plants mistakes for; it compiles no other kernel.
TEST("self-test of one kernel") {
    const record_file file;
    const turbo_metal_faults faults = fake_gpu(M5).test(DIM_128, file.path);
    CHECK_STR(problem(faults, ATTENTION + "q4 signed"), "");
    CHECK_STR(problem(faults, ATTENTION + "q4 magnitude"), "");
    CHECK(file.count("\ntesting\t" + ATTENTION + "q4 ") == 2);
}

// mac/app.cpp, where one kernel does not compile and two take few threads.
TEST("self-test: through ggml's Metal backend, with what the app gets") {
    const record_file file;
    const fake_gpu gpu;
    CHECK_STR(turbo_metal_family(), "Apple8");
    fake_metal_refuse("kernel_turbo_attention_dk192_dv128_q8");
    fake_metal_limit("kernel_turbo_attention_dk96_dv64_q8", 16); // less than a SIMD-group
    fake_metal_limit("kernel_turbo_attention_dk96_dv64_q4", 96); // fewer SIMD-groups do
    double now = 0.0;
    turbo_metal_start(file.folder, { 64, 1, 1, [&] { return now += 1.0; } }); // all are as fast
    std::string warnings;
    for (const std::string & text : turbo_metal_warnings()) warnings += text + "\n";
    const std::string disabled = "Disabled by the self-test on this GPU: kernel_turbo_attention_",
                      other = "Another kernel or cache type is used.\n";
    CHECK_STR(warnings,
        disabled +
            "dk192_dv128_q8 magnitude (K q8_0, V turbo4: kernel_turbo_attention_dk192_dv128_q8 does not compile). " +
            other + disabled +
            "dk192_dv128_q8 shuffled (K q8_0, V turbo4: kernel_turbo_attention_dk192_dv128_q8 does not compile). " +
            other + disabled +
            "dk192_dv128_q8 signed (K q8_0, V turbo4: kernel_turbo_attention_dk192_dv128_q8 does not compile). " +
            other + disabled +
            "dk96_dv64_q8 magnitude (K q8_0, V turbo4_64: kernel_turbo_attention_dk96_dv64_q8 cannot run with 32 "
            "threads). " +
            other + disabled +
            "dk96_dv64_q8 shuffled (K q8_0, V turbo4_64: kernel_turbo_attention_dk96_dv64_q8 cannot run with 32 "
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
    CHECK_STR(why(192, 128), "signed table, 4 queries per SIMD-group, Apple8: self-test");
    CHECK_STR(why(128, 128), "signed table, 4 queries per SIMD-group, Apple8: measured on this GPU at 8K");

    CHECK(file.has("passed", "kernel_turbo_attention_dk96_dv64_q4 signed"));
}

TEST("self-test: tests what the chip takes, and more only when that is wrong; dispatch takes that then, and says why") {
    const std::string first = ATTENTION + "q8 magnitude", second = ATTENTION + "q8 signed";
    const record_file sound, broken;
    CHECK_STR(names(fake_gpu(M2).test(DIM_128, sound.path)), "");
    CHECK(sound.has("passed", first) && sound.count(second) == 0);
    CHECK(chosen({}, 8).queries == 8 && chosen({}, 8).table == TURBO_METAL_TABLE_MAGNITUDE);

    const auto table =
        fake_gpu(M2, { pipeline(ATTENTION + "q8", TURBO_METAL_TABLE_MAGNITUDE) }).test(DIM_128, broken.path);
    CHECK_STR(names(table), first);
    CHECK(broken.has("failed", first) && broken.has("passed", second));
    CHECK(chosen(table, 8).queries == 8 && chosen(table, 8).table == TURBO_METAL_TABLE_SIGNED);
    CHECK(std::string(chosen(table, 8).source).find("self-test") == 0);
    CHECK(chosen(table, 4).table == TURBO_METAL_TABLE_MAGNITUDE); // another kernel

    const turbo_metal_faults both = fake_gpu(M2, { ATTENTION + "q8" }).test(DIM_128);
    CHECK_STR(names(both), first + ", " + ATTENTION + "q8 shuffled, " + second);
    CHECK(chosen(both, 8).queries == 4 && chosen(both, 8).table == TURBO_METAL_TABLE_MAGNITUDE);
    CHECK_STR(refusal_of_attention(both, 1), "");
}

// Each is another pipeline of a kernel.
TEST("self-test: finds a kernel that is wrong for one pair of formats only") {
    enum { K4 = TURBO_METAL_TURBO4, K3 = TURBO_METAL_TURBO3, K8 = TURBO_METAL_Q8_0, K16 = TURBO_METAL_F16 };
    const int magnitude = TURBO_METAL_TABLE_MAGNITUDE, is_signed = TURBO_METAL_TABLE_SIGNED;
    const fake_gpu gpu(
        M5, { pipeline(ATTENTION + "q1", magnitude, K4, K4), pipeline(ATTENTION + "q1", is_signed, K3, K3),
                pipeline(ATTENTION + "q2", magnitude, K8, K4), pipeline(ATTENTION + "q2", is_signed, K16, K3),
                pipeline(ATTENTION + "q4", magnitude, K4, K8), pipeline(ATTENTION + "q4", is_signed, K3, K16) });
    const turbo_metal_faults faults = gpu.test(DIM_128);
    const auto label = [&](const std::string & kernel) {
        const std::string all = problem(faults, ATTENTION + kernel);
        return all.substr(0, all.find(": squared error"));
    };
    CHECK(faults.size() == 6);
    CHECK_STR(label("q1 magnitude"), "K turbo4, V turbo4");
    CHECK_STR(label("q1 signed"), "K turbo3, V turbo3, all options");
    CHECK_STR(label("q2 magnitude"), "K q8_0, V turbo4");
    CHECK_STR(label("q2 signed"), "K f16, V turbo3, all options");
    CHECK_STR(label("q4 magnitude"), "K turbo4, V q8_0");
    CHECK_STR(label("q4 signed"), "K turbo3, V f16, all options");
}

TEST("self-test: where no kernel is right, supports_op says so and names what to choose") {
    const turbo_metal_faults faults =
        fake_gpu(M2, { "kernel_turbo_set_rows", "kernel_turbo_copy", ATTENTION }).test(DIM_128);
    CHECK(faults.size() == 12 + 15);
    for (const auto & f : faults) { CHECK(f.second.find("squared error") != std::string::npos); }
    CHECK(chosen(faults, 8).queries == 0);
    CHECK_STR(refusal_of_attention(faults, 1),
        "the self-test found every attention kernel for head_dim 128/128 wrong on this GPU: choose q8_0 for both");
}

TEST("self-test: a wrong set_rows or copy is refused, and the prefill that needs it") {
    const turbo_metal_faults faults =
        fake_gpu(M2, { "kernel_turbo_set_rows_turbo4_3", "kernel_turbo_copy_to_turbo4_3" }).test(COPIES);
    CHECK_STR(names(faults), "kernel_turbo_copy_to_turbo4, kernel_turbo_set_rows_turbo4");
    const std::string sentence = " wrong on this GPU: choose q8_0 instead of turbo4";
    CHECK_STR(
        refusal_of_set_rows(faults, GGML_TYPE_TURBO4), "the self-test found kernel_turbo_set_rows_turbo4" + sentence);
    CHECK_STR(
        refusal_of_expansion(faults, GGML_TYPE_TURBO4), "the self-test found kernel_turbo_copy_to_turbo4" + sentence);
    CHECK_STR(refusal_of_attention(faults, 64), "the self-test found kernel_turbo_copy_to_turbo4" + sentence);
    CHECK_STR(refusal_of_attention(faults, 1), "");
    CHECK_STR(refusal_of_set_rows(faults, GGML_TYPE_TURBO3), "");
}

TEST("a type with a trellis is refused by name, with the type to choose") {
    CHECK_STR(refusal_of_set_rows({}, GGML_TYPE_TURBO4_TCQ),
        "Metal has no kernels for the trellis of turbo4_tcq: choose turbo4");
    CHECK_STR(refusal_of_expansion({}, GGML_TYPE_TURBO3_TCQ),
        "Metal has no kernels for the trellis of turbo3_tcq: choose turbo3");
    CHECK_STR(refusal_of_attention({}, 1, GGML_TYPE_TURBO3_TCQ),
        "Metal has no kernels for the trellis of turbo3_tcq: choose turbo3");
}

TEST("self-test: what is known for this GPU and build is not tested again") {
    const std::string kernel = "kernel_turbo_copy_from_turbo3_64";
    const record_file file;
    CHECK_STR(names(fake_gpu(M2, { kernel }).test(COPIES, file.path, "M2, build 1")), kernel);
    const std::string first = file.text();
    CHECK(file.has("failed", kernel) && file.count("passed") == 11);
    CHECK_STR(names(fake_gpu().test(COPIES, file.path, "M2, build 1")), kernel);
    CHECK_STR(file.text(), first);
    CHECK_STR(names(fake_gpu().test(COPIES, file.path, "M2, build 2")), "");
    CHECK(file.has("passed", kernel) && file.count("build 1") == 0);
}

TEST("self-test: a kernel that ended the engine is wrong; one that another engine tests now is tested here too") {
    const record_file file;
    const pid_t gone = 999999999;
    std::ofstream(file.path) << "concertina metal self-test 2: M2\ntesting\t" << ATTENTION << "q8 magnitude\t" << gone
                             << "\ntesting\tkernel_turbo_set_rows_turbo4\t" << getppid() << "\n";
    const turbo_metal_faults faults = fake_gpu().test(DIM_128, file.path, "M2");
    CHECK_STR(names(faults), ATTENTION + "q8 magnitude");
    CHECK_STR(problem(faults, ATTENTION + "q8 magnitude"), "the engine ended while it was tested");
    CHECK(!file.has("passed", ATTENTION + "q8 magnitude") && file.has("passed", ATTENTION + "q8 signed"));
    CHECK(file.has("passed", "kernel_turbo_set_rows_turbo4"));
}
