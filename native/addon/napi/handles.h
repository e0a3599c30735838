// JavaScript's `ModelHandle` and `ContextHandle`.
#pragma once

#include "context/Context.h"
#include "model/Model.h"
#include "napi/worker.h"

#include <napi.h>

#include <memory>
#include <utility>

namespace concertina {

// `problems`: left out where nothing is loaded
ContextOptions contextOptions(const Napi::Value & options, const Napi::Value & problems = {});

// A hold on an object of the engine, until `dispose`.
template <typename Self, typename Held> class Handle : public Napi::ObjectWrap<Self> {
public:
    using Shared = std::shared_ptr<Held>;

    // `maker`: the call that makes them
    Handle(const Napi::CallbackInfo & info, const char * maker) : Napi::ObjectWrap<Self>(info) {
        if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), std::string("Use ") + maker);
        held = *info[0].As<Napi::External<Shared>>().Data();
    }

protected:
    using Info = const Napi::CallbackInfo &;

    // throws when disposed
    const Shared & open() const {
        if (!held) throw CodedError("bad-request", Self::closed);
        return held;
    }

    // Entries of the class. `body`: a function of what is held and the call; what it returns or throws, see guarded.
    template <typename Body> static auto method(const char * name, Body body) {
        return Self::InstanceMethod(name, &Handle::template run<Body>, napi_default, plain<Body>(body));
    }
    template <typename Body> static auto getter(const char * name, Body body) {
        return Self::InstanceAccessor(name, &Handle::template run<Body>, nullptr, napi_default, plain<Body>(body));
    }

    // The binding stops the running job and waits for it first. A job that still runs keeps the object until it ends.
    Napi::Value dispose(const Napi::CallbackInfo & info) {
        return runOnWorker(
            info.Env(), "dispose", nullptr, [last = std::exchange(held, nullptr)]() mutable { last.reset(); });
    }

    Shared held;

private:
    template <typename Body> using Plain = std::invoke_result_t<Body, const Shared &, Info> (*)(const Shared &, Info);

    template <typename Body> static void * plain(Plain<Body> body) { return reinterpret_cast<void *>(body); }

    template <typename Body> Napi::Value run(const Napi::CallbackInfo & info) {
        const auto body = reinterpret_cast<Plain<Body>>(info.Data());
        return guarded(info.Env(), [&] { return body(open(), info); });
    }
};

class ModelHandle : public Handle<ModelHandle, Model> {
public:
    static constexpr const char * closed = "The model was unloaded";

    static Napi::Function define(Napi::Env env);
    // loadModel(path, gpuLayers, onProgress(fractions), cancellation, mtp, workers): Promise<ModelHandle>
    static Napi::Promise load(const Napi::CallbackInfo & info);

    explicit ModelHandle(const Napi::CallbackInfo & info) : Handle(info, "loadModel") {}
};

class ContextHandle : public Handle<ContextHandle, Context> {
public:
    static constexpr const char * closed = "The context was closed";

    static Napi::Function define(Napi::Env env);
    static Napi::Promise create(Napi::Env env, std::shared_ptr<Model> model, const ContextOptions & options);

    explicit ContextHandle(const Napi::CallbackInfo & info) : Handle(info, "createContext") {}

private:
    // evaluate(tokens, contexts, {chunk?, score?, record?, against?}, onProgress, cancellation): these contexts with this one as
    // their reference, whose figures come last; none: this one alone
    static Napi::Promise evaluate(const Shared & context, const Napi::CallbackInfo & info);

    // a context that can be measured beside this one
    static Shared peer(const Shared & context, const Napi::Value & value);
};

} // namespace concertina
