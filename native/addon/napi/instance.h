// What one JavaScript environment owns: constructors, the log listener, and the jobs that must end before it goes.
#pragma once

#include <napi.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

namespace concertina {

using CancelFlag = std::shared_ptr<std::atomic<bool>>;

// Jobs on worker threads. At the end of the environment all are canceled and waited for: a thread that computes while
// the process tears llama.cpp down would crash it.
class Jobs {
public:
    // false: the environment is closing, do not start
    bool enter(const CancelFlag & cancel);
    void leave(const CancelFlag & cancel);
    void close();

private:
    std::mutex mutex;
    std::condition_variable idle;
    std::multiset<CancelFlag> running;
    bool closing = false;
};

class Estimator;

struct Instance {
    Napi::FunctionReference modelHandle;
    Napi::FunctionReference contextHandle;
    Napi::FunctionReference cancellation;
    std::shared_ptr<Jobs> jobs = std::make_shared<Jobs>();
    std::shared_ptr<Estimator> estimator;
    Napi::ThreadSafeFunction log;
    int logId = 0;

    explicit Instance(Napi::Env env);
    ~Instance();

    static Instance & of(Napi::Env env) { return *env.GetInstanceData<Instance>(); }

    // replaces the listener; lines of `minimum` and above
    void listen(Napi::Env env, const Napi::Function & listener, int minimum);
    void unlisten();
};

} // namespace concertina
