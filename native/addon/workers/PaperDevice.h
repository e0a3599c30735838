// A device for dry runs, in place of one at a worker: it has its memory and its operations and holds nothing, so that an estimate
// neither waits for the network nor for the answer that the worker takes part in.
#pragma once

#include "workers/Workers.h"

namespace concertina {

// one for each worker's device, which lives until the process ends
ggml_backend_dev_t paperDevice(const WorkerDevice & worker);

} // namespace concertina
