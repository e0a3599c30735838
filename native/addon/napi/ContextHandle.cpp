#include "context/Session.h"
#include "generation/Generation.h"
#include "measure/Evaluate.h"
#include "napi/convert.h"
#include "napi/handles.h"
#include "napi/worker.h"

#include <algorithm>
#include <vector>

namespace concertina {

using SharedContext = std::shared_ptr<Context>;

namespace {

CancelFlag newFlag() { return std::make_shared<std::atomic<bool>>(false); }

template <typename Event> Napi::Value eventToJs(Napi::Env env, const Event & event) { return toJs(env, event); }

template <> Napi::Value eventToJs(Napi::Env env, const float & fraction) { return Napi::Number::New(env, fraction); }

template <typename Event> std::shared_ptr<Emitter<Event>> emitterFor(const Napi::Value & callback) {
    return std::make_shared<Emitter<Event>>(callback.Env(), callback.As<Napi::Function>(), eventToJs<Event>);
}

Napi::Value number(Napi::Env env, uint64_t value) { return Napi::Number::New(env, static_cast<double>(value)); }

} // namespace

Napi::Function ContextHandle::define(Napi::Env env) {
    return DefineClass(env, "ContextHandle",
        {
            InstanceAccessor<&ContextHandle::effective>("effective"),
            InstanceAccessor<&ContextHandle::contextUsed>("contextUsed"),
            InstanceMethod<&ContextHandle::memory>("memory"),
            InstanceMethod<&ContextHandle::devices>("devices"),
            InstanceMethod<&ContextHandle::clear>("clear"),
            InstanceMethod<&ContextHandle::generate>("generate"),
            InstanceMethod<&ContextHandle::evaluate>("evaluate"),
            InstanceMethod<&ContextHandle::compare>("compare"),
            InstanceMethod<&ContextHandle::evaluateFile>("evaluateFile"),
            InstanceAccessor<&ContextHandle::rewinds>("rewinds"),
            InstanceAccessor<&ContextHandle::sessionLabel>("sessionLabel"),
            InstanceMethod<&ContextHandle::tokens>("tokens"),
            InstanceMethod<&ContextHandle::saveSession>("saveSession"),
            InstanceMethod<&ContextHandle::loadSession>("loadSession"),
            InstanceMethod<&ContextHandle::dispose>("dispose"),
        });
}

ContextHandle::ContextHandle(const Napi::CallbackInfo & info) : Napi::ObjectWrap<ContextHandle>(info) {
    if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Use createContext");
    held = *info[0].As<Napi::External<SharedContext>>().Data();
}

Napi::Promise ContextHandle::create(Napi::Env env, std::shared_ptr<Model> model, const ContextOptions & options) {
    return runOnWorker(
        env, "createContext", nullptr, [model, options] { return Context::create(model, options, false); },
        [](Napi::Env env, SharedContext & context) -> Napi::Value {
            return Instance::of(env).contextHandle.New({ Napi::External<SharedContext>::New(env, &context) });
        });
}

Context & ContextHandle::context() const {
    if (!held) throw CodedError("bad-request", "The context was closed");
    return *held;
}

Napi::Value ContextHandle::effective(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return toJs(info.Env(), context().effective); });
}

Napi::Value ContextHandle::contextUsed(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return number(info.Env(), context().used()); });
}

Napi::Value ContextHandle::memory(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return toJs(info.Env(), context().bytes()); });
}

Napi::Value ContextHandle::devices(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return toJs(info.Env(), context().devices()); });
}

Napi::Value ContextHandle::clear(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const Lease lease((context(), held), newFlag());
        lease->clear();
        return info.Env().Undefined();
    });
}

Napi::Value ContextHandle::generate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const CancelFlag cancel = Cancellation::flagOf(info[4]);
        GenerateRequest request = readGenerateRequest(info[0], info[1]);
        Lease lease(held, cancel);
        auto chunks = emitterFor<GenerateChunk>(info[2]);
        auto prefill = emitterFor<PrefillProgress>(info[3]);
        return runOnWorker(
            info.Env(), "generate", cancel,
            [lease = std::move(lease), request = std::move(request), chunks, prefill]() mutable {
                Generation::Events events;
                events.chunk = [&](GenerateChunk chunk) { chunks->push(std::move(chunk)); };
                events.prefill = [&](PrefillProgress progress) { prefill->push(progress); };
                return Generation(*lease, std::move(request), std::move(events)).run();
            },
            [](Napi::Env env, GenerateResult & result) { return toJs(env, result); },
            [chunks, prefill](Napi::Env env) {
                prefill->close(env);
                chunks->close(env);
            });
    });
}

SharedContext ContextHandle::peer(const Napi::Value & value) const {
    const Napi::Object object = value.IsObject() ? value.As<Napi::Object>() : Napi::Object();
    if (object.IsEmpty() || !object.InstanceOf(Instance::of(value.Env()).contextHandle.Value())) {
        throw CodedError("bad-request", "What is compared is no context");
    }
    const SharedContext other = Unwrap(object)->held;
    if (!other || other == held || other->model->fingerprint != held->model->fingerprint) {
        throw CodedError("bad-request", "What is compared must be another context of the same model");
    }
    return other;
}

Napi::Value ContextHandle::evaluate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const CancelFlag cancel = Cancellation::flagOf(info[2]);
        EvaluateRequest request;
        request.tokens = readTokens(info[0]);
        std::vector<Lease> leases;
        leases.emplace_back(held, cancel);
        request.contexts = { &*leases[0] };
        if (!info[1].IsNull()) {
            leases.emplace_back(peer(info[1]), cancel);
            request.reference = &*leases[1];
        }
        return runOnWorker(
            info.Env(), "evaluate", cancel,
            [leases = std::move(leases), request = std::move(request)] {
                return concertina::evaluate(request).front();
            },
            [](Napi::Env env, Evaluation & result) { return toJs(env, result); });
    });
}

Napi::Value ContextHandle::compare(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const CancelFlag cancel = Cancellation::flagOf(info[4]);
        EvaluateRequest request;
        request.tokens = readTokens(info[1]);
        request.chunk = static_cast<size_t>(std::max(0, readInteger(info[2], "chunk")));
        std::vector<Lease> leases;
        leases.emplace_back(held, cancel);
        request.reference = &*leases[0];
        const Napi::Array others = info[0].IsArray() ? info[0].As<Napi::Array>() : Napi::Array::New(info.Env());
        for (uint32_t i = 0; i < others.Length(); i++) {
            leases.emplace_back(peer(others.Get(i)), cancel);
            request.contexts.push_back(&*leases.back());
        }
        if (request.contexts.empty()) throw CodedError("bad-request", "There is no context to compare");
        auto progress = emitterFor<float>(info[3]);
        request.progress = [progress](float fraction) { progress->push(fraction); };
        return runOnWorker(
            info.Env(), "compare", cancel,
            [leases = std::move(leases), request = std::move(request)] { return concertina::evaluate(request); },
            [](Napi::Env env, std::vector<Evaluation> & results) { return comparisonToJs(env, results); },
            [progress](Napi::Env env) { progress->close(env); });
    });
}

Napi::Value ContextHandle::evaluateFile(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const CancelFlag cancel = Cancellation::flagOf(info[3]);
        EvaluateRequest request = readFileEvaluation(info[0], info[1]);
        std::vector<Lease> leases;
        leases.emplace_back(held, cancel);
        request.contexts = { &*leases[0] };
        auto progress = emitterFor<float>(info[2]);
        request.progress = [progress](float fraction) { progress->push(fraction); };
        return runOnWorker(
            info.Env(), "evaluate", cancel,
            [leases = std::move(leases), request = std::move(request)] {
                return concertina::evaluate(request).front();
            },
            [](Napi::Env env, Evaluation & result) { return toJs(env, result); },
            [progress](Napi::Env env) { progress->close(env); });
    });
}

Napi::Value ContextHandle::rewinds(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return Napi::Boolean::New(info.Env(), context().rewinds()); });
}

Napi::Value ContextHandle::sessionLabel(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return Napi::String::New(info.Env(), concertina::sessionLabel(context())); });
}

Napi::Value ContextHandle::tokens(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        context();
        const Lease lease(held, newFlag()); // a job adds to them
        return tokensToJs(info.Env(), held->tokens);
    });
}

Napi::Value ContextHandle::saveSession(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const std::string path = readText(info[0], "path");
        const CancelFlag cancel = Cancellation::flagOf(info[1]);
        Lease lease(held, cancel);
        return runOnWorker(
            info.Env(), "saveSession", cancel,
            [lease = std::move(lease), path] { return concertina::saveSession(*lease, path); },
            [](Napi::Env env, uint64_t & bytes) { return number(env, bytes); });
    });
}

Napi::Value ContextHandle::loadSession(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const std::string path = readText(info[0], "path");
        const CancelFlag cancel = Cancellation::flagOf(info[1]);
        Lease lease(held, cancel);
        return runOnWorker(
            info.Env(), "loadSession", cancel,
            [lease = std::move(lease), path] { return concertina::loadSession(*lease, path); },
            [](Napi::Env env, size_t & count) { return number(env, count); });
    });
}

// The binding stops the running job and waits for it first. A job that still runs keeps the context until it ends.
Napi::Value ContextHandle::dispose(const Napi::CallbackInfo & info) {
    SharedContext last = std::move(held);
    held.reset();
    return runOnWorker(
        info.Env(), "dispose", nullptr,
        [last = std::move(last)]() mutable {
            last.reset();
            return true;
        },
        [](Napi::Env env, bool &) { return env.Undefined(); });
}

} // namespace concertina
