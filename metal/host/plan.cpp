// Plans of set_rows, of copies from and to turbo types, and of decode attention.

#include "plan.h"

#include "ggml-turbo.h"
#include "turbo-hooks.h"
#include "turbo-metal-impl.h"

#include "ggml-metal-impl.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

template <class T> std::vector<uint8_t> bytes_of(const T & args) {
    std::vector<uint8_t> bytes(sizeof(T));
    memcpy(bytes.data(), &args, sizeof(T));
    return bytes;
}

// --- copies

const int SIMDGROUPS = 4; // TURBO_COPY_SIMDGROUPS of turbo-copy.h

// One SIMD-group per group of all rows of src, the outer dimensions in z.
void cover(turbo_metal_encode & e, const ggml_tensor * src, int64_t groups) {
    const int64_t all = groups * src->ne[1];
    const int n = (int) std::max<int64_t>(1, std::min<int64_t>(all, SIMDGROUPS));
    e.threads[0] = TURBO_METAL_LANES;
    e.threads[1] = n;
    e.threads[2] = 1;
    e.grid[0] = (int) ((all + n - 1) / n);
    e.grid[1] = 1;
    e.grid[2] = (int) (src->ne[2] * src->ne[3]);
}

// Whether the kernels may take the place of a group in the source for that in the result, and write two values at once.
bool is_plain_copy(const ggml_tensor * src, const int64_t * ne, const size_t * nb, size_t view_offset) {
    return std::equal(ne, ne + 4, src->ne) && (nb[1] | nb[2] | nb[3] | view_offset) % 4 == 0;
}

turbo_metal_constant half_side(ggml_type type) { return { FC_TURBO_HALF, true, type == GGML_TYPE_F16 }; }

// What the arguments of set_rows and of copies say of their source, and of the rows of their result.
template <class Args> void set_rows_of(Args & a, const ggml_tensor * src, const size_t * nb) {
    a.ne01 = (decltype(a.ne01)) src->ne[1];
    a.ne02 = (decltype(a.ne02)) src->ne[2];
    a.nb01 = src->nb[1];
    a.nb02 = src->nb[2];
    a.nb03 = src->nb[3];
    a.nb1 = nb[1];
    a.nb2 = nb[2];
    a.nb3 = nb[3];
}

// --- the window of recent cells

static_assert(TURBO_METAL_POSITIONS == TURBO_RECENT_TILE, "the kernels read whole tiles of a window");

bool has_recent(const ggml_tensor * op) { return op->src[TURBO_SRC_RECENT_ROWS] != nullptr; }

turbo_metal_constant recent_side(const ggml_tensor * op) { return { FC_TURBO_RECENT, true, has_recent(op) }; }

// Where V begins in a row of the window of attention.
size_t recent_v(const ggml_tensor * op) { return ggml_row_size(GGML_TYPE_Q8_0, op->src[1]->ne[0] * op->src[1]->ne[2]); }

// Rows of the window, from an offset, and what leads to them; without a window something that is not read.
void bind_recent(turbo_metal_encode & e, const ggml_tensor * op, int slot, int way, size_t offset = 0) {
    e.bindings.push_back({ slot, has_recent(op) ? TURBO_SRC_RECENT_ROWS : 0, offset });
    e.bindings.push_back({ slot + 1, has_recent(op) ? way : 0, 0 });
}

turbo_metal_encode set_rows(const ggml_tensor * op) {
    const ggml_tensor * src = op->src[0];
    const ggml_tensor * idx = op->src[1];
    turbo_metal_args_set_rows a = {};
    a.nk0 = (int32_t) (src->ne[0] / ggml_blck_size(op->type));
    a.ne11 = (int32_t) idx->ne[1];
    a.ne12 = (int32_t) idx->ne[2];
    a.nb10 = idx->nb[0];
    a.nb11 = idx->nb[1];
    a.nb12 = idx->nb[2];
    if (has_recent(op)) {
        a.place_nb = op->src[TURBO_SRC_RECENT_PLACES]->nb[0];
        a.recent_nb_row = op->src[TURBO_SRC_RECENT_ROWS]->nb[1];
    }
    set_rows_of(a, src, op->nb);

    turbo_metal_encode e = {};
    e.kernel = std::string("kernel_turbo_set_rows_") + ggml_type_name(op->type);
    e.constants = { half_side(src->type), { FC_TURBO_LONG, true, idx->type == GGML_TYPE_I64 }, recent_side(op) };
    e.args = bytes_of(a);
    e.bindings = { { 1, 0, 0 }, { 2, 1, 0 }, { 5, turbo_metal_binding::RESULT, 0 } };
    bind_recent(e, op, 3, TURBO_SRC_RECENT_PLACES);
    cover(e, src, a.nk0);
    return e;
}

// A source of an operation, which is of a turbo type or becomes one, to rows of the shape ne with strides nb, at an offset behind the
// start of the result. The operation is a copy, or attention, whose window is read.
turbo_metal_encode copy(const ggml_tensor * op, int from, ggml_type to, const int64_t * ne, const size_t * nb,
    size_t view_offset, size_t offset) {
    const ggml_tensor * src = op->src[from];
    const bool expands = ggml_turbo_is_turbo(src->type);
    const ggml_type turbo = expands ? src->type : to;
    turbo_metal_args_copy a = {};
    a.nk0 = src->ne[0] / ggml_blck_size(turbo);
    a.ne00 = src->ne[0];
    a.ne03 = src->ne[3];
    a.ne0 = ne[0];
    a.ne1 = ne[1];
    a.ne2 = ne[2];
    set_rows_of(a, src, nb);
    if (has_recent(op)) {
        a.recent_nb_row = op->src[TURBO_SRC_RECENT_ROWS]->nb[1];
        a.recent_nb_head = ggml_row_size(GGML_TYPE_Q8_0, src->ne[0]);
    }

    turbo_metal_encode e = {};
    e.kernel = std::string(expands ? "kernel_turbo_copy_to_" : "kernel_turbo_copy_from_") + ggml_type_name(turbo);
    e.constants = { half_side(expands ? to : src->type),
        { FC_TURBO_SAME, true, is_plain_copy(src, ne, nb, view_offset) } };
    e.bindings = { { 1, from, 0 }, { expands ? 4 : 2, turbo_metal_binding::RESULT, offset } };
    // one reading of each level: the table is of no account here
    if (expands) {
        e.constants.push_back({ FC_TURBO_TABLE, false, TURBO_METAL_TABLE_SIGNED });
        e.constants.push_back(recent_side(op));
        bind_recent(e, op, 2, TURBO_SRC_RECENT_SLOTS, has_recent(op) && from == 2 ? recent_v(op) : 0);
    }
    e.args = bytes_of(a);
    cover(e, src, a.nk0);
    return e;
}

turbo_metal_encode copy(const ggml_tensor * op) { return copy(op, 0, op->type, op->ne, op->nb, op->view_offs, 0); }

// Upstream's kernel, one thread per block.
turbo_metal_encode q8_0_to_f16(const ggml_tensor * op, int from, size_t offset) {
    const ggml_tensor * src = op->src[from];
    const int threads = 256;
    ggml_metal_kargs_flash_attn_ext_kv_f16 a = {};
    a.ne0 = (int32_t) src->ne[0];
    a.ne1 = (int32_t) src->ne[1];
    a.ne2 = (int32_t) src->ne[2];
    a.ne3 = (int32_t) src->ne[3];
    a.nb0 = src->nb[0];
    a.nb1 = src->nb[1];
    a.nb2 = src->nb[2];
    a.nb3 = src->nb[3];
    a.nblocks = (int32_t) (ggml_nelements(src) / ggml_blck_size(src->type));
    turbo_metal_encode e = {};
    e.kernel = "kernel_flash_attn_ext_kv_q8_0_f16";
    e.args = bytes_of(a);
    e.bindings = { { 1, from, 0 }, { 2, turbo_metal_binding::RESULT, offset } };
    e.grid[0] = (a.nblocks + threads - 1) / threads;
    e.grid[1] = e.grid[2] = 1;
    e.threads[0] = threads;
    e.threads[1] = e.threads[2] = 1;
    return e;
}

// --- decode attention: the kernel that walks over K and V, and the one that adds up its splits

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
    if (has_recent(a.op)) {
        r.recent_nb_row = a.op->src[TURBO_SRC_RECENT_ROWS]->nb[1];
        r.recent_v = recent_v(a.op);
    }
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
        recent_side(a.op),
    };
    e.args = bytes_of(args_of(a, v));
    e.bindings = { { 1, 0, 0 }, { 2, 1, 0 }, { 3, 2, 0 }, { 4, a.mask ? 3 : 0, 0 },
        { 7, turbo_metal_binding::RESULT, ggml_nbytes(a.op) } };
    bind_recent(e, a.op, 5, TURBO_SRC_RECENT_SLOTS);
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
    e.args = bytes_of(args);
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

bool turbo_metal_involves(const ggml_tensor * op) {
    if (ggml_turbo_is_turbo(op->type)) { return true; }
    for (const ggml_tensor * src : op->src) {
        if (src != nullptr && ggml_turbo_is_turbo(src->type)) { return true; }
    }
    return false;
}

turbo_metal_plan turbo_metal_make_plan(const turbo_metal_device & device, const ggml_tensor * op) {
    if (!turbo_metal_involves(op)) { return {}; }
    switch (op->op) {
        case GGML_OP_SET_ROWS: return { set_rows(op) };
        case GGML_OP_CPY:
        case GGML_OP_DUP:
        case GGML_OP_CONT: return { copy(op) };
        case GGML_OP_FLASH_ATTN_EXT:
            if (turbo_metal_is_decode(op)) {
                return turbo_metal_plan_attention(turbo_metal_variant_of(device, op), op);
            }
            return {};
        default: return {};
    }
}

turbo_metal_plan turbo_metal_plan_f16(const ggml_tensor * op, int side, size_t offset) {
    const ggml_tensor * src = op->src[side];
    if (src->type == GGML_TYPE_F16) { return {}; }
    size_t nb[4] = { sizeof(ggml_fp16_t) };
    for (int i = 1; i < 4; ++i) { nb[i] = nb[i - 1] * src->ne[i - 1]; }
    if (src->type == GGML_TYPE_Q8_0) { return { q8_0_to_f16(op, side, offset) }; }
    return { copy(op, side, GGML_TYPE_F16, src->ne, nb, 0, offset) };
}

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
