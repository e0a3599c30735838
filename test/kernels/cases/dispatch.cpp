#include "dispatch.h"

#include "../../native/check.h"

#include "turbo-hooks.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

// cache read: as load instructions ask for it; distinct: what a threadgroup reads once or more counts once (first-level cache);
// other device: queries, mask, partial and final results; the rest per cell too, barriers and collectives per simdgroup
void print_counts(const std::string & what, const msl_counters & c, uint64_t cells) {
    uint64_t asked = 0, distinct = 0;
    for (const char * name : { "k", "v" }) {
        const auto found = c.buffers.find(name);
        if (found == c.buffers.end()) continue;
        asked += found->second.read;
        distinct += found->second.unique;
    }
    const uint64_t other = c.device.read + c.device.written - asked;
    const auto per = [cells](uint64_t n) { return (double) n / (double) cells; };
    printf("row counts | %s | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f | %.3f | %.3f | %.2f | %zu |\n", what.c_str(),
        per(asked), per(distinct), per(other), per(c.tables.loads), per(c.threadgroup.read), per(c.threadgroup.written),
        per(c.threadgroup_barriers), per(c.simdgroup_barriers), per(c.collectives), c.threadgroup_memory);
}

turbo_tensors::turbo_tensors() : ctx(ggml_init({ 64 * ggml_tensor_overhead(), nullptr, true })) {}

turbo_tensors::~turbo_tensors() { ggml_free(ctx); }

msl_buffer & turbo_tensors::allocate(ggml_tensor * t, const char * name, size_t extra) {
    buffers.push_back(std::make_unique<msl_buffer>(name, ggml_nbytes(t) + extra));
    t->data = buffers.back()->data();
    return *buffers.back();
}

std::pair<msl_buffer *, size_t> turbo_tensors::find(const ggml_tensor * t) const {
    const uint8_t * data = (const uint8_t *) (t->view_src ? t->view_src->data : t->data);
    for (const auto & b : buffers) {
        if (data >= b->data() && data < b->data() + b->size()) {
            return { b.get(), data - b->data() + (t->view_src ? t->view_offs : 0) };
        }
    }
    throw std::runtime_error("a tensor has no buffer");
}

namespace {

std::string module_of(const std::string & kernel) {
    return kernel.rfind("kernel_turbo_", 0) == 0 ? "turbo" : "upstream-fa";
}

// first: a plan begins after what is before it
msl_dispatch dispatch_of(
    const turbo_metal_encode & e, const ggml_tensor * op, const turbo_tensors & tensors, bool first) {
    msl_dispatch d;
    d.module = module_of(e.kernel);
    d.kernel = e.kernel;
    for (const turbo_metal_constant & c : e.constants) {
        d.constants.push_back({ c.index, c.boolean ? msl_constant::boolean : msl_constant::i32, c.value });
    }
    d.bindings = { { 0, nullptr, 0, e.args } };
    for (const turbo_metal_binding & b : e.bindings) {
        const auto place = tensors.find(b.tensor == turbo_metal_binding::RESULT ? op : op->src[b.tensor]);
        d.bindings.push_back({ b.slot, place.first, place.second + b.offset });
    }
    d.grid = { (uint32_t) e.grid[0], (uint32_t) e.grid[1], (uint32_t) e.grid[2] };
    d.threads = { (uint32_t) e.threads[0], (uint32_t) e.threads[1], (uint32_t) e.threads[2] };
    d.threadgroup_memory = e.shared;
    d.after = e.after || first;
    return d;
}

} // namespace

msl_result run_plan(const turbo_metal_plan & plan, const ggml_tensor * op, const turbo_tensors & tensors,
    const msl_schedule & schedule) {
    msl_result all;
    for (const turbo_metal_encode & e : plan) {
        const msl_result r = msl_run(dispatch_of(e, op, tensors, &e == plan.data()), schedule);
        all.counters += r.counters;
        all.reports.insert(all.reports.end(), r.reports.begin(), r.reports.end());
    }
    return all;
}

namespace {

const mask_kind NO_MASK = mask_kind::none;

// The operation, with its tensors in buffers. K and V lie position by position as in a cache, heads in a row: a permuted view.
ggml_tensor * build(const attention_case & c, attention_data & data, turbo_tensors & t, bool allocate) {
    const int n_head = c.n_head_kv * c.gqa;
    ggml_tensor * q = ggml_new_tensor_4d(t.ctx, GGML_TYPE_F32, c.dim_k, c.n_rows, n_head, c.n_stream);
    if (allocate) t.fill(q, "q", data.q);
    ggml_tensor * side[2];
    for (int i = 0; i < 2; ++i) {
        const int n1 = c.by_head ? c.n_kv : c.n_head_kv;
        const int n2 = c.by_head ? c.n_head_kv : c.n_kv;
        side[i] =
            ggml_new_tensor_4d(t.ctx, i == 0 ? c.type_k : c.type_v, i == 0 ? c.dim_k : c.dim_v, n1, n2, c.n_stream);
        if (allocate) t.fill(side[i], i == 0 ? "k" : "v", i == 0 ? data.k : data.v);
        if (!c.by_head) side[i] = ggml_permute(t.ctx, side[i], 0, 2, 1, 3);
    }
    ggml_tensor * mask = nullptr;
    if (c.mask != NO_MASK || c.max_bias > 0.0f) {
        mask = ggml_new_tensor_4d(t.ctx, GGML_TYPE_F16, c.n_kv, c.n_rows, 1, c.n_stream);
        std::vector<ggml_fp16_t> half(data.mask.size());
        ggml_fp32_to_fp16_row(data.mask.data(), half.data(), half.size());
        if (allocate) t.fill(mask, "mask", half);
    }
    ggml_tensor * op =
        ggml_flash_attn_ext(t.ctx, q, side[0], side[1], mask, 1.0f / std::sqrt((float) c.dim_k), c.max_bias, c.softcap);
    if (c.sinks) {
        ggml_tensor * sinks = ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, n_head);
        if (allocate) t.fill(sinks, "sinks", data.sinks);
        ggml_flash_attn_ext_add_sinks(op, sinks);
    }
    if (c.recent) {
        const int64_t width = c.n_head_kv * (c.dim_k + c.dim_v);
        const int64_t n_row = data.recent.size() / ggml_row_size(GGML_TYPE_Q8_0, width);
        ggml_tensor * rows = ggml_new_tensor_2d(t.ctx, GGML_TYPE_Q8_0, width, n_row);
        ggml_tensor * slots = ggml_new_tensor_1d(t.ctx, GGML_TYPE_I32, data.slots.size());
        if (allocate) {
            t.fill(rows, "recent", data.recent);
            t.fill(slots, "slots", data.slots);
        }
        op->src[TURBO_SRC_RECENT_ROWS] = rows;
        op->src[TURBO_SRC_RECENT_SLOTS] = slots;
    }
    return op;
}

} // namespace

turbo_metal_variant variant_for(const attention_case & c, int family) {
    attention_data data(c);
    turbo_tensors t;
    const ggml_tensor * op = build(c, data, t, false);
    CHECK_STR(turbo_metal_refusal(test_device(), op), "");
    return turbo_metal_variant_of(test_device(family), op);
}

turbo_attention_run run_attention(const attention_case & c, attention_data & data, const turbo_metal_variant & variant,
    const msl_schedule & schedule) {
    turbo_tensors t;
    ggml_tensor * op = build(c, data, t, true);
    msl_buffer & out = t.allocate(op, "out", turbo_metal_scratch(op));
    turbo_attention_run r;
    r.result = run_plan(turbo_metal_plan_attention(variant, op), op, t, schedule);
    r.values.assign(out.as<float>(), out.as<float>() + ggml_nelements(op));
    return r;
}

std::string describe(const attention_case & c, const turbo_metal_variant & v) {
    return std::string(ggml_type_name(c.type_k)) + "/" + ggml_type_name(c.type_v) + " dim " + std::to_string(c.dim_k) +
           "/" + std::to_string(c.dim_v) + " heads " + std::to_string(c.n_head_kv) + "x" + std::to_string(c.gqa) +
           " n_kv " + std::to_string(c.n_kv) + " rows " + std::to_string(c.n_rows) + " streams " +
           std::to_string(c.n_stream) + " mask " + std::to_string((int) c.mask) + " sinks " + std::to_string(c.sinks) +
           " softcap " + std::to_string(c.softcap) + " bias " + std::to_string(c.max_bias) + " by_head " +
           std::to_string(c.by_head) + " recent " + std::to_string(c.recent) + " seed " + std::to_string(c.seed) +
           ": " + turbo_metal_describe(v) + ", " + std::to_string(v.simdgroups) + " SIMD-groups";
}

// The squared error of the whole output in units of the variance that rounding to fp32 explains (attention-reference.cpp); 16 is
// four sigma. The kernel differs from that model in the order of its sums only.
void check_attention(
    const attention_case & c, const turbo_metal_variant & variant, const msl_schedule & schedule, double extra) {
    attention_data data(c);
    check_attention(c, data, variant, schedule, extra);
}

void check_attention(const attention_case & c, attention_data & data, const turbo_metal_variant & variant,
    const msl_schedule & schedule, double extra) {
    const turbo_attention_run run = run_attention(c, data, variant, schedule);
    const attention_result want = attention_compare(c, data, true, true);
    double error = 0.0, expected = 0.0, largest = 0.0;
    for (const double x : want.want) largest = std::fmax(largest, std::fabs(x));
    for (size_t i = 0; i < want.want.size(); ++i) {
        const double e = run.values[i] - want.want[i];
        error += e * e;
        expected += want.variance[i] + extra * extra * largest * largest;
    }
    const std::string what = describe(c, variant) + ", lanes " + msl_schedule_name(schedule);
    check(error <= 16 * expected, __FILE__, __LINE__,
        "error " + std::to_string(error / expected) + " of its variance: " + what);
    check(run.result.reports.empty(), __FILE__, __LINE__, run.result.text() + ": " + what);
}
