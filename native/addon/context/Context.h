// A context: the KV cache, the tokens in it, and one job at a time.
#pragma once

#include "fields.h"
#include "context/Adapters.h"
#include "context/Draft.h"
#include "context/effective.h"
#include "context/internals.h"
#include "machine/Kernels.h"
#include "model/Model.h"
#include "server/Scheduler.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace concertina {

// throws `context-invalid`
llama_flash_attn_type flashType(const std::string & name);

// The model that drafts; empty where none does. Without a file it is the context's own.
struct DraftInUse {
    std::string file;
    EffectiveType typeK, typeV;

    CONCERTINA_FIELDS(file, typeK, typeV)
};

struct EffectiveContext : Placement {
    uint32_t nCtx = 0;
    double nCtxAsked = 0;
    int nCtxTrained = 0; // 0: not reported
    EffectiveType typeK, typeV;
    std::vector<CacheLayer> cacheLayers;
    EffectiveCentering centring;
    EffectiveRecent recent;
    RopeScaling rope;
    std::vector<KernelUse> kernels;
    bool flashAttention = false;
    std::string flashAttentionAsked;
    int threads = 0;
    int gpuLayersAsked = 0; // negative: all
    uint32_t batch = 0;
    EffectiveType speculation;
    DraftInUse draft;
    ProjectorInUse projector;
    std::vector<AdapterInUse> adapters;
    std::string chatTemplate; // why another one stands in for the model's; empty: the model's own
    TemplateSupport templateSupport;
    std::vector<std::string> notes; // other things that are not as asked, as sentences

    CONCERTINA_FIELDS(nCtx, nCtxAsked, nCtxTrained, typeK, typeV, cacheLayers, centring, recent, rope, kernels,
        flashAttention, flashAttentionAsked, threads, gpuLayersAsked, gpuLayers, layers, attention, batch, speculation,
        draft, projector, adapters, chatTemplate, templateSupport, notes)
};

// Most outputs of one decode. Buffers for them are reserved for every context, and evaluation asks for many: 64 is the
// smallest number that takes upstream's tiled attention, as llama-perplexity does.
constexpr uint32_t maxOutputs = 64;

class Context {
public:
    // What cannot draft gives way to drafting from the text, a projector of another model to none, and `effective` says why.
    static std::shared_ptr<Context> create(
        const std::shared_ptr<Model> & model, const ContextOptions & options, bool dry, const DryModels & models);
    ~Context();
    Context(const Context &) = delete;
    Context & operator=(const Context &) = delete;

    // Evaluates tokens behind those in the cache; logits of the last `outputs` are kept. At most one micro-batch.
    // false: canceled; the cache then holds the same tokens as before.
    bool decode(const llama_token * tokens, size_t count, size_t outputs);
    // how many tokens of a prompt are in the cache; the last one is always evaluated
    size_t commonPrefix(const std::vector<llama_token> & prompt) const;
    // `tokens` are those of the slot: after an answer
    void synchronize();
    void clear();
    // any number of tokens can be forgotten; else a prompt that does not continue them all is read from its start
    bool rewinds() const;
    // Runs `restore`, which writes cells of a sequence and returns their tokens; none: it has no cells. Other sequences that no
    // request of the API uses lose theirs. Throws `busy` when there is no other.
    void adopt(const std::function<server_tokens(llama_seq_id sequence)> & restore,
        std::list<common_prompt_checkpoint> checkpoints = {});
    // Runs `add`, which writes cells behind those of the context's sequence and returns their tokens. Throws `busy` when a request of
    // the API has taken the sequence.
    void extend(const std::function<std::vector<llama_token>()> & add);

    // A prompt with images or sound as numbersOf has it (see Scheduler::read). `keep`: what they are is kept until the answer begins.
    std::vector<llama_token> read(const std::string & prompt, const std::vector<raw_buffer> & files, bool keep);
    // such numbers with what they stand for, where they begin as the prompt that was read last
    server_tokens withMedia(const std::vector<llama_token> & numbers);

    size_t used() const { return usedTokens; }
    // of an answer that is being written
    void setUsed(size_t count) { usedTokens = count; }
    const MemoryUse & memory();

    const std::shared_ptr<Model> model;
    llama_context * handle = nullptr;
    llama_context_params params{}; // that it was made with
    EffectiveContext effective;
    // in the cache, of this context's own sequence; others belong to requests of the API, which may take this one's cells too
    std::vector<llama_token> tokens;
    int slot = 0; // that they are in, and their sequence
    // lengths to which a cache that does not rewind can go back
    std::vector<int32_t> checkpoints;
    std::unique_ptr<Scheduler> scheduler; // none in a dry run

    // one job at a time, see Lease; beside it requests of the API, see shareForApi
    std::atomic<bool> busy{ false };
    std::atomic<bool> alone{ false };
    std::atomic<int> requests{ 0 };
    std::shared_ptr<std::atomic<bool>> cancel;

private:
    explicit Context(std::shared_ptr<Model> model) : model(std::move(model)) {}
    // throws DraftRefusal, ProjectorRefusal
    static std::shared_ptr<Context> make(
        std::shared_ptr<Model> model, const ContextOptions & options, bool dry, const DryModels & models);
    static bool aborted(void * self);
    void settle();
    // while nothing runs, which may grow the buffers under our hands
    void measure();

    std::atomic<size_t> usedTokens{ 0 };
    uint64_t checkpointBytes = 0; // of all that may be kept
    uint64_t promptCache = 0; // bytes, at most
    std::unique_ptr<Draft> draft; // in a dry run
    ProjectorBytes projector;
    std::unique_ptr<Adapters> adapters;
    server_tokens media; // the prompt that was read last, see `read`
    MemoryUse lastUse;
};

// The right to use a context, given back with its last copy: when the job ends. Taken on the JavaScript thread (throws `busy`).
// alone: the job decodes by itself, beside which the core may not
using Lease = std::shared_ptr<Context>;
Lease lease(const std::shared_ptr<Context> & context, std::shared_ptr<std::atomic<bool>> cancel, bool alone = false);

// The right to send the core a request, likewise; any number beside a job that is not alone.
Lease shareForApi(const std::shared_ptr<Context> & context);

} // namespace concertina
