#include "context/Session.h"
#include "measure/Evaluate.h"
#include "model/Fingerprint.h"
#include "napi/handles.h"
#include "server/Completion.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace concertina {
namespace {

CancelFlag newFlag() { return std::make_shared<std::atomic<bool>>(false); }

// Bytes of a response on their way to the client, so that one that does not read holds up its own request and no memory.
class Flow {
public:
    void give(size_t bytes, const std::atomic<bool> & cancel) {
        std::unique_lock<std::mutex> lock(mutex);
        while (waiting > mostBytes && !cancel) room.wait_for(lock, std::chrono::milliseconds(100));
        waiting += bytes;
    }
    void take(size_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex);
        waiting -= std::min(bytes, waiting);
        room.notify_one();
    }

private:
    static constexpr size_t mostBytes = 256 * 1024;
    std::mutex mutex;
    std::condition_variable room;
    size_t waiting = 0;
};

// saveCells(path, from, to, cancellation): Promise<{state, checkpoints}>
Napi::Promise save(const std::shared_ptr<Context> & context, const Napi::CallbackInfo & info) {
    const CancelFlag cancel = Cancellation::flagOf(info[3]);
    return runOnWorker(info.Env(), "saveCells", cancel,
        [lease = lease(context, cancel), path = readText(info[0], "path"), from = readInteger<size_t>(info[1], "from"),
            to = readInteger<size_t>(info[2], "to")] { return saveCells(*lease, path, from, to); });
}

// restoreCells(path, {state, checkpoints}, from, cancellation): Promise<number>
Napi::Promise restore(const std::shared_ptr<Context> & context, const Napi::CallbackInfo & info) {
    const CancelFlag cancel = Cancellation::flagOf(info[3]);
    return runOnWorker(info.Env(), "restoreCells", cancel,
        [lease = lease(context, cancel), path = readText(info[0], "path"),
            written = fromJs<CellBytes>(info[1], "bytes of the parts"),
            from = readInteger<size_t>(info[2], "from")] { return restoreCells(*lease, path, written, from); });
}

// readMedia(prompt, files, keep): Promise<Int32Array>, see Context::read
Napi::Promise readMedia(const std::shared_ptr<Context> & context, const Napi::CallbackInfo & info) {
    const bool keep = info[2].ToBoolean();
    return runOnWorker(info.Env(), "readMedia", nullptr,
        [held = keep ? lease(context, newFlag()) : context, prompt = readText(info[0], "prompt"),
            files = fromJs<std::vector<raw_buffer>>(info[1], "files"),
            keep] { return held->read(prompt, files, keep); });
}

// speculate(on): Promise<number>
Napi::Promise speculate(const std::shared_ptr<Context> & held, const Napi::CallbackInfo & info) {
    return runOnWorker(
        info.Env(), "speculate", nullptr, [context = held, on = info[0].ToBoolean().Value()]() -> int64_t {
            return context->busy ? context->scheduler->speculate(context->slot, on) : -1;
        });
}

// complete(tokens, params, draft, onSteps, cancellation): Promise<Completed>
Napi::Promise answer(const std::shared_ptr<Context> & context, const Napi::CallbackInfo & info) {
    const CancelFlag cancel = Cancellation::flagOf(info[4]);
    CompletionRequest request{ fromJs<std::vector<llama_token>>(info[0], "tokens"), readText(info[1], "params"),
        info[2].ToBoolean() };
    Lease held = lease(context, cancel);
    auto steps = emitterFor<CompletionStep>(info[3]);
    return runOnWorker(
        info.Env(), "complete", cancel,
        [held = std::move(held), request = std::move(request), steps]() mutable {
            return complete(*held, std::move(request), [&](CompletionStep step) { steps->push(std::move(step)); });
        },
        closing(steps));
}

// respond(request, onParts(parts), cancellation): {done: Promise<void>, taken(bytes)}
Napi::Value respond(const std::shared_ptr<Context> & context, const Napi::CallbackInfo & info) {
    const Napi::Env env = info.Env();
    const CancelFlag cancel = Cancellation::flagOf(info[2]);
    auto request = fromJs<ApiRequest>(info[0], "request");
    Lease share = shareForApi(context);
    auto parts = emitterFor<ApiPart>(info[1]);
    auto flow = std::make_shared<Flow>();
    auto work = [share = std::move(share), request = std::move(request), parts, flow, cancel] {
        const auto send = [&](ApiPart part) {
            flow->give(part.data.size(), *cancel);
            parts->push(std::move(part));
        };
        share->scheduler->respond(request, *cancel, send);
    };
    const auto taken = [flow](const Napi::CallbackInfo & call) { flow->take(readInteger<size_t>(call[0], "bytes")); };
    Napi::Object response = Napi::Object::New(env);
    response.Set("done", runOnWorker(env, "respond", cancel, std::move(work), closing(parts), ToJs(), true));
    response.Set("taken", Napi::Function::New(env, taken, "taken"));
    return response;
}

} // namespace

ContextOptions contextOptions(const Napi::Value & options, const Napi::Value & problems) {
    auto read = fromJs<ContextOptions>(options, "context options");
    if (!problems.IsEmpty()) read.problems = fromJs<OtherFiles>(problems, "problems");
    return read;
}

Napi::Function ContextHandle::define(Napi::Env env) {
    return DefineClass(env, "ContextHandle",
        {
            getter("effective", [](const Shared & context, Info) { return context->effective; }),
            getter("contextUsed", [](const Shared & context, Info) { return context->used(); }),
            method("memory", [](const Shared & context, Info) { return context->memory(); }),
            method("clear", [](const Shared & context, Info) { lease(context, newFlag())->clear(); }),
            method("readMedia", readMedia),
            method("complete", answer),
            // during `complete`; see Scheduler
            method("speculate", speculate),
            method("respond", respond),
            method("evaluate", evaluate),
            getter("rewinds", [](const Shared & context, Info) { return context->rewinds(); }),
            getter("sharesCells", [](const Shared & context, Info) { return sharesCells(context->handle); }),
            method("checkpoints", [](const Shared & context, Info) { return lease(context, newFlag())->checkpoints; }),
            // hexadecimal, of the measurements in use
            getter("centringHash",
                [](const Shared & context, Info) { return checksumText(context->effective.centring.hash); }),
            // a job adds to them
            method("tokens", [](const Shared & context, Info) { return lease(context, newFlag())->tokens; }),
            method("saveCells", save),
            method("restoreCells", restore),
            InstanceMethod("dispose", &ContextHandle::dispose),
        });
}

Napi::Promise ContextHandle::create(Napi::Env env, std::shared_ptr<Model> model, const ContextOptions & options) {
    return runOnWorker(
        env, "createContext", nullptr,
        [model, options] {
            const std::atomic<bool> cancel{ false };
            return Context::create(model, options, false, [&](const std::string & path, int gpuLayers, bool mtp) {
                return loadModel(path, { gpuLayers, {} }, true, mtp, cancel, {});
            });
        },
        {},
        [](Napi::Env env, Shared & context) -> Napi::Value {
            return Instance::of(env).contextHandle.New({ Napi::External<Shared>::New(env, &context) });
        });
}

ContextHandle::Shared ContextHandle::peer(const Shared & context, const Napi::Value & value) {
    const Napi::Object object = value.IsObject() ? value.As<Napi::Object>() : Napi::Object();
    if (object.IsEmpty() || !object.InstanceOf(Instance::of(value.Env()).contextHandle.Value())) {
        throw CodedError("bad-request", "What is compared is no context");
    }
    const Shared other = Unwrap(object)->held;
    if (!other || other == context || other->model->fingerprint != context->model->fingerprint) {
        throw CodedError("bad-request", "What is compared must be another context of the same model");
    }
    return other;
}

Napi::Promise ContextHandle::evaluate(const Shared & context, const Napi::CallbackInfo & info) {
    const CancelFlag cancel = Cancellation::flagOf(info[4]);
    auto request = fromJs<EvaluateRequest>(info[2], "evaluation options");
    request.tokens = fromJs<std::vector<llama_token>>(info[0], "tokens");
    std::vector<Lease> leases;
    leases.push_back(lease(context, cancel, true));
    if (!info[1].IsArray()) wrongType("contexts", "an array");
    const Napi::Array others = info[1].As<Napi::Array>();
    for (uint32_t i = 0; i < others.Length(); i++) {
        leases.push_back(lease(peer(context, others.Get(i)), cancel, true));
        request.contexts.push_back(leases.back().get());
    }
    if (request.contexts.empty())
        request.contexts = { leases[0].get() };
    else
        request.reference = leases[0].get();
    auto progress = emitterFor<float>(info[3]);
    request.progress = [progress](float fraction) { progress->push(fraction); };
    return runOnWorker(
        info.Env(), "evaluate", cancel,
        [leases = std::move(leases), request = std::move(request)] { return concertina::evaluate(request); },
        closing(progress), ToJs(), true);
}

} // namespace concertina
