// Calibration of a model for centered turbo caches (native/turbo/llama/llama-turbo-calibration.h): made once for a model, kept as
// bytes by the caller.
#pragma once

#include "fields.h"
#include "context/Context.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace concertina {

struct CalibrationOptions {
    std::string text;
    int maxTokens = 0; // of the text's beginning
    int positions = 0; // of the contexts it is for; 0: as many as the model was trained for
    int block = 0; // positions of K that are centered alike; 0: as many as do
    int threads = 0; // 0: physical cores
    std::string rope = "model"; // of those contexts, see effective.h; scaled as for a context of `positions`

    CONCERTINA_FIELDS(text, maxTokens, positions, block, threads, rope)
};

// Statistics as bytes. Throws `cancelled`, and `model-unsupported` where there is nothing to measure.
std::vector<uint8_t> calibrate(const std::shared_ptr<Model> & model, const CalibrationOptions & options,
    const std::atomic<bool> & cancel, const std::function<void(float)> & report);

// Contexts made from now on are centered where they can be; empty bytes: not. Throws `data-corrupt` for bytes that are
// damaged or of another model.
void attachCalibration(Model & model, const std::vector<uint8_t> & bytes);

// a context of these options would be centered if the model had measurements
bool wantsCalibration(const Model & model, const ContextOptions & options);

// what a context of these types and flash attention centers
EffectiveCentering centeringOf(const Model & model, const llama_context_params & params);

} // namespace concertina
