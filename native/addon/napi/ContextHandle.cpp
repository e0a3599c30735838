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

} // namespace

Napi::Function ContextHandle::define(Napi::Env env) {
    return DefineClass(env, "ContextHandle",
        {
            InstanceAccessor<&ContextHandle::effective>("effective"),
            InstanceAccessor<&ContextHandle::contextUsed>("contextUsed"),
            InstanceMethod<&ContextHandle::memory>("memory"),
            InstanceMethod<&ContextHandle::devices>("devices"),
            InstanceMethod<&ContextHandle::clear>("clear"),
            InstanceMethod<&ContextHandle::complete>("complete"),
            InstanceMethod<&ContextHandle::speculate>("speculate"),
            InstanceMethod<&ContextHandle::respond>("respond"),
            InstanceMethod<&ContextHandle::evaluate>("evaluate"),
            InstanceAccessor<&ContextHandle::rewinds>("rewinds"),
            InstanceMethod<&ContextHandle::checkpoints>("checkpoints"),
            InstanceAccessor<&ContextHandle::centringHash>("centringHash"),
            InstanceMethod<&ContextHandle::tokens>("tokens"),
            InstanceMethod<&ContextHandle::saveCells>("saveCells"),
            InstanceMethod<&ContextHandle::restoreCells>("restoreCells"),
            InstanceMethod("dispose", &ContextHandle::dispose),
        });
}

Napi::Promise ContextHandle::create(Napi::Env env, std::shared_ptr<Model> model, const ContextOptions & options) {
    return runOnWorker(
        env, "createContext", nullptr, [model, options] { return Context::create(model, options, false); }, {},
        [](Napi::Env env, Shared & context) -> Napi::Value {
            return Instance::of(env).contextHandle.New({ Napi::External<Shared>::New(env, &context) });
        });
}

Napi::Value ContextHandle::effective(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return open()->effective; });
}

Napi::Value ContextHandle::contextUsed(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return open()->used(); });
}

Napi::Value ContextHandle::memory(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return open()->bytes(); });
}

Napi::Value ContextHandle::devices(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return open()->devices(); });
}

Napi::Value ContextHandle::clear(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { Lease(open(), newFlag())->clear(); });
}

Napi::Value ContextHandle::complete(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const CancelFlag cancel = Cancellation::flagOf(info[4]);
        CompletionRequest request{ fromJs<std::vector<llama_token>>(info[0], "tokens"), readText(info[1], "params"),
            info[2].ToBoolean() };
        Lease lease(open(), cancel);
        auto steps = emitterFor<CompletionStep>(info[3]);
        return runOnWorker(
            info.Env(), "complete", cancel,
            [lease = std::move(lease), request = std::move(request), steps]() mutable {
                return concertina::complete(
                    *lease, std::move(request), [&](CompletionStep step) { steps->push(std::move(step)); });
            },
            closing(steps));
    });
}

Napi::Value ContextHandle::speculate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        return runOnWorker(
            info.Env(), "speculate", nullptr, [context = open(), on = info[0].ToBoolean().Value()]() -> int64_t {
                return context->busy ? context->scheduler->speculate(context->slot, on) : -1;
            });
    });
}

Napi::Value ContextHandle::respond(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const Napi::Env env = info.Env();
        const CancelFlag cancel = Cancellation::flagOf(info[2]);
        auto request = fromJs<ApiRequest>(info[0], "request");
        ApiShare share(open());
        auto parts = emitterFor<ApiPart>(info[1]);
        auto flow = std::make_shared<Flow>();
        const auto work = [share = std::make_shared<ApiShare>(std::move(share)), request = std::move(request), parts,
                              flow, cancel] {
            const auto send = [&](ApiPart part) {
                flow->give(part.data.size(), *cancel);
                parts->push(std::move(part));
            };
            (*share)->scheduler->respond(request, *cancel, send);
        };
        Napi::Object response = Napi::Object::New(env);
        response.Set("done", runOnWorker(env, "respond", cancel, work, closing(parts), ToJs(), true));
        const auto taken = [flow](
                               const Napi::CallbackInfo & call) { flow->take(readInteger<size_t>(call[0], "bytes")); };
        response.Set("taken", Napi::Function::New(env, taken, "taken"));
        return response;
    });
}

std::shared_ptr<Context> ContextHandle::peer(const Napi::Value & value) const {
    const Napi::Object object = value.IsObject() ? value.As<Napi::Object>() : Napi::Object();
    if (object.IsEmpty() || !object.InstanceOf(Instance::of(value.Env()).contextHandle.Value())) {
        throw CodedError("bad-request", "What is compared is no context");
    }
    const Shared other = Unwrap(object)->held;
    if (!other || other == held || other->model->fingerprint != held->model->fingerprint) {
        throw CodedError("bad-request", "What is compared must be another context of the same model");
    }
    return other;
}

Napi::Value ContextHandle::evaluate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const CancelFlag cancel = Cancellation::flagOf(info[4]);
        auto request = fromJs<EvaluateRequest>(info[2], "evaluation options");
        request.tokens = fromJs<std::vector<llama_token>>(info[0], "tokens");
        std::vector<Lease> leases;
        leases.emplace_back(open(), cancel, true);
        if (!info[1].IsArray()) wrongType("contexts", "an array");
        const Napi::Array others = info[1].As<Napi::Array>();
        for (uint32_t i = 0; i < others.Length(); i++) {
            leases.emplace_back(peer(others.Get(i)), cancel, true);
            request.contexts.push_back(&*leases.back());
        }
        if (request.contexts.empty())
            request.contexts = { &*leases[0] };
        else
            request.reference = &*leases[0];
        auto progress = emitterFor<float>(info[3]);
        request.progress = [progress](float fraction) { progress->push(fraction); };
        return runOnWorker(
            info.Env(), "evaluate", cancel,
            [leases = std::move(leases), request = std::move(request)] { return concertina::evaluate(request); },
            closing(progress), ToJs(), true);
    });
}

Napi::Value ContextHandle::rewinds(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return open()->rewinds(); });
}

Napi::Value ContextHandle::checkpoints(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return Lease(open(), newFlag())->checkpoints; });
}

Napi::Value ContextHandle::centringHash(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return checksumText(open()->effective.centring.hash); });
}

Napi::Value ContextHandle::tokens(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return Lease(open(), newFlag())->tokens; }); // a job adds to them
}

Napi::Value ContextHandle::saveCells(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const CancelFlag cancel = Cancellation::flagOf(info[1]);
        return runOnWorker(
            info.Env(), "saveCells", cancel, [lease = Lease(open(), cancel), path = readText(info[0], "path")] {
                return concertina::saveCells(*lease, path);
            });
    });
}

Napi::Value ContextHandle::restoreCells(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const CancelFlag cancel = Cancellation::flagOf(info[2]);
        return runOnWorker(info.Env(), "restoreCells", cancel,
            [lease = Lease(open(), cancel), path = readText(info[0], "path"),
                written = fromJs<CellBytes>(info[1], "bytes of the parts")] {
                return concertina::restoreCells(*lease, path, written);
            });
    });
}

} // namespace concertina
