// What drafts tokens for a context: its text, a second model, or layers of its own model (MTP). The core loads what drafts; here it
// is chosen, tried against the model and measured, in a dry run.
#pragma once

#include "context/ContextOptions.h"
#include "context/effective.h"
#include "fields.h"
#include "model/Model.h"

#include "common.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace concertina {

// Why what was asked for cannot draft, as a sentence.
struct DraftRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// a model without its weights
using DryModels = std::function<std::shared_ptr<Model>(const std::string & path, int gpuLayers, bool mtp)>;

// what is asked, unless options of llama-server choose it
OtherFiles otherFiles(const ContextOptions & options);

class Draft {
public:
    // Sets what the core drafts by: what is asked, unless options of llama-server choose it. `rewinds`: the cache can forget any
    // number of its last tokens. Throws DraftRefusal.
    Draft(const ContextOptions & request, const Model & model, bool rewinds, common_params & core,
        const DryModels & models);
    ~Draft();
    Draft(const Draft &) = delete;
    Draft & operator=(const Draft &) = delete;

    // With what the core has of the context: cache types of the draft, and whether upstream takes it. Throws DraftRefusal. After it
    // `context` is there, where a model drafts, which takes no memory unless it is a model of its own that is loaded.
    void tryWith(llama_context * target, common_params & core);

    EffectiveType speculation;
    std::string file; // name of the model's that drafts; empty: none of its own
    EffectiveType typeK, typeV; // of its cache; empty where no model drafts
    llama_context * context = nullptr;

private:
    // throws DraftRefusal, or an error where an option chose it
    [[noreturn]] void refuse(std::string why) const;

    const ContextOptions request;
    const Model & model;
    std::string path;
    std::shared_ptr<Model> other;
};

} // namespace concertina
