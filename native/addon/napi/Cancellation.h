// JavaScript's hand on a job: `new Cancellation()`, passed to a call, `.cancel()`.
#pragma once

#include "napi/instance.h"

#include <napi.h>

namespace concertina {

class Cancellation : public Napi::ObjectWrap<Cancellation> {
public:
    static Napi::Function define(Napi::Env env) {
        return DefineClass(env, "Cancellation", { InstanceMethod<&Cancellation::cancel>("cancel") });
    }

    explicit Cancellation(const Napi::CallbackInfo & info)
        : Napi::ObjectWrap<Cancellation>(info), flag(std::make_shared<std::atomic<bool>>(false)) {}

    static CancelFlag flagOf(const Napi::Value & value) {
        const Napi::Object object = value.IsObject() ? value.As<Napi::Object>() : Napi::Object();
        if (object.IsEmpty() || !object.InstanceOf(Instance::of(value.Env()).cancellation.Value())) {
            throw Napi::TypeError::New(value.Env(), "a Cancellation is needed");
        }
        return Unwrap(object)->flag;
    }

private:
    void cancel(const Napi::CallbackInfo &) { flag->store(true); }

    CancelFlag flag;
};

} // namespace concertina
