// What the tests of centering share: calibrations, and the check that they change nothing but the cells.
#pragma once

#include "check.h"
#include "llama-turbo.h"
#include "samples.h"
#include "tiny-model.h"
#include "calibration-store.h"

#include <cmath>
#include <memory>
#include <vector>

using calibration_ptr = std::unique_ptr<llama_turbo_calibration, decltype(&llama_turbo_calibration_free)>;

inline calibration_ptr calibrate(llama_model * model, int n = 200, int block = 0) {
    std::vector<llama_token> tokens(n);
    for (int i = 0; i < n; ++i) { tokens[i] = tiny_token(0, i); }
    return { llama_turbo_calibrate(model, tokens.data(), n, 0, block, 2, nullptr, nullptr, nullptr),
        llama_turbo_calibration_free };
}

// The means of the calibration, far off: an error of the arithmetic shows, which small true means would hide.
inline calibration_ptr exaggerated(const llama_turbo_calibration & from, float by) {
    calibration_ptr res(new llama_turbo_calibration(from), llama_turbo_calibration_free);
    for (auto & layer : res->layers) {
        for (size_t i = 0; i < layer.k.mean.size(); ++i) {
            layer.k.mean[i] += by * std::sin(float(i));
            layer.k_block.mean[i] += by * std::sin(float(i + 1));
            layer.v.mean[i] += by * std::cos(float(i));
        }
    }
    res->seal();
    return res;
}

// Centres every type while it lives, with this calibration; afterwards none.
class centered {
public:
    centered(llama_model * model, const llama_turbo_calibration & calibration, bool every_type = true) : model(model) {
        llama_turbo_centering_every_type(every_type);
        CHECK(llama_turbo_calibration_attach(model, &calibration));
    }

    ~centered() {
        llama_turbo_centering_every_type(false);
        llama_turbo_calibration_attach(model, nullptr);
    }

    centered(const centered &) = delete;
    centered & operator=(const centered &) = delete;

private:
    llama_model * model;
};

// A prefill, then single tokens, of each sequence.
inline std::vector<float> read_all(llama_context * ctx, int n_seq = 1) {
    std::vector<float> logits;
    for (const auto [pos, n] : { std::pair(0, 30), { 30, 30 }, { 60, 1 }, { 61, 1 }, { 62, 1 } }) {
        const std::vector<float> part = decode(ctx, pos, n, n_seq);
        logits.insert(logits.end(), part.begin(), part.end());
    }
    return logits;
}

// Relative squared errors. f32: float noise. f16: each stored value is rounded by up to 2^-11, and the random model
// multiplies that. Any constant that is missing somewhere gives an error near 1.
constexpr double tolerance_f32 = 1e-9;
constexpr double tolerance_f16 = 1e-4;

// block: 0: as the model has it
template <typename Read>
void check_exact(llama_model * model, const kv_setup & setup, double tolerance, Read && read, int block = 0) {
    const std::vector<float> plain = read(make_context(model, setup).get());
    const calibration_ptr calibration = exaggerated(*calibrate(model, 200, block), 1.0f);
    const centered on(model, *calibration);
    const llama_context_ptr ctx = make_context(model, setup);
    const double error = relative_mse(plain, read(ctx.get()));
    CHECK_LE(error, tolerance);
}

inline void check_exact(llama_model * model, const kv_setup & setup, double tolerance, int block = 0) {
    check_exact(model, setup, tolerance, [&](llama_context * ctx) { return read_all(ctx, setup.n_seq); }, block);
}
