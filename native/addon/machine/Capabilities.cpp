#include "machine/Capabilities.h"

#include "context/effective.h"
#include "context/internals.h"
#include "workers/Workers.h"

#include "common.h"

#include <algorithm>

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace concertina {
namespace {

std::vector<Gpu> gpus() {
    std::vector<Gpu> found;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (!isGpu(device)) continue;
        size_t free = 0, total = 0;
        ggml_backend_dev_memory(device, &free, &total);
        const bool integrated = ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_IGPU;
        found.push_back({ backendName(device), ggml_backend_dev_description(device), total, integrated });
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

Capabilities capabilities() {
    Capabilities found{ simdLevels() };
    found.cpu = ggml_backend_dev_description(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
    found.chipFamily = chipFamily();
    found.gpuBackends = gpuBackends();
    found.gpus = gpus();
    found.warnings = kernelWarnings();
    found.cacheTypes = cacheTypeNames();
    found.upstream = CONCERTINA_UPSTREAM_TAG " " CONCERTINA_UPSTREAM_COMMIT;
    found.buildHash = buildHash;
    found.physicalCores = common_cpu_get_num_math();
    return found;
}

std::string kindOf(ggml_backend_dev_t device) {
    if (!device) return "ram";
    if (workerOf(device)) return "worker";
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
    if (const WorkerDevice * worker = workerOf(device)) return worker->name;
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

} // namespace concertina
