// What the addon exports; electron/engine/native/types.ts has the typed view of it.
#include "context/Estimator.h"
#include "machine/Capabilities.h"
#include "machine/Kernels.h"
#include "machine/Probe.h"
#include "model/Fingerprint.h"
#include "napi/handles.h"
#include "workers/Serve.h"

#include "llama.h"

#include <utility>

namespace concertina {
namespace {

// What the body returns or throws, see guarded.
template <auto body> Napi::Function function(Napi::Env env) {
    return Napi::Function::New(
        env, [](const Napi::CallbackInfo & info) { return guarded(info.Env(), [&] { return body(info); }); });
}

Capabilities exportCapabilities(const Napi::CallbackInfo &) { return capabilities(); }

std::vector<DeviceMemory> exportMemories(const Napi::CallbackInfo &) { return deviceMemories(); }

// selfTest(folder): see Kernels.h
Napi::Promise exportSelfTest(const Napi::CallbackInfo & info) {
    return runOnWorker(info.Env(), "selfTest", nullptr, [folder = readText(info[0], "folder")] { selfTest(folder); });
}

// fileTypeName(fileType)
std::string exportFileTypeName(const Napi::CallbackInfo & info) {
    return llama_ftype_name(static_cast<llama_ftype>(readInteger<int>(info[0], "file type")));
}

// otherFiles(options): see Draft.h
OtherFiles exportOtherFiles(const Napi::CallbackInfo & info) { return otherFiles(contextOptions(info[0])); }

// estimate(path, spread, options, problems)
Napi::Promise exportEstimate(const Napi::CallbackInfo & info) {
    return runOnWorker(info.Env(), "estimate", nullptr,
        [estimator = Instance::of(info.Env()).estimator, path = readText(info[0], "path"),
            spread = fromJs<Spread>(info[1], "spread"),
            options = contextOptions(info[2], info[3])] { return estimator->estimate(path, spread, options); });
}

// fit(path, spread, options, problems, rooms, cancellation): Promise<Spread>
Napi::Promise exportFit(const Napi::CallbackInfo & info) {
    const CancelFlag cancel = Cancellation::flagOf(info[5]);
    return runOnWorker(info.Env(), "fit", cancel,
        [=, estimator = Instance::of(info.Env()).estimator, path = readText(info[0], "path"),
            spread = fromJs<Spread>(info[1], "spread"), options = contextOptions(info[2], info[3]),
            rooms = fromJs<std::vector<Room>>(info[4], "rooms")] {
            return estimator->fit(path, spread, options, rooms, *cancel);
        });
}

// probeBandwidth(bytes, onProgress, cancellation): see Probe.h
Napi::Promise exportProbeBandwidth(const Napi::CallbackInfo & info) {
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
}

// checksum(path, bytes, cancellation): Promise<string>, see fileChecksum
Napi::Promise exportChecksum(const Napi::CallbackInfo & info) {
    const CancelFlag cancel = Cancellation::flagOf(info[2]);
    return runOnWorker(info.Env(), "checksum", cancel,
        [cancel, path = readText(info[0], "path"), bytes = readInteger<uint64_t>(info[1], "bytes")] {
            return checksumText(fileChecksum(path, bytes, *cancel));
        });
}

std::vector<ServedDevice> exportServedDevices(const Napi::CallbackInfo &) { return servedDevices(); }

// serveWorker(port, threads): see Serve.h
void exportServeWorker(const Napi::CallbackInfo & info) {
    serveWorker(readInteger<int>(info[0], "port"), readInteger<int>(info[1], "threads"));
}

// servedComputes(device, operation)
bool exportServedComputes(const Napi::CallbackInfo & info) {
    return servedComputes(readInteger<int>(info[0], "device"), readText(info[1], "operation"));
}

// setLogListener(listener(level, text), 'info' | 'warn' | 'error')
void exportSetLogListener(const Napi::CallbackInfo & info) {
    const std::string level = info[1].As<Napi::String>();
    const int minimum = level == "info"   ? GGML_LOG_LEVEL_INFO
                        : level == "warn" ? GGML_LOG_LEVEL_WARN
                                          : GGML_LOG_LEVEL_ERROR;
    Instance::of(info.Env()).listen(info.Env(), info[0].As<Napi::Function>(), minimum);
}

// applyTemplate(template, body): the completion's parameters; for templates that no model of ours has
std::string exportApplyTemplate(const Napi::CallbackInfo & info) {
    return safe_json_to_str(ChatFormat::ofTemplate(readText(info[0], "template"))->apply(readText(info[1], "body")));
}

// parseAnswer(params, text, partial): see ChatFormat.h
ParsedAnswer exportParseAnswer(const Napi::CallbackInfo & info) {
    return parseAnswer(readText(info[0], "params"), readText(info[1], "text"), info[2].ToBoolean());
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
    exports.Set("capabilities", function<exportCapabilities>(env));
    exports.Set("selfTest", function<exportSelfTest>(env));
    exports.Set("modelLimits", toJs(env, modelLimits()));
    exports.Set("fileTypeName", function<exportFileTypeName>(env));
    exports.Set("otherFiles", function<exportOtherFiles>(env));
    exports.Set(
        "mediaMarker", get_media_marker()); // in a prompt, in place of an image or sound; another one in each process
    exports.Set("memories", function<exportMemories>(env));
    exports.Set("estimate", function<exportEstimate>(env));
    exports.Set("fit", function<exportFit>(env));
    exports.Set("probeBandwidth", function<exportProbeBandwidth>(env));
    exports.Set("checksum", function<exportChecksum>(env));
    // lines of a session's label: the code that wrote its cells
    exports.Set("cellsMadeBy", "llama.cpp " CONCERTINA_UPSTREAM_COMMIT "\ncells " CONCERTINA_CELLS "\n");
    exports.Set("servedDevices", function<exportServedDevices>(env));
    exports.Set("serveWorker", Napi::Function::New<exportServeWorker>(env));
    exports.Set("servedComputes", function<exportServedComputes>(env));
    exports.Set("loadModel", function<ModelHandle::load>(env));
    exports.Set("setLogListener", Napi::Function::New<exportSetLogListener>(env));
    exports.Set("applyTemplate", function<exportApplyTemplate>(env));
    exports.Set("parseAnswer", function<exportParseAnswer>(env));
    return exports;
}

} // namespace
} // namespace concertina

static Napi::Object InitConcertina(Napi::Env env, Napi::Object exports) { return concertina::init(env, exports); }

NODE_API_MODULE(concertina, InitConcertina)
