// JavaScript's `ModelHandle`.
#pragma once

#include "model/Model.h"

#include <napi.h>

#include <memory>

namespace concertina {

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
