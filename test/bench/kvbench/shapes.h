// Models of a named shape with random weights: layers and head counts of models that people run, cut to a few layers,
// so that the curve over depth is about attention and the weights are a few seconds of writing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct model_shape {
    const char * name;
    const char * what;
    uint32_t n_layer;
    uint32_t n_embd;
    uint32_t n_head;
    uint32_t n_head_kv;
    uint32_t head_dim;
    uint32_t n_ff;
    bool tied; // output matrix is the token embedding
};

const std::vector<model_shape> & model_shapes();

// NULL when there is no shape of that name.
const model_shape * find_shape(const std::string & name);

// Writes a qwen3 model in Q8_0, without a tokenizer, to path; n_layer 0 keeps the shape's. False when the file cannot
// be written.
bool write_shape(const model_shape & shape, uint32_t n_layer, const std::string & path);
