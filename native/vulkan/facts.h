// What the hooks in ggml-vulkan.cpp know of a device, for app.cpp, which does not see upstream's types; and what app.cpp found wrong.
#pragma once

#include "ggml-backend.h"
#include "ggml.h"

#include <cstdint>
#include <functional>
#include <string>

struct turbo_vk_facts {
    bool decode; // the decode kernel runs there
    bool matrices; // on matrix units of 16x16x16
    bool fragments; // the GPU is one whose matrices of 16x8x16 shaders/decode-fragments.comp knows
    bool copies; // prompts of 64 tokens and more expand K and V of one layer to f16
    bool copies_q8_0; // the same for q8_0, which is upstream's own
    uint64_t max_range; // bytes of the largest buffer that a shader may see
    std::string driver; // name and version, as the device tells them
};

// Called whenever a device gets pipelines; asks for the facts the first time. device: "Vulkan0" for the first.
void turbo_vk_note(const std::string & device, const std::function<turbo_vk_facts()> & ask);

// nullptr: not a device of Vulkan, or none that was used yet.
const turbo_vk_facts * turbo_vk_facts_of(ggml_backend_dev_t dev);

// Which decode kernels may run, by the environment variable CONCERTINA_VULKAN_DECODE, for tests and comparisons: 0 none, 1 decode.comp,
// otherwise all.
int turbo_vk_decode_level();

// Whether decode-fragments.comp may run on a device: a GPU that it is for, whose matrices the self-test, where there is one, found to lie as
// it wants them.
bool turbo_vk_takes_fragments(const std::string & device);

// Whether the self-test found the kernels of a type wrong: then it has none.
bool turbo_vk_is_faulty(ggml_type type);
