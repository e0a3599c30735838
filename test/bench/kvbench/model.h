// Models of a named shape with random weights: layers and head counts of models that people run, cut to a few layers,
// so that the curve over depth is about attention and the weights are a few seconds of writing.
#pragma once

#include <cstdint>
#include <string>

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

// NULL when there is no shape of that name.
const model_shape * find_shape(const std::string & name);

// Writes a qwen3 model in Q8_0, without a tokenizer, to path; n_layer 0 keeps the shape's. False when the file cannot
// be written.
bool write_shape(const model_shape & shape, uint32_t n_layer, const std::string & path);

// Bytes of weights that one decoded token must read: the sum over the tensors of a GGUF file, all but the token embedding
// (of which a token reads one row) unless that is also the output matrix; of experts the share that a token uses. 0 when
// the file cannot be read. Files in several parts: only the first is counted.
int64_t weight_bytes_per_token(const std::string & path);
