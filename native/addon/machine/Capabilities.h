// What this engine runs on and can do, and the memories of this machine.
#pragma once

#include "fields.h"
#include "machine/Kernels.h"

#include "ggml-backend.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace concertina {

struct Gpu {
    std::string backend, name;
    uint64_t memoryBytes = 0; // that it may use; 0: not reported
    bool integrated = false; // it takes no layers where there is a card

    CONCERTINA_FIELDS(backend, name, memoryBytes, integrated)
};

struct Capabilities : SimdLevels {
    std::string cpu; // as ggml describes it
    std::string chipFamily; // of the GPU, see Kernels.h
    std::vector<std::string> gpuBackends; // of this build; one without a device did not start, or there is no such GPU
    std::vector<Gpu> gpus;
    std::vector<std::string> cacheTypes;
    std::vector<std::string> warnings; // of the self-test
    std::string upstream;
    std::string buildHash; // see workers/Workers.h
    int physicalCores = 0;

    CONCERTINA_FIELDS(cpu, chipFamily, simd, simdBest, simdAsked, simdWeights, gpuBackends, gpus, cacheTypes, warnings,
        upstream, buildHash, physicalCores)
};

Capabilities capabilities();

struct DeviceMemory {
    std::string name;
    std::string kind; // ram, unified, gpu, worker
    std::optional<uint64_t> free; // none: the caller asks Node, or the system
    uint64_t total = 0; // 0: not reported

    CONCERTINA_FIELDS(name, kind, free, total)
};

// RAM first, then those of the GPUs
std::vector<DeviceMemory> deviceMemories();

// of `deviceMemories`: where a buffer of this type lies
std::string kindOf(ggml_backend_dev_t device);
std::string nameOf(ggml_backend_dev_t device);

} // namespace concertina
