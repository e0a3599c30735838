// Events from a worker thread to a JavaScript callback, in arrays: while the event loop is busy they gather, so that a
// fast producer costs one wake-up and a slow reader loses nothing.
#pragma once

#include <napi.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace concertina {

template <typename Event> class Emitter : public std::enable_shared_from_this<Emitter<Event>> {
public:
    using Convert = Napi::Value (*)(Napi::Env, const Event &);

    Emitter(Napi::Env env, const Napi::Function & callback, Convert convert)
        : callback(Napi::Persistent(callback)), convert(convert) {
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
        for (size_t i = 0; i < events.size(); i++) values.Set(static_cast<uint32_t>(i), convert(env, events[i]));
        callback.Call({ values });
    }

    Napi::FunctionReference callback;
    Napi::ThreadSafeFunction wake;
    Convert convert;
    std::mutex mutex;
    std::vector<Event> queue;
    bool signalled = false;
    bool closed = false;
};

} // namespace concertina
