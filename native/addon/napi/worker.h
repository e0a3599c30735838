// Jobs of JavaScript: on a worker thread, with events on the way, and canceled.
#pragma once

#include "LogSink.h"
#include "Thread.h"
#include "errors.h"
#include "napi/convert.h"
#include "napi/instance.h"

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace concertina {

inline Napi::Error errorToJs(Napi::Env env, const CodedError & error) {
    Napi::Error value = Napi::Error::New(env, error.what());
    value.Set("code", error.code);
    value.Set("hint", error.hint);
    return value;
}

template <typename Work, typename Convert> class Worker final : public Napi::AsyncWorker {
    using Returned = std::invoke_result_t<Work &>;
    using Result = std::conditional_t<std::is_void_v<Returned>, std::monostate, Returned>;

public:
    using Settle = std::function<void(Napi::Env)>;

    Worker(Napi::Env env, std::string call, CancelFlag cancel, Work work, Convert convert, Settle settle)
        : Napi::AsyncWorker(env, call.c_str()), deferred(Napi::Promise::Deferred::New(env)),
          jobs(Instance::of(env).jobs), call(std::move(call)), cancel(std::move(cancel)), work(std::move(work)),
          convert(std::move(convert)), settle(std::move(settle)) {}

    Napi::Promise promise() const { return deferred.Promise(); }

    // In place of Queue(), which takes one of the few threads of libuv's pool: for a job that mostly waits, and one that computes.
    // OpenMP keeps a team for each thread that has computed, until it ends; with more of them than cores they sleep at barriers.
    void runOnThread() {
        auto end = Napi::ThreadSafeFunction::New(
            Env(), Napi::Function::New(Env(), [](const Napi::CallbackInfo &) {}), "concertina job", 0, 1);
        Thread([this, end]() mutable {
            OnExecute(nullptr);
            end.BlockingCall([this](Napi::Env env, Napi::Function) { OnWorkComplete(env, napi_ok); });
            end.Release();
        }).detach();
    }

protected:
    void Execute() override {
        if (!jobs->enter(cancel)) return fail("cancelled", "The engine is closing", "");
        const LogSink::Capture log;
        try {
            if constexpr (std::is_void_v<Returned>) {
                (*work)();
                result.emplace();
            } else {
                result.emplace((*work)());
            }
        } catch (const CodedError & error) {
            fail(error.code, error.what(), error.hint);
        } catch (const std::bad_alloc &) {
            fail("out-of-memory", call + ": not enough memory", "Choose a smaller context or a smaller cache type.");
        } catch (const std::exception & error) {
            fail("internal", withLog(call + " failed: " + error.what(), log.errors()), "");
        }
        work.reset(); // frees what the job holds before the promise settles
        jobs->leave(cancel);
    }

    void OnOK() override {
        const Napi::HandleScope scope(Env());
        try {
            if (settle) settle(Env());
            deferred.Resolve(convert(Env(), *result));
        } catch (const Napi::Error & error) { deferred.Reject(error.Value()); }
    }

    void OnError(const Napi::Error &) override {
        const Napi::HandleScope scope(Env());
        try {
            if (settle) settle(Env());
        } catch (const Napi::Error &) {
            // the failure of the work itself is what the caller must get
        }
        deferred.Reject(errorToJs(Env(), CodedError(code, message, hint)).Value());
    }

private:
    void fail(std::string errorCode, std::string text, std::string advice) {
        code = std::move(errorCode);
        message = std::move(text);
        hint = std::move(advice);
        SetError(message);
    }

    Napi::Promise::Deferred deferred;
    std::shared_ptr<Jobs> jobs;
    std::string call;
    CancelFlag cancel;
    std::optional<Work> work;
    Convert convert;
    Settle settle;
    std::optional<Result> result;
    std::string code, message, hint;
};

struct ToJs {
    template <typename T> Napi::Value operator()(Napi::Env env, const T & value) const { return toJs(env, value); }
};

// The one way from JavaScript to a worker thread: runs `work`, turns its result into a value with `convert`, and every
// exception into a rejection {code, message, hint} that names the failing call. What `work` needs it owns. `settle` runs on
// the JavaScript thread before the promise settles, however the work ended.
// `own`: on a thread of its own, see runOnThread.
template <typename Work, typename Convert = ToJs>
Napi::Promise runOnWorker(Napi::Env env, const char * call, CancelFlag cancel, Work work,
    std::function<void(Napi::Env)> settle = {}, Convert convert = {}, bool own = false) {
    if (!cancel) cancel = std::make_shared<std::atomic<bool>>(false);
    auto * worker =
        new Worker<Work, Convert>(env, call, std::move(cancel), std::move(work), std::move(convert), std::move(settle));
    const Napi::Promise promise = worker->promise();
    if (own)
        worker->runOnThread();
    else
        worker->Queue();
    return promise;
}

// On the JavaScript thread: what the body returns as a value; a CodedError becomes an exception with code and hint.
template <typename Body> Napi::Value guarded(Napi::Env env, Body body) {
    using Returned = std::invoke_result_t<Body>;
    try {
        if constexpr (std::is_void_v<Returned>) {
            body();
            return env.Undefined();
        } else if constexpr (std::is_base_of_v<Napi::Value, Returned>) {
            return body();
        } else {
            return toJs(env, body());
        }
    } catch (const CodedError & error) { throw errorToJs(env, error); } catch (const Napi::Error &) {
        throw;
    } catch (const std::exception & error) { throw errorToJs(env, CodedError("internal", error.what())); }
}

// JavaScript's hand on a job: `new Cancellation()`, passed to a call, `.cancel()`.
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

// Events from a worker thread to a JavaScript callback, in arrays: while the event loop is busy they gather, so that a
// fast producer costs one wake-up and a slow reader loses nothing.

template <typename Event> class Emitter : public std::enable_shared_from_this<Emitter<Event>> {
public:
    explicit Emitter(const Napi::Value & function) : callback(Napi::Persistent(function.As<Napi::Function>())) {
        const Napi::Env env = function.Env();
        wake = Napi::ThreadSafeFunction::New(
            env, Napi::Function::New(env, [](const Napi::CallbackInfo &) {}), "concertina events", 0, 1);
        wake.Unref(env);
    }

    // any thread
    void push(Event event) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (closed) return;
        queue.push_back(std::move(event));
        if (signalled) return;
        signalled = true;
        auto self = this->shared_from_this();
        wake.NonBlockingCall([self](Napi::Env env, Napi::Function) { self->drain(env); });
    }

    // JavaScript thread: what is still queued, then no more
    void close(Napi::Env env) {
        drain(env);
        const std::lock_guard<std::mutex> lock(mutex);
        if (closed) return;
        closed = true;
        wake.Release();
        callback.Reset();
    }

private:
    void drain(Napi::Env env) {
        std::vector<Event> events;
        {
            const std::lock_guard<std::mutex> lock(mutex);
            signalled = false;
            events.swap(queue);
        }
        if (events.empty() || callback.IsEmpty()) return;
        const Napi::HandleScope scope(env);
        Napi::Array values = Napi::Array::New(env, events.size());
        for (size_t i = 0; i < events.size(); i++) values.Set(static_cast<uint32_t>(i), toJs(env, events[i]));
        callback.Call({ values });
    }

    Napi::FunctionReference callback;
    Napi::ThreadSafeFunction wake;
    std::mutex mutex;
    std::vector<Event> queue;
    bool signalled = false;
    bool closed = false;
};

template <typename Event> std::shared_ptr<Emitter<Event>> emitterFor(const Napi::Value & callback) {
    return std::make_shared<Emitter<Event>>(callback);
}

// for `settle`: in this order
template <typename... Events> std::function<void(Napi::Env)> closing(std::shared_ptr<Emitter<Events>>... emitters) {
    return [=](Napi::Env env) { (emitters->close(env), ...); };
}

} // namespace concertina
