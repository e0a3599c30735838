// Where the layers of a context lie, and where its attention runs: upstream has no public call for either. What would replace
// it: such calls in llama.h.
#pragma once

#include "llama.h"

#include "ggml-backend.h"

#include <string>
#include <vector>

namespace concertina {

// A group of layers whose attention runs in one place.
struct AttentionPlace {
    std::string backend, device; // that attention runs on
    std::string layerBackend; // that holds the layers' weights
    bool window = false; // sliding-window layers
    int layers = 0;
};

struct Placement {
    int layers = 0; // of the model, and the output layer as one
    int offloaded = 0; // of them on a GPU
    std::vector<AttentionPlace> attention; // empty: a model without attention
};

// Builds the graph of one token and asks the scheduler where it puts each part; the context must be idle and have a memory.
Placement placementOf(llama_context * context);

// as people know it: 'CPU', 'Metal'
std::string backendName(ggml_backend_dev_t device);
bool isGpu(ggml_backend_dev_t device);

} // namespace concertina
