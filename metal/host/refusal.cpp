// What Metal can do with turbo types. supports_op answers from here, so that nothing falls to the CPU unsaid.

#include "plan.h"

#include "ggml-turbo.h"

namespace {

std::string name(const ggml_tensor * t) { return ggml_type_name(t->type); }

bool is_plain(ggml_type type) { return type == GGML_TYPE_F32 || type == GGML_TYPE_F16; }

bool does_nothing(ggml_op op) {
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE || op == GGML_OP_VIEW || op == GGML_OP_PERMUTE ||
           op == GGML_OP_TRANSPOSE;
}

// The kernels take the group from the length of a row.
bool group_fits(const ggml_tensor * t) {
    return !ggml_turbo_is_turbo(t->type) || (ggml_blck_size(t->type) == 64) == (t->ne[0] == 64);
}

bool has_rows(const ggml_tensor * t) { return t->nb[0] == ggml_type_size(t->type); }

// Rows of Q are read four values at a time.
bool is_aligned(const ggml_tensor * q) { return q->nb[1] % 16 == 0 && q->nb[2] % 16 == 0 && q->nb[3] % 16 == 0; }

// A kernel that the self-test found wrong and that has no other.
std::string refuse_faulty(const turbo_metal_device & device, const std::string & kernel, const std::string & type) {
    if (device.faults == nullptr || device.faults->count(kernel) == 0) { return ""; }
    return "the self-test found " + kernel + " wrong on this GPU: choose q8_0 instead of " + type;
}

std::string refuse_copy(const turbo_metal_device & device, const ggml_tensor * op) {
    const ggml_tensor * src = op->src[0];
    const ggml_tensor * dst = op;
    if (ggml_turbo_is_turbo(src->type) == ggml_turbo_is_turbo(dst->type) ||
        !(is_plain(src->type) || is_plain(dst->type))) {
        return "Metal copies " + name(src) + " to f32 and f16 and back, not to " + name(dst) + ": copy in two steps";
    }
    const ggml_tensor * turbo = ggml_turbo_is_turbo(src->type) ? src : dst;
    if (!has_rows(src) || !has_rows(dst) || src->ne[0] % ggml_blck_size(turbo->type) != 0 ||
        dst->ne[0] % ggml_blck_size(turbo->type) != 0) {
        return "Metal copies whole groups of " + std::to_string(ggml_blck_size(turbo->type)) + " values of " +
               name(turbo) + ": make the rows contiguous";
    }
    return refuse_faulty(device, turbo_metal_make_plan(device, op).front().kernel, name(turbo));
}

// Latent attention: V is the first values of each row of K.
bool is_part_of(const ggml_tensor * v, const ggml_tensor * k) {
    return v->view_src != nullptr && (v->view_src == k || (v->view_src == k->view_src && v->view_offs == k->view_offs));
}

std::string no_kernel(const ggml_tensor * k, const ggml_tensor * v, const char * instead) {
    return "Metal has no attention kernel for K " + name(k) + " with V " + name(v) + " at head_dim " +
           std::to_string(k->ne[0]) + "/" + std::to_string(v->ne[0]) + ": choose " + instead;
}

std::string refuse_attention(const turbo_metal_device & device, const ggml_tensor * op) {
    const ggml_tensor * k = op->src[1];
    const ggml_tensor * v = op->src[2];
    for (const ggml_tensor * side : { k, v }) {
        if (!ggml_turbo_is_turbo(side->type) && side->type != GGML_TYPE_Q8_0 && side->type != GGML_TYPE_F16) {
            return no_kernel(k, v, "q8_0 or f16 beside the turbo type");
        }
    }
    if (!turbo_metal_has_kernel((int) k->ne[0], (int) v->ne[0], 0) || !group_fits(k) || !group_fits(v)) {
        return no_kernel(k, v, "q8_0 for both");
    }
    if (is_part_of(v, k)) { return "Metal's attention keeps turbo V apart from K: choose f16 for latent attention"; }
    if (!turbo_metal_has_sound_kernel(device, (int) k->ne[0], (int) v->ne[0])) {
        return "the self-test found every attention kernel for head_dim " + std::to_string(k->ne[0]) + "/" +
               std::to_string(v->ne[0]) + " wrong on this GPU: choose q8_0 for both";
    }
    for (int side = 1; side <= 2 && !turbo_metal_is_decode(op); ++side) {
        for (const turbo_metal_encode & e : turbo_metal_plan_f16(op, side, 0)) {
            const std::string fault = refuse_faulty(device, e.kernel, name(op->src[side]));
            if (!fault.empty()) { return fault; }
        }
    }
    const ggml_tensor * mask = op->src[3];
    if (op->src[0]->type != GGML_TYPE_F32 || (mask != nullptr && mask->type != GGML_TYPE_F16)) {
        return "Metal's attention takes f32 queries and an f16 mask";
    }
    if (!has_rows(op->src[0]) || !has_rows(k) || !has_rows(v) || !is_aligned(op->src[0])) {
        return "Metal's attention takes rows of Q, K and V with adjacent values, those of Q at multiples of 16 bytes: "
               "make them contiguous";
    }
    return "";
}

} // namespace

std::string turbo_metal_refusal(const turbo_metal_device & device, const ggml_tensor * op) {
    if (does_nothing(op->op)) { return ""; }
    if (!device.has_simdgroups || !device.has_matrices) {
        // matrices came with Apple7; other GPUs may have SIMD-groups of another width than 32
        return "this GPU is none of Apple7 (M1) or later, which the turbo kernels need: choose q8_0 for K and V, or "
               "the CPU";
    }
    if (!device.has_kernels) {
        return "Metal did not compile the turbo kernels (the log above says why): choose q8_0 for K and V";
    }
    for (const ggml_tensor * t :
        { op, (const ggml_tensor *) op->src[0], (const ggml_tensor *) op->src[1], (const ggml_tensor *) op->src[2] }) {
        if (t != nullptr && ggml_turbo_without_trellis(t->type) != t->type) {
            return "Metal has no kernels for the trellis of " + name(t) + ": choose " +
                   ggml_type_name(ggml_turbo_without_trellis(t->type));
        }
    }
    switch (op->op) {
        case GGML_OP_SET_ROWS:
            if (ggml_turbo_is_turbo(op->type) && is_plain(op->src[0]->type) && has_rows(op->src[0])) {
                return refuse_faulty(device, turbo_metal_make_plan(device, op).front().kernel, name(op));
            }
            return "Metal's set_rows takes f32 or f16 rows: convert " + name(op->src[0]) + " first";
        case GGML_OP_CPY:
        case GGML_OP_DUP:
        case GGML_OP_CONT: return refuse_copy(device, op);
        case GGML_OP_FLASH_ATTN_EXT: return refuse_attention(device, op);
        case GGML_OP_MUL_MAT:
            return "Metal multiplies no turbo matrices: turn flash attention on, or choose f16 or q8_0 for K";
        default:
            return std::string("Metal has no ") + ggml_op_name(op->op) + " for " + name(op->src[0] ? op->src[0] : op);
    }
}
