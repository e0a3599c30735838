#include "workers/PaperDevice.h"

#include "ggml-backend-impl.h"

#include <map>
#include <memory>
#include <mutex>

namespace concertina {
namespace {

// A worker's CPU aligns as the CPU here; GPUs align to at most this much (CUDA 128, Vulkan what a driver says, Metal 32).
constexpr size_t cpuAlignment = 64, gpuAlignment = 256;

struct Paper {
    WorkerDevice worker;
    ggml_backend_buffer_type type;
    ggml_backend_device device;
};

Paper & paperOf(ggml_backend_dev_t device) { return *static_cast<Paper *>(device->context); }
Paper & paperOf(ggml_backend_buffer_type_t type) { return *static_cast<Paper *>(type->context); }

const char * typeName(ggml_backend_buffer_type_t type) { return paperOf(type).worker.name.c_str(); }
ggml_backend_buffer_t typeAlloc(ggml_backend_buffer_type_t, size_t) { return nullptr; }
size_t typeAlignment(ggml_backend_buffer_type_t type) { return paperOf(type).worker.cpu ? cpuAlignment : gpuAlignment; }

const char * backendNameOf(ggml_backend_t backend) { return paperOf(backend->device).worker.name.c_str(); }
void backendFree(ggml_backend_t backend) { delete backend; }
void backendSynchronize(ggml_backend_t) {}
ggml_status backendCompute(ggml_backend_t, ggml_cgraph *) { return GGML_STATUS_FAILED; }
void backendEvent(ggml_backend_t, ggml_backend_event_t) {}

const char * deviceName(ggml_backend_dev_t device) { return paperOf(device).worker.name.c_str(); }
enum ggml_backend_dev_type deviceKind(ggml_backend_dev_t) { return GGML_BACKEND_DEVICE_TYPE_GPU; } // as upstream's

void deviceMemory(ggml_backend_dev_t device, size_t * free, size_t * total) {
    *free = static_cast<size_t>(paperOf(device).worker.free);
    *total = static_cast<size_t>(paperOf(device).worker.total);
}

void deviceProps(ggml_backend_dev_t device, ggml_backend_dev_props * props) {
    *props = {};
    props->name = props->description = deviceName(device);
    props->type = deviceKind(device);
    deviceMemory(device, &props->memory_free, &props->memory_total);
    props->caps.async = props->caps.events = true; // as upstream's: the scheduler makes as many copies of its inputs
}

ggml_backend_t deviceInit(ggml_backend_dev_t device, const char *) {
    static ggml_guid guid = { 'c', 'o', 'n', 'c', 'e', 'r', 't', 'i', 'n', 'a', ' ', 'p', 'a', 'p', 'e', 'r' };
    ggml_backend_i table = {};
    table.get_name = backendNameOf;
    table.free = backendFree;
    table.synchronize = backendSynchronize;
    table.graph_compute = backendCompute;
    table.event_record = table.event_wait = backendEvent;
    return new ggml_backend{ &guid, table, device, nullptr };
}

ggml_backend_buffer_type_t deviceBuffers(ggml_backend_dev_t device) { return &paperOf(device).type; }

bool deviceComputes(ggml_backend_dev_t device, const ggml_tensor * operation) {
    return workerComputes(paperOf(device).worker, operation);
}

bool deviceUses(ggml_backend_dev_t device, ggml_backend_buffer_type_t type) { return type == &paperOf(device).type; }

ggml_backend_event_t deviceEvent(ggml_backend_dev_t device) { return new ggml_backend_event{ device, nullptr }; }
void deviceEventFree(ggml_backend_dev_t, ggml_backend_event_t event) { delete event; }
void deviceEventWait(ggml_backend_dev_t, ggml_backend_event_t) {}

const char * registryName(ggml_backend_reg_t) { return "RPC"; }
size_t registryDevices(ggml_backend_reg_t) { return 0; }
ggml_backend_dev_t registryDevice(ggml_backend_reg_t, size_t) { return nullptr; }

ggml_backend_reg_t paperRegistry() {
    static ggml_backend_reg registry = { GGML_BACKEND_API_VERSION,
        { registryName, registryDevices, registryDevice, nullptr }, nullptr };
    return &registry;
}

std::unique_ptr<Paper> makePaper(const WorkerDevice & worker) {
    auto paper = std::make_unique<Paper>();
    paper->worker = worker;
    paper->device = {};
    ggml_backend_device_i & table = paper->device.iface;
    table.get_name = table.get_description = deviceName;
    table.get_memory = deviceMemory;
    table.get_type = deviceKind;
    table.get_props = deviceProps;
    table.init_backend = deviceInit;
    table.get_buffer_type = deviceBuffers;
    table.supports_op = deviceComputes;
    table.supports_buft = deviceUses;
    table.event_new = deviceEvent;
    table.event_free = deviceEventFree;
    table.event_synchronize = deviceEventWait;
    paper->device.reg = paperRegistry();
    paper->device.context = paper.get();
    paper->type = {};
    paper->type.iface.get_name = typeName;
    paper->type.iface.alloc_buffer = typeAlloc;
    paper->type.iface.get_alignment = typeAlignment;
    paper->type.device = &paper->device;
    paper->type.context = paper.get();
    return paper;
}

} // namespace

ggml_backend_dev_t paperDevice(const WorkerDevice & worker) {
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<Paper>> made;
    const std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<Paper> & paper = made[worker.endpoint + ' ' + std::to_string(worker.device)];
    if (!paper) paper = makePaper(worker);
    paper->worker = worker;
    return &paper->device;
}

} // namespace concertina
