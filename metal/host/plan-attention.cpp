// The plan of decode attention: the kernel that walks over K and V, and the one that adds up its splits.

#include "plan-parts.h"

#include "ggml-turbo.h"

#include <cmath>

namespace {

struct attention {
    const ggml_tensor * op;
    const ggml_tensor * q;
    const ggml_tensor * k;
    const ggml_tensor * v;
    const ggml_tensor * mask;
    const ggml_tensor * sinks;
    float scale, max_bias, softcap;
    int n_rows, n_head, n_head_kv, n_stream;
    int64_t n_vec;

    explicit attention(const ggml_tensor * op)
        : op(op), q(op->src[0]), k(op->src[1]), v(op->src[2]), mask(op->src[3]), sinks(op->src[4]) {
        memcpy(&scale, op->op_params + 0, sizeof(float));
        memcpy(&max_bias, op->op_params + 1, sizeof(float));
        memcpy(&softcap, op->op_params + 2, sizeof(float));
        if (softcap != 0.0f) { scale /= softcap; }
        n_rows = (int) q->ne[1];
        n_head = (int) q->ne[2];
        n_stream = (int) q->ne[3];
        n_head_kv = (int) k->ne[2];
        n_vec = (int64_t) n_rows * n_head * n_stream;
    }
    size_t split_bytes() const { return n_vec * (v->ne[0] + 2) * sizeof(float); }
};

int kind_of(ggml_type type) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4:
        case GGML_TYPE_TURBO4_64: return TURBO_METAL_TURBO4;
        case GGML_TYPE_TURBO3:
        case GGML_TYPE_TURBO3_64: return TURBO_METAL_TURBO3;
        case GGML_TYPE_Q8_0: return TURBO_METAL_Q8_0;
        default: return TURBO_METAL_F16;
    }
}

int mask_of(const attention & a) {
    if (a.mask == nullptr) { return TURBO_METAL_MASK_NONE; }
    return a.n_rows == 1 && a.mask->ne[2] == 1 ? TURBO_METAL_MASK_SHARED : TURBO_METAL_MASK_OWN;
}

turbo_metal_args_attention args_of(const attention & a, const turbo_metal_variant & variant) {
    turbo_metal_args_attention r = {};
    r.n_kv = (int32_t) a.k->ne[1];
    r.n_rows = a.n_rows;
    r.gqa = a.n_head / a.n_head_kv;
    r.n_head = a.n_head;
    r.n_stream = a.n_stream;
    r.n_split = variant.splits;
    r.simdgroups = variant.simdgroups;
    r.mask_heads = a.mask ? (int32_t) a.mask->ne[2] : 1;
    r.mask_streams = a.mask ? (int32_t) a.mask->ne[3] : 1;
    r.n_head_log2 = 1 << (int) std::floor(std::log2((float) a.n_head));
    r.m0 = std::pow(2.0f, -a.max_bias / r.n_head_log2);
    r.m1 = std::pow(2.0f, -a.max_bias / 2.0f / r.n_head_log2);
    r.scale = a.scale;
    r.softcap = a.softcap;
    r.q_nb_row = a.q->nb[1];
    r.q_nb_head = a.q->nb[2];
    r.q_nb_stream = a.q->nb[3];
    r.k_nb_row = a.k->nb[1];
    r.k_nb_head = a.k->nb[2];
    r.k_nb_stream = a.k->nb[3];
    r.v_nb_row = a.v->nb[1];
    r.v_nb_head = a.v->nb[2];
    r.v_nb_stream = a.v->nb[3];
    r.mask_nb_row = a.mask ? a.mask->nb[1] : 0;
    r.mask_nb_head = a.mask ? a.mask->nb[2] : 0;
    r.mask_nb_stream = a.mask ? a.mask->nb[3] : 0;
    return r;
}

turbo_metal_encode walk(const attention & a, const turbo_metal_variant & v) {
    const int dim_k = (int) a.k->ne[0];
    const int dim_v = (int) a.v->ne[0];
    const int n_query = a.n_rows * (a.n_head / a.n_head_kv);
    turbo_metal_encode e = {};
    e.kernel = "kernel_turbo_attention_dk" + std::to_string(dim_k) + "_dv" + std::to_string(dim_v) + "_q" +
               std::to_string(v.queries);
    e.constants = {
        { FC_TURBO_TABLE, false, v.table },
        { FC_TURBO_TYPE_K, false, kind_of(a.k->type) },
        { FC_TURBO_TYPE_V, false, kind_of(a.v->type) },
        { FC_TURBO_MASK, false, mask_of(a) },
        { FC_TURBO_ALIBI, true, a.max_bias != 0.0f },
        { FC_TURBO_SOFTCAP, true, a.softcap != 0.0f },
        { FC_TURBO_SKIP_V, true, v.skip_v },
    };
    e.args = turbo_metal_bytes(args_of(a, v));
    e.bindings = { { 1, 0, 0 }, { 2, 1, 0 }, { 3, 2, 0 }, { 4, a.mask ? 3 : 0, 0 },
        { 5, turbo_metal_binding::RESULT, ggml_nbytes(a.op) } };
    e.shared = TURBO_METAL_SHARED_BYTES(dim_k, v.queries) + v.simdgroups * TURBO_METAL_GROUP_BYTES(dim_v, v.queries);
    e.grid[0] = (n_query + v.queries - 1) / v.queries;
    e.grid[1] = a.n_head_kv;
    e.grid[2] = a.n_stream * (v.splits / v.simdgroups);
    e.threads[0] = TURBO_METAL_LANES;
    e.threads[1] = v.simdgroups;
    e.threads[2] = 1;
    return e;
}

turbo_metal_encode merge(const attention & a, const turbo_metal_variant & v) {
    const turbo_metal_args_merge args = { (int32_t) a.n_vec, a.n_head, v.splits / v.simdgroups, (int32_t) a.v->ne[0] };
    turbo_metal_encode e = {};
    e.kernel = "kernel_turbo_attention_merge";
    e.constants = { { FC_TURBO_SINKS, true, a.sinks != nullptr } };
    e.args = turbo_metal_bytes(args);
    e.bindings = { { 1, turbo_metal_binding::RESULT, ggml_nbytes(a.op) }, { 2, a.sinks ? 4 : 0, 0 },
        { 3, turbo_metal_binding::RESULT, 0 } };
    e.grid[0] = (int) a.n_vec;
    e.grid[1] = e.grid[2] = 1;
    e.threads[0] = TURBO_METAL_LANES;
    e.threads[1] = TURBO_METAL_MERGERS;
    e.threads[2] = 1;
    e.after = true;
    return e;
}

} // namespace

bool turbo_metal_is_decode(const ggml_tensor * op) { return op->src[0]->ne[1] < TURBO_METAL_DECODE_ROWS; }

// Of what upstream reserves after the result: its own 32 splits (extra_tmp) and the f16 copies of K and V (extra_kv_f16).
size_t turbo_metal_scratch(const ggml_tensor * op) {
    const attention a(op);
    return 32 * a.split_bytes() + sizeof(ggml_fp16_t) * (ggml_nelements(a.k) + ggml_nelements(a.v));
}

turbo_metal_variant turbo_metal_variant_of(const turbo_metal_device & device, const ggml_tensor * op) {
    const attention a(op);
    const turbo_metal_shape shape = {
        a.k->ne[1],
        (int) a.k->ne[0],
        (int) a.v->ne[0],
        a.n_head / a.n_head_kv,
        a.n_rows,
        a.n_head_kv * a.n_stream,
        kind_of(a.k->type) == TURBO_METAL_TURBO4 || kind_of(a.v->type) == TURBO_METAL_TURBO4,
    };
    return turbo_metal_choose(device, shape, (int) (turbo_metal_scratch(op) / a.split_bytes()));
}

turbo_metal_plan turbo_metal_plan_attention(const turbo_metal_variant & variant, const ggml_tensor * op) {
    const attention a(op);
    return { walk(a, variant), merge(a, variant) };
}
