// What the addon exports; electron/engine/native/raw.ts is the typed view of it.
#include "context/Context.h"
#include "generation/AnswerStream.h"
#include "machine/Kernels.h"
#include "machine/Probe.h"
#include "napi/convert.h"
#include "napi/handles.h"
#include "napi/worker.h"

#include "llama.h"

#include <algorithm>

namespace concertina {
namespace {

Napi::Value exportCapabilities(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return toJs(info.Env(), capabilities()); });
}

// selfTest(folder): see Kernels.h
Napi::Value exportSelfTest(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const std::string folder = readText(info[0], "folder");
        return runOnWorker(
            info.Env(), "selfTest", nullptr,
            [folder] {
                selfTest(folder);
                return true;
            },
            [](Napi::Env env, bool &) { return env.Undefined(); });
    });
}

Napi::Value exportInspect(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const std::string path = readText(info[0], "path");
        return runOnWorker(
            info.Env(), "inspect", nullptr, [path] { return inspect(path); },
            [](Napi::Env env, ModelInfo & result) { return toJs(env, result); });
    });
}

Napi::Value exportMemories(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] { return toJs(info.Env(), deviceMemories()); });
}

Napi::Value exportEstimate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const std::string path = readText(info[0], "path");
        const int gpuLayers = readInteger(info[1], "gpuLayers");
        const ContextOptions options = readContextOptions(info[2]);
        auto estimator = Instance::of(info.Env()).estimator;
        return runOnWorker(
            info.Env(), "estimate", nullptr, [=] { return estimator->estimate(path, gpuLayers, options); },
            [](Napi::Env env, MemoryEstimate & result) { return toJs(env, result); });
    });
}

// probeBandwidth(bytes, onProgress, cancellation): see Probe.h
Napi::Value exportProbeBandwidth(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const int bytes = readInteger(info[0], "bytes");
        const CancelFlag cancel = Cancellation::flagOf(info[2]);
        auto progress = std::make_shared<Emitter<float>>(info.Env(), info[1].As<Napi::Function>(),
            [](Napi::Env env, const float & fraction) -> Napi::Value { return Napi::Number::New(env, fraction); });
        return runOnWorker(
            info.Env(), "probeBandwidth", cancel,
            [=] {
                const int threads = capabilities().physicalCores;
                return readBandwidths(threads, static_cast<size_t>(std::max(0, bytes)), *cancel,
                    [&](float fraction) { progress->push(fraction); });
            },
            [](Napi::Env env, std::vector<Bandwidth> & result) { return toJs(env, result); },
            [progress](Napi::Env env) { progress->close(env); });
    });
}

// setLogListener(listener(level, text), 'info' | 'warn' | 'error')
void exportSetLogListener(const Napi::CallbackInfo & info) {
    const std::string level = info[1].As<Napi::String>();
    const int minimum = level == "info"   ? GGML_LOG_LEVEL_INFO
                        : level == "warn" ? GGML_LOG_LEVEL_WARN
                                          : GGML_LOG_LEVEL_ERROR;
    Instance::of(info.Env()).listen(info.Env(), info[0].As<Napi::Function>(), minimum);
}

// splitAnswer(template | '', messages, pieces, stops, now?, continueFrom?): how an answer that arrives in these pieces is shown; for tests of
// what the embedded model cannot be made to say
Napi::Value exportSplitAnswer(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        ChatPrompt prompt;
        const std::string source = readText(info[0], "template");
        const auto soFar = readSoFar(info[5]);
        if (!source.empty())
            prompt = ChatFormat::ofTemplate(source)->apply(readMessages(info[1]), "", readTime(info[4]), soFar);
        AnswerStream answer(prompt, readTexts(info[3], "stops"));
        const Napi::Array pieces = info[2].As<Napi::Array>();
        Napi::Array chunks = Napi::Array::New(info.Env());
        const auto add = [&](const AnswerDelta & delta) {
            chunks.Set(chunks.Length(), toJs(info.Env(), GenerateChunk{ delta.text, delta.thinking, 0, 0 }));
        };
        for (uint32_t i = 0; i < pieces.Length() && !answer.stopped(); i++) {
            const auto bytes = pieces.Get(i).As<Napi::Uint8Array>();
            add(answer.push({ reinterpret_cast<const char *>(bytes.Data()), bytes.ByteLength() }));
        }
        add(answer.finish());
        Napi::Object result = Napi::Object::New(info.Env());
        result.Set("prompt", prompt.text);
        result.Set("chunks", chunks);
        result.Set("stopped", answer.stopped());
        return result;
    });
}

// process.exit() runs no cleanup hooks, it joins the worker threads: without this it would wait for the end of an answer
void closeBeforeExit(Napi::Env env, const std::shared_ptr<Jobs> & jobs) {
    const Napi::Object process = env.Global().Get("process").As<Napi::Object>();
    const auto close = Napi::Function::New(env, [jobs](const Napi::CallbackInfo &) { jobs->close(); });
    process.Get("once").As<Napi::Function>().Call(process, { Napi::String::New(env, "exit"), close });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
    auto * instance = new Instance(env); // node-addon-api deletes it with the environment
    env.SetInstanceData(instance);
    closeBeforeExit(env, instance->jobs);
    instance->modelHandle = Napi::Persistent(ModelHandle::define(env));
    instance->contextHandle = Napi::Persistent(ContextHandle::define(env));
    instance->cancellation = Napi::Persistent(Cancellation::define(env));
    exports.Set("Cancellation", instance->cancellation.Value());
    exports.Set("capabilities", Napi::Function::New<exportCapabilities>(env));
    exports.Set("selfTest", Napi::Function::New<exportSelfTest>(env));
    exports.Set("inspect", Napi::Function::New<exportInspect>(env));
    exports.Set("memories", Napi::Function::New<exportMemories>(env));
    exports.Set("estimate", Napi::Function::New<exportEstimate>(env));
    exports.Set("probeBandwidth", Napi::Function::New<exportProbeBandwidth>(env));
    exports.Set("loadModel", Napi::Function::New<ModelHandle::load>(env));
    exports.Set("setLogListener", Napi::Function::New<exportSetLogListener>(env));
    exports.Set("splitAnswer", Napi::Function::New<exportSplitAnswer>(env));
    return exports;
}

} // namespace
} // namespace concertina

static Napi::Object InitConcertina(Napi::Env env, Napi::Object exports) { return concertina::init(env, exports); }

NODE_API_MODULE(concertina, InitConcertina)
