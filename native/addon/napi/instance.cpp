#include "napi/instance.h"

#include "LogSink.h"
#include "context/Estimator.h"
#include "errors.h"
#include "machine/Kernels.h"

#include "llama.h"

#include <chrono>
#include <string>

namespace concertina {
namespace {

constexpr size_t longestLine = 8000; // a line may quote from a file as much as it holds
constexpr auto closeLimit = std::chrono::seconds(10);

const char * levelName(ggml_log_level level) {
    switch (level) {
        case GGML_LOG_LEVEL_ERROR: return "error";
        case GGML_LOG_LEVEL_WARN: return "warn";
        default: return "info";
    }
}

} // namespace

bool Jobs::enter(const CancelFlag & cancel) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (closing) return false;
    running.insert(cancel);
    return true;
}

void Jobs::leave(const CancelFlag & cancel) {
    const std::lock_guard<std::mutex> lock(mutex);
    running.erase(running.find(cancel));
    idle.notify_all();
}

void Jobs::close() {
    std::unique_lock<std::mutex> lock(mutex);
    closing = true;
    for (const auto & cancel : running) cancel->store(true);
    idle.wait_for(lock, closeLimit, [this] { return running.empty(); });
}

Instance::Instance(Napi::Env env) : estimator(std::make_shared<Estimator>()) {
    static std::once_flag once;
    std::call_once(once, [] {
        LogSink::shared();
        // llama_backend_init but for its look at the devices: that starts the drivers of GPUs, which selfTest does under guard
        ggml_time_init();
        ggml_free(ggml_init({ 0, nullptr, false })); // makes the tables of f16
    });
    env.AddCleanupHook([this] {
        leaveSelfTest();
        unlisten();
        jobs->close();
    });
}

Instance::~Instance() = default;

void Instance::listen(Napi::Env env, const Napi::Function & listener, int minimum) {
    unlisten();
    log = Napi::ThreadSafeFunction::New(env, listener, "concertina log", 0, 1);
    log.Unref(env);
    logId = LogSink::shared().add([this, minimum](ggml_log_level level, const std::string & text) {
        if (level < minimum) return;
        log.NonBlockingCall([level, text](Napi::Env env, Napi::Function call) {
            call.Call({ Napi::String::New(env, levelName(level)), Napi::String::New(env, quoted(text, longestLine)) });
        });
    });
}

void Instance::unlisten() {
    if (!logId) return;
    LogSink::shared().remove(logId);
    logId = 0;
    log.Release();
}

} // namespace concertina
