// JavaScript's `ModelHandle` and `ContextHandle`.
#pragma once

#include "context/Context.h"
#include "model/Model.h"
#include "napi/worker.h"

#include <napi.h>

#include <memory>
#include <utility>

namespace concertina {

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
    // throws when disposed
    const Shared & open() const {
        if (!held) throw CodedError("bad-request", Self::closed);
        return held;
    }

    // The binding stops the running job and waits for it first. A job that still runs keeps the object until it ends.
    Napi::Value dispose(const Napi::CallbackInfo & info) {
        return runOnWorker(
            info.Env(), "dispose", nullptr, [last = std::exchange(held, nullptr)]() mutable { last.reset(); });
    }

    Shared held;
};

class ModelHandle : public Handle<ModelHandle, Model> {
public:
    static constexpr const char * closed = "The model was unloaded";

    static Napi::Function define(Napi::Env env);
    // loadModel(path, gpuLayers, onProgress(fractions), cancellation): Promise<ModelHandle>
    static Napi::Value load(const Napi::CallbackInfo & info);

    explicit ModelHandle(const Napi::CallbackInfo & info) : Handle(info, "loadModel") {}

private:
    Napi::Value info(const Napi::CallbackInfo & call);
    // hexadecimal: tells model files apart
    Napi::Value fingerprint(const Napi::CallbackInfo & call);
    // calibrate(options, onProgress(fractions), cancellation): Promise<Uint8Array>
    Napi::Value calibrate(const Napi::CallbackInfo & call);
    Napi::Value wantsCalibration(const Napi::CallbackInfo & call);
    Napi::Value attachCalibration(const Napi::CallbackInfo & call);
    Napi::Value createContext(const Napi::CallbackInfo & call);
    Napi::Value tokenize(const Napi::CallbackInfo & call);
    Napi::Value detokenize(const Napi::CallbackInfo & call);
    // splitsAtLines(): Promise<boolean>
    Napi::Value splitsAtLines(const Napi::CallbackInfo & call);
    // countTexts(texts): Promise<Int32Array>; marks of special tokens are read as such
    Napi::Value countTexts(const Napi::CallbackInfo & call);
    // renderChat(body, cancellation): Promise<string>; see ChatFormat::apply
    Napi::Value renderChat(const Napi::CallbackInfo & call);
    // chatTokens(body, cancellation): the same without `prompt`, and its tokens
    Napi::Value chatTokens(const Napi::CallbackInfo & call);
};

class ContextHandle : public Handle<ContextHandle, Context> {
public:
    static constexpr const char * closed = "The context was closed";

    static Napi::Function define(Napi::Env env);
    static Napi::Promise create(Napi::Env env, std::shared_ptr<Model> model, const ContextOptions & options);

    explicit ContextHandle(const Napi::CallbackInfo & info) : Handle(info, "createContext") {}

private:
    Napi::Value effective(const Napi::CallbackInfo & info);
    Napi::Value contextUsed(const Napi::CallbackInfo & info);
    Napi::Value devices(const Napi::CallbackInfo & info);
    Napi::Value memory(const Napi::CallbackInfo & info);
    Napi::Value clear(const Napi::CallbackInfo & info);
    // complete(tokens, params, draft, onSteps, cancellation): Promise<Completed>
    Napi::Value complete(const Napi::CallbackInfo & info);
    // speculate(on): Promise<number>, during `complete`; see Scheduler
    Napi::Value speculate(const Napi::CallbackInfo & info);
    // respond(request, onParts(parts), cancellation): {done: Promise<void>, taken(bytes)}
    Napi::Value respond(const Napi::CallbackInfo & info);
    // evaluate(tokens, contexts, {chunk?, score?, record?, against?}, onProgress, cancellation): these contexts with this one as
    // their reference, whose figures come last; none: this one alone
    Napi::Value evaluate(const Napi::CallbackInfo & info);
    Napi::Value rewinds(const Napi::CallbackInfo & info);
    Napi::Value checkpoints(const Napi::CallbackInfo & info);
    // hexadecimal, of the measurements in use
    Napi::Value centringHash(const Napi::CallbackInfo & info);
    Napi::Value tokens(const Napi::CallbackInfo & info);
    // saveCells(path, cancellation): Promise<{state, checkpoints}>
    Napi::Value saveCells(const Napi::CallbackInfo & info);
    // restoreCells(path, {state, checkpoints}, cancellation): Promise<number>
    Napi::Value restoreCells(const Napi::CallbackInfo & info);

    // a context that can be measured beside this one
    std::shared_ptr<Context> peer(const Napi::Value & value) const;
};

} // namespace concertina
