// JavaScript's `ContextHandle`.
#pragma once

#include "context/Context.h"

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

} // namespace concertina
