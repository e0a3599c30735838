// The memories of this machine: RAM, and those of the GPUs.
#pragma once

#include "ggml-backend.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace concertina {

struct DeviceMemory {
    std::string name;
    std::string kind; // ram, unified, gpu
    std::optional<uint64_t> free; // none: the caller asks Node, or the system
    uint64_t total = 0; // 0: not told
};

// RAM first
std::vector<DeviceMemory> deviceMemories();

// RAM, or less where a control group allows less
uint64_t totalMemory();

// of `deviceMemories`: where a buffer of this type lies
std::string kindOf(ggml_backend_dev_t device);
std::string nameOf(ggml_backend_dev_t device);

} // namespace concertina
