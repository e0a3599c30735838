// JavaScript's `ModelHandle` and `ContextHandle`.
#pragma once

#include "context/Context.h"
#include "model/Model.h"

#include <napi.h>

#include <memory>

namespace concertina {

class ContextHandle : public Napi::ObjectWrap<ContextHandle> {
public:
    static Napi::Function define(Napi::Env env);
    static Napi::Promise create(Napi::Env env, std::shared_ptr<Model> model, const ContextOptions & options);

    explicit ContextHandle(const Napi::CallbackInfo & info);

private:
    Context & context() const; // throws when disposed

    Napi::Value effective(const Napi::CallbackInfo & info);
    Napi::Value contextUsed(const Napi::CallbackInfo & info);
    Napi::Value devices(const Napi::CallbackInfo & info);
    Napi::Value memory(const Napi::CallbackInfo & info);
    Napi::Value clear(const Napi::CallbackInfo & info);
    // generate(prompt, options, onChunks, onPrefill, cancellation): Promise<GenerateResult>
    Napi::Value generate(const Napi::CallbackInfo & info);
    // evaluate(tokens, reference | null, cancellation)
    Napi::Value evaluate(const Napi::CallbackInfo & info);
    // compare(contexts, tokens, chunk, onProgress, cancellation): this context is the reference of all others
    Napi::Value compare(const Napi::CallbackInfo & info);
    // evaluateFile(tokens, {chunk, score, record?, against?}, onProgress, cancellation)
    Napi::Value evaluateFile(const Napi::CallbackInfo & info);
    Napi::Value rewinds(const Napi::CallbackInfo & info);
    Napi::Value sessionLabel(const Napi::CallbackInfo & info);
    Napi::Value tokens(const Napi::CallbackInfo & info);
    Napi::Value saveSession(const Napi::CallbackInfo & info);
    Napi::Value loadSession(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);

    // a context that can be measured beside this one
    std::shared_ptr<Context> peer(const Napi::Value & value) const;

    std::shared_ptr<Context> held;
};

class ModelHandle : public Napi::ObjectWrap<ModelHandle> {
public:
    static Napi::Function define(Napi::Env env);
    // loadModel(path, gpuLayers, onProgress(fractions), cancellation): Promise<ModelHandle>
    static Napi::Value load(const Napi::CallbackInfo & info);

    explicit ModelHandle(const Napi::CallbackInfo & info);

private:
    Model & model() const; // throws when disposed

    Napi::Value info(const Napi::CallbackInfo & call);
    // hexadecimal: tells model files apart
    Napi::Value fingerprint(const Napi::CallbackInfo & call);
    // calibrate({text, maxTokens, positions, threads}, onProgress(fractions), cancellation): Promise<Uint8Array>
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
    // renderChat(messages, now, continueFrom?): Promise<string>
    Napi::Value renderChat(const Napi::CallbackInfo & call);
    // chatTokens(messages, now, continueFrom?): Promise<Int32Array>
    Napi::Value chatTokens(const Napi::CallbackInfo & call);
    Napi::Value dispose(const Napi::CallbackInfo & call);

    std::shared_ptr<Model> held;
};

} // namespace concertina
