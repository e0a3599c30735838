// The other side of Workers.h: the devices of this machine for models of another one, by upstream's RPC server.
#pragma once

#include "fields.h"

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

struct ServedDevice {
    std::string name;
    bool cpu = true;
    uint64_t free = 0, total = 0; // bytes, now

    CONCERTINA_FIELDS(name, cpu, free, total)
};

// The GPUs of this machine; without any, its CPU. A worker's device has its number in this list.
std::vector<ServedDevice> servedDevices();

// Serves them on a port of the loopback interface, one client after the other, with so many threads of the CPU; returns at once. The process
// ends where the port cannot be had.
void serveWorker(int port, int threads);

// Whether such a device can compute an operation, see Operation.h; false, too, where the text is of none.
bool servedComputes(int device, const std::string & operation);

} // namespace concertina
