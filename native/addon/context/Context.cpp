#include "context/Context.h"

#include "LogSink.h"
#include "context/CacheGuards.h"
#include "context/Calibration.h"
#include "errors.h"

#include "common.h"
#include "ggml-cpu.h"
#include "speculative.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concertina {
namespace {

constexpr double maxCells = 1 << 24;
constexpr int maxRecent = 4096;

uint32_t cells(const ContextOptions & options, const Model & model, std::vector<std::string> & notes) {
    const double asked = options.nCtx;
    if (!(asked >= 1) || asked > maxCells || asked != std::floor(asked)) {
        throw CodedError("context-invalid", "A context of " + std::to_string(asked) + " tokens is not possible",
            "Choose 512 or more.");
    }
    const auto wanted = static_cast<uint32_t>(asked);
    if (model.trained == 0 || wanted <= model.trained || ropeFor(model, options.rope, wanted).kind != "model")
        return wanted;
    if (options.rope != "model") notes.emplace_back("This model has no rotary positions that could be stretched.");
    return model.trained;
}

// layersK, layersV: set to the types of single layers
llama_context_params paramsFor(const ContextOptions & options, const common_params & core, Context & context,
    std::vector<ggml_type> & layersK, std::vector<ggml_type> & layersV) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = cells(options, *context.model, context.effective.notes);
    context.effective.rope = ropeFor(*context.model, options.rope, params.n_ctx);
    applyRope(context.effective.rope, params);
    params.n_batch = std::min<uint32_t>(params.n_ctx, static_cast<uint32_t>(core.n_batch));
    params.n_ubatch = std::min<uint32_t>(params.n_batch, static_cast<uint32_t>(core.n_ubatch));
    params.n_seq_max = static_cast<uint32_t>(core.n_parallel);
    params.kv_unified = core.kv_unified;
    params.embeddings = core.embedding;
    params.pooling_type = core.pooling_type;
    const auto drafts = static_cast<uint32_t>(common_speculative_n_max(&core.speculative));
    params.n_outputs_max = std::min(std::max(maxOutputs, params.n_seq_max * (drafts + 1)), params.n_batch);
    params.n_rs_seq = core.speculative.need_n_rs_seq();
    if (params.embeddings) {
        // of every token, and a text in one micro-batch; llama_context aborts unless its sequences divide it
        params.n_batch -= params.n_batch % params.n_seq_max;
        params.n_outputs_max = params.n_ubatch = params.n_batch;
    }
    if (options.recentTokens < 0 || options.recentTokens > maxRecent) {
        throw CodedError("context-invalid",
            std::to_string(options.recentTokens) + " recent tokens at 8 bits are not possible",
            "Choose 0 to " + std::to_string(maxRecent) + ".");
    }
    const int threads = options.threads > 0 ? options.threads : common_cpu_get_num_math();
    params.n_threads = params.n_threads_batch = std::min(threads, GGML_MAX_N_THREADS);
    params.flash_attn_type = flashType(options.flashAttention);
    params.swa_full = core.swa_full;
    params.no_perf = false;
    const EffectiveTypes types =
        resolveTypes(context.model->handle, options.typeK, options.typeV, params.flash_attn_type);
    params.type_k = types.k;
    params.type_v = types.v;
    context.effective.typeK = types.typeK;
    context.effective.typeV = types.typeV;
    layersK = types.layersK;
    layersV = types.layersV;
    return params;
}

void describe(Context & context, const ContextOptions & options, bool unified) {
    EffectiveContext & effective = context.effective;
    effective.nCtx = llama_n_ctx(context.handle);
    effective.nCtxAsked = options.nCtx;
    effective.nCtxTrained = static_cast<int>(context.model->trained);
    effective.cacheLayers = cacheLayers(context.handle);
    effective.recent = recentOf(context.handle, effective.cacheLayers, options.recentTokens, unified);
    effective.batch = llama_n_ubatch(context.handle);
    effective.threads = llama_n_threads(context.handle);
    effective.gpuLayersAsked = context.model->gpuLayersAsked;
    effective.flashAttention = usesFlashAttention(context.handle);
    effective.flashAttentionAsked = options.flashAttention;
    if (!context.model->chat) return;
    effective.chatTemplate = context.model->chat->fallback;
    effective.templateSupport = context.model->chat->supports();
}

std::vector<int32_t> lengthsOf(const std::list<common_prompt_checkpoint> & checkpoints) {
    std::vector<int32_t> lengths;
    for (const auto & one : checkpoints) lengths.push_back(static_cast<int32_t>(one.n_tokens));
    return lengths;
}

[[noreturn]] void explain(const std::string & log) {
    if (const auto error =
            failedAllocation(log, "Choose a shorter context or a smaller cache type, or close other programs."))
        throw *error;
    throw CodedError(
        "context-invalid", withLog("The context could not be made", log), "Choose other cache types or another size.");
}

} // namespace

llama_flash_attn_type flashType(const std::string & name) {
    if (name == "auto") return LLAMA_FLASH_ATTN_TYPE_AUTO;
    if (name == "on") return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    if (name == "off") return LLAMA_FLASH_ATTN_TYPE_DISABLED;
    throw CodedError("context-invalid", "Flash attention is \"" + name + "\"", "Use auto, on or off.");
}

std::shared_ptr<Context> Context::create(
    const std::shared_ptr<Model> & model, const ContextOptions & options, bool dry, const DryModels & models) {
    try {
        return make(model, options, dry, models);
    } catch (const ProjectorRefusal & refusal) {
        ContextOptions other = options;
        other.projector.clear();
        const auto context = create(model, other, dry, models);
        context->effective.projector.reason = refusal.what();
        return context;
    } catch (const DraftRefusal & refusal) {
        ContextOptions other = options;
        other.speculation = "ngram";
        const auto context = create(model, other, dry, models);
        context->effective.speculation.asked = options.speculation;
        context->effective.speculation.reason = refusal.what();
        return context;
    }
}

std::shared_ptr<Context> Context::make(
    std::shared_ptr<Model> model, const ContextOptions & asked, bool dry, const DryModels & models) {
    std::shared_ptr<Context> context(new Context(std::move(model)));
    common_params core = coreParams(asked);
    ContextOptions options = asked;
    if (core.n_ctx > 0) options.nCtx = core.n_ctx;
    if (core.cpuparams.n_threads > 0) options.threads = core.cpuparams.n_threads;
    if (core.flash_attn_type != LLAMA_FLASH_ATTN_TYPE_AUTO)
        options.flashAttention = core.flash_attn_type == LLAMA_FLASH_ATTN_TYPE_ENABLED ? "on" : "off";
    if (!core.mmproj.path.empty()) {
        context->projector = projectorBytes(asked, core);
        context->effective.projector = projectorOf(core);
    }
    context->adapters = std::make_unique<Adapters>(asked, core, context->model->handle, dry);
    context->effective.adapters = context->adapters->used;
    auto draft = std::make_unique<Draft>(options, *context->model, context->rewinds(), core, models);
    std::vector<ggml_type> layersK, layersV;
    llama_context_params & params = context->params;
    params = paramsFor(options, core, *context, layersK, layersV);
    params.abort_callback = aborted;
    params.abort_callback_data = context.get();
    const LogSink::Capture log;
    {
        const std::lock_guard<std::mutex> making(context->model->makingContext);
        context->effective.centring = centeringOf(*context->model, params);
        const TrainedContextGuard trained(context->model->handle);
        const LayerTypes layers(context->model->handle, layersK, layersV);
        const RecentWindow recent(context->model->handle, options.recentTokens, params.n_ubatch);
        context->handle = llama_init_from_model(context->model->handle, params);
    }
    if (!context->handle) explain(log.errors());
    if (!llama_get_memory(context->handle) && !params.embeddings) {
        throw CodedError("model-unsupported",
            context->model->path + " cannot write text: it is an embedding or diffusion model", "Choose a chat model.");
    }
    // what drafts gets the same
    core.n_batch = static_cast<int32_t>(params.n_batch);
    core.n_ubatch = static_cast<int32_t>(params.n_ubatch);
    core.cpuparams.n_threads = params.n_threads;
    core.flash_attn_type = params.flash_attn_type;
    core.no_extra_bufts = ggml_cpu_has_amx_int8() != 0; // see loadModel
    draft->tryWith(context->handle, core);
    context->effective.speculation = draft->speculation;
    context->effective.draft = { draft->file, draft->typeK, draft->typeV };
    describe(*context, options, params.kv_unified);
    const bool requestsDraft = context->effective.speculation.effective == "options";
    const uint64_t checkpoint =
        bytesOfCheckpoint(context->handle) + (draft->context ? bytesOfCheckpoint(draft->context) : 0);
    context->checkpointBytes = core.n_ctx_checkpoints * core.n_parallel * checkpoint;
    context->promptCache = static_cast<uint64_t>(std::max(0, core.cache_ram_mib)) << 20;
    if (core.cache_ram_mib < 0)
        context->effective.notes.emplace_back("--cache-ram sets no limit, so no estimate counts it.");
    if (dry) {
        context->adapters->apply(context->handle);
        context->draft = std::move(draft);
    } else {
        draft.reset();
        static_cast<Placement &>(context->effective) = placementOf(context->handle);
        const std::lock_guard<std::mutex> making(context->model->makingContext);
        const TrainedContextGuard trained(context->model->handle, llama_n_ctx(context->handle));
        core.model.path = context->model->path; // what answers name; it is not read
        if (options.api && !context->effective.chatTemplate.empty() && core.chat_template.empty())
            core.chat_template = "chatml"; // the model's own was refused
        try {
            context->scheduler = std::make_unique<Scheduler>(context->handle, core, requestsDraft);
        } catch (const CodedError &) {
            if (!core.mmproj.path.empty()) requireProjector(asked, core, context->model->handle);
            throw;
        }
    }
    context->effective.kernels = kernelUses(*context->model, params.type_k, params.type_v, context->effective.nCtx);
    context->measure();
    return context;
}

Context::~Context() {
    scheduler.reset();
    draft.reset();
    if (handle) llama_free(handle);
}

bool Context::aborted(void * self) {
    const auto * context = static_cast<Context *>(self);
    // requests of the API in the same batch would end with the job
    return context->requests == 0 && context->cancel && context->cancel->load();
}

bool Context::decode(const llama_token * added, size_t count, size_t outputs) {
    llama_batch batch = llama_batch_init(static_cast<int32_t>(count), 0, 1);
    for (size_t i = 0; i < count; i++) {
        batch.token[i] = added[i];
        batch.pos[i] = static_cast<llama_pos>(tokens.size() + i);
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = slot;
        batch.logits[i] = i + outputs >= count;
    }
    batch.n_tokens = static_cast<int32_t>(count);
    const LogSink::Capture log;
    const int32_t status = llama_decode(handle, batch);
    llama_synchronize(handle);
    llama_batch_free(batch);
    if (status == 0) {
        tokens.insert(tokens.end(), added, added + count);
        usedTokens = tokens.size();
        return true;
    }
    settle();
    if (status == 2) return false;
    if (status == 1)
        throw CodedError("context-full", "The context is full", "Start a new chat or choose a longer context.");
    throw CodedError("internal", withLog("llama_decode failed with " + std::to_string(status), log.errors()));
}

// After a failed decode upstream has removed the cells of the micro-batch. Where a model cannot forget a part (recurrent
// state), or the cells do not agree, nothing is kept.
void Context::settle() {
    const bool partial = !llama_model_is_recurrent(model->handle) && !llama_model_is_hybrid(model->handle);
    const auto last = llama_memory_seq_pos_max(llama_get_memory(handle), slot);
    if (!partial || last + 1 != static_cast<llama_pos>(tokens.size())) clear();
}

size_t Context::commonPrefix(const std::vector<llama_token> & prompt) const {
    const auto end = tokens.begin() + static_cast<ptrdiff_t>(std::min(tokens.size(), prompt.size()));
    const auto common = static_cast<size_t>(std::mismatch(tokens.begin(), end, prompt.begin()).first - tokens.begin());
    return std::min(common, prompt.size() - 1);
}

void Context::synchronize() {
    scheduler->call([this] {
        tokens = scheduler->numbersOf(scheduler->tokens(slot));
        checkpoints = lengthsOf(scheduler->checkpoints(slot));
    });
    usedTokens = tokens.size();
}

void Context::clear() {
    adopt([](llama_seq_id) { return server_tokens(); });
}

bool Context::rewinds() const {
    const llama_model * weights = model->handle;
    return !llama_model_is_recurrent(weights) && !llama_model_is_hybrid(weights) && llama_model_n_swa(weights) == 0;
}

void Context::adopt(
    const std::function<server_tokens(llama_seq_id sequence)> & restore, std::list<common_prompt_checkpoint> states) {
    checkpoints = lengthsOf(states);
    const auto kept = [&](int free) {
        server_tokens restored = restore(free);
        tokens = scheduler->numbersOf(restored);
        return restored;
    };
    slot = scheduler->adopt(kept, std::move(states));
    if (tokens.empty()) checkpoints.clear();
    usedTokens = tokens.size();
}

void Context::extend(const std::function<std::vector<llama_token>()> & add) {
    scheduler->call([&] {
        if (!scheduler->holds(slot, tokens))
            throw CodedError("busy", "A request of the API has taken the cells of this chat", "");
        const std::vector<llama_token> added = add();
        tokens.insert(tokens.end(), added.begin(), added.end());
        scheduler->append(slot, added);
    });
    usedTokens = tokens.size();
}

std::vector<llama_token> Context::read(const std::string & prompt, const std::vector<raw_buffer> & files, bool keep) {
    server_tokens cut = scheduler->read(prompt, files, !keep);
    std::vector<llama_token> numbers = scheduler->numbersOf(cut);
    if (keep) media = std::move(cut);
    return numbers;
}

server_tokens Context::withMedia(const std::vector<llama_token> & numbers) {
    const std::vector<llama_token> known = scheduler->numbersOf(media);
    const bool begins = known.size() <= numbers.size() && std::equal(known.begin(), known.end(), numbers.begin());
    server_tokens whole(llama_tokens(), scheduler->sees());
    if (begins && !known.empty()) whole = std::move(media);
    media.clear();
    const auto rest = numbers.begin() + static_cast<ptrdiff_t>(whole.size());
    if (std::any_of(rest, numbers.end(), isMedia))
        throw CodedError("bad-request", "This prompt has images that were not read");
    whole.insert({ rest, numbers.end() });
    return whole;
}

void Context::measure() {
    uint64_t prompts = 0;
    if (scheduler && promptCache > 0) scheduler->call([&] { prompts = scheduler->promptCacheBytes(); });
    const llama_context * drafting = scheduler ? scheduler->draft() : draft ? draft->context : nullptr;
    lastUse = memoryUse(handle, drafting, projector, checkpointBytes, scheduler ? prompts : promptCache);
    adapters->addTo(lastUse);
    lastUse.parts.promptCache = promptCache;
    lastUse.parts.promptCacheUsed = prompts;
}

const MemoryUse & Context::memory() {
    if (!busy && requests == 0) measure();
    return lastUse;
}

Lease lease(const std::shared_ptr<Context> & context, std::shared_ptr<std::atomic<bool>> cancel, bool alone) {
    if ((alone && context->requests > 0) || context->busy.exchange(true))
        throw CodedError("busy", "This context is at work", "Wait for the answer, or stop it.");
    context->alone = alone;
    context->cancel = std::move(cancel);
    return Lease(context.get(), [context](Context *) {
        context->cancel.reset();
        context->alone = false;
        context->busy = false;
    });
}

Lease shareForApi(const std::shared_ptr<Context> & context) {
    if (context->alone) throw CodedError("busy", "A measurement uses this context", "Wait until it ends, or stop it.");
    context->requests++;
    return Lease(context.get(), [context](Context *) { context->requests--; });
}

} // namespace concertina
