// The self-test: every kernel that dispatch may take on a GPU runs on small data through ggml's Metal backend, and its values are
// compared with the CPU's. What is wrong is a fault, which dispatch passes over: a driver may compile a kernel wrongly.

#include "encode.h"
#include "ggml-turbo.h"
#include "self-test-record.h"
#include "turbo-hooks.h"

#include "ggml-cpp.h"
#include "ggml-cpu.h"
#include "ggml-metal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>

namespace {

// Largest sum of squared errors, relative to that of the values, of attention and of what is decoded. f32 rounds each of some
// hundred products and sums (2^-24 each, squared and summed: 1e-11); fast exponentials and rows of V left out at weights below
// 1e-6 of the largest come to 1e-8 at most; f16 results to 6e-8. A position too much or too little of the 421 is 1e-4 and more.
const double BOUND = 1e-6;
// Of what is encoded the error of the CPU's codec is the bound; another of two scales that are equally good is no fault.
const double QUANTIZER_SLACK = 1.001;

// Fourteen tiles, the last one in part: of MAX_SPLITS two have none, and there are two parts to merge.
const int N_KV = 421;
const int MAX_SPLITS = 8;
const int N_HEAD_KV = 2;
const int COPY_ROWS = 5;

// Rows of a type to another (SET_ROWS, CPY), or attention with these types of K and V.
struct trial {
    ggml_op op;
    ggml_type type[2];
    std::pair<int, int> dims = {};
    const turbo_metal_variant * variant = nullptr;
    bool options = false; // two rows, sinks, soft cap and ALiBi
    bool recent = false; // with a window of recent cells

    std::string label() const {
        const std::string first = ggml_type_name(type[0]), second = ggml_type_name(type[1]);
        const std::string window = recent ? ", a window of recent cells" : "";
        if (!variant) { return first + " to " + second + window; }
        return "K " + first + ", V " + second + window + (options ? ", all options" : "");
    }
};

std::vector<uint8_t> encoded(ggml_type type, const std::vector<float> & x) {
    std::vector<uint8_t> bytes(ggml_row_size(type, x.size()));
    ggml_quantize_chunk(type, x.data(), bytes.data(), 0, 1, x.size(), nullptr);
    return bytes;
}

std::vector<float> decoded(ggml_type type, const std::vector<uint8_t> & bytes) {
    std::vector<float> x(bytes.size() / ggml_type_size(type) * ggml_blck_size(type));
    const ggml_to_float_t to_float = ggml_get_type_traits(type)->to_float; // f32 has none
    to_float ? to_float(bytes.data(), x.data(), x.size()) : (void) memcpy(x.data(), bytes.data(), bytes.size());
    return x;
}

// Sum of squared differences, relative to the squares of want. NaN when a value is.
double relative_error(const std::vector<float> & want, const std::vector<float> & got) {
    double error = 0.0, power = 0.0;
    for (size_t i = 0; i < want.size(); ++i) {
        error += ((double) got[i] - want[i]) * ((double) got[i] - want[i]);
        power += (double) want[i] * want[i];
    }
    return error / power;
}

// A trial on its data. wide: for the CPU, which gets the same values in f32 in place of the types under test.
class operation {
public:
    operation(const trial & t, bool wide) : wide(wide) { result = t.variant ? attention(t) : copy(t); }

    ggml_tensor * result;
    ggml_tensor * stored = nullptr; // to be read in place of the result

    ggml_type type() const { return (stored ? stored : result)->type; }

    // Empty where there is no backend, or it did not run the operation.
    std::vector<float> compute(ggml_backend_t backend) {
        const ggml_backend_buffer_ptr buffer(backend ? ggml_backend_alloc_ctx_tensors(ctx.get(), backend) : nullptr);
        if (!buffer) { return {}; }
        for (const auto & [tensor, bytes] : inputs) { ggml_backend_tensor_set(tensor, bytes.data(), 0, bytes.size()); }
        ggml_cgraph * graph = ggml_new_graph(ctx.get());
        ggml_build_forward_expand(graph, result);
        if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS) { return {}; }
        const ggml_tensor * read = stored ? stored : result;
        std::vector<uint8_t> bytes(ggml_nbytes(read));
        ggml_backend_tensor_get(read, bytes.data(), 0, bytes.size());
        return decoded(read->type, bytes);
    }

private:
    ggml_type type_of(ggml_type type) const { return wide ? GGML_TYPE_F32 : type; }

    ggml_tensor * input(ggml_type type, int64_t n0, int64_t n1, int64_t n2, std::vector<uint8_t> bytes) {
        inputs.push_back({ ggml_new_tensor_3d(ctx.get(), type, n0, n1, n2), std::move(bytes) });
        return inputs.back().first;
    }

    // Values of a type, variance 1; wide: as the type holds them.
    ggml_tensor * values(ggml_type type, int64_t n0, int64_t n1, int64_t n2 = 1) {
        std::vector<float> x(n0 * n1 * n2);
        for (float & value : x) { value = ((float) (random() >> 8) / (1 << 24) - 0.5f) * std::sqrt(12.0f); }
        std::vector<uint8_t> bytes = encoded(type, x);
        if (wide) { bytes = encoded(GGML_TYPE_F32, decoded(type, bytes)); }
        return input(type_of(type), n0, n1, n2, std::move(bytes));
    }

    ggml_tensor * copy(const trial & t) {
        // the last SIMD-group of a threadgroup has nothing to do
        const int dim = 3 * std::max(ggml_blck_size(t.type[0]), ggml_blck_size(t.type[1]));
        ggml_tensor * from = values(t.type[0], dim, COPY_ROWS);
        if (t.op == GGML_OP_CPY) { return ggml_cast(ctx.get(), from, type_of(t.type[1])); }
        const int64_t reversed[COPY_ROWS] = { 4, 3, 2, 1, 0 };
        ggml_tensor * rows =
            input(GGML_TYPE_I64, COPY_ROWS, 1, 1, { (uint8_t *) reversed, (uint8_t *) std::end(reversed) });
        ggml_tensor * to = ggml_new_tensor_2d(ctx.get(), type_of(t.type[1]), dim, COPY_ROWS);
        ggml_tensor * op = ggml_set_rows(ctx.get(), to, from, rows);
        if (t.recent && !wide) {
            stored = ggml_new_tensor_2d(ctx.get(), GGML_TYPE_Q8_0, dim, COPY_ROWS);
            op->src[TURBO_SRC_RECENT_ROWS] = stored;
            op->src[TURBO_SRC_RECENT_PLACES] = rows;
        }
        return op;
    }

    // Every other tile of positions is held in q8_0, too; wide: as the value of the position.
    void hold(ggml_tensor * op, size_t k, size_t v) {
        std::vector<int32_t> slots;
        for (int first = 0; first < N_KV; first += TURBO_RECENT_TILE) {
            slots.push_back(first / TURBO_RECENT_TILE % 2 ? first / TURBO_RECENT_TILE / 2 : -1);
        }
        const int64_t n_k = inputs[k].first->ne[0] * N_HEAD_KV, n_v = inputs[v].first->ne[0] * N_HEAD_KV;
        ggml_tensor * rows = values(GGML_TYPE_Q8_0, n_k + n_v, slots.size() / 2 * TURBO_RECENT_TILE);
        const std::vector<uint8_t> & bytes = inputs.back().second;
        for (int i = 0; wide && i < N_KV; ++i) {
            const int slot = slots[i / TURBO_RECENT_TILE];
            if (slot < 0) { continue; }
            const float * row =
                (const float *) bytes.data() + (slot * TURBO_RECENT_TILE + i % TURBO_RECENT_TILE) * (n_k + n_v);
            memcpy((float *) inputs[k].second.data() + i * n_k, row, n_k * sizeof(float));
            memcpy((float *) inputs[v].second.data() + i * n_v, row + n_k, n_v * sizeof(float));
        }
        if (wide) { return; }
        op->src[TURBO_SRC_RECENT_ROWS] = rows;
        op->src[TURBO_SRC_RECENT_SLOTS] = input(
            GGML_TYPE_I32, slots.size(), 1, 1, { (uint8_t *) slots.data(), (uint8_t *) (slots.data() + slots.size()) });
    }

    // Over a cache as llama.cpp keeps it: the heads of a position one after the other. More queries than a SIMD-group takes.
    ggml_tensor * attention(const trial & t) {
        const int n_rows = t.options ? 2 : 1, n_head = N_HEAD_KV * (t.variant->queries + 1);
        ggml_tensor * q = values(GGML_TYPE_F32, t.dims.first, n_rows, n_head);
        ggml_tensor * k = values(t.type[0], t.dims.first, N_HEAD_KV, N_KV);
        ggml_tensor * v = values(t.type[1], t.dims.second, N_HEAD_KV, N_KV);
        // a whole tile is hidden, and every ninth position, and from each row what comes after it
        std::vector<float> mask;
        for (int i = 0; i < n_rows * N_KV; ++i) {
            const int p = i % N_KV;
            const bool hidden = p / 32 == 2 || p % 9 == 4 || p > N_KV - n_rows + i / N_KV;
            mask.push_back(hidden ? -INFINITY : t.options ? (p - N_KV) / 8.0f : 0.0f);
        }
        ggml_tensor * op = ggml_flash_attn_ext(ctx.get(), q, ggml_permute(ctx.get(), k, 0, 2, 1, 3),
            ggml_permute(ctx.get(), v, 0, 2, 1, 3), input(GGML_TYPE_F16, N_KV, n_rows, 1, encoded(GGML_TYPE_F16, mask)),
            1.0f / std::sqrt((float) t.dims.first), t.options ? 8.0f : 0.0f, t.options ? 4.0f : 0.0f);
        if (t.options) { ggml_flash_attn_ext_add_sinks(op, values(GGML_TYPE_F32, n_head, 1)); }
        if (t.recent) { hold(op, 1, 2); }
        return op;
    }

    bool wide;
    std::mt19937 random; // its numbers are the same everywhere, unlike those of <random>'s distributions
    ggml_context_ptr ctx{ ggml_init({ 16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }) };
    std::vector<std::pair<ggml_tensor *, std::vector<uint8_t>>> inputs;
};

// Formats of K or V; COUNT where rows of this length have no whole groups.
ggml_type format(int i, int dim) {
    if (i >= 2) { return i == 2 ? GGML_TYPE_Q8_0 : GGML_TYPE_F16; }
    if (dim == 64) { return i == 0 ? GGML_TYPE_TURBO4_64 : GGML_TYPE_TURBO3_64; }
    return dim % 128 != 0 ? GGML_TYPE_COUNT : i == 0 ? GGML_TYPE_TURBO4 : GGML_TYPE_TURBO3;
}

// Every format on either side; turbo3 and f16 of K with all options; K and V of one turbo type also with a window.
std::vector<trial> attention_trials(std::pair<int, int> dims, const turbo_metal_variant & variant) {
    std::vector<trial> trials;
    for (int k = 0; k < 4; ++k) {
        for (const int v : { k, (k + 2) % 4 }) {
            const ggml_type types[] = { format(k, dims.first), format(v, dims.second) };
            if (std::min(k, v) < 2 && types[0] != GGML_TYPE_COUNT && types[1] != GGML_TYPE_COUNT) {
                trials.push_back({ GGML_OP_FLASH_ATTN_EXT, { types[0], types[1] }, dims, &variant, k % 2 == 1 });
                if (k == v) {
                    trials.push_back(trials.back());
                    trials.back().recent = true;
                }
            }
        }
    }
    return trials;
}

class tester {
public:
    turbo_metal_faults faults;

    tester(ggml_metal_device_t gpu, const std::string & file, const std::string & first)
        : device(turbo_metal_device_of(ggml_metal_device_get_props(gpu), true)),
          lib(ggml_metal_device_get_library(gpu)), results(file, first, "the engine ended while it was tested") {
        device.faults = &faults;
    }

    // set_rows and copies: one kernel each for a type, no other to take instead.
    void test_copies() {
        const ggml_type f32 = GGML_TYPE_F32, f16 = GGML_TYPE_F16;
        for (const ggml_type turbo : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 }) {
            const std::string name = ggml_type_name(turbo);
            test("kernel_turbo_set_rows_" + name,
                { { GGML_OP_SET_ROWS, { f32, turbo } }, { GGML_OP_SET_ROWS, { f16, turbo } },
                    { GGML_OP_SET_ROWS, { f32, turbo }, {}, nullptr, false, true } });
            test(
                "kernel_turbo_copy_from_" + name, { { GGML_OP_CPY, { f32, turbo } }, { GGML_OP_CPY, { f16, turbo } } });
            test("kernel_turbo_copy_to_" + name, { { GGML_OP_CPY, { turbo, f32 } }, { GGML_OP_CPY, { turbo, f16 } } });
        }
    }

    // What dispatch takes for these head dims at any ratio and depth; where that is wrong also what it takes instead.
    void test_attention(const std::pair<int, int> & dims) {
        for (int i = 0; i < 32 * 9 * 2; ++i) {
            const turbo_metal_shape shape = { 1024 << i % 9, dims.first, dims.second, 1 + i / 18, 1, 1,
                i / 9 % 2 == 1 };
            turbo_metal_variant v;
            do {
                v = turbo_metal_choose_with(device, shape, MAX_SPLITS, "");
            } while (
                v.queries > 0 && test(turbo_metal_fault_name(dims.first, dims.second, v), attention_trials(dims, v)));
        }
    }

private:
    // What is wrong with a trial's kernels; empty: nothing.
    std::string problem_of(const trial & t) const {
        operation narrow(t, false), wide(t, true);
        const std::string obstacle =
            turbo_metal_obstacle(lib, t.variant ? turbo_metal_plan_on(lib, *t.variant, narrow.result)
                                                : turbo_metal_make_plan(device, narrow.result));
        if (!obstacle.empty()) { return obstacle; }
        // one each: after an error on the GPU a backend refuses all that follows
        const ggml_backend_ptr cpu(ggml_backend_cpu_init()), gpu(ggml_backend_metal_init());
        ggml_backend_cpu_set_use_ref(cpu.get(), true);
        const turbo_metal_forced_variant forced(t.variant);
        const std::vector<float> want = wide.compute(cpu.get()), got = narrow.compute(gpu.get());
        if (got.empty()) { return "the GPU did not run it"; }

        const ggml_type type = narrow.type();
        const double by_codec = relative_error(want, decoded(type, encoded(type, want)));
        const double bound = ggml_is_quantized(type) ? QUANTIZER_SLACK * by_codec : BOUND;
        const double error = relative_error(want, got);
        // false for NaN
        return error <= bound ? "" : "squared error " + std::to_string(error) + " of the values";
    }

    // False when the kernel has been tested before.
    bool test(const std::string & kernel, const std::vector<trial> & trials) {
        if (!tested.insert(kernel).second) { return false; }
        if (!results.of(kernel)) {
            results.begin(kernel);
            std::string problem;
            for (size_t i = 0; problem.empty() && i < trials.size(); ++i) {
                problem = problem_of(trials[i]);
                if (!problem.empty()) { problem = trials[i].label() + ": " + problem; }
            }
            results.end(kernel, problem);
        }
        if (!results.of(kernel)->empty()) { faults[kernel] = *results.of(kernel); }
        return true;
    }

    turbo_metal_device device;
    ggml_metal_library_t lib;
    turbo_self_test_record results;
    std::set<std::string> tested;
};

} // namespace

turbo_metal_faults turbo_metal_self_test(ggml_metal_device_t gpu, const std::string & file, const std::string & key,
    const std::vector<std::pair<int, int>> & dims) {
    tester all(gpu, file, "concertina metal self-test 2: " + key);
    all.test_copies();
    for (const auto & d : dims) { all.test_attention(d); }
    return all.faults;
}
