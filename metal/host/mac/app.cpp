// What the engine asks of Metal: which GPU, the measurement and the self-test at start, what they found, which kernels attention takes.

#include "encode.h"
#include "turbo-metal-app.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "ggml-metal.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

// CMakeLists.txt hashes the sources; the tests have no need to
#ifndef TURBO_METAL_BUILD
#define TURBO_METAL_BUILD "of tests"
#endif

namespace {

turbo_metal_faults faults;
turbo_metal_speeds speeds;

ggml_metal_device_t metal_device() {
    ggml_backend_reg_t reg = ggml_backend_metal_reg();
    return ggml_backend_reg_dev_count(reg) > 0 ? (ggml_metal_device_t) ggml_backend_reg_dev_get(reg, 0)->context
                                               : nullptr;
}

std::string system_build() {
    char text[64] = "";
#ifdef __APPLE__
    size_t size = sizeof(text);
    sysctlbyname("kern.osversion", text, &size, nullptr, 0);
#endif
    return text;
}

// What a result holds for: a system brings another compiler, a build other kernels.
std::string key_of(const ggml_metal_device_props * props) {
    return std::string(props->desc) + ", Apple" + std::to_string(props->gpu_family) + ", system " + system_build() +
           ", build " + TURBO_METAL_BUILD;
}

} // namespace

std::string turbo_metal_family() {
    ggml_metal_device_t device = metal_device();
    return device ? "Apple" + std::to_string(ggml_metal_device_get_props(device)->gpu_family) : "";
}

void turbo_metal_start(const std::string & folder, const turbo_metal_stopwatch & watch) {
    ggml_metal_device_t device = metal_device();
    if (!device) { return; }
    const ggml_metal_device_props * props = ggml_metal_device_get_props(device);
    if (!props->has_simdgroup_reduction || !props->has_simdgroup_mm) {
        return; // nothing of ours runs there: turbo_metal_refusal
    }
    const auto file = [&](const char * name) { return folder.empty() ? "" : folder + "/" + name; };
    speeds = turbo_metal_measure(device, file("metal-speed.txt"), key_of(props), watch);
    turbo_metal_set_speeds(&speeds); // so that what is taken is what is tested
    faults = turbo_metal_self_test(device, file("metal-self-test.txt"), key_of(props), turbo_metal_dims());
    turbo_metal_set_faults(&faults);
    for (const std::string & text : turbo_metal_warnings()) { GGML_LOG_WARN("%s\n", text.c_str()); }
}

std::vector<std::string> turbo_metal_warnings() {
    std::vector<std::string> texts;
    if (!turbo_metal_environment().problem.empty()) {
        texts.push_back(turbo_metal_environment().problem + ". It is ignored.");
    }
    for (const auto & f : faults) {
        texts.push_back("Disabled by the self-test on this GPU: " + f.first + " (" + f.second +
                        "). Another kernel or cache type is used.");
    }
    return texts;
}

std::vector<turbo_metal_use> turbo_metal_uses_here(int dim_k, int dim_v, int gqa, int64_t n_ctx, bool has_turbo4) {
    ggml_metal_device_t device = metal_device();
    if (!device) { return {}; }
    const turbo_metal_device known = turbo_metal_device_of(ggml_metal_device_get_props(device), true);
    return turbo_metal_uses(known, dim_k, dim_v, gqa, n_ctx, turbo_metal_environment().text, has_turbo4);
}
