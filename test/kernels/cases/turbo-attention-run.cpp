#include "../../native/check.h"
#include "turbo-attention.h"

#include <cmath>

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
           std::to_string(c.by_head) + " seed " + std::to_string(c.seed) + ": " + turbo_metal_describe(v) + ", " +
           std::to_string(v.simdgroups) + " SIMD-groups";
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
