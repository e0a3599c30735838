#include "machine/Capabilities.h"

#include "machine/DeviceMemory.h"
#include "machine/Kernels.h"
#include "context/Placement.h"
#include "machine/Simd.h"
#include "context/effective.h"

#include "common.h"

namespace concertina {
namespace {

ggml_backend_dev_t bestDevice() {
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (isGpu(device)) return device;
    }
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

std::vector<Gpu> gpus() {
    std::vector<Gpu> found;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (!isGpu(device)) continue;
        size_t free = 0, total = 0;
        ggml_backend_dev_memory(device, &free, &total);
        found.push_back({ backendName(device), ggml_backend_dev_description(device), total });
    }
    return found;
}

// A backend that found no device has none to tell its kind from; those that are no GPU's always find theirs.
std::vector<std::string> gpuBackends() {
    std::vector<std::string> names;
    for (size_t i = 0; i < ggml_backend_reg_count(); i++) {
        ggml_backend_reg_t backend = ggml_backend_reg_get(i);
        const std::string name = ggml_backend_reg_name(backend);
        const bool hasDevice = ggml_backend_reg_dev_count(backend) > 0;
        if (!hasDevice || isGpu(ggml_backend_reg_dev_get(backend, 0))) names.push_back(name == "MTL" ? "Metal" : name);
    }
    return names;
}

} // namespace

Capabilities capabilities() {
    ggml_backend_dev_t device = bestDevice();
    Capabilities found;
    found.backend = backendName(device);
    found.device = ggml_backend_dev_description(device);
    found.chipFamily = chipFamily();
    const SimdLevels simd = simdLevels();
    found.simd = simd.inEffect;
    found.simdBest = simd.best;
    found.simdAsked = simd.asked;
    found.simdWeights = simd.weights;
    found.gpuBackends = gpuBackends();
    found.gpus = gpus();
    found.kernelVariant = found.chipFamily.empty() ? "cpu-" + found.simd : "metal-" + found.chipFamily;
    found.warnings = kernelWarnings();
    found.cacheTypes = cacheTypeNames();
    found.upstream = std::string(CONCERTINA_UPSTREAM_TAG) + " " + CONCERTINA_UPSTREAM_COMMIT;
    found.physicalCores = common_cpu_get_num_math();
    found.totalMemoryBytes = totalMemory();
    return found;
}

} // namespace concertina
