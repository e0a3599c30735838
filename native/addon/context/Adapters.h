// LoRA adapters: small matrices that a context adds to weights of its model, each times a scale. Upstream's server core loads and
// applies them (common_init_from_params); here they are held against the model, for what upstream would end the process over too,
// and measured.
#pragma once

#include "context/ContextOptions.h"
#include "context/internals.h"
#include "fields.h"

#include "ggml-backend.h"
#include "llama.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct llama_adapter_lora;

namespace concertina {

struct AdapterInUse {
    std::string file; // its name
    double scale = 1;
    uint64_t bytes = 0; // among the weights
    std::string fingerprint; // as of a model
    bool byOption = false; // of llama-server: requests of the API may change its scale

    CONCERTINA_FIELDS(file, scale, bytes, fingerprint, byOption)
};

class Adapters {
public:
    // Those that `core` names, of which the headers are read. Throws `context-invalid` for one that does not fit the model. `dry`: the
    // graphs of contexts are as if they were loaded, for as long as this lives.
    Adapters(const ContextOptions & asked, const common_params & core, llama_model * model, bool dry);
    ~Adapters();
    Adapters(const Adapters &) = delete;
    Adapters & operator=(const Adapters &) = delete;

    // in a dry run: plans the buffers of the context with them
    void apply(llama_context * context) const;
    void addTo(MemoryUse & use) const;

    std::vector<AdapterInUse> used;

private:
    uint64_t add(const std::string & path, const std::string & problem, bool byOption);

    llama_model * const model;
    const bool dry;
    std::vector<std::unique_ptr<llama_adapter_lora, void (*)(llama_adapter_lora *)>> shapes; // without data
    std::map<ggml_backend_dev_t, uint64_t> bytes; // null: RAM
};

} // namespace concertina
