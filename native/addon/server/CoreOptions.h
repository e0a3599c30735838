// What upstream's server core is asked for: slots, its HTTP handlers, and options of llama-server.
#pragma once

#include "fields.h"

#include "common.h"

#include <string>
#include <vector>

namespace concertina {

struct CoreOptions {
    int slots = 1; // answers at a time, over one unified KV cache
    bool api = false; // upstream's handlers answer requests, with the model's own chat template
    double promptCache = 0; // bytes of RAM for what requests of the API leave behind, at most; 0: none
    std::vector<std::string> core; // options of llama-server for its core, as { "--slot-save-path", "/tmp" }

    CONCERTINA_FIELDS(slots, api, promptCache, core)
};

// `batch`: tokens of a batch and of a micro-batch, unless an option says otherwise. n_ctx is 0 and the number of threads -1 where no
// option says them. Throws `bad-request` for an option that
// llama-server does not know, or that ends it (--help, --version, ...).
common_params coreParams(const CoreOptions & options, int batch);

} // namespace concertina
