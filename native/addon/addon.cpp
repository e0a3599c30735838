// What the addon exports; electron/engine/native/types.ts has the typed view of it.
#include "context/Context.h"
#include "generation/Generation.h"
#include "machine/Capabilities.h"
#include "machine/Kernels.h"
#include "machine/Probe.h"
#include "napi/handles.h"

#include "llama.h"

#include <utility>

namespace concertina {
namespace {

Napi::Value exportCapabilities(const Napi::CallbackInfo & info) { return guarded(info.Env(), capabilities); }

// selfTest(folder): see Kernels.h
Napi::Value exportSelfTest(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        return runOnWorker(
            info.Env(), "selfTest", nullptr, [folder = readText(info[0], "folder")] { selfTest(folder); });
    });
}

Napi::Value exportInspect(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        return runOnWorker(
            info.Env(), "inspect", nullptr, [path = readText(info[0], "path")] { return inspect(path); });
    });
}

Napi::Value exportMemories(const Napi::CallbackInfo & info) { return guarded(info.Env(), deviceMemories); }

Napi::Value exportEstimate(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const std::string path = readText(info[0], "path");
        const int gpuLayers = readInteger<int>(info[1], "gpuLayers");
        const auto options = fromJs<ContextOptions>(info[2], "context options");
        auto estimator = Instance::of(info.Env()).estimator;
        return runOnWorker(
            info.Env(), "estimate", nullptr, [=] { return estimator->estimate(path, gpuLayers, options); });
    });
}

// probeBandwidth(bytes, onProgress, cancellation): see Probe.h
Napi::Value exportProbeBandwidth(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const auto bytes = readInteger<size_t>(info[0], "bytes");
        const CancelFlag cancel = Cancellation::flagOf(info[2]);
        auto progress = emitterFor<float>(info[1]);
        return runOnWorker(
            info.Env(), "probeBandwidth", cancel,
            [=] {
                return readBandwidths(
                    capabilities().physicalCores, bytes, *cancel, [&](float fraction) { progress->push(fraction); });
            },
            closing(progress));
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

struct SplitAnswer {
    std::string prompt;
    std::vector<GenerateChunk> chunks;
    bool stopped = false;

    CONCERTINA_FIELDS(prompt, chunks, stopped)
};

// splitAnswer(template | '', messages, pieces, stops, options): how an answer that arrives in these pieces is shown; for tests
// of what the embedded model cannot be made to say
Napi::Value exportSplitAnswer(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        ChatPrompt prompt;
        const std::string source = readText(info[0], "template");
        const auto options = fromJs<PromptOptions>(info[4], "prompt options");
        if (!source.empty()) {
            const auto messages = fromJs<std::vector<ChatMessage>>(info[1], "messages");
            prompt = ChatFormat::ofTemplate(source)->apply(messages, "", options, options.continueFrom);
        }
        AnswerStream answer(prompt, fromJs<std::vector<std::string>>(info[3], "stops"));
        SplitAnswer split;
        const auto add = [&](const AnswerDelta & delta) {
            GenerateChunk chunk;
            chunk.text = delta.text;
            chunk.thinking = delta.thinking;
            split.chunks.push_back(std::move(chunk));
        };
        for (const auto & piece : fromJs<std::vector<std::vector<uint8_t>>>(info[2], "pieces")) {
            if (!answer.stopped()) add(answer.push({ piece.begin(), piece.end() }));
        }
        add(answer.finish());
        split.prompt = prompt.text;
        split.stopped = answer.stopped();
        return split;
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
