// With Adapters.cpp the only files that include headers of llama.cpp's src/: upstream has no public call for the K and V parts of
// the cache, for the attention path of a context, for head sizes by layer, for where layers lie and their attention runs, or for what
// its loader takes. What would replace it: such calls in llama.h.
#pragma once

#include "context/Projector.h"
#include "context/effective.h"
#include "fields.h"

#include "ggml-backend.h"
#include "llama.h"

#include <cstdint>
#include <string>
#include <vector>

namespace concertina {

// of what drafts beside the text: a model with its context, or a context of layers of the model itself
struct DraftBytes {
    uint64_t weights = 0;
    uint64_t kv = 0;
    uint64_t compute = 0;

    CONCERTINA_FIELDS(weights, kv, compute)
};

struct ProjectorPartBytes {
    uint64_t weights = 0;
    uint64_t compute = 0;

    CONCERTINA_FIELDS(weights, compute)
};

// the draft and the projector apart
struct PartBytes {
    uint64_t weights = 0;
    uint64_t kvK = 0; // with the window of recent cells
    uint64_t kvV = 0;
    // the same cells at f16
    uint64_t kvF16 = 0;
    // buffers of the computation, state that is not a KV cache (recurrent layers), and checkpoints
    uint64_t compute = 0;
    // what requests of the API leave in RAM, at most and now
    uint64_t promptCache = 0;
    uint64_t promptCacheUsed = 0;
    DraftBytes draft;
    ProjectorPartBytes projector;

    CONCERTINA_FIELDS(weights, kvK, kvV, kvF16, compute, draft, projector, promptCache, promptCacheUsed)
};

// Most bytes of a state from which a prompt goes on, of one sequence: the cells of sliding windows and the state of recurrent layers. 0
// where the whole cache rewinds.
uint64_t bytesOfCheckpoint(const llama_context * context);

// what the model and a context take of one memory
struct DeviceUse {
    std::string name, kind; // of DeviceMemory
    uint64_t weights = 0;
    uint64_t mapped = 0; // of the weights: pages of the file; 0 in a dry run
    uint64_t context = 0;
    uint64_t compute = 0;

    CONCERTINA_FIELDS(name, kind, weights, mapped, context, compute)
};

// the same bytes by part and by device, but the prompt cache: no part says what is kept of it
struct MemoryUse {
    PartBytes parts;
    std::vector<DeviceUse> devices;

    CONCERTINA_FIELDS(parts, devices)
};

// `draft`: of what drafts for the context; null: nothing does. In RAM beside them: checkpoints, and what the prompt cache takes
MemoryUse memoryUse(const llama_context * context, const llama_context * draft, const ProjectorBytes & projector,
    uint64_t checkpoints, uint64_t promptCache);

// plans the buffers of the computation anew where a setting of the context asks for that, as its next batch would
void reserve(llama_context * context);

bool usesFlashAttention(const llama_context * context);

// Its memory is a plain KV cache, in which sequences can share cells: any stretch of one can be named as another. In some of
// upstream's other memories, that ends the process.
bool sharesCells(const llama_context * context);

// What llama.cpp's loader takes; for more layers or experts it ends the process.
struct ModelLimits {
    struct TensorType {
        std::string name;
        int64_t blockSize = 0; // values; 0: files with this type are not read any more
        size_t blockBytes = 0;

        CONCERTINA_FIELDS(name, blockSize, blockBytes)
    };
    std::vector<TensorType> types; // by ggml's id
    int maxLayers = 0, maxExperts = 0;

    CONCERTINA_FIELDS(types, maxLayers, maxExperts)
};
ModelLimits modelLimits();

// The model has layers that draft (MTP), they are loaded, and upstream can run them: where it cannot, it ends the process.
bool hasMtp(const llama_model * model);

// of attention; where layers differ, the most
struct HeadShape {
    uint32_t dimK = 0, dimV = 0;
    uint32_t heads = 0, headsKv = 1;
};
HeadShape headShape(const llama_model * model);

// What decides whether layers can have caches of their own types.
struct CacheShape {
    std::vector<uint32_t> layers; // with a cache of their own, those that draft left out
    uint32_t all = 0; // layers
    bool recurrent = false; // some layers have a state instead
    bool latent = false;
    bool gpu = false; // some layers are on one
};
CacheShape cacheShape(const llama_model * model);

// of the KV caches of a context, by layer; without the window of recent cells
std::vector<CacheLayer> cacheLayers(const llama_context * context);

// every layer's head size is a multiple of the block of the type
bool headDimsFit(const llama_model * model, ggml_type typeK, ggml_type typeV);

// While a context is made: with YaRN upstream raises what the model says it was trained for, and the next context of the
// model would not know better. Puts it back. `atLeast`: what the model says meanwhile, for the server core, which gives no slot
// more cells.
class TrainedContextGuard {
public:
    explicit TrainedContextGuard(llama_model * model, uint32_t atLeast = 0);
    ~TrainedContextGuard();
    TrainedContextGuard(const TrainedContextGuard &) = delete;
    TrainedContextGuard & operator=(const TrainedContextGuard &) = delete;

private:
    llama_model * model;
    uint32_t trained;
};

// A group of layers whose attention runs in one place.
struct AttentionPlace {
    std::string backend, device; // that attention runs on
    std::string layerBackend; // that holds the layers' weights
    bool window = false; // sliding-window layers
    int layers = 0;

    CONCERTINA_FIELDS(backend, device, layerBackend, window, layers)
};

struct Placement {
    int layers = 0; // of the model, and the output layer as one
    int gpuLayers = 0; // of them on a GPU
    std::vector<AttentionPlace> attention; // empty: a model without attention
};

// Builds the graph of one token and asks the scheduler where it puts each part; the context must be idle. Without a memory (BERT and
// others that make vectors of texts) nothing is asked.
Placement placementOf(llama_context * context);

ggml_backend_dev_t deviceOfLayer(const llama_model * model, int layer);

// as people know it: 'CPU', 'Metal', 'Vulkan'
std::string backendName(ggml_backend_dev_t device);
bool isGpu(ggml_backend_dev_t device);

} // namespace concertina
