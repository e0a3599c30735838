#include "workers/Serve.h"

#include "context/internals.h"
#include "workers/Operation.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "ggml-rpc.h"

#include <cstdlib>
#include <map>
#include <thread>

namespace concertina {
namespace {

std::vector<ggml_backend_dev_t> ownDevices() {
    std::vector<ggml_backend_dev_t> devices;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        if (isGpu(ggml_backend_dev_get(i))) devices.push_back(ggml_backend_dev_get(i));
    }
    if (devices.empty()) devices.push_back(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
    return devices;
}

using Compute = enum ggml_status (*)(ggml_backend_t, ggml_cgraph *);

// Written before the server starts, and read by it.
std::map<ggml_backend_dev_t, ggml_backend_dev_t> & guardedDevices() {
    static std::map<ggml_backend_dev_t, ggml_backend_dev_t> devices;
    return devices;
}

std::map<ggml_backend_t, Compute> & ownComputes() {
    static std::map<ggml_backend_t, Compute> computes;
    return computes;
}

// A graph may name functions by their address in this process, which a client has no business to know. The server ends where it is refused.
enum ggml_status computeWithoutFunctions(ggml_backend_t backend, ggml_cgraph * graph) {
    for (int i = 0; i < graph->n_nodes; i++) {
        if (!graph->nodes[i] || hasPointers(graph->nodes[i])) return GGML_STATUS_FAILED;
    }
    return ownComputes().at(backend)(backend, graph);
}

ggml_backend_t initGuarded(ggml_backend_dev_t device, const char * params) {
    ggml_backend_t backend = ggml_backend_dev_init(guardedDevices().at(device), params);
    if (!backend) return nullptr;
    ownComputes()[backend] = backend->iface.graph_compute;
    backend->iface.graph_compute = computeWithoutFunctions;
    return backend;
}

// The same device, whose back end looks at its graphs first.
ggml_backend_dev_t guardedDevice(ggml_backend_dev_t device) {
    auto * guarded = new ggml_backend_device(*device);
    guarded->iface.init_backend = initGuarded;
    guardedDevices()[guarded] = device;
    return guarded;
}

} // namespace

std::vector<ServedDevice> servedDevices() {
    std::vector<ServedDevice> served;
    for (ggml_backend_dev_t device : ownDevices()) {
        size_t free = 0, total = 0;
        ggml_backend_dev_memory(device, &free, &total);
        served.push_back({ ggml_backend_dev_description(device), !isGpu(device), free, total });
    }
    return served;
}

void serveWorker(int port, int threads) {
    std::thread([port, threads] {
        std::vector<ggml_backend_dev_t> devices = ownDevices();
        for (ggml_backend_dev_t & device : devices) device = guardedDevice(device);
        const std::string endpoint = "127.0.0.1:" + std::to_string(port);
        ggml_backend_rpc_start_server(
            endpoint.c_str(), nullptr, static_cast<size_t>(threads), devices.size(), devices.data());
        std::_Exit(1); // it returns only where it cannot serve, and this process does nothing else
    }).detach();
}

bool servedComputes(int device, const std::string & operation) {
    const std::vector<ggml_backend_dev_t> devices = ownDevices();
    if (device < 0 || static_cast<size_t>(device) >= devices.size()) return false;
    const auto read = readOperation(operation);
    return read && !hasPointers(read->tensor) &&
           ggml_backend_dev_supports_op(devices[static_cast<size_t>(device)], read->tensor);
}

} // namespace concertina
