// Results of prefill: of an item that saw all positions, or of several that saw a part of them each.
//
// A batch of decode's size is one item for each KV head if it is cut by query vectors only: threads beyond the KV heads have nothing
// to do, and cutting finer would expand the whole cache again for each piece. So the positions of such a batch are divided, as decode
// divides them. Those of longer batches are not: a row has the same bits in every one of them.

#include "prefill.h"

#include <cmath>
#include <cstring>

namespace {

// Sums what the splits gathered for query vector i into the first of them.
void merge(const prefill_plan & plan, char * splits, int head, int i) {
    const prefill_gathered first = prefill_split(plan, splits, head, 0);
    float max = first.max[i];
    for (int s = 1; s < plan.n_split; ++s) {
        const float m = prefill_split(plan, splits, head, s).max[i];
        max = m > max ? m : max;
    }
    // nothing visible, or NaN: 0 and NaN stay what they are
    const auto factor = [max](float m) { return m == -INFINITY ? 1.0f : std::exp2(m - max); };

    float * out = first.out + (size_t) i * plan.v_stride;
    plan.kern->scale(out, plan.v_stride, factor(first.max[i]));
    first.sum[i] *= factor(first.max[i]);
    for (int s = 1; s < plan.n_split; ++s) {
        const prefill_gathered part = prefill_split(plan, splits, head, s);
        if (part.sum[i] == 0.0f) { continue; }
        const float f = factor(part.max[i]);
        const float * more = part.out + (size_t) i * plan.v_stride;
        for (int d = 0; d < plan.v_stride; ++d) { out[d] += f * more[d]; }
        first.sum[i] += f * part.sum[i];
    }
    first.max[i] = max;
}

} // namespace

size_t prefill_gathered_size(const prefill_plan & plan) {
    return (size_t) plan.block * (plan.v_stride + 2) * sizeof(float);
}

prefill_gathered prefill_split(const prefill_plan & plan, char * splits, int head, int split) {
    char * base = splits + ((size_t) head * plan.n_split + split) * prefill_gathered_size(plan);
    float * out = (float *) base;
    float * max = out + (size_t) plan.block * plan.v_stride;
    return { out, max, max + plan.block };
}

void prefill_store(const turbo_attention & at, const prefill_plan & plan, int stream, int row, int head, float max,
    float sum, float * out) {
    if (at.sinks != nullptr) {
        const float sink = at.sinks[head] * LOG2E;
        if (sink > max) {
            const float factor = std::exp2(max - sink);
            plan.kern->scale(out, plan.v_stride, factor);
            sum = sum * factor + 1.0f;
        } else {
            sum += std::exp2(sink - max);
        }
    }
    plan.kern->scale(out, plan.v_stride, sum == 0.0f ? 0.0f : 1.0f / sum);
    memcpy(at.dst + head * at.dst_nb_head + row * at.dst_nb_row + stream * at.dst_nb_stream, out,
        at.v.head_dim * sizeof(float));
}

void prefill_merge(const turbo_attention & at, const prefill_plan & plan, char * splits) {
    const int n = at.n_stream * at.n_head_kv * plan.n_query;
    for (int j = at.ith; j < n; j += at.nth) {
        const int head = j / plan.n_query;
        const int i = j % plan.n_query;
        merge(plan, splits, head, i);
        const prefill_gathered all = prefill_split(plan, splits, head, 0);
        prefill_store(at, plan, head / at.n_head_kv, i / at.gqa, head % at.n_head_kv * at.gqa + i % at.gqa, all.max[i],
            all.sum[i], all.out + (size_t) i * plan.v_stride);
    }
}
