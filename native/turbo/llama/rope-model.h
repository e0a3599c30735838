// RoPE of a layer as ggml computes it, for what follows keys through it: calibration and centering by blocks.
#pragma once

#include "rope-stats.h"

#include <vector>

struct llama_model;
struct llama_cparams;

// What positions do to the keys of a layer in a context with these parameters. Without angles where nothing turns.
struct turbo_rope_turns {
    bool neox = false; // as in turbo_rope
    uint32_t n_pair = 0;
    std::vector<float> values; // [position][pair][cos, sin], of YaRN's magnitude

    turbo_rope at(size_t i) const; // of the i-th position
};

turbo_rope_turns turbo_turns_of(
    const llama_model & model, const llama_cparams & cparams, uint32_t il, const std::vector<int32_t> & positions);
