// What this engine runs on and can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct Capabilities {
    std::string backend, device;
    std::string chipFamily; // empty: none
    std::string simd, kernelVariant;
    std::vector<std::string> cacheTypes;
    std::vector<std::string> warnings; // of the self-test
    std::string upstream;
    int physicalCores = 0;
    uint64_t totalMemoryBytes = 0;
};

Capabilities capabilities();

} // namespace concertina
