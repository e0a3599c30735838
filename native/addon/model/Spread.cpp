#include "model/Spread.h"

#include "errors.h"
#include "machine/Capabilities.h"

#include "common.h"
#include "ggml-cpu.h"

#include <algorithm>

namespace concertina {
namespace {

std::vector<float> sharesByMemory(const std::vector<ggml_backend_dev_t> & devices) {
    std::vector<float> shares;
    for (ggml_backend_dev_t device : devices) {
        size_t free = 0, total = 0;
        ggml_backend_dev_memory(device, &free, &total);
        // what a GPU has free changes between an estimate and the load; of a worker it is as it was greeted
        const WorkerDevice * worker = workerOf(device);
        shares.push_back(static_cast<float>(worker ? worker->free : static_cast<double>(total)));
    }
    return shares;
}

ggml_backend_buffer_type_t buffersOf(const std::string & name, const std::vector<ggml_backend_dev_t> & devices) {
    if (name.empty()) return ggml_backend_cpu_buffer_type();
    for (ggml_backend_dev_t device : devices)
        if (nameOf(device) == name) return ggml_backend_dev_buffer_type(device);
    throw CodedError("bad-request", "There is no device " + name, "Load the model again.");
}

} // namespace

LoaderParams::LoaderParams(const Spread & spread, bool dry, bool mtp)
    : params(llama_model_default_params()), devices(devicesOf(spread.workers, dry)) {
    // ggml's AMX buffers take weights whose products they refuse later (not a multiple of 32 outputs, an input that is not
    // contiguous), and the scheduler aborts: ggml-backend.cpp, cur_backend_id != -1. Seen on a Xeon with AMX, ggml 0.25.1.
    if (ggml_cpu_has_amx_int8()) params.use_extra_bufts = false;
    if (devices.size() > llama_max_devices()) {
        throw CodedError("bad-request",
            std::to_string(devices.size()) + " devices are more than the " + std::to_string(llama_max_devices()) +
                " that llama.cpp takes",
            "Switch some workers off in the settings.");
    }
    params.n_gpu_layers = spread.gpuLayers;
    params.load_mtp = mtp;
    params.no_alloc = dry;
    if (dry) params.load_mode = LLAMA_LOAD_MODE_NONE;
    for (int layer = 0; layer < spread.expertsInRam; layer++)
        patterns.push_back("blk\\." + std::to_string(layer) + LLM_FFN_EXPS_REGEX);
    for (const Override & one : spread.overrides) patterns.push_back(one.pattern);
    const size_t experts = patterns.size() - spread.overrides.size();
    for (size_t i = 0; i < patterns.size(); i++) {
        const std::string & device = i < experts ? "" : spread.overrides[i - experts].device;
        overrides.push_back({ patterns[i].c_str(), buffersOf(device, devices) });
    }
    // the logits of one token have some hundred times the bytes of what a layer passes on: without a GPU here they are made in RAM
    if (!devices.empty() && std::none_of(devices.begin(), devices.end(), isLocalGpu))
        overrides.push_back({ "^(output|token_embd)\\.weight$", ggml_backend_cpu_buffer_type() });
    if (!overrides.empty()) {
        overrides.push_back({ nullptr, nullptr });
        params.tensor_buft_overrides = overrides.data();
    }
    // GPUs of this machine alone are upstream's own choice
    if (spread.workers.empty() && spread.shares.empty()) return;
    if (spread.shares.empty()) shares = sharesByMemory(devices);
    for (const double share : spread.shares) shares.push_back(static_cast<float>(share));
    shares.resize(std::max(devices.size(), llama_max_devices()));
    params.tensor_split = shares.data();
    devices.push_back(nullptr);
    params.devices = devices.data();
}

} // namespace concertina
