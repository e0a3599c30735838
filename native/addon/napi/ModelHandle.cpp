#include "context/Calibration.h"
#include "model/Fingerprint.h"
#include "napi/handles.h"

namespace concertina {
namespace {

struct ChatTokens {
    std::string params;
    std::vector<llama_token> tokens;

    CONCERTINA_FIELDS(params, tokens)
};

} // namespace

Napi::Function ModelHandle::define(Napi::Env env) {
    return DefineClass(env, "ModelHandle",
        {
            InstanceAccessor<&ModelHandle::info>("info"),
            InstanceAccessor<&ModelHandle::fingerprint>("fingerprint"),
            InstanceMethod<&ModelHandle::calibrate>("calibrate"),
            InstanceMethod<&ModelHandle::wantsCalibration>("wantsCalibration"),
            InstanceMethod<&ModelHandle::attachCalibration>("attachCalibration"),
            InstanceMethod<&ModelHandle::createContext>("createContext"),
            InstanceMethod<&ModelHandle::tokenize>("tokenize"),
            InstanceMethod<&ModelHandle::detokenize>("detokenize"),
            InstanceMethod<&ModelHandle::splitsAtLines>("splitsAtLines"),
            InstanceMethod<&ModelHandle::countTexts>("countTexts"),
            InstanceMethod<&ModelHandle::renderChat>("renderChat"),
            InstanceMethod<&ModelHandle::chatTokens>("chatTokens"),
            InstanceMethod("dispose", &ModelHandle::dispose),
        });
}

Napi::Value ModelHandle::load(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&] {
        const std::string path = readText(info[0], "path");
        const int gpuLayers = readInteger<int>(info[1], "gpuLayers");
        const CancelFlag cancel = Cancellation::flagOf(info[3]);
        auto progress = emitterFor<float>(info[2]);
        return runOnWorker(
            info.Env(), "loadModel", cancel,
            [=] {
                return loadModel(path, gpuLayers, false, *cancel, [&](float fraction) { progress->push(fraction); });
            },
            closing(progress),
            [](Napi::Env env, Shared & model) -> Napi::Value {
                return Instance::of(env).modelHandle.New({ Napi::External<Shared>::New(env, &model) });
            });
    });
}

Napi::Value ModelHandle::info(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] { return open()->info; });
}

Napi::Value ModelHandle::fingerprint(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] { return checksumText(open()->fingerprint); });
}

Napi::Value ModelHandle::calibrate(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        const auto options = fromJs<CalibrationOptions>(call[0], "calibration options");
        const CancelFlag cancel = Cancellation::flagOf(call[2]);
        auto progress = emitterFor<float>(call[1]);
        return runOnWorker(
            call.Env(), "calibrate", cancel,
            [=, model = open()] {
                return concertina::calibrate(
                    model, options, *cancel, [&](float fraction) { progress->push(fraction); });
            },
            closing(progress), ToJs(), true);
    });
}

Napi::Value ModelHandle::wantsCalibration(const Napi::CallbackInfo & call) {
    return guarded(call.Env(),
        [&] { return concertina::wantsCalibration(*open(), fromJs<ContextOptions>(call[0], "context options")); });
}

Napi::Value ModelHandle::attachCalibration(const Napi::CallbackInfo & call) {
    return guarded(call.Env(),
        [&] { concertina::attachCalibration(*open(), fromJs<std::vector<uint8_t>>(call[0], "the calibration")); });
}

Napi::Value ModelHandle::createContext(const Napi::CallbackInfo & call) {
    return guarded(call.Env(),
        [&] { return ContextHandle::create(call.Env(), open(), fromJs<ContextOptions>(call[0], "context options")); });
}

Napi::Value ModelHandle::tokenize(const Napi::CallbackInfo & call) {
    return guarded(call.Env(),
        [&] { return open()->tokenize(readText(call[0], "text"), call[1].ToBoolean(), call[2].ToBoolean()); });
}

Napi::Value ModelHandle::detokenize(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] { return open()->detokenize(fromJs<std::vector<llama_token>>(call[0], "tokens")); });
}

Napi::Value ModelHandle::splitsAtLines(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        return runOnWorker(call.Env(), "splitsAtLines", nullptr, [model = open()] { return model->splitsAtLines(); });
    });
}

Napi::Value ModelHandle::countTexts(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        return runOnWorker(call.Env(), "countTexts", nullptr,
            [model = open(), texts = fromJs<std::vector<std::string>>(call[0], "texts")] {
                std::vector<int32_t> counts;
                for (const std::string & text : texts)
                    counts.push_back(static_cast<int32_t>(model->tokenize(text, false, true).size()));
                return counts;
            });
    });
}

Napi::Value ModelHandle::renderChat(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        const CancelFlag cancel = Cancellation::flagOf(call[1]);
        return runOnWorker(call.Env(), "renderChat", cancel, [=, model = open(), body = readText(call[0], "body")] {
            return safe_json_to_str(model->chat->apply(body, cancel.get()));
        });
    });
}

Napi::Value ModelHandle::chatTokens(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        const CancelFlag cancel = Cancellation::flagOf(call[1]);
        return runOnWorker(call.Env(), "chatTokens", cancel, [=, model = open(), body = readText(call[0], "body")] {
            common_json completion = model->chat->apply(body, cancel.get());
            const std::string prompt = completion.at("prompt").get<std::string>();
            completion.erase("prompt");
            return ChatTokens{ safe_json_to_str(completion), model->tokenize(prompt, true, true) };
        });
    });
}

} // namespace concertina
