#include "context/Draft.h"

#include "LogSink.h"
#include "context/internals.h"
#include "errors.h"

#include "speculative.h"

#include <algorithm>
#include <filesystem>

namespace concertina {
namespace {

bool isMtp(const common_params & core) {
    const auto & types = core.speculative.types;
    return std::find(types.begin(), types.end(), COMMON_SPECULATIVE_TYPE_DRAFT_MTP) != types.end();
}

} // namespace

OtherFiles otherFiles(const ContextOptions & options) {
    const common_params core = coreParams(options);
    const common_params_speculative & chosen = core.speculative;
    OtherFiles files{ options.speculation == "draft" ? options.draftModel : "", core.mmproj.path, {} };
    if (chosen.has_dft() || chosen.types != common_params_speculative().types) files.draft = chosen.draft.mparams.path;
    for (const common_adapter_lora_info & one : core.lora_adapters) files.adapters.push_back(one.path);
    return files;
}

Draft::Draft(
    const ContextOptions & asked, const Model & model, bool rewinds, common_params & core, const DryModels & models)
    : speculation{ asked.speculation, asked.speculation, "" }, request(asked), model(model) {
    const std::string & how = request.speculation;
    if (how != "off" && how != "ngram" && how != "draft" && how != "mtp")
        throw CodedError("context-invalid", "Speculation is \"" + how + "\"", "Use off, ngram, draft or mtp.");
    common_params_speculative & spec = core.speculative;
    const common_params_speculative none;
    const bool typed = spec.types != none.types;
    if (typed || spec.has_dft()) {
        speculation.effective = "options";
    } else if (how == "off") {
        return;
    } else if (how == "mtp") {
        spec.types = { COMMON_SPECULATIVE_TYPE_DRAFT_MTP };
    } else if (!rewinds) {
        const char * why =
            "This model (sliding window or recurrent state) cannot go back in its cache, so no draft could "
            "be taken back.";
        if (how == "draft") refuse(why);
        speculation = { how, "off", why };
        return;
    } else if (how == "ngram") {
        // 8 tokens behind the last 4, wherever these stood before: the outputs of every context (`maxOutputs`) are enough for it,
        // so it takes no memory, and what is drafted in vain costs little
        spec.types = { COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE };
        spec.ngram_simple.size_n = 4;
        spec.ngram_simple.size_m = 8;
        return;
    } else {
        spec.draft.mparams.path = request.draftModel;
        if (request.draftModel.empty()) refuse("No model was chosen that drafts.");
    }
    if (spec.draft.n_gpu_layers == none.draft.n_gpu_layers) spec.draft.n_gpu_layers = model.gpuLayersAsked;
    if (spec.has_dft()) {
        path = spec.draft.mparams.path;
        file = std::filesystem::u8path(path).filename().u8string();
        if (!request.problems.draft.empty()) refuse("The draft model cannot be used: " + request.problems.draft);
        try {
            other = models(path, spec.draft.n_gpu_layers, true);
        } catch (const CodedError & error) { refuse(std::string("The draft model cannot be used: ") + error.what()); }
        if (!typed) spec.types = common_speculative_types_from_gguf(path);
        if (spec.types.empty()) spec.types = { COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE };
    } else if (isMtp(core) && !hasMtp(model.handle)) {
        refuse("The file of this model has no layers that draft (MTP).");
    }
    const bool fits =
        !other || !isMtp(core) ||
        (hasMtp(other->handle) && llama_model_n_embd_out(other->handle) == llama_model_n_embd_out(model.handle));
    if (!fits) refuse("The draft model " + file + " has drafting layers (MTP) of another model.");
}

Draft::~Draft() {
    if (context) llama_free(context);
}

// The window is told the names of files, not where they are.
void Draft::refuse(std::string why) const {
    if (const size_t at = path.empty() ? std::string::npos : why.find(path); at != std::string::npos)
        why.replace(at, path.size(), file);
    if (speculation.effective != "options") throw DraftRefusal(why);
    throw CodedError("context-invalid", why, "Change the options of llama-server that choose what drafts.");
}

void Draft::tryWith(llama_context * target, common_params & core) {
    if (!other && !isMtp(core)) return;
    const llama_model * drafting = other ? other->handle : model.handle;
    common_params_speculative_draft & draft = core.speculative.draft;
    if (speculation.effective != "options") {
        try {
            // a list is for the layers of the model that is drafted for
            const auto one = [](const std::string & side) { return isTypeList(side) ? "q8_0" : side; };
            const EffectiveTypes types =
                resolveTypes(drafting, one(request.typeK), one(request.typeV), core.flash_attn_type, false);
            draft.cache_type_k = types.k;
            draft.cache_type_v = types.v;
            typeK = types.typeK;
            typeV = types.typeV;
        } catch (const CodedError & error) {
            typeK = { request.typeK, "f16", error.what() };
            typeV = { request.typeV, "f16", error.what() };
        }
    } else {
        typeK.asked = typeK.effective = ggml_type_name(draft.cache_type_k);
        typeV.asked = typeV.effective = ggml_type_name(draft.cache_type_v);
    }
    if (!draft.tensor_buft_overrides.empty())
        draft.tensor_buft_overrides.push_back({ nullptr, nullptr }); // as upstream's parser does
    // as common_speculative_init_result makes it
    llama_context_params params = common_context_params_to_llama(common_base_params_to_speculative(core));
    if (isMtp(core)) params.ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    params.n_ctx = llama_n_ctx(target);
    params.n_rs_seq = 0;
    params.ctx_other = target;
    const LogSink::Capture log;
    context = llama_init_from_model(const_cast<llama_model *>(drafting), params);
    if (!context)
        refuse(withLog(
            (file.empty() ? "The drafting layers of this model" : "The draft model " + file) + " cannot be set up",
            log.errors()));
    draft.ctx_tgt = target;
    draft.ctx_dft = context;
    try {
        const common_speculative_ptr made(
            common_speculative_init(core.speculative, static_cast<uint32_t>(core.n_parallel)));
        reserve(context);
    } catch (const std::exception & error) {
        const bool vocabulary = std::string(error.what()).find("vocab") != std::string::npos;
        refuse(vocabulary
                   ? "The draft model " + file + " has another vocabulary than this model, so it cannot draft for it."
                   : withLog("The draft model " + file + " cannot draft for this model", error.what()));
    }
    draft.ctx_tgt = draft.ctx_dft = nullptr;
}

} // namespace concertina
