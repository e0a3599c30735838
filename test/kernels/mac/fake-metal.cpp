// The functions of ggml-metal-device.m and ggml-metal-context.m that a graph needs. Arguments that the executor has no use for
// (command buffers, residency, events) go nowhere.

#include "fake-metal.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "ggml-metal-context.h"
#include "ggml-metal-device.h"
#include "ggml-metal-fusion.h"
#include "ggml-metal-ops.h"
#include "ggml-metal.h"
#include "turbo-metal.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

struct ggml_metal_cv {
    std::vector<msl_constant> values;
};
struct ggml_metal_pipeline {
    std::string kernel, name;
    std::vector<msl_constant> constants;
};
struct ggml_metal_library {
    ggml_metal_device_t dev;
    ggml_metal_pipelines_t pipelines;
};
struct ggml_metal_device {
    ggml_metal_device_props props;
    ggml_metal_library library;
    ggml_metal_fusion_info * fusion;
};
struct ggml_metal_buffer {
    msl_buffer memory;
};
struct ggml_metal_encoder {
    ggml_metal_pipeline_t pipeline;
    std::map<int, msl_binding> slots;
    size_t shared;
    bool after;
};
struct ggml_metal {
    ggml_metal_device_t dev;
};

namespace {

std::vector<fake_dispatch> dispatches;
std::string reports;
std::string refused;
std::set<std::string> damaged;
std::map<std::string, int> limits;

// Empty: none of the modules has the kernel.
std::string module_of(const std::string & kernel) {
    if (kernel.rfind("kernel_turbo_", 0) == 0) return "turbo";
    return kernel == "kernel_flash_attn_ext_kv_q8_0_f16" ? "upstream-fa" : "";
}

bool is_damaged(const std::string & name) {
    return std::any_of(damaged.begin(), damaged.end(), [&](const std::string & d) { return name.rfind(d, 0) == 0; });
}

ggml_metal_pipeline_with_params with_params(ggml_metal_pipeline_t pipeline) {
    ggml_metal_pipeline_with_params p = {};
    p.pipeline = pipeline;
    return p;
}

} // namespace

ggml_backend_t fake_metal_backend() {
    static ggml_backend_t backend = ggml_backend_metal_init();
    return backend;
}

const std::vector<fake_dispatch> & fake_metal_log() { return dispatches; }
std::string fake_metal_reports() { return reports; }
void fake_metal_family(int family) {
    ggml_backend_dev_t device = ggml_backend_get_device(fake_metal_backend());
    ((ggml_metal_device_t) device->context)->props.gpu_family = family;
}
void fake_metal_damage(const std::set<std::string> & pipelines) { damaged = pipelines; }
void fake_metal_refuse(const std::string & kernel) { refused = kernel; }
void fake_metal_limit(const std::string & kernel, int threads) {
    if (kernel.empty())
        limits.clear();
    else
        limits[kernel] = threads;
}

extern "C" {

// --- function constants, pipelines, the library

ggml_metal_cv_t ggml_metal_cv_init(void) { return new ggml_metal_cv(); }
void ggml_metal_cv_free(ggml_metal_cv_t cv) { delete cv; }
void ggml_metal_cv_set_int16(ggml_metal_cv_t cv, int16_t value, int32_t idx) {
    cv->values.push_back({ idx, msl_constant::i16, value });
}
void ggml_metal_cv_set_int32(ggml_metal_cv_t cv, int32_t value, int32_t idx) {
    cv->values.push_back({ idx, msl_constant::i32, value });
}
void ggml_metal_cv_set_bool(ggml_metal_cv_t cv, bool value, int32_t idx) {
    cv->values.push_back({ idx, msl_constant::boolean, value });
}

void ggml_metal_pipeline_free(ggml_metal_pipeline_t pipeline) { delete pipeline; }
int ggml_metal_pipeline_max_theads_per_threadgroup(ggml_metal_pipeline_with_params pipeline) {
    const auto found = limits.find(pipeline.pipeline->kernel);
    return found == limits.end() ? 1024 : found->second;
}

ggml_metal_device_t ggml_metal_library_get_device(ggml_metal_library_t lib) { return lib->dev; }

ggml_metal_pipeline_with_params ggml_metal_library_get_pipeline(ggml_metal_library_t lib, const char * name) {
    if (!refused.empty() && std::string(name).rfind(refused + "_", 0) == 0) return {};
    return with_params(ggml_metal_pipelines_get(lib->pipelines, name));
}

ggml_metal_pipeline_with_params ggml_metal_library_compile_pipeline(
    ggml_metal_library_t lib, const char * base, const char * name, ggml_metal_cv_t cv) {
    if (base == refused) return {};
    ggml_metal_pipeline_t made = new ggml_metal_pipeline{ base, name, cv ? cv->values : std::vector<msl_constant>() };
    ggml_metal_pipelines_add(lib->pipelines, name, made);
    return with_params(made);
}

// --- the encoder: every dispatch is executed at once

ggml_metal_encoder_t ggml_metal_encoder_init(ggml_metal_cmd_buf_t, bool concurrent) {
    GGML_ASSERT(concurrent);
    return new ggml_metal_encoder{ nullptr, {}, 0, true };
}
void ggml_metal_encoder_free(ggml_metal_encoder_t encoder) { delete encoder; }
void ggml_metal_encoder_end_encoding(ggml_metal_encoder_t) {}
void ggml_metal_encoder_debug_group_push(ggml_metal_encoder_t, const char *) {}
void ggml_metal_encoder_debug_group_pop(ggml_metal_encoder_t) {}

void ggml_metal_encoder_set_pipeline(ggml_metal_encoder_t encoder, ggml_metal_pipeline_with_params pipeline) {
    encoder->pipeline = pipeline.pipeline;
    encoder->slots.clear(); // what is left from another kernel would hide a slot that was forgotten
    encoder->shared = 0;
}

void ggml_metal_encoder_set_bytes(ggml_metal_encoder_t encoder, void * data, size_t size, int idx) {
    encoder->slots[idx] = { idx, nullptr, 0, std::vector<uint8_t>((uint8_t *) data, (uint8_t *) data + size) };
}

void ggml_metal_encoder_set_buffer(ggml_metal_encoder_t encoder, ggml_metal_buffer_id buffer, int idx) {
    encoder->slots[idx] = { idx, (msl_buffer *) buffer.metal, buffer.offs, {} };
}

void ggml_metal_encoder_set_threadgroup_memory_size(ggml_metal_encoder_t encoder, size_t size, int idx) {
    GGML_ASSERT(idx == 0);
    encoder->shared = size;
}

void ggml_metal_encoder_memory_barrier(ggml_metal_encoder_t encoder) { encoder->after = true; }

void ggml_metal_encoder_dispatch_threadgroups(
    ggml_metal_encoder_t encoder, int tg0, int tg1, int tg2, int tptg0, int tptg1, int tptg2) {
    msl_dispatch d;
    d.module = module_of(encoder->pipeline->kernel);
    d.kernel = encoder->pipeline->kernel;
    d.constants = encoder->pipeline->constants;
    d.grid = { (uint32_t) tg0, (uint32_t) tg1, (uint32_t) tg2 };
    d.threads = { (uint32_t) tptg0, (uint32_t) tptg1, (uint32_t) tptg2 };
    d.threadgroup_memory = encoder->shared;
    d.after = encoder->after;
    fake_dispatch noted = { d.kernel, encoder->pipeline->name, {}, encoder->after, !d.module.empty() };
    for (const auto & [slot, binding] : encoder->slots) {
        d.bindings.push_back(binding);
        if (binding.buffer) noted.slots[slot] = binding.buffer->data() + binding.offset;
    }
    encoder->after = false;
    dispatches.push_back(noted);
    if (!noted.executed) return;
    reports += msl_run(d).text();
    if (is_damaged(encoder->pipeline->name)) { // of what it wrote, which is in the last slot
        const float wrong = 3.0f;
        memcpy(noted.slots.rbegin()->second, &wrong, sizeof wrong);
    }
}

// --- memory

ggml_metal_buffer_t ggml_metal_buffer_init(ggml_metal_device_t, size_t size, bool) {
    return new ggml_metal_buffer{ { "metal", size } };
}
ggml_metal_buffer_t ggml_metal_buffer_map(ggml_metal_device_t, void *, size_t, size_t) {
    throw std::runtime_error("mapped memory");
}
void ggml_metal_buffer_free(ggml_metal_buffer_t buf) { delete buf; }
void * ggml_metal_buffer_get_base(ggml_metal_buffer_t buf) { return buf->memory.data(); }
bool ggml_metal_buffer_is_shared(ggml_metal_buffer_t) { return true; }

void ggml_metal_buffer_memset_tensor(
    ggml_metal_buffer_t, ggml_tensor * tensor, uint8_t value, size_t offset, size_t size) {
    memset((char *) tensor->data + offset, value, size);
}
void ggml_metal_buffer_set_tensor(
    ggml_metal_buffer_t, ggml_tensor * tensor, const void * data, size_t offset, size_t size) {
    memcpy((char *) tensor->data + offset, data, size);
}
void ggml_metal_buffer_get_tensor(
    ggml_metal_buffer_t, const ggml_tensor * tensor, void * data, size_t offset, size_t size) {
    memcpy(data, (const char *) tensor->data + offset, size);
}
bool ggml_metal_buffer_cpy_tensor(ggml_metal_buffer_t, const ggml_tensor *, ggml_tensor *) { return false; }
void ggml_metal_buffer_clear(ggml_metal_buffer_t buf, uint8_t value) {
    memset(buf->memory.data(), value, buf->memory.size());
}

ggml_metal_buffer_id ggml_metal_buffer_get_id(ggml_metal_buffer_t buf, const ggml_tensor * t) {
    const size_t offset = (uint8_t *) t->data - buf->memory.data();
    if (offset + ggml_nbytes(t) > buf->memory.size())
        throw std::runtime_error(std::string(t->name) + " is not in its buffer");
    return { &buf->memory, offset };
}

// --- the device and its context

ggml_metal_device_t ggml_metal_device_init(int device, int) {
    ggml_metal_device_t dev = new ggml_metal_device();
    dev->props.device = device;
    strcpy(dev->props.name, "fake M2");
    dev->props.max_buffer_size = size_t(1) << 32;
    dev->props.max_theadgroup_memory_size = 32768;
    dev->props.has_simdgroup_reduction = true;
    dev->props.has_simdgroup_mm = true;
    dev->props.use_shared_buffers = true;
    dev->props.gpu_family = 8;
    dev->library = { dev, ggml_metal_pipelines_init() };
    dev->fusion = ggml_metal_fusion_info_init(true, 0);
    return dev;
}

void ggml_metal_device_free(ggml_metal_device_t dev) {
    ggml_metal_pipelines_free(dev->library.pipelines);
    ggml_metal_fusion_info_free(dev->fusion);
    delete dev;
}

const char * ggml_metal_device_id_token(enum ggml_metal_device_id) { return "fake"; }
ggml_metal_library_t ggml_metal_device_get_library(ggml_metal_device_t dev) { return &dev->library; }
const ggml_metal_device_props * ggml_metal_device_get_props(ggml_metal_device_t dev) { return &dev->props; }
ggml_metal_fusion_info * ggml_metal_device_get_fusion_info(ggml_metal_device_t dev) { return dev->fusion; }
void ggml_metal_device_get_memory(ggml_metal_device_t, size_t * free, size_t * total) {
    *free = *total = size_t(1) << 32;
}
ggml_metal_event_t ggml_metal_device_event_init(ggml_metal_device_t) { return nullptr; }
void ggml_metal_device_event_free(ggml_metal_device_t, ggml_metal_event_t) {}
void ggml_metal_device_event_synchronize(ggml_metal_device_t, ggml_metal_event_t) {}

// as the patched ggml-metal-device.m; what is upstream's own is not asked here
bool ggml_metal_device_supports_op(ggml_metal_device_t dev, const ggml_tensor * op) {
    return !turbo_metal_involves(op) || turbo_metal_supports_op(&dev->props, true, op);
}

ggml_metal_t ggml_metal_init(ggml_metal_device_t dev) { return new ggml_metal{ dev }; }
void ggml_metal_free(ggml_metal_t ctx) { delete ctx; }
const char * ggml_metal_get_name(ggml_metal_t ctx) { return ctx->dev->props.name; }
void ggml_metal_synchronize(ggml_metal_t) {}
void ggml_metal_set_tensor_async(ggml_metal_t, ggml_tensor * tensor, const void * data, size_t offset, size_t size) {
    memcpy((char *) tensor->data + offset, data, size);
}
void ggml_metal_get_tensor_async(ggml_metal_t, const ggml_tensor * tensor, void * data, size_t offset, size_t size) {
    memcpy(data, (const char *) tensor->data + offset, size);
}
bool ggml_metal_cpy_tensor_async(ggml_metal_t, ggml_metal_t, const ggml_tensor *, ggml_tensor *) { return false; }

ggml_status ggml_metal_graph_compute(ggml_metal_t ctx, ggml_cgraph * gf) {
    dispatches.clear();
    reports.clear();
    ggml_metal_op_t op = ggml_metal_op_init(ctx->dev, nullptr, gf, ctx->dev->fusion, 0, gf->n_nodes, true, false, 0);
    try {
        for (int i = 0, n = ggml_metal_op_n_nodes(op); i < n;) { i += ggml_metal_op_encode(op, i); }
    } catch (const std::runtime_error & error) { reports += error.what(); }
    ggml_metal_op_free(op);
    return reports.empty() ? GGML_STATUS_SUCCESS : GGML_STATUS_FAILED;
}

void ggml_metal_graph_optimize(ggml_metal_t, ggml_cgraph *) {}
void ggml_metal_event_record(ggml_metal_t, ggml_metal_event_t) {}
void ggml_metal_event_wait(ggml_metal_t, ggml_metal_event_t) {}
void ggml_metal_set_n_cb(ggml_metal_t, int) {}
void ggml_metal_set_abort_callback(ggml_metal_t, ggml_abort_callback, void *) {}
bool ggml_metal_supports_family(ggml_metal_t ctx, int family) { return family <= ctx->dev->props.gpu_family; }
void ggml_metal_capture_next_compute(ggml_metal_t) {}

} // extern "C"
