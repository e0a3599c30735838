// How the layers of a model are spread over GPUs, workers and RAM, as upstream's loader takes it.
#pragma once

#include "fields.h"
#include "workers/Workers.h"

#include "llama.h"

#include <string>
#include <vector>

namespace concertina {

// Weights that lie elsewhere than their layer.
struct Override {
    std::string pattern; // of their names
    std::string device; // of `nameOf`; empty: RAM

    CONCERTINA_FIELDS(pattern, device)
    bool operator==(const Override & other) const { return fields() == other.fields(); }
};

struct Spread {
    int gpuLayers = -1; // the last ones, over the workers and then the GPUs of this machine; negative: all
    int expertsInRam = 0; // layers from the first on whose experts stay in RAM
    std::vector<double>
        shares; // of each device, in that order; empty: by what workers have free, or as upstream chooses
    std::vector<Override> overrides;
    std::vector<WorkerDevice> workers;
    bool found = false; // by Estimator::fit; what was asked for is all layers

    CONCERTINA_FIELDS(gpuLayers, expertsInRam, shares, overrides, workers, found)
    bool operator==(const Spread & other) const { return fields() == other.fields(); }
};

// The parameters of upstream's loader for it. `dry`: for dry runs, see devicesOf.
class LoaderParams {
public:
    // throws `worker-lost`, and `bad-request` for an override to a device that is not there and for more devices than upstream takes
    LoaderParams(const Spread & spread, bool dry, bool mtp);
    LoaderParams(const LoaderParams &) = delete;
    LoaderParams & operator=(const LoaderParams &) = delete;

    llama_model_params params; // points into this

private:
    std::vector<ggml_backend_dev_t> devices;
    std::vector<float> shares;
    std::vector<std::string> patterns;
    std::vector<llama_model_tensor_buft_override> overrides;
};

} // namespace concertina
