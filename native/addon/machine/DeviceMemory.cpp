#include "machine/DeviceMemory.h"

#include <algorithm>
#include <fstream>

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace concertina {
namespace {

DeviceMemory ramOfMachine() {
    size_t free = 0, total = 0;
    ggml_backend_dev_memory(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), &free, &total);
    DeviceMemory ram{ "RAM", "ram", std::nullopt, total };
#ifdef __APPLE__
    // Node's os.freemem() counts only pages that hold nothing at all, which on a Mac that has run for a while are few. Pages
    // of files that nobody used lately and purgeable ones are given up at once. Written from the headers, never run.
    static const host_t host = mach_host_self(); // each call adds a reference to the port
    vm_statistics64_data_t pages;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) == KERN_SUCCESS) {
        const uint64_t given = uint64_t(pages.free_count) + pages.inactive_count + pages.purgeable_count;
        ram.free = std::min<uint64_t>(total, given * vm_page_size);
    }
#endif
    return ram;
}

} // namespace

std::string kindOf(ggml_backend_dev_t device) {
    if (!device) return "ram";
    const auto type = ggml_backend_dev_type(device);
    if (type == GGML_BACKEND_DEVICE_TYPE_IGPU) return "unified";
    if (type != GGML_BACKEND_DEVICE_TYPE_GPU) return "ram";
#if defined(__APPLE__) && defined(__aarch64__)
    return "unified"; // Metal calls itself a GPU
#else
    return "gpu";
#endif
}

std::string nameOf(ggml_backend_dev_t device) {
    if (kindOf(device) == "ram") return "RAM";
    return std::string(ggml_backend_dev_description(device)) + " (" + ggml_backend_dev_name(device) +
           ")"; // two cards may be alike
}

std::vector<DeviceMemory> deviceMemories() {
    std::vector<DeviceMemory> found{ ramOfMachine() };
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (kindOf(device) == "ram") continue;
        size_t free = 0, total = 0;
        ggml_backend_dev_memory(device, &free, &total);
        found.push_back({ nameOf(device), kindOf(device), free, total });
    }
    return found;
}

uint64_t totalMemory() {
    std::ifstream file("/sys/fs/cgroup/memory.max");
    uint64_t limit = 0;
    const uint64_t total = ramOfMachine().total;
    return file >> limit && limit > 0 ? std::min(limit, total) : total;
}

} // namespace concertina
