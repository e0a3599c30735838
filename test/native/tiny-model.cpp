#include "tiny-model.h"

#include "ggml-cpp.h"
#include "gguf.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace {

constexpr uint32_t n_vocab = 64;
constexpr uint32_t n_embd  = 128;
constexpr uint32_t n_head  = 4;
constexpr uint32_t n_kv    = 2;
constexpr uint32_t n_ff    = 128;
constexpr uint32_t n_layer = 2;

class writer {
public:
    writer() : meta(gguf_init_empty()), data(ggml_init({ 64u << 20, nullptr, false })), rng(7) {}

    // Weights keep the variance of what they multiply, so that attention logits have variance one: sharper ones
    // would make the tests measure the chaos of a random model. Norms and biases are near one.
    void tensor(const std::string & name, int64_t rows, int64_t cols = 1) {
        ggml_tensor * t = cols == 1 ? ggml_new_tensor_1d(data.get(), GGML_TYPE_F32, rows) : ggml_new_tensor_2d(data.get(), GGML_TYPE_F32, rows, cols);
        ggml_set_name(t, name.c_str());
        std::normal_distribution<float> dist(cols == 1 ? 1.0f : 0.0f, cols == 1 ? 0.1f : 1.0f/std::sqrt(float(rows)));
        for (int64_t i = 0; i < ggml_nelements(t); ++i) {
            static_cast<float *>(t->data)[i] = dist(rng);
        }
        gguf_add_tensor(meta.get(), t);
    }

    void u32(const char * key, uint32_t value) {
        gguf_set_val_u32(meta.get(), key, value);
    }

    gguf_context_ptr meta;

private:
    ggml_context_ptr data;
    std::mt19937     rng;
};

void fill(writer & w, const tiny_model_shape & shape) {
    gguf_set_val_str(w.meta.get(), "general.architecture", "llama");
    gguf_set_val_str(w.meta.get(), "tokenizer.ggml.model", "no_vocab");
    gguf_set_val_f32(w.meta.get(), "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    w.u32("llama.vocab_size",              n_vocab);
    w.u32("llama.context_length",          512);
    w.u32("llama.embedding_length",        n_embd);
    w.u32("llama.block_count",             n_layer);
    w.u32("llama.feed_forward_length",     n_ff);
    w.u32("llama.attention.head_count",    n_head);
    w.u32("llama.attention.head_count_kv", n_kv);
    w.u32("llama.attention.key_length",    shape.head_dim);
    w.u32("llama.attention.value_length",  shape.head_dim);
    w.u32("llama.rope.dimension_count",    shape.head_dim);

    w.tensor("token_embd.weight",  n_embd, n_vocab);
    w.tensor("output.weight",      n_embd, n_vocab);
    w.tensor("output_norm.weight", n_embd);
    for (uint32_t il = 0; il < n_layer; ++il) {
        const std::string blk = "blk." + std::to_string(il) + ".";
        w.tensor(blk + "attn_norm.weight",   n_embd);
        w.tensor(blk + "attn_q.weight",      n_embd, n_head*shape.head_dim);
        w.tensor(blk + "attn_k.weight",      n_embd, n_kv*shape.head_dim);
        w.tensor(blk + "attn_v.weight",      n_embd, n_kv*shape.head_dim);
        w.tensor(blk + "attn_output.weight", n_head*shape.head_dim, n_embd);
        w.tensor(blk + "ffn_norm.weight",    n_embd);
        w.tensor(blk + "ffn_gate.weight",    n_embd, n_ff);
        w.tensor(blk + "ffn_up.weight",      n_embd, n_ff);
        w.tensor(blk + "ffn_down.weight",    n_ff,   n_embd);
        if (shape.k_bias) {
            w.tensor(blk + "attn_q.bias", n_head*shape.head_dim);
            w.tensor(blk + "attn_k.bias", n_kv*shape.head_dim);
            w.tensor(blk + "attn_v.bias", n_kv*shape.head_dim);
        }
    }
}

} // namespace

llama_model_ptr make_tiny_model(const tiny_model_shape & shape) {
    writer w;
    fill(w, shape);
    const auto path = std::filesystem::temp_directory_path() / ("concertina-tiny-" + std::to_string(std::random_device{}()) + ".gguf");
    if (!gguf_write_to_file(w.meta.get(), path.string().c_str(), false)) {
        fprintf(stderr, "cannot write %s\n", path.string().c_str());
        abort();
    }
    llama_model_ptr model(llama_model_load_from_file(path.string().c_str(), llama_model_default_params()));
    std::filesystem::remove(path);
    return model;
}
