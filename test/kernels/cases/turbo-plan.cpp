#include "turbo-plan.h"

#include <stdexcept>

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
