#include "workers/Workers.h"

#include "context/internals.h"
#include "errors.h"
#include "workers/Operation.h"
#include "workers/PaperDevice.h"

#include "ggml-backend-impl.h"
#include "ggml-rpc.h"
#include "transport.h"

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace concertina {

const char * const buildHash = CONCERTINA_BUILD_HASH;

namespace {

std::mutex knownMutex;

// Upstream keeps the devices of a worker until the process ends, and so does this.
std::map<ggml_backend_dev_t, std::unique_ptr<WorkerDevice>> & knownWorkers() {
    static std::map<ggml_backend_dev_t, std::unique_ptr<WorkerDevice>> known;
    return known;
}

// The line that begins a conversation beside RPC (electron/services/workers/greeting.ts), and what follows it there.
class Asking {
public:
    explicit Asking(const std::string & endpoint) {
        const size_t colon = endpoint.rfind(':');
        if (colon == std::string::npos || !rpc_transport_init()) return;
        socket = socket_t::connect(endpoint.substr(0, colon).c_str(), std::atoi(endpoint.c_str() + colon + 1));
        if (!ask(std::string("concertina-worker 1 ") + buildHash).has_value()) socket.reset();
    }

    bool open() const { return socket != nullptr; }

    // the line that answers
    std::optional<std::string> ask(const std::string & line) {
        const std::string sent = line + '\n';
        if (!socket || !socket->send_data(sent.data(), sent.size())) return std::nullopt;
        std::string answer;
        for (char letter = 0; socket->recv_data(&letter, 1); answer += letter) {
            if (letter == '\n') return answer;
            if (answer.size() > 65'536) break;
        }
        return std::nullopt;
    }

private:
    socket_ptr socket;
};

std::mutex askingMutex;

// The conversation with a worker, which stays open: beside it alone the worker takes RPC. Under the mutex.
Asking & askingOf(const std::string & endpoint) {
    static std::map<std::string, std::unique_ptr<Asking>> conversations;
    std::unique_ptr<Asking> & asking = conversations[endpoint];
    if (!asking || !asking->ask("ping")) asking = std::make_unique<Asking>(endpoint);
    return *asking;
}

bool computesThere(const WorkerDevice & worker, const std::string & operation) {
    static std::unordered_map<std::string, bool> answers;
    const std::lock_guard<std::mutex> lock(askingMutex);
    const std::string key = worker.endpoint + ' ' + std::to_string(worker.device) + ' ' + operation;
    const auto known = answers.find(key);
    if (known != answers.end()) return known->second;
    const auto answer = askingOf(worker.endpoint).ask("computes " + std::to_string(worker.device) + ' ' + operation);
    if (!answer) return true; // a worker that is gone ends the computation in any case
    return answers[key] = *answer == "yes";
}

bool answers(const std::string & endpoint) {
    const std::lock_guard<std::mutex> lock(askingMutex);
    return askingOf(endpoint).open();
}

bool supportsOperation(ggml_backend_dev_t device, const ggml_tensor * operation) {
    const WorkerDevice * worker = workerOf(device);
    return worker && workerComputes(*worker, operation);
}

ggml_backend_dev_t connected(const WorkerDevice & worker) {
    // upstream's back end would end the process
    if (!answers(worker.endpoint))
        throw CodedError("worker-lost", "The worker " + worker.name + " does not answer",
            "Start it again, or load the model without it.");
    ggml_backend_reg_t registered = ggml_backend_rpc_add_server(worker.endpoint.c_str());
    if (!registered || ggml_backend_reg_dev_count(registered) <= static_cast<size_t>(worker.device))
        throw CodedError("worker-lost", "The worker " + worker.name + " has other devices now", "Connect it again.");
    ggml_backend_dev_t device = ggml_backend_reg_dev_get(registered, static_cast<size_t>(worker.device));
    device->iface.supports_op = supportsOperation;
    return device;
}

std::vector<ggml_backend_dev_t> localGpus() {
    std::vector<ggml_backend_dev_t> cards, integrated;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (!isGpu(device)) continue;
        (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU ? cards : integrated).push_back(device);
    }
    return cards.empty() ? integrated : cards;
}

} // namespace

std::vector<ggml_backend_dev_t> devicesOf(const std::vector<WorkerDevice> & workers, bool dry) {
    std::vector<ggml_backend_dev_t> devices;
    for (const WorkerDevice & worker : workers) {
        ggml_backend_dev_t device = dry ? paperDevice(worker) : connected(worker);
        const std::lock_guard<std::mutex> lock(knownMutex);
        std::unique_ptr<WorkerDevice> & known = knownWorkers()[device];
        if (!known) known = std::make_unique<WorkerDevice>();
        *known = worker;
        devices.push_back(device);
    }
    const std::vector<ggml_backend_dev_t> local = localGpus();
    devices.insert(devices.end(), local.begin(), local.end());
    return devices;
}

const WorkerDevice * workerOf(ggml_backend_dev_t device) {
    const std::lock_guard<std::mutex> lock(knownMutex);
    const auto found = knownWorkers().find(device);
    return found == knownWorkers().end() ? nullptr : found->second.get();
}

bool isLocalGpu(ggml_backend_dev_t device) { return isGpu(device) && !workerOf(device); }

bool workerComputes(const WorkerDevice & worker, const ggml_tensor * operation) {
    if (hasPointers(operation)) return false;
    if (worker.cpu) {
        return ggml_backend_dev_supports_op(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), operation);
    }
    return computesThere(worker, operationText(operation));
}

} // namespace concertina
