#include "ContextHandle.h"

#include "Cancellation.h"
#include "Emitter.h"
#include "Evaluate.h"
#include "Generation.h"
#include "Session.h"
#include "convert.h"
#include "worker.h"

#include <optional>

namespace concertina {

using SharedContext = std::shared_ptr<Context>;

namespace {

CancelFlag newFlag() {
    return std::make_shared<std::atomic<bool>>(false);
}

template <typename Event>
Napi::Value eventToJs(Napi::Env env, const Event & event) {
    return toJs(env, event);
}

template <typename Event>
std::shared_ptr<Emitter<Event>> emitterFor(const Napi::Value & callback) {
    return std::make_shared<Emitter<Event>>(callback.Env(), callback.As<Napi::Function>(), eventToJs<Event>);
}

Napi::Value number(Napi::Env env, uint64_t value) {
    return Napi::Number::New(env, static_cast<double>(value));
}

} // namespace

Napi::Function ContextHandle::define(Napi::Env env) {
    return DefineClass(env, "ContextHandle", {
        InstanceAccessor<&ContextHandle::effective>("effective"),
        InstanceAccessor<&ContextHandle::contextUsed>("contextUsed"),
        InstanceMethod<&ContextHandle::memory>("memory"),
        InstanceMethod<&ContextHandle::timings>("timings"),
        InstanceMethod<&ContextHandle::clear>("clear"),
        InstanceMethod<&ContextHandle::generate>("generate"),
        InstanceMethod<&ContextHandle::evaluate>("evaluate"),
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
            return Instance::of(env).contextHandle.New({Napi::External<SharedContext>::New(env, &context)});
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

// upstream's own clock since the last call, to check ours against
Napi::Value ContextHandle::timings(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const Lease lease((context(), held), newFlag());
        const llama_perf_context_data perf = llama_perf_context(lease->handle);
        llama_perf_context_reset(lease->handle);
        Napi::Object object = Napi::Object::New(info.Env());
        object.Set("promptMs", perf.t_p_eval_ms);
        object.Set("decodeMs", perf.t_eval_ms);
        return object;
    });
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

Napi::Value ContextHandle::evaluate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const CancelFlag cancel = Cancellation::flagOf(info[2]);
        std::vector<llama_token> tokens = readTokens(info[0]);
        Lease lease(held, cancel);
        std::optional<Lease> reference;
        if (!info[1].IsNull()) {
            const Napi::Object object = info[1].As<Napi::Object>();
            if (!object.InstanceOf(Instance::of(info.Env()).contextHandle.Value())) throw CodedError("bad-request", "The reference is no context");
            const SharedContext other = Unwrap(object)->held;
            if (!other || other == held || other->model->fingerprint != held->model->fingerprint) {
                throw CodedError("bad-request", "The reference must be another context of the same model");
            }
            reference.emplace(other, cancel);
        }
        return runOnWorker(
            info.Env(), "evaluate", cancel,
            [lease = std::move(lease), reference = std::move(reference), tokens = std::move(tokens)] {
                return concertina::evaluate(*lease, reference ? &**reference : nullptr, tokens);
            },
            [](Napi::Env env, Evaluation & result) { return toJs(env, result); });
    });
}

Napi::Value ContextHandle::saveSession(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const std::string path = readText(info[0], "path");
        Lease lease(held, newFlag());
        return runOnWorker(
            info.Env(), "saveSession", nullptr, [lease = std::move(lease), path] { return concertina::saveSession(*lease, path); },
            [](Napi::Env env, uint64_t & bytes) { return number(env, bytes); });
    });
}

Napi::Value ContextHandle::loadSession(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        context();
        const std::string path = readText(info[0], "path");
        Lease lease(held, newFlag());
        return runOnWorker(
            info.Env(), "loadSession", nullptr, [lease = std::move(lease), path] { return concertina::loadSession(*lease, path); },
            [](Napi::Env env, size_t & count) { return number(env, count); });
    });
}

// The binding stops the running job and waits for it first. A job that still runs keeps the context until it ends.
Napi::Value ContextHandle::dispose(const Napi::CallbackInfo & info) {
    SharedContext last = std::move(held);
    held.reset();
    return runOnWorker(
        info.Env(), "dispose", nullptr, [last = std::move(last)]() mutable { last.reset(); return true; },
        [](Napi::Env env, bool &) { return env.Undefined(); });
}

} // namespace concertina
