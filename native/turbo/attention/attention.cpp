// The hooks of flash attention: an operation of the graph becomes a turbo_attention, then a kernel family takes it or not.

#include "attention.h"
#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace {

std::atomic<bool> enabled{ true };

float op_param(const ggml_tensor * dst, int i) {
    float value;
    memcpy(&value, dst->op_params + i, sizeof(value));
    return value;
}

turbo_kv side_of(const ggml_tensor * t) {
    return { (const char *) t->data, t->type, (int) t->ne[0], (int) t->ne[3], t->nb[1], t->nb[2], t->nb[3] };
}

turbo_bias bias_of(const ggml_tensor * dst, int n_rows) {
    const ggml_tensor * z = dst->src[TURBO_SRC_BIAS_QUERIES];
    if (z == nullptr) { return {}; }
    const ggml_tensor * turns = dst->src[TURBO_SRC_BIAS_TURNS];
    turbo_bias bias = {};
    bias.n_row = (int) z->ne[0];
    bias.n_panel = (int) turns->ne[2];
    bias.turns = (const uint16_t *) turns->data + (turns->ne[1] - z->ne[0]) * TURBO_BIAS_PANEL;
    bias.panel_size = turns->nb[2] / sizeof(uint16_t);
    bias.z = (const char *) z->data;
    bias.z_nb_head = z->nb[1];
    bias.z_nb_row = z->nb[2];
    bias.z_nb_stream = z->nb[2] * n_rows;
    bias.block = (const int32_t *) dst->src[TURBO_SRC_BIAS_BLOCKS]->data;
    return bias;
}

// Leading cells of n that lie in the block of the first.
int64_t run_of(const int32_t * block, int64_t n) {
    int32_t unlike = 0;
    for (int64_t p = 0; p < n; ++p) { unlike |= block[p] ^ block[0]; }
    if (unlike == 0) { return n; }
    return std::find_if(block, block + n, [&](int32_t b) { return b != block[0]; }) - block;
}

// K and V lie beside each other in a row.
turbo_recent recent_of(const ggml_tensor * dst, int n_head_kv) {
    const ggml_tensor * rows = dst->src[TURBO_SRC_RECENT_ROWS];
    if (rows == nullptr) { return {}; }
    const auto side = [&](const ggml_tensor * cache, size_t offset) -> turbo_kv {
        return { (const char *) rows->data + offset, rows->type, (int) cache->ne[0], 1, rows->nb[1],
            ggml_row_size(rows->type, cache->ne[0]), 0 };
    };
    const turbo_kv k = side(dst->src[1], 0);
    return { (const int32_t *) dst->src[TURBO_SRC_RECENT_SLOTS]->data, k, side(dst->src[2], k.nb_head * n_head_kv) };
}

// False when the operation has a form that no family knows.
bool describe(const ggml_tensor * dst, turbo_attention & at) {
    const ggml_tensor * q = dst->src[0];
    const ggml_tensor * k = dst->src[1];
    const ggml_tensor * v = dst->src[2];
    const ggml_tensor * mask = dst->src[3];
    const ggml_tensor * sinks = dst->src[4];

    const bool known = q->type == GGML_TYPE_F32 && dst->type == GGML_TYPE_F32 && k->ne[2] == v->ne[2] &&
                       k->ne[3] == v->ne[3] && k->ne[1] == v->ne[1] && q->ne[2] % k->ne[2] == 0 &&
                       q->ne[3] % k->ne[3] == 0 && q->nb[0] == sizeof(float) && k->nb[0] == ggml_type_size(k->type) &&
                       v->nb[0] == ggml_type_size(v->type) && (mask == nullptr || mask->type == GGML_TYPE_F16) &&
                       (sinks == nullptr || sinks->type == GGML_TYPE_F32);
    if (!known) { return false; }

    at = {};
    at.n_kv = k->ne[1];
    at.n_rows = q->ne[1];
    at.n_head = q->ne[2];
    at.n_head_kv = k->ne[2];
    at.gqa = at.n_head / at.n_head_kv;
    at.n_stream = q->ne[3];
    at.k = side_of(k);
    at.v = side_of(v);
    at.bias = bias_of(dst, at.n_rows);
    at.recent = recent_of(dst, at.n_head_kv);

    at.q = (const char *) q->data;
    at.q_nb_row = q->nb[1];
    at.q_nb_head = q->nb[2];
    at.q_nb_stream = q->nb[3];

    if (mask != nullptr) {
        at.mask = (const char *) mask->data;
        at.mask_nb_row = mask->nb[1];
        at.mask_nb_head = mask->nb[2];
        at.mask_nb_stream = mask->nb[3];
        at.mask_n_head = mask->ne[2];
        at.mask_n_stream = mask->ne[3];
    }
    at.sinks = sinks != nullptr ? (const float *) sinks->data : nullptr;

    at.softcap = op_param(dst, 2);
    at.max_bias = op_param(dst, 1);
    at.scale = at.softcap == 0.0f ? op_param(dst, 0) : op_param(dst, 0) / at.softcap;

    at.dst = (char *) dst->data;
    at.dst_nb_head = dst->nb[1];
    at.dst_nb_row = dst->nb[2];
    at.dst_nb_stream = dst->nb[3];
    return true;
}

} // namespace

void turbo_bias_list_runs(int32_t * row, int64_t n_kv) {
    auto * runs = (turbo_bias_runs *) (row + n_kv);
    for (int64_t p = 0; p < n_kv; p += TURBO_BIAS_TILE) {
        const int32_t * block = row + p;
        const int64_t size = std::min<int64_t>(TURBO_BIAS_TILE, n_kv - p);
        const int64_t n = run_of(block, size);
        const bool two = n == size || run_of(block + n, size - n) == size - n;
        *runs++ = { two ? int32_t(n) : 0, block[0], block[size - 1] };
    }
}

extern "C" float turbo_attention_slope(const turbo_attention * at, int head) {
    if (at->max_bias <= 0.0f) { return 1.0f; }
    const int n_log2 = 1 << (int) std::floor(std::log2(at->n_head));
    const float m0 = std::pow(2.0f, -at->max_bias / n_log2);
    const float m1 = std::pow(2.0f, -at->max_bias / 2.0f / n_log2);
    return head < n_log2 ? std::pow(m0, head + 1) : std::pow(m1, 2 * (head - n_log2) + 1);
}

extern "C" void ggml_turbo_attention_enable(bool on) { enabled = on; }

extern "C" size_t turbo_flash_attn_work(const ggml_tensor * dst, int n_threads) {
    turbo_attention at;
    if (!describe(dst, at)) { return 0; }
    const size_t decode = turbo_decode_work(&at, n_threads);
    const size_t prefill = turbo_prefill_work(&at, n_threads);
    return decode > prefill ? decode : prefill;
}

extern "C" bool turbo_flash_attn_ext(const ggml_compute_params * params, ggml_tensor * dst) {
    turbo_attention at;
    const bool ours_alone =
        dst->src[TURBO_SRC_BIAS_QUERIES] != nullptr; // upstream's path would leave out a part of the score
    if ((!enabled || params->use_ref) && !ours_alone) { return false; }
    if (!describe(dst, at)) {
        GGML_ASSERT(!ours_alone);
        return false;
    }
    at.ith = params->ith;
    at.nth = params->nth;
    at.threadpool = params->threadpool;
    at.work = (char *) params->wdata;
    at.work_size = params->wsize;

    const bool few = (int64_t) at.n_rows * at.gqa <= TURBO_DECODE_MAX_QUERIES;
    const bool done = (few && turbo_decode_run(&at)) || turbo_prefill_run(&at);
    GGML_ASSERT((done || !ours_alone) && "attention with a bias that no kernel takes");
    return done;
}
