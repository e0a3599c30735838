#include "napi/convert.h"
#include "napi/handles.h"
#include "napi/worker.h"

#include <sstream>

namespace concertina {

using SharedModel = std::shared_ptr<Model>;

namespace {

std::shared_ptr<Emitter<float>> fractionsTo(const Napi::Value & callback) {
    return std::make_shared<Emitter<float>>(callback.Env(), callback.As<Napi::Function>(),
        [](Napi::Env env, const float & fraction) -> Napi::Value { return Napi::Number::New(env, fraction); });
}

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
            InstanceMethod<&ModelHandle::dispose>("dispose"),
        });
}

ModelHandle::ModelHandle(const Napi::CallbackInfo & info) : Napi::ObjectWrap<ModelHandle>(info) {
    if (!info[0].IsExternal()) throw Napi::TypeError::New(info.Env(), "Use loadModel");
    held = *info[0].As<Napi::External<SharedModel>>().Data();
}

Napi::Value ModelHandle::load(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const std::string path = readText(info[0], "path");
        const int gpuLayers = readInteger(info[1], "gpuLayers");
        const CancelFlag cancel = Cancellation::flagOf(info[3]);
        auto progress = fractionsTo(info[2]);
        return runOnWorker(
            info.Env(), "loadModel", cancel,
            [=] {
                return loadModel(path, gpuLayers, false, *cancel, [&](float fraction) { progress->push(fraction); });
            },
            [](Napi::Env env, SharedModel & model) -> Napi::Value {
                return Instance::of(env).modelHandle.New({ Napi::External<SharedModel>::New(env, &model) });
            },
            [progress](Napi::Env env) { progress->close(env); });
    });
}

Model & ModelHandle::model() const {
    if (!held) throw CodedError("bad-request", "The model was unloaded");
    return *held;
}

Napi::Value ModelHandle::info(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] { return toJs(call.Env(), model().info); });
}

Napi::Value ModelHandle::fingerprint(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        std::ostringstream text;
        text << std::hex << model().fingerprint;
        return Napi::String::New(call.Env(), text.str());
    });
}

Napi::Value ModelHandle::calibrate(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&]() -> Napi::Value {
        model();
        const CalibrationOptions options = readCalibrationOptions(call[0]);
        const CancelFlag cancel = Cancellation::flagOf(call[2]);
        auto progress = fractionsTo(call[1]);
        return runOnWorker(
            call.Env(), "calibrate", cancel,
            [=, model = held] {
                return concertina::calibrate(
                    model, options, *cancel, [&](float fraction) { progress->push(fraction); });
            },
            [](Napi::Env env, std::vector<uint8_t> & bytes) { return bytesToJs(env, bytes); },
            [progress](Napi::Env env) { progress->close(env); });
    });
}

Napi::Value ModelHandle::wantsCalibration(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        return Napi::Boolean::New(call.Env(), concertina::wantsCalibration(model(), readContextOptions(call[0])));
    });
}

Napi::Value ModelHandle::attachCalibration(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        concertina::attachCalibration(model(), readBytes(call[0], "the calibration"));
        return call.Env().Undefined();
    });
}

Napi::Value ModelHandle::createContext(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&]() -> Napi::Value {
        model();
        return ContextHandle::create(call.Env(), held, readContextOptions(call[0]));
    });
}

Napi::Value ModelHandle::tokenize(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] {
        const auto tokens = model().tokenize(readText(call[0], "text"), call[1].ToBoolean(), call[2].ToBoolean());
        return tokensToJs(call.Env(), tokens);
    });
}

Napi::Value ModelHandle::detokenize(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&] { return Napi::String::New(call.Env(), model().detokenize(readTokens(call[0]))); });
}

Napi::Value ModelHandle::splitsAtLines(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&]() -> Napi::Value {
        model();
        return runOnWorker(
            call.Env(), "splitsAtLines", nullptr, [model = held] { return model->splitsAtLines(); },
            [](Napi::Env env, bool & splits) -> Napi::Value { return Napi::Boolean::New(env, splits); });
    });
}

Napi::Value ModelHandle::countTexts(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&]() -> Napi::Value {
        model();
        return runOnWorker(
            call.Env(), "countTexts", nullptr,
            [model = held, texts = readTexts(call[0], "texts")] {
                std::vector<int32_t> counts;
                for (const std::string & text : texts)
                    counts.push_back(static_cast<int32_t>(model->tokenize(text, false, true).size()));
                return counts;
            },
            [](Napi::Env env, std::vector<int32_t> & counts) -> Napi::Value { return tokensToJs(env, counts); });
    });
}

Napi::Value ModelHandle::renderChat(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&]() -> Napi::Value {
        model();
        return runOnWorker(
            call.Env(), "renderChat", nullptr,
            [model = held, messages = readMessages(call[0]), now = readTime(call[1]), soFar = readSoFar(call[2])] {
                return model->chat->apply(messages, "", now, soFar).text;
            },
            [](Napi::Env env, std::string & text) -> Napi::Value { return Napi::String::New(env, text); });
    });
}

Napi::Value ModelHandle::chatTokens(const Napi::CallbackInfo & call) {
    return guarded(call.Env(), [&]() -> Napi::Value {
        model();
        return runOnWorker(
            call.Env(), "chatTokens", nullptr,
            [model = held, messages = readMessages(call[0]), now = readTime(call[1]), soFar = readSoFar(call[2])] {
                return model->chatTokens(model->chat->apply(messages, "", now, soFar));
            },
            [](Napi::Env env, std::vector<llama_token> & tokens) -> Napi::Value { return tokensToJs(env, tokens); });
    });
}

Napi::Value ModelHandle::dispose(const Napi::CallbackInfo & call) {
    SharedModel last = std::move(held);
    held.reset();
    return runOnWorker(
        call.Env(), "dispose", nullptr,
        [last = std::move(last)]() mutable {
            last.reset();
            return true;
        },
        [](Napi::Env env, bool &) { return env.Undefined(); });
}

} // namespace concertina
