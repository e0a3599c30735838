// Devices of other machines, by upstream's RPC back end (electron/services/workers). A worker was greeted before its devices come here: it runs
// the same build, so what it can compute is known, or it is asked.
//
// Upstream's back end ends the process where a worker does not answer, and calls every operation supported. The first is left to
// the parent process, which starts the engine again; the second is put right here, in the device's table of functions.
#pragma once

#include "fields.h"

#include "ggml-backend.h"

#include <string>
#include <vector>

namespace concertina {

struct WorkerDevice {
    std::string endpoint; // "host:port"
    int device = 0; // number at that worker
    std::string name; // for people: the worker and its device
    bool cpu = true; // it computes what the CPU of this build does
    double free = 0, total = 0; // bytes, as it was greeted

    CONCERTINA_FIELDS(endpoint, device, name, cpu, free, total)

    bool operator==(const WorkerDevice & other) const { return fields() == other.fields(); }
};

// What the two sides must have in common: a hash of everything that decides what an operation does and how it is sent.
extern const char * const buildHash;

// The devices for upstream's loader: workers first, which sends the least over the network, then the GPUs of this machine. Dry
// workers allocate nothing and are not reached. Throws `worker-lost` for one that does not answer.
std::vector<ggml_backend_dev_t> devicesOf(const std::vector<WorkerDevice> & workers, bool dry);

// nullptr: a device of this machine
const WorkerDevice * workerOf(ggml_backend_dev_t device);

// a GPU of this machine
bool isLocalGpu(ggml_backend_dev_t device);

// Whether the device of a worker can compute an operation; asked over the network where it is no CPU, and kept.
bool workerComputes(const WorkerDevice & worker, const ggml_tensor * operation);

} // namespace concertina
