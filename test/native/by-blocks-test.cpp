// Centering of K by blocks of positions: exact in every way a cache is used, also where a constant would not be (attention sinks,
// capped scores), and what it allows: turbo K of models whose K projection has a bias.

#include "centering.h"
#include "ggml-turbo.h"

#include <cstring>
#include <tuple>

TEST("centering by blocks of positions is exact for every kind of RoPE") {
    const llama_turbo_rope yarn = { LLAMA_ROPE_SCALING_TYPE_YARN, 0.125f, 1.0f, 64 };
    for (const tiny_model_kind kind : { TINY_LLAMA, TINY_WINDOW, TINY_LONGROPE, TINY_PARTIAL }) {
        const llama_model_ptr model = make_tiny_model({ 128, false, kind });
        for (const llama_turbo_rope * rope : { (const llama_turbo_rope *) nullptr, &yarn }) {
            check_exact(model.get(), flash(GGML_TYPE_F16, GGML_TYPE_F16, 1, true, rope), tolerance_f16);
        }
    }
}

TEST("centering by blocks: positions beyond the cells, sequences at unlike depths") {
    for (const tiny_model_kind kind : { TINY_LLAMA, TINY_WINDOW }) {
        const llama_model_ptr model = make_tiny_model({ 128, false, kind });
        check_exact(model.get(), flash(), tolerance_f16, [](llama_context * ctx) {
            std::vector<float> logits;
            for (const auto [pos, n] : { std::pair(5000, 30), { 5030, 1 }, { 5031, 1 }, { 40000, 40 }, { 40040, 1 } }) {
                if (pos == 40000) { llama_memory_clear(llama_get_memory(ctx), true); }
                const std::vector<float> part = decode(ctx, pos, n);
                logits.insert(logits.end(), part.begin(), part.end());
            }
            return logits;
        });
        for (const bool unified : { false, true }) {
            check_exact(
                model.get(), flash(GGML_TYPE_F16, GGML_TYPE_F16, 2, unified), tolerance_f16, [](llama_context * ctx) {
                    std::vector<float> logits;
                    for (const auto [seq, pos, n] :
                        { std::tuple(0, 0, 40), { 1, 900, 40 }, { 0, 40, 1 }, { 1, 940, 1 }, { 0, 41, 7 } }) {
                        const std::vector<float> part = decode_sequence(ctx, seq, pos, n);
                        logits.insert(logits.end(), part.begin(), part.end());
                    }
                    return logits;
                });
        }
    }
}

TEST("centering: sliding windows") {
    const llama_model_ptr window = make_tiny_model({ 128, false, TINY_WINDOW });
    check_exact(window.get(), {}, tolerance_f32);
    check_exact(window.get(), flash(), tolerance_f16);
}

TEST("centering by blocks of any size, or of single positions, is exact") {
    for (const tiny_model_kind kind : { TINY_LLAMA, TINY_PARTIAL }) {
        const llama_model_ptr model = make_tiny_model({ 128, false, kind });
        for (const int block : { 1, 4, 16 }) {
            check_exact(model.get(), flash(), tolerance_f16, block);
            CHECK(llama_turbo_calibration_block(calibrate(model.get(), 64, block).get()) == block);
        }
        for (const int block : { -1, 3, 64 }) { CHECK(calibrate(model.get(), 64, block) == nullptr); }
    }
}

// With a constant for all positions K moves all scores of a query alike, which a cap or a sink tells.
static void check_by_blocks_only(tiny_model_kind kind, const char * why, bool v_too) {
    const llama_model_ptr model = make_tiny_model({ 128, false, kind });
    const calibration_ptr calibration = calibrate(model.get());
    const auto resolve = [&](bool flash) {
        return llama_turbo_centering_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, flash);
    };
    {
        const centered on(model.get(), *calibration, false);
        const llama_turbo_centering blocks = resolve(true);
        CHECK(blocks.k && blocks.k_blocks && !blocks.reason_k && blocks.hash != 0);
        CHECK(blocks.v == v_too && (blocks.reason_v == nullptr) == v_too);
        const llama_turbo_centering constant = resolve(false);
        CHECK(!constant.k && !constant.k_blocks && strstr(constant.reason_k, why));
        CHECK(constant.v == v_too);
    }
    check_exact(model.get(), flash(), tolerance_f16);
    check_exact(model.get(), flash(GGML_TYPE_F16, GGML_TYPE_F16, 2, false), tolerance_f16);
    // without flash attention V alone, where it is
    check_exact(model.get(), {}, v_too ? tolerance_f32 : 0.0);
}

TEST("with attention sinks K is centered by blocks alone, and V is not") {
    check_by_blocks_only(TINY_SINKS, "sinks", false);
}

TEST("with capped scores K is centered by blocks alone") { check_by_blocks_only(TINY_SOFTCAP, "caps", true); }

TEST("keys with a bias are turbo where the model is calibrated and blocks take it off, else q8_0") {
    const llama_model_ptr model = make_tiny_model({ 128, true });
    const auto type_k = [&](bool flash, const char * why) {
        const llama_turbo_resolution res = llama_turbo_resolve(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, flash);
        CHECK(res.type_v == (flash ? GGML_TYPE_TURBO3 : GGML_TYPE_F16));
        CHECK(why ? res.reason_k && strstr(res.reason_k, why) : !res.reason_k);
        return res.type_k;
    };
    CHECK(type_k(true, "calibrated") == GGML_TYPE_Q8_0);
    CHECK(type_k(false, "flash attention") == GGML_TYPE_Q8_0);
    const auto as = [&](bool calibrated) {
        return llama_turbo_resolve_as(model.get(), GGML_TYPE_TURBO4, GGML_TYPE_TURBO4, true, calibrated).type_k;
    };
    CHECK(as(true) == GGML_TYPE_TURBO4 && as(false) == GGML_TYPE_Q8_0);
    CHECK(llama_turbo_centering_resolve(model.get(), as(true), GGML_TYPE_F16, true).wanted);

    const calibration_ptr calibration = calibrate(model.get());
    {
        const centered on(model.get(), *calibration, false);
        CHECK(type_k(true, nullptr) == GGML_TYPE_TURBO4);
        CHECK(type_k(false, "flash attention") == GGML_TYPE_Q8_0);
        CHECK(make_context(model.get(), flash(GGML_TYPE_TURBO4, GGML_TYPE_TURBO4)) != nullptr);
    }
    CHECK(type_k(true, "calibrated") == GGML_TYPE_Q8_0);
    // one that lacks a layer
    calibration_ptr part(new llama_turbo_calibration(*calibration), llama_turbo_calibration_free);
    part->layers.pop_back();
    part->seal();
    const centered on(model.get(), *part, false);
    CHECK(type_k(true, "calibrated") == GGML_TYPE_Q8_0);
}

// Keys whose bias is so many times what else they are.
static llama_model_ptr biased(float by, tiny_model_kind kind = TINY_LLAMA) {
    return make_tiny_model({ 128, true, kind, 1.0f, by });
}

TEST("the larger the bias of the keys, the shorter their blocks") {
    CHECK(llama_turbo_calibration_block(calibrate(make_tiny_model({ 128 }).get()).get()) == int(turbo_center_block));
    int last = turbo_center_block;
    for (const float by : { 0.01f, 0.3f, 3.0f, 30.0f }) {
        const int block = llama_turbo_calibration_block(calibrate(biased(by).get()).get());
        CHECK(block <= last);
        last = block;
    }
    CHECK(llama_turbo_calibration_block(calibrate(biased(0.01f).get()).get()) == int(turbo_center_block));
    CHECK(last == 1);
}

// Errors of K alone, with attention sinks too. The bound is that of q4_0, which has more bits, in the same model without the bias; a
// quarter more, since it is another model.
TEST("a bias of the keys costs turbo K nothing") {
    for (const tiny_model_kind kind : { TINY_LLAMA, TINY_SINKS }) {
        // block: -1: not calibrated
        const auto error = [kind](float by, ggml_type type, int block) {
            const llama_model_ptr model = biased(by, kind);
            const auto logits = [&](ggml_type k) { return decode(make_context(model.get(), flash(k)).get(), 0, 48); };
            const std::vector<float> exact = logits(GGML_TYPE_F16);
            if (block < 0) { return relative_mse(exact, logits(type)); }
            const calibration_ptr calibration = calibrate(model.get(), 200, block);
            const centered on(model.get(), *calibration, false);
            CHECK(llama_turbo_resolve(model.get(), type, GGML_TYPE_F16, true).type_k == type);
            return relative_mse(exact, logits(type));
        };
        const double q4_0 = error(0.0f, GGML_TYPE_Q4_0, -1);
        for (const float by : { 1.0f, 3.0f }) {
            const double chosen = error(by, GGML_TYPE_TURBO4, 0);
            CHECK_LE(chosen, 1.25 * q4_0);
            CHECK_LE(chosen, 1.5 * error(by, GGML_TYPE_TURBO4, 1));
            CHECK_LE(2 * chosen, error(by, GGML_TYPE_Q4_0, -1));
        }
    }
}
