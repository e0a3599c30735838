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

// calibrate(options, onProgress(fractions), cancellation): Promise<Uint8Array>
Napi::Promise calibrateModel(const std::shared_ptr<Model> & model, const Napi::CallbackInfo & call) {
    const auto options = fromJs<CalibrationOptions>(call[0], "calibration options");
    const CancelFlag cancel = Cancellation::flagOf(call[2]);
    auto progress = emitterFor<float>(call[1]);
    return runOnWorker(
        call.Env(), "calibrate", cancel,
        [=] { return calibrate(model, options, *cancel, [&](float fraction) { progress->push(fraction); }); },
        closing(progress), ToJs(), true);
}

// countTexts(texts): Promise<Int32Array>; marks of special tokens are read as such
Napi::Promise countTexts(const std::shared_ptr<Model> & model, const Napi::CallbackInfo & call) {
    return runOnWorker(
        call.Env(), "countTexts", nullptr, [model, texts = fromJs<std::vector<std::string>>(call[0], "texts")] {
            std::vector<int32_t> counts;
            for (const std::string & text : texts)
                counts.push_back(static_cast<int32_t>(model->tokenize(text, false, true).size()));
            return counts;
        });
}

// renderChat(body, cancellation): Promise<string>; see ChatFormat::apply
Napi::Promise renderChat(const std::shared_ptr<Model> & model, const Napi::CallbackInfo & call) {
    const CancelFlag cancel = Cancellation::flagOf(call[1]);
    return runOnWorker(call.Env(), "renderChat", cancel,
        [=, body = readText(call[0], "body")] { return safe_json_to_str(model->chat->apply(body, cancel.get())); });
}

// chatTokens(body, cancellation): the same without `prompt`, and its tokens
Napi::Promise chatTokens(const std::shared_ptr<Model> & model, const Napi::CallbackInfo & call) {
    const CancelFlag cancel = Cancellation::flagOf(call[1]);
    return runOnWorker(call.Env(), "chatTokens", cancel, [=, body = readText(call[0], "body")] {
        common_json completion = model->chat->apply(body, cancel.get());
        const std::string prompt = completion.at("prompt").get<std::string>();
        completion.erase("prompt");
        return ChatTokens{ safe_json_to_str(completion), model->tokenize(prompt, true, true) };
    });
}

} // namespace

Napi::Function ModelHandle::define(Napi::Env env) {
    const auto tokenize = [](const Shared & model, Info call) {
        return model->tokenize(readText(call[0], "text"), call[1].ToBoolean(), call[2].ToBoolean());
    };
    const auto detokenize = [](const Shared & model, Info call) {
        return model->detokenize(fromJs<std::vector<llama_token>>(call[0], "tokens"));
    };
    const auto attach = [](const Shared & model, Info call) {
        attachCalibration(*model, fromJs<std::vector<uint8_t>>(call[0], "the calibration"));
    };
    const auto create = [](const Shared & model, Info call) {
        return ContextHandle::create(call.Env(), model, contextOptions(call[0], call[1]));
    };
    const auto splitsAtLines = [](const Shared & model, Info call) {
        return runOnWorker(call.Env(), "splitsAtLines", nullptr, [model] { return model->splitsAtLines(); });
    };
    return DefineClass(env, "ModelHandle",
        {
            // hexadecimal: tells model files apart
            getter("fingerprint", [](const Shared & model, Info) { return checksumText(model->fingerprint); }),
            method("calibrate", calibrateModel),
            method("wantsCalibration",
                [](const Shared & model, Info call) { return wantsCalibration(*model, contextOptions(call[0])); }),
            method("attachCalibration", attach),
            method("createContext", create),
            method("tokenize", tokenize),
            method("detokenize", detokenize),
            method("splitsAtLines", splitsAtLines),
            method("countTexts", countTexts),
            method("renderChat", renderChat),
            method("chatTokens", chatTokens),
            InstanceMethod("dispose", &ModelHandle::dispose),
        });
}

Napi::Promise ModelHandle::load(const Napi::CallbackInfo & info) {
    const std::string path = readText(info[0], "path");
    const Spread spread = fromJs<Spread>(info[1], "spread");
    const CancelFlag cancel = Cancellation::flagOf(info[3]);
    const bool mtp = info[4].ToBoolean();
    auto progress = emitterFor<float>(info[2]);
    return runOnWorker(
        info.Env(), "loadModel", cancel,
        [=] { return loadModel(path, spread, false, mtp, *cancel, [&](float fraction) { progress->push(fraction); }); },
        closing(progress),
        [](Napi::Env env, Shared & model) -> Napi::Value {
            return Instance::of(env).modelHandle.New({ Napi::External<Shared>::New(env, &model) });
        });
}

} // namespace concertina
