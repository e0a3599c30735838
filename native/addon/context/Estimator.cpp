#include "context/Estimator.h"

#include "errors.h"
#include "machine/Capabilities.h"
#include "model/Fingerprint.h"

#include "fit.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace concertina {
namespace {

// the first finds what upstream counts, each of the others makes up for what it does not
constexpr int mostTries = 4;

using BytesByDevice = std::map<std::string, int64_t>;

// on GPUs and workers
BytesByDevice bytesOf(const std::vector<DeviceUse> & uses) {
    BytesByDevice bytes;
    for (const DeviceUse & use : uses)
        if (use.kind != "ram") bytes[use.name] += static_cast<int64_t>(use.weights + use.context + use.compute);
    return bytes;
}

bool keepOn(float, void * cancel) { return !static_cast<const std::atomic<bool> *>(cancel)->load(); }

int64_t freeOf(ggml_backend_dev_t device) {
    size_t free = 0, total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    return static_cast<int64_t>(free);
}

// upstream's own count of the same, and the layers that it counts
BytesByDevice upstreamBytes(const std::string & path, const llama_model_params & loader,
    const llama_context_params & params, std::vector<ggml_backend_dev_t> & devices, uint32_t & layers) {
    uint32_t trained = 0, experts = 0;
    const auto found = common_get_device_memory_data(
        path.c_str(), &loader, &params, devices, layers, trained, experts, GGML_LOG_LEVEL_ERROR);
    BytesByDevice bytes;
    for (size_t i = 0; i < devices.size(); i++)
        bytes[nameOf(devices[i])] += static_cast<int64_t>(found[i].model + found[i].context + found[i].compute);
    return bytes;
}

} // namespace

MemoryEstimate Estimator::estimate(const std::string & path, const Spread & spread, const ContextOptions & options) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto context = dryContext(path, spread, options);
    const EffectiveContext & made = context->effective;
    const auto & [parts, devices] = context->memory();
    return { parts, made.typeK, made.typeV, made.cacheLayers, made.speculation, made.nCtx, context->model->trained,
        devices, checksumText(context->model->fingerprint) };
}

Spread Estimator::fit(const std::string & path, const Spread & asked, const ContextOptions & options,
    const std::vector<Room> & rooms, const std::atomic<bool> & cancel) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto bytes = [&](const Spread & spread) {
        const auto context = dryContext(path, spread, options);
        return std::make_pair(context->params, bytesOf(context->memory().devices));
    };
    const bool mtp = options.loadsMtp();
    std::vector<ggml_backend_dev_t> devices;
    uint32_t layers = 0;
    auto [params, ours] = bytes(asked);
    params.abort_callback = nullptr;
    const BytesByDevice theirs = upstreamBytes(path, LoaderParams(asked, true, mtp).params, params, devices, layers);
    BytesByDevice uncounted, room;
    for (const auto & [name, taken] : ours) {
        const auto counted = theirs.find(name);
        uncounted[name] = counted == theirs.end() ? 0 : taken - counted->second;
    }
    for (const Room & one : rooms) room[one.device] = static_cast<int64_t>(one.bytes);

    Spread found = asked;
    for (int tries = 0; tries < mostTries; tries++) {
        // what upstream finds on the way must be empty before
        Spread plain;
        plain.workers = asked.workers;
        const LoaderParams loader(plain, true, mtp);
        llama_model_params model = loader.params;
        std::vector<float> shares(llama_max_devices());
        std::vector<llama_model_tensor_buft_override> overrides(
            llama_max_tensor_buft_overrides(), llama_model_tensor_buft_override{ nullptr, nullptr });
        model.tensor_split = nullptr;
        model.tensor_buft_overrides = nullptr;
        model.progress_callback = keepOn;
        model.progress_callback_user_data = const_cast<std::atomic<bool> *>(&cancel);
        // Upstream takes a margin from what a device reports as free. It may be negative: a model that is unloaded gives back its memory.
        std::vector<size_t> margins(llama_max_devices());
        for (size_t i = 0; i < devices.size(); i++) {
            const std::string name = nameOf(devices[i]);
            margins[i] = static_cast<size_t>(freeOf(devices[i]) - room[name] + uncounted[name]);
        }
        llama_context_params context = params;
        const auto status = common_fit_params(path.c_str(), &model, &context, shares.data(), overrides.data(),
            margins.data(), context.n_ctx, nullptr, GGML_LOG_LEVEL_ERROR);
        if (cancel) throw CodedError("cancelled", "Finding out what fits was canceled");
        // it finds none: the one that was asked for says what is missing
        if (status != COMMON_PARAMS_FIT_STATUS_SUCCESS) return asked;
        found = plain;
        found.found = true;
        // where upstream changes nothing, all layers are split by what is free
        const bool changed = model.n_gpu_layers >= 0;
        found.gpuLayers = changed ? model.n_gpu_layers : static_cast<int>(layers) + 1;
        for (size_t i = 0; i < devices.size() && devices.size() > 1; i++)
            found.shares.push_back(changed ? shares[i] : static_cast<double>(freeOf(devices[i])));
        for (const auto & one : overrides) {
            if (!one.pattern) break;
            ggml_backend_dev_t device = ggml_backend_buft_get_device(one.buft);
            found.overrides.push_back({ one.pattern, device && isGpu(device) ? nameOf(device) : "" });
        }
        bool fits = true;
        for (const auto & [name, taken] : bytes(found).second) {
            const int64_t over = room.count(name) ? taken - room[name] : 0;
            if (over <= 0) continue;
            fits = false;
            uncounted[name] += over;
        }
        if (fits) break;
    }
    return found;
}

std::shared_ptr<Context> Estimator::dryContext(
    const std::string & path, const Spread & spread, const ContextOptions & options) {
    const DryModels drafts = [this](const std::string & file, int layers, bool mtp) {
        Spread alone;
        alone.gpuLayers = layers;
        return modelFor(lastDraft, file, alone, mtp);
    };
    return Context::create(modelFor(last, path, spread, options.loadsMtp()), options, true, drafts);
}

std::shared_ptr<Model> Estimator::modelFor(Kept & kept, const std::string & path, const Spread & spread, bool mtp) {
    std::error_code error;
    const auto name = std::filesystem::u8path(path);
    const auto changed = std::filesystem::last_write_time(name, error).time_since_epoch().count();
    const std::string key = path + '\n' + std::to_string(changed) + (mtp ? " mtp" : "");
    if (kept.model && key == kept.key && kept.spread == spread) return kept.model;
    kept.model.reset();
    const std::atomic<bool> cancel{ false };
    kept.model = loadModel(path, spread, true, mtp, cancel, {});
    kept.key = key;
    kept.spread = spread;
    return kept.model;
}

} // namespace concertina
