// Plans of set_rows and of copies from and to turbo types.

#include "plan-parts.h"

#include "ggml-turbo.h"

#include "ggml-metal-impl.h"

#include <algorithm>

namespace {

const int SIMDGROUPS = 4; // TURBO_COPY_SIMDGROUPS of turbo-copy.h

// One SIMD-group per group of all rows, the outer dimensions in z.
void cover(turbo_metal_encode & e, int64_t groups, int64_t rows, int64_t outer) {
    const int64_t all = groups * rows;
    const int n = (int) std::max<int64_t>(1, std::min<int64_t>(all, SIMDGROUPS));
    e.threads[0] = TURBO_METAL_LANES;
    e.threads[1] = n;
    e.threads[2] = 1;
    e.grid[0] = (int) ((all + n - 1) / n);
    e.grid[1] = 1;
    e.grid[2] = (int) outer;
}

// Whether the kernels may take the place of a group in the source for that in the result, and write two values at once.
bool is_plain_copy(const ggml_tensor * src, const int64_t * ne, const size_t * nb, size_t view_offset) {
    return std::equal(ne, ne + 4, src->ne) && (nb[1] | nb[2] | nb[3] | view_offset) % 4 == 0;
}

turbo_metal_constant half_side(ggml_type type) { return { FC_TURBO_HALF, true, type == GGML_TYPE_F16 }; }

// What the arguments of both operations say of their source, and of the rows of their result.
template <class Args> void set_source(Args & a, const ggml_tensor * src) {
    a.ne01 = (decltype(a.ne01)) src->ne[1];
    a.ne02 = (decltype(a.ne02)) src->ne[2];
    a.nb01 = src->nb[1];
    a.nb02 = src->nb[2];
    a.nb03 = src->nb[3];
}
template <class Args> void set_result(Args & a, const size_t * nb) {
    a.nb1 = nb[1];
    a.nb2 = nb[2];
    a.nb3 = nb[3];
}

// Rows of src to rows of the shape ne with strides nb.
turbo_metal_args_copy copy_args(const ggml_tensor * src, const int64_t * ne, const size_t * nb, int64_t groups) {
    turbo_metal_args_copy a = {};
    a.nk0 = groups;
    a.ne00 = src->ne[0];
    a.ne03 = src->ne[3];
    a.ne0 = ne[0];
    a.ne1 = ne[1];
    a.ne2 = ne[2];
    set_source(a, src);
    set_result(a, nb);
    return a;
}

turbo_metal_encode copy_to(
    const ggml_tensor * src, ggml_type type, const int64_t * ne, const size_t * nb, size_t view_offset) {
    const int64_t groups = src->ne[0] / ggml_blck_size(src->type);
    turbo_metal_encode e = {};
    e.kernel = std::string("kernel_turbo_copy_to_") + ggml_type_name(src->type);
    // one reading of each level: the table is of no account here
    e.constants = { { FC_TURBO_TABLE, false, TURBO_METAL_TABLE_SIGNED }, half_side(type),
        { FC_TURBO_SAME, true, is_plain_copy(src, ne, nb, view_offset) } };
    e.args = turbo_metal_bytes(copy_args(src, ne, nb, groups));
    cover(e, groups, src->ne[1], src->ne[2] * src->ne[3]);
    return e;
}

// Upstream's kernel, one thread per block.
turbo_metal_encode q8_0_to_f16(const ggml_tensor * src) {
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
    e.args = turbo_metal_bytes(a);
    e.grid[0] = (a.nblocks + threads - 1) / threads;
    e.grid[1] = e.grid[2] = 1;
    e.threads[0] = threads;
    e.threads[1] = e.threads[2] = 1;
    return e;
}

} // namespace

turbo_metal_encode turbo_metal_plan_set_rows(const ggml_tensor * op) {
    const ggml_tensor * src = op->src[0];
    const ggml_tensor * idx = op->src[1];
    turbo_metal_args_set_rows a = {};
    a.nk0 = (int32_t) (src->ne[0] / ggml_blck_size(op->type));
    a.ne11 = (int32_t) idx->ne[1];
    a.ne12 = (int32_t) idx->ne[2];
    a.nb10 = idx->nb[0];
    a.nb11 = idx->nb[1];
    a.nb12 = idx->nb[2];
    set_source(a, src);
    set_result(a, op->nb);

    turbo_metal_encode e = {};
    e.kernel = std::string("kernel_turbo_set_rows_") + ggml_type_name(op->type);
    e.constants = { half_side(src->type), { FC_TURBO_LONG, true, idx->type == GGML_TYPE_I64 } };
    e.args = turbo_metal_bytes(a);
    e.bindings = { { 1, 0, 0 }, { 2, 1, 0 }, { 3, turbo_metal_binding::RESULT, 0 } };
    cover(e, a.nk0, src->ne[1], src->ne[2] * src->ne[3]);
    return e;
}

turbo_metal_encode turbo_metal_plan_copy(const ggml_tensor * op) {
    const ggml_tensor * src = op->src[0];
    turbo_metal_encode e = {};
    if (ggml_turbo_is_turbo(src->type)) {
        e = copy_to(src, op->type, op->ne, op->nb, op->view_offs);
    } else {
        const int64_t groups = src->ne[0] / ggml_blck_size(op->type);
        e.kernel = std::string("kernel_turbo_copy_from_") + ggml_type_name(op->type);
        e.constants = { half_side(src->type),
            { FC_TURBO_SAME, true, is_plain_copy(src, op->ne, op->nb, op->view_offs) } };
        e.args = turbo_metal_bytes(copy_args(src, op->ne, op->nb, groups));
        cover(e, groups, src->ne[1], src->ne[2] * src->ne[3]);
    }
    e.bindings = { { 1, 0, 0 }, { 2, turbo_metal_binding::RESULT, 0 } };
    return e;
}

turbo_metal_plan turbo_metal_plan_f16(const ggml_tensor * op, int side, size_t offset) {
    const ggml_tensor * src = op->src[side];
    if (src->type == GGML_TYPE_F16) { return {}; }
    size_t nb[4] = { sizeof(ggml_fp16_t) };
    for (int i = 1; i < 4; ++i) { nb[i] = nb[i - 1] * src->ne[i - 1]; }
    turbo_metal_encode e = src->type == GGML_TYPE_Q8_0 ? q8_0_to_f16(src) : copy_to(src, GGML_TYPE_F16, src->ne, nb, 0);
    e.bindings = { { 1, side, 0 }, { 2, turbo_metal_binding::RESULT, offset } };
    return { e };
}
