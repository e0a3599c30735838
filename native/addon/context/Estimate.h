// What a model and a context would allocate: upstream's dry run, in which nothing is allocated but the state of recurrent
// layers, for which upstream has no dry run. The header and vocabulary
// of the last model are kept, so that a slider can ask again and again.
#pragma once

#include "context/Context.h"

#include <memory>
#include <mutex>
#include <string>

namespace concertina {

struct MemoryEstimate {
    PartBytes bytes;
    EffectiveType typeK, typeV;
    uint32_t nCtx = 0;
    int trained = 0;
    std::vector<DeviceUse> devices;
};

struct Estimator {
    MemoryEstimate estimate(const std::string & path, int gpuLayers, const ContextOptions & options);

private:
    std::shared_ptr<Model> modelFor(const std::string & path, int gpuLayers);

    std::mutex mutex;
    std::shared_ptr<Model> last;
    std::string lastKey;
};

} // namespace concertina
