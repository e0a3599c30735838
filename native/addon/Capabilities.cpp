#include "Capabilities.h"

#include "DeviceMemory.h"
#include "Kernels.h"
#include "effective.h"

#include "common.h"

namespace concertina {
namespace {

ggml_backend_dev_t bestDevice() {
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        const auto type = ggml_backend_dev_type(device);
        if (type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU) return device;
    }
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

} // namespace

Capabilities capabilities() {
    ggml_backend_dev_t device = bestDevice();
    Capabilities found;
    const std::string backend = ggml_backend_reg_name(ggml_backend_dev_backend_reg(device));
    found.backend = backend == "MTL" ? "Metal" : backend; // the name that people know
    found.device = ggml_backend_dev_description(device);
    found.chipFamily = chipFamily();
    found.simd = simdLevel();
    found.kernelVariant = found.chipFamily.empty() ? "cpu-" + found.simd : "metal-" + found.chipFamily;
    found.warnings = kernelWarnings();
    found.cacheTypes = cacheTypeNames();
    found.upstream = std::string(CONCERTINA_UPSTREAM_TAG) + " " + CONCERTINA_UPSTREAM_COMMIT;
    found.physicalCores = common_cpu_get_num_math();
    found.totalMemoryBytes = totalMemory();
    return found;
}

} // namespace concertina
