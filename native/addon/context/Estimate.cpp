#include "context/Estimate.h"

#include <filesystem>

namespace concertina {

MemoryEstimate Estimator::estimate(const std::string & path, int gpuLayers, const ContextOptions & options) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto context = Context::create(modelFor(path, gpuLayers), options, true);
    const EffectiveContext & made = context->effective;
    const int trained = static_cast<int>(trainedContext(*context->model));
    return { context->bytes(), made.typeK, made.typeV, made.nCtx, trained, context->devices() };
}

std::shared_ptr<Model> Estimator::modelFor(const std::string & path, int gpuLayers) {
    std::error_code error;
    const auto name = std::filesystem::u8path(path);
    const auto changed = std::filesystem::last_write_time(name, error).time_since_epoch().count();
    const std::string key = path + '\n' + std::to_string(changed) + '\n' + std::to_string(gpuLayers);
    if (last && key == lastKey) return last;
    last.reset();
    const std::atomic<bool> cancel{ false };
    last = loadModel(path, gpuLayers, true, cancel, {});
    lastKey = key;
    return last;
}

} // namespace concertina
