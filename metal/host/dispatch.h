// Which variant of the attention kernel runs where. The table is in dispatch.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What the self-test found wrong on a GPU: by kernel (turbo_metal_fault_name of attention), what was wrong.
typedef std::map<std::string, std::string> turbo_metal_faults;

// What was fastest on a GPU at its first start (mac/speed.cpp).
struct turbo_metal_speed {
    int table; // enum turbo_metal_table
    int queries; // per SIMD-group, at most, at head_dim 128
    std::string why; // the figures
};
typedef std::map<bool, turbo_metal_speed> turbo_metal_speeds; // by whether K or V is turbo4

// How turbo_metal_measure measures. now: seconds.
struct turbo_metal_stopwatch {
    int n_kv = 8192;
    int n_op = 8; // a run of some milliseconds
    int rounds = 5;
    std::function<double()> now = steady;

    static double steady();
};

struct turbo_metal_device {
    int family;             // MTLGPUFamilyApple<n>: 7 is M1, 8 M2, 9 M3 and M4, 10 M5; 0 unknown
    bool has_simdgroups;     // reductions and shuffles
    bool has_matrices;       // simdgroup matrices, which upstream's prefill needs
    size_t threadgroup_memory; // bytes
    bool has_kernels;        // ours were compiled
    const turbo_metal_faults * faults; // not to be used; null: none
    const turbo_metal_speeds * speeds; // null: not measured
};

// Kernels exist for these; see metal/kernels/attention.metal.
struct turbo_metal_shape {
    int64_t n_kv;
    int dim_k;
    int dim_v;
    int gqa;      // heads per KV head
    int n_rows;   // rows of Q per head
    int n_groups; // KV heads, of all streams
    bool has_turbo4; // K or V
};

struct turbo_metal_variant {
    int table;      // enum turbo_metal_table
    int queries;    // per SIMD-group
    int splits;     // of the KV range, a multiple of simdgroups
    int simdgroups; // per threadgroup
    bool skip_v;
    const char * source; // of the choice of table
};

// CONCERTINA_METAL_VARIANT, read once. What cannot be read is left out, and problem says so.
struct turbo_metal_override {
    std::string text;
    std::string problem;
};
const turbo_metal_override & turbo_metal_environment();

// The variant for a shape, with CONCERTINA_METAL_VARIANT applied. max_splits: what the scratch memory holds.
turbo_metal_variant turbo_metal_choose(
    const turbo_metal_device & device, const turbo_metal_shape & shape, int max_splits);

// As turbo_metal_choose with the given override ("" for none). Throws std::invalid_argument when it cannot be read.
turbo_metal_variant turbo_metal_choose_with(const turbo_metal_device & device, const turbo_metal_shape & shape,
    int max_splits, const std::string & override_text);

// Host name and table: what a fault of an attention kernel is kept under.
std::string turbo_metal_fault_name(int dim_k, int dim_v, const turbo_metal_variant & variant);

// "magnitude table, 4 queries per SIMD-group": for the app's status.
std::string turbo_metal_kernel_text(const turbo_metal_variant & variant);

// The same and its splits.
std::string turbo_metal_describe(const turbo_metal_variant & variant);

// Whether there is a kernel with so many queries per SIMD-group.
bool turbo_metal_has_kernel(int dim_k, int dim_v, int queries);

// Whether one of them has no fault.
bool turbo_metal_has_sound_kernel(const turbo_metal_device & device, int dim_k, int dim_v);

// Head dims that have a kernel: {dim_k, dim_v}.
std::vector<std::pair<int, int>> turbo_metal_dims();

// Which variants decode attention takes over the depth of a context, and why: for the app's status.
struct turbo_metal_use {
    int64_t from; // positions in the cache
    std::string name;
    std::string why;
};

// override_text: of CONCERTINA_METAL_VARIANT, "" for none; throws as turbo_metal_choose_with. has_turbo4: as K or V. Empty where there
// is no kernel.
std::vector<turbo_metal_use> turbo_metal_uses(const turbo_metal_device & device, int dim_k, int dim_v, int gqa,
    int64_t n_ctx, const std::string & override_text, bool has_turbo4 = false);
