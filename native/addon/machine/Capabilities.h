// What this engine runs on and can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct Gpu {
    std::string backend, name;
    uint64_t memoryBytes = 0; // that it may use; 0: not told
};

struct Capabilities {
    std::string backend, device;
    std::string chipFamily; // empty: none
    std::string simd, kernelVariant;
    std::string simdBest, simdAsked, simdWeights; // see Simd.h
    std::vector<std::string> gpuBackends; // of this build; one without a device did not start, or there is no such GPU
    std::vector<Gpu> gpus;
    std::vector<std::string> cacheTypes;
    std::vector<std::string> warnings; // of the self-test
    std::string upstream;
    int physicalCores = 0;
    uint64_t totalMemoryBytes = 0;
};

Capabilities capabilities();

} // namespace concertina
