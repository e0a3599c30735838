#include "context/Calibration.h"

#include "LogSink.h"
#include "errors.h"

#include "llama-turbo-calibration.h"

#include "common.h"

#include <algorithm>

namespace concertina {
namespace {

using Handle = std::unique_ptr<llama_turbo_calibration, decltype(&llama_turbo_calibration_free)>;

struct Progress {
    const std::atomic<bool> & cancel;
    const std::function<void(float)> & report;
};

bool onProgress(int32_t done, int32_t total, void * data) {
    const auto * progress = static_cast<Progress *>(data);
    if (progress->report) progress->report(static_cast<float>(done) / static_cast<float>(total));
    return !progress->cancel.load();
}

} // namespace

std::vector<uint8_t> calibrate(const std::shared_ptr<Model> & model, const CalibrationOptions & options,
    const std::atomic<bool> & cancel, const std::function<void(float)> & report) {
    std::vector<llama_token> tokens = model->tokenize(options.text, true, false);
    size_t count = std::min<size_t>(tokens.size(), static_cast<size_t>(std::max(1, options.maxTokens)));
    if (model->trained > 0) count = std::min<size_t>(count, model->trained);
    const int threads = options.threads > 0 ? options.threads : common_cpu_get_num_math();

    const RopeScaling rope = ropeFor(*model, options.rope, static_cast<uint32_t>(std::max(0, options.positions)));
    llama_context_params scaled = llama_context_default_params();
    applyRope(rope, scaled);
    const llama_turbo_rope asked{ scaled.rope_scaling_type, scaled.rope_freq_scale, scaled.yarn_ext_factor,
        scaled.yarn_orig_ctx };

    Progress progress{ cancel, report };
    const LogSink::Capture log;
    const std::lock_guard<std::mutex> making(model->makingContext);
    const Handle made(llama_turbo_calibrate(model->handle, tokens.data(), static_cast<int32_t>(count),
                          options.positions, options.block, std::min(threads, GGML_MAX_N_THREADS),
                          rope.kind == "model" ? nullptr : &asked, onProgress, &progress),
        llama_turbo_calibration_free);
    if (cancel) throw CodedError("cancelled", "Measuring the model was cancelled");
    if (!made)
        throw CodedError("model-unsupported", withLog("The model cannot be measured", log.errors()),
            "Compressed caches work without it.");
    std::vector<uint8_t> bytes(llama_turbo_calibration_get_size(made.get()));
    llama_turbo_calibration_get_data(made.get(), bytes.data());
    return bytes;
}

void attachCalibration(Model & model, const std::vector<uint8_t> & bytes) {
    if (bytes.empty()) {
        llama_turbo_calibration_attach(model.handle, nullptr);
        return;
    }
    const Handle read(llama_turbo_calibration_init_from_data(bytes.data(), bytes.size()), llama_turbo_calibration_free);
    if (!read)
        throw CodedError("data-corrupt", "The measurements of the model are damaged", "They will be taken again.");
    if (!llama_turbo_calibration_attach(model.handle, read.get())) {
        throw CodedError("data-corrupt", "The measurements are those of another model", "They will be taken again.");
    }
}

bool wantsCalibration(const Model & model, const ContextOptions & options) {
    const EffectiveTypes types =
        resolveTypes(model.handle, options.typeK, options.typeV, flashType(options.flashAttention), true);
    return llama_turbo_centering_resolve(model.handle, types.k, types.v, options.flashAttention != "off").wanted;
}

EffectiveCentering centeringOf(const Model & model, const llama_context_params & params) {
    const llama_turbo_centering found = llama_turbo_centering_resolve(
        model.handle, params.type_k, params.type_v, params.flash_attn_type != LLAMA_FLASH_ATTN_TYPE_DISABLED);
    const auto text = [](const char * reason) { return std::string(reason ? reason : ""); };
    return { found.k, found.v, text(found.reason_k), text(found.reason_v), found.k_blocks, text(found.reason_blocks),
        found.hash };
}

} // namespace concertina
