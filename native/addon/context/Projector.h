// What makes images and sound into embeddings that a model reads: a projector (mmproj), which upstream's server core loads beside it
// (libmtmd). Here it is measured, and a refusal is explained.
#pragma once

#include "context/ContextOptions.h"
#include "fields.h"

#include "ggml-backend.h"
#include "llama.h"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace concertina {

// Why the file that was asked for cannot be used with the model, as a sentence.
struct ProjectorRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct ProjectorInUse {
    std::string file; // its name; empty: there is none
    bool vision = false;
    bool audio = false;
    std::string reason; // why the one that was asked for is not used; empty: it is, or none was

    CONCERTINA_FIELDS(file, vision, audio, reason)
};

struct ProjectorBytes {
    std::map<ggml_backend_dev_t, size_t> weights, compute;
};

// Of the projector in `core`, which `asked` became; the buffers as upstream reserves them for an image of the usual size. They are
// allocated for a moment, and not touched. Throws ProjectorRefusal where the file cannot be read, or `context-invalid` where an option
// of llama-server chose it.
ProjectorBytes projectorBytes(const ContextOptions & asked, const common_params & core);
ProjectorInUse projectorOf(const common_params & core);

// After the core could not load it beside this model: throws as projectorBytes if that is the reason. Reads the whole file.
void requireProjector(const ContextOptions & asked, const common_params & core, const llama_model * model);

} // namespace concertina
