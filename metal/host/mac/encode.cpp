// Plans into ggml-metal's encoder. Built on macOS only; the plans are what Linux tests.

#include "encode.h"
#include "turbo-metal.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "ggml-metal-ops.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

namespace {

std::atomic<const turbo_metal_faults *> known_faults;
std::atomic<const turbo_metal_speeds *> known_speeds;
std::atomic<const turbo_metal_variant *> forced_variant;

ggml_metal_buffer_id buffer_of(const ggml_tensor * t) {
    ggml_backend_buffer_t buffer = t->view_src ? t->view_src->buffer : t->buffer;
    return ggml_metal_buffer_get_id((ggml_metal_buffer_t) buffer->context, t);
}

// The name tells function constants apart, as pipelines are cached by it.
std::string pipeline_name(const turbo_metal_encode & e) {
    std::string name = e.kernel;
    for (const turbo_metal_constant & c : e.constants) {
        name += "_" + std::to_string(c.index) + "=" + std::to_string(c.value);
    }
    return name;
}

ggml_metal_pipeline_with_params pipeline_of(ggml_metal_library_t lib, const turbo_metal_encode & e) {
    const std::string name = pipeline_name(e);
    ggml_metal_pipeline_with_params pipeline = ggml_metal_library_get_pipeline(lib, name.c_str());
    if (pipeline.pipeline) { return pipeline; }
    if (e.constants.empty()) {
        return ggml_metal_library_compile_pipeline(lib, e.kernel.c_str(), name.c_str(), nullptr);
    }
    ggml_metal_cv_t constants = ggml_metal_cv_init();
    for (const turbo_metal_constant & c : e.constants) {
        if (c.boolean) {
            ggml_metal_cv_set_bool(constants, c.value != 0, c.index);
        } else {
            ggml_metal_cv_set_int32(constants, c.value, c.index);
        }
    }
    pipeline = ggml_metal_library_compile_pipeline(lib, e.kernel.c_str(), name.c_str(), constants);
    ggml_metal_cv_free(constants);
    return pipeline;
}

int threads_of(const turbo_metal_encode & e) { return e.threads[0] * e.threads[1] * e.threads[2]; }

void encode(ggml_metal_library_t lib, ggml_metal_encoder_t enc, const turbo_metal_encode & e, const ggml_tensor * op) {
    if (e.grid[0] == 0 || e.grid[1] == 0 || e.grid[2] == 0) {
        return; // set_rows of no rows
    }
    if (e.after) { ggml_metal_encoder_memory_barrier(enc); }
    const ggml_metal_pipeline_with_params pipeline = pipeline_of(lib, e);
    if (pipeline.pipeline == nullptr) {
        GGML_ABORT("Metal made no pipeline of %s (the log above says why): choose q8_0 for K and V", e.kernel.c_str());
    }
    ggml_metal_encoder_set_pipeline(enc, pipeline);
    GGML_ASSERT(threads_of(e) <= ggml_metal_pipeline_max_theads_per_threadgroup(pipeline));
    ggml_metal_encoder_set_bytes(enc, (void *) e.args.data(), e.args.size(), 0);
    for (const turbo_metal_binding & b : e.bindings) {
        ggml_metal_buffer_id id = buffer_of(b.tensor == turbo_metal_binding::RESULT ? op : op->src[b.tensor]);
        id.offs += b.offset;
        ggml_metal_encoder_set_buffer(enc, id, b.slot);
    }
    if (e.shared > 0) { ggml_metal_encoder_set_threadgroup_memory_size(enc, e.shared, 0); }
    ggml_metal_encoder_dispatch_threadgroups(
        enc, e.grid[0], e.grid[1], e.grid[2], e.threads[0], e.threads[1], e.threads[2]);
}

void warn_once(const std::string & text) {
    static std::mutex lock;
    static std::set<std::string> said;
    std::lock_guard<std::mutex> guard(lock);
    if (said.insert(text).second) { GGML_LOG_WARN("ggml_metal: %s\n", text.c_str()); }
}

turbo_metal_plan plan_of(const turbo_metal_device & device, ggml_metal_library_t lib, const ggml_tensor * op) {
    if (op->op != GGML_OP_FLASH_ATTN_EXT || !turbo_metal_involves(op) || !turbo_metal_is_decode(op)) {
        return turbo_metal_make_plan(device, op);
    }
    const turbo_metal_variant * forced = forced_variant;
    return turbo_metal_plan_on(lib, forced ? *forced : turbo_metal_variant_of(device, op), op);
}

bool is_prefill(const ggml_tensor * op) {
    return op->op == GGML_OP_FLASH_ATTN_EXT && turbo_metal_involves(op) && !turbo_metal_is_decode(op);
}

// A contiguous f16 tensor of the shape of src, without a place yet; src itself when that is f16.
ggml_tensor f16_like(const ggml_tensor * src) {
    ggml_tensor t = *src;
    if (src->type == GGML_TYPE_F16) { return t; }
    t.type = GGML_TYPE_F16;
    t.nb[0] = sizeof(ggml_fp16_t);
    for (int i = 1; i < GGML_MAX_DIMS; ++i) { t.nb[i] = t.nb[i - 1] * t.ne[i - 1]; }
    t.view_src = nullptr;
    t.view_offs = 0;
    return t;
}

// The operation as upstream's f16 kernels see it: with f16 K and V. The hint for sparse masks is dropped, as its index lists have
// no room; the mask says all.
ggml_tensor f16_op(const ggml_tensor * op, ggml_tensor side[2]) {
    ggml_tensor copy = *op;
    for (int i = 0; i < 2; ++i) {
        side[i] = f16_like(op->src[i + 1]);
        copy.src[i + 1] = &side[i];
    }
    copy.op_params[4] = 0;
    return copy;
}

// Where K begins after the result: behind what upstream's attention takes for itself. V follows.
size_t f16_offset(const ggml_tensor * f16) {
    return GGML_PAD(ggml_nbytes(f16) + ggml_metal_op_flash_attn_ext_extra_pad(f16) +
                        ggml_metal_op_flash_attn_ext_extra_blk(f16) + ggml_metal_op_flash_attn_ext_extra_tmp(f16),
        16);
}

size_t f16_bytes(const ggml_tensor * op, const ggml_tensor * side) {
    return side->type == op->type ? 0 : GGML_PAD(ggml_nbytes(side), 16);
}

} // namespace

turbo_metal_device turbo_metal_device_of(const ggml_metal_device_props * props, bool has_kernels) {
    return { props->gpu_family, props->has_simdgroup_reduction, props->has_simdgroup_mm,
        props->max_theadgroup_memory_size, has_kernels, known_faults, known_speeds };
}

void turbo_metal_set_faults(const turbo_metal_faults * faults) { known_faults = faults; }

void turbo_metal_set_speeds(const turbo_metal_speeds * speeds) { known_speeds = speeds; }

std::string turbo_metal_obstacle(ggml_metal_library_t lib, const turbo_metal_plan & plan) {
    for (const turbo_metal_encode & e : plan) {
        const ggml_metal_pipeline_with_params pipeline = pipeline_of(lib, e);
        if (!pipeline.pipeline) { return e.kernel + " does not compile"; }
        if (threads_of(e) > ggml_metal_pipeline_max_theads_per_threadgroup(pipeline)) {
            return e.kernel + " cannot run with " + std::to_string(threads_of(e)) + " threads";
        }
    }
    return "";
}

turbo_metal_plan turbo_metal_plan_on(ggml_metal_library_t lib, turbo_metal_variant variant, const ggml_tensor * op) {
    turbo_metal_plan plan = turbo_metal_plan_attention(variant, op);
    const ggml_metal_pipeline_with_params pipeline = pipeline_of(lib, plan.front());
    const int most = pipeline.pipeline ? ggml_metal_pipeline_max_theads_per_threadgroup(pipeline) : 0;
    while (variant.simdgroups > 1 && threads_of(plan.front()) > most) {
        variant.simdgroups /= 2; // still divides the splits
        plan = turbo_metal_plan_attention(variant, op);
    }
    return plan;
}

turbo_metal_forced_variant::turbo_metal_forced_variant(const turbo_metal_variant * variant) {
    forced_variant = variant;
}

turbo_metal_forced_variant::~turbo_metal_forced_variant() { forced_variant = nullptr; }

bool turbo_metal_supports_op(const ggml_metal_device_props * props, bool has_kernels, const ggml_tensor * op) {
    if (!turbo_metal_environment().problem.empty()) { warn_once(turbo_metal_environment().problem); }
    const std::string reason = turbo_metal_refusal(turbo_metal_device_of(props, has_kernels), op);
    if (!reason.empty()) { warn_once(reason); }
    return reason.empty();
}

bool turbo_metal_encode_op(
    ggml_metal_device_t dev, ggml_metal_library_t lib, ggml_metal_encoder_t enc, const ggml_tensor * op) {
    const turbo_metal_plan plan = plan_of(turbo_metal_device_of(ggml_metal_device_get_props(dev), true), lib, op);
    for (const turbo_metal_encode & e : plan) { encode(lib, enc, e, op); }
    return !plan.empty();
}

size_t turbo_metal_alloc(const ggml_tensor * op, size_t res) {
    if (op->op != GGML_OP_FLASH_ATTN_EXT || !turbo_metal_involves(op)) { return res; }
    if (turbo_metal_is_decode(op)) { return std::max(res, ggml_nbytes(op) + turbo_metal_scratch(op)); }
    ggml_tensor side[2];
    const ggml_tensor f16 = f16_op(op, side);
    return std::max(res, f16_offset(&f16) + f16_bytes(op->src[1], &side[0]) + f16_bytes(op->src[2], &side[1]));
}

turbo_metal_f16::turbo_metal_f16(ggml_metal_library_t lib, ggml_metal_encoder_t enc, ggml_tensor *& op) {
    if (!is_prefill(op)) { return; }
    copy = f16_op(op, side);
    size_t offset = f16_offset(&copy);
    for (int i = 0; i < 2; ++i) {
        for (const turbo_metal_encode & e : turbo_metal_plan_f16(op, i + 1, offset)) {
            encode(lib, enc, e, op);
            side[i].buffer = op->view_src ? op->view_src->buffer : op->buffer;
            side[i].data = (char *) op->data + offset;
            offset += f16_bytes(op->src[i + 1], &side[i]);
        }
    }
    ggml_metal_encoder_memory_barrier(enc);
    op = &copy;
}
