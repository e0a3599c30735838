// What a context is asked for, and upstream's server core on it: slots, its HTTP handlers, and options of llama-server.
#pragma once

#include "fields.h"

#include "common.h"

#include <algorithm>
#include <string>
#include <vector>

namespace concertina {

// What a context may load beside its model, each as a path, or as why it may not be loaded; empty: none.
struct OtherFiles {
    std::string draft, projector;
    std::vector<std::string> adapters;

    CONCERTINA_FIELDS(draft, projector, adapters)
};

// See Adapters.h.
struct AdapterOption {
    std::string model; // a file
    double scale = 1;

    CONCERTINA_FIELDS(model, scale)
};

struct ContextOptions {
    double nCtx = 0;
    std::string typeK, typeV;
    std::string flashAttention;
    int threads = 0;
    int batch = 512;
    int recentTokens = 0; // newest tokens whose K and V are held at 8 bits, too, where the cache is turbo
    std::string rope = "model"; // see context/effective.h
    std::string speculation = "off"; // or "ngram": from the text before, "draft": by draftModel, "mtp"
    std::string draftModel; // a file
    std::string
        projector; // a file that makes images and sound into embeddings; empty, or "auto" that nobody resolved: none
    std::vector<AdapterOption> adapters;
    OtherFiles problems; // see loadModel
    int slots = 1; // answers at a time, over one unified KV cache
    bool api = false; // upstream's handlers answer requests, with the model's own chat template
    double promptCache = 0; // bytes of RAM for what requests of the API leave behind, at most; 0: none
    std::vector<std::string> core; // options of llama-server for its core, as { "--slot-save-path", "/tmp" }

    CONCERTINA_FIELDS(nCtx, typeK, typeV, flashAttention, threads, batch, recentTokens, rope, speculation, draftModel,
        projector, adapters, slots, api, promptCache, core)

    // layers of the model draft, which are left out otherwise
    bool loadsMtp() const {
        return speculation == "mtp" || std::find(core.begin(), core.end(), "draft-mtp") != core.end();
    }
};

// For upstream's core. n_ctx is 0 and the number of threads -1 where no option of llama-server says them. Throws `bad-request` for an
// option that llama-server does not know, or that ends it (--help, --version, ...).
common_params coreParams(const ContextOptions & options);

} // namespace concertina
