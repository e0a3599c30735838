// What a model and a context would allocate, and how to spread them so that they fit: upstream's dry run, in which nothing is allocated but
// the state of recurrent layers, for which upstream has no dry run.
#pragma once

#include "context/Context.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace concertina {

struct MemoryEstimate : PartBytes {
    EffectiveType typeK, typeV;
    std::vector<CacheLayer> cacheLayers;
    EffectiveType speculation;
    uint32_t nCtx = 0;
    uint32_t trained = 0;
    std::vector<DeviceUse> devices;
    std::string fingerprint; // of the model

    CONCERTINA_FIELDS(weights, kvK, kvV, kvF16, compute, draft, projector, promptCache, promptCacheUsed, typeK, typeV,
        cacheLayers, speculation, nCtx, trained, devices, fingerprint)
};

// What a GPU or a worker may hold of a model and its context.
struct Room {
    std::string device; // of `nameOf`
    double bytes = 0;

    CONCERTINA_FIELDS(device, bytes)
};

// Keeps the header and vocabulary of the last model and of the last one that drafted, so that a slider can ask again and again.
class Estimator {
public:
    MemoryEstimate estimate(const std::string & path, const Spread & spread, const ContextOptions & options);

    // The layers, their split and the experts in RAM with which no device holds more than its room: upstream's common_fit_params, with RAM
    // for boundless; a device without a room is not used. What upstream does not count (what drafts, a projector, adapters, what a back end
    // allocates beside its buffers) is counted here. Of `asked` only the workers matter. Reads the header anew for every try: some seconds for
    // a large vocabulary. For the time of a try, upstream puts a function of its own before the logger of the process. Throws `cancelled`.
    Spread fit(const std::string & path, const Spread & asked, const ContextOptions & options,
        const std::vector<Room> & rooms, const std::atomic<bool> & cancel);

private:
    struct Kept {
        std::string key;
        Spread spread;
        std::shared_ptr<Model> model;
    };
    static std::shared_ptr<Model> modelFor(Kept & kept, const std::string & path, const Spread & spread, bool mtp);
    std::shared_ptr<Context> dryContext(
        const std::string & path, const Spread & spread, const ContextOptions & options);

    std::mutex mutex;
    Kept last, lastDraft;
};

} // namespace concertina
