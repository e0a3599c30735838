#include "tiny-model.h"

#include "check.h"
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
constexpr uint32_t n_embd = 128;
constexpr uint32_t n_head = 4;
constexpr uint32_t n_kv = 2;
constexpr uint32_t n_ff = 128;
constexpr uint32_t n_layer = 2;

class writer {
public:
    writer() : meta(gguf_init_empty()), data(ggml_init({ 64u << 20, nullptr, false })), rng(7) {}

    // Weights keep the variance of what they multiply, so that attention logits have variance one: sharper ones
    // would make the tests measure the chaos of a random model. Norms and biases are near one.
    void tensor(const std::string & name, int64_t rows, int64_t cols = 1, float size = 1.0f) {
        ggml_tensor * t = cols == 1 ? ggml_new_tensor_1d(data.get(), GGML_TYPE_F32, rows)
                                    : ggml_new_tensor_2d(data.get(), GGML_TYPE_F32, rows, cols);
        ggml_set_name(t, name.c_str());
        std::normal_distribution<float> dist(cols == 1 ? 1.0f : 0.0f, cols == 1 ? 0.1f : 1.0f / std::sqrt(float(rows)));
        for (int64_t i = 0; i < ggml_nelements(t); ++i) { static_cast<float *>(t->data)[i] = size * dist(rng); }
        gguf_add_tensor(meta.get(), t);
    }

    void u32(const char * key, uint32_t value) { gguf_set_val_u32(meta.get(), key, value); }

    gguf_context_ptr meta;

private:
    ggml_context_ptr data;
    std::mt19937 rng;
};

const char * const architectures[] = { "llama", "gemma3", "gemma2", "granite_swa", "llama", "gemma3" };

void metadata(writer & w, const tiny_model_shape & shape) {
    const std::string arch = architectures[shape.kind];
    const auto u32 = [&](const char * key, uint32_t value) { w.u32((arch + "." + key).c_str(), value); };
    const auto f32 = [&](const char * key, float value) {
        gguf_set_val_f32(w.meta.get(), (arch + "." + key).c_str(), value);
    };

    gguf_set_val_str(w.meta.get(), "general.architecture", arch.c_str());
    gguf_set_val_str(w.meta.get(), "tokenizer.ggml.model", "no_vocab");
    f32("attention.layer_norm_rms_epsilon", 1e-5f);
    const std::pair<const char *, uint32_t> sizes[] = { { "vocab_size", n_vocab }, { "context_length", 512 },
        { "embedding_length", n_embd }, { "block_count", n_layer }, { "feed_forward_length", n_ff },
        { "attention.head_count", n_head }, { "attention.head_count_kv", n_kv },
        { "attention.key_length", shape.head_dim }, { "attention.value_length", shape.head_dim },
        { "rope.dimension_count", shape.kind == TINY_PARTIAL ? shape.head_dim / 2 : shape.head_dim } };
    for (const auto & [key, value] : sizes) { u32(key, value); }
    if (shape.kind == TINY_LONGROPE) {
        gguf_set_val_str(w.meta.get(), "llama.rope.scaling.type", "longrope");
        u32("rope.scaling.original_context_length", 256);
    }
    if (shape.kind == TINY_LLAMA || shape.kind == TINY_LONGROPE) { return; }
    u32("attention.sliding_window", 24);
    if (shape.kind == TINY_SINKS) {
        const int8_t windowed[n_layer] = { 1, 0 };
        gguf_set_arr_data(
            w.meta.get(), (arch + ".attention.sliding_window_pattern").c_str(), GGUF_TYPE_BOOL, windowed, n_layer);
        f32("logit_scale", 1.0f);
        f32("attention.scale", 1.0f / std::sqrt(float(shape.head_dim)));
    } else {
        u32("attention.sliding_window_pattern", 2);
        f32("attn_logit_softcapping", 2.0f);
        f32("final_logit_softcapping", 30.0f);
    }
}

void attention_extras(writer & w, const tiny_model_shape & shape, const std::string & blk) {
    if (shape.k_bias) {
        w.tensor(blk + "attn_q.bias", n_head * shape.head_dim);
        w.tensor(blk + "attn_k.bias", n_kv * shape.head_dim, 1, shape.bias_size);
        w.tensor(blk + "attn_v.bias", n_kv * shape.head_dim);
    }
    if (shape.kind == TINY_SINKS) { w.tensor(blk + "attn_sinks.weight", n_head); }
    const bool gemma3 = shape.kind == TINY_WINDOW || shape.kind == TINY_PARTIAL;
    if (gemma3) {
        w.tensor(blk + "attn_q_norm.weight", shape.head_dim);
        w.tensor(blk + "attn_k_norm.weight", shape.head_dim);
    }
    if (gemma3 || shape.kind == TINY_SOFTCAP) {
        w.tensor(blk + "post_attention_norm.weight", n_embd);
        w.tensor(blk + "post_ffw_norm.weight", n_embd);
    }
}

void fill(writer & w, const tiny_model_shape & shape) {
    metadata(w, shape);
    w.tensor("token_embd.weight", n_embd, n_vocab);
    if (shape.kind != TINY_SOFTCAP) { // gemma2 always uses the embedding
        w.tensor("output.weight", n_embd, n_vocab);
    }
    w.tensor("output_norm.weight", n_embd);
    if (shape.kind == TINY_LONGROPE) {
        w.tensor("rope_factors_long.weight", shape.head_dim / 2);
        w.tensor("rope_factors_short.weight", shape.head_dim / 2);
    }
    for (uint32_t il = 0; il < n_layer; ++il) {
        const std::string blk = "blk." + std::to_string(il) + ".";
        w.tensor(blk + "attn_norm.weight", n_embd);
        w.tensor(blk + "attn_q.weight", n_embd, n_head * shape.head_dim);
        w.tensor(blk + "attn_k.weight", n_embd, n_kv * shape.head_dim, shape.k_size);
        w.tensor(blk + "attn_v.weight", n_embd, n_kv * shape.head_dim);
        w.tensor(blk + "attn_output.weight", n_head * shape.head_dim, n_embd);
        w.tensor(blk + "ffn_norm.weight", n_embd);
        w.tensor(blk + "ffn_gate.weight", n_embd, n_ff);
        w.tensor(blk + "ffn_up.weight", n_embd, n_ff);
        w.tensor(blk + "ffn_down.weight", n_ff, n_embd);
        attention_extras(w, shape, blk);
    }
}

} // namespace

llama_model_ptr make_tiny_model(const tiny_model_shape & shape) {
    writer w;
    fill(w, shape);
    const auto path = std::filesystem::temp_directory_path() /
                      ("concertina-tiny-" + std::to_string(std::random_device{}()) + ".gguf");
    if (!gguf_write_to_file(w.meta.get(), path.string().c_str(), false)) {
        fprintf(stderr, "cannot write %s\n", path.string().c_str());
        abort();
    }
    llama_model_ptr model(llama_model_load_from_file(path.string().c_str(), llama_model_default_params()));
    std::filesystem::remove(path);
    return model;
}

llama_context_ptr make_context(llama_model * model, const kv_setup & setup) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 256 * setup.n_seq;
    params.n_batch = 64;
    params.n_ubatch = 64;
    params.n_seq_max = setup.n_seq;
    params.kv_unified = setup.unified;
    params.n_threads = 2;
    params.n_threads_batch = 2;
    params.type_k = setup.k;
    params.type_v = setup.v;
    params.flash_attn_type = setup.flash;
    if (setup.rope) {
        params.rope_scaling_type = setup.rope->type;
        params.rope_freq_scale = setup.rope->freq_scale;
        params.yarn_ext_factor = setup.rope->ext_factor;
        params.yarn_orig_ctx = setup.rope->orig_ctx;
    }
    return llama_context_ptr(llama_init_from_model(model, params));
}

llama_token tiny_token(int seed, int i) { return (7 * i + i * i / 3 + 11 * seed + (i * seed) % 5) % int(n_vocab); }

std::vector<float> decode(llama_context * ctx, int pos, int n, int n_seq, int first_token) {
    llama_batch batch = llama_batch_init(n * n_seq, 0, 1);
    for (int i = 0; i < n * n_seq; ++i) {
        const int seq = i % n_seq;
        const int at = i / n_seq;
        batch.token[i] = tiny_token(seq, (first_token < 0 ? pos : first_token) + at);
        batch.pos[i] = pos + at;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = seq;
        batch.logits[i] = true;
    }
    batch.n_tokens = n * n_seq;
    CHECK(llama_decode(ctx, batch) == 0);
    llama_batch_free(batch);
    const float * logits = llama_get_logits(ctx);
    return std::vector<float>(logits, logits + n_vocab * n * n_seq);
}

std::vector<float> decode_sequence(llama_context * ctx, int seq, int pos, int n) {
    llama_batch batch = llama_batch_init(n, 0, 1);
    for (int i = 0; i < n; ++i) {
        batch.token[i] = tiny_token(seq, pos + i);
        batch.pos[i] = pos + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = seq;
        batch.logits[i] = true;
    }
    batch.n_tokens = n;
    CHECK(llama_decode(ctx, batch) == 0);
    llama_batch_free(batch);
    const float * logits = llama_get_logits(ctx);
    return std::vector<float>(logits, logits + n_vocab * n);
}

std::vector<float> shifted_logits(llama_context * ctx) {
    decode(ctx, 0, 48);
    llama_memory_t memory = llama_get_memory(ctx);
    CHECK(llama_memory_can_shift(memory));
    llama_memory_seq_rm(memory, 0, 0, 13);
    llama_memory_seq_add(memory, 0, 13, 48, -13);
    return decode(ctx, 35, 16, 1, 48);
}

std::vector<uint8_t> state_of(llama_context * ctx) {
    std::vector<uint8_t> state(llama_state_seq_get_size(ctx, 0));
    CHECK(llama_state_seq_get_data(ctx, state.data(), state.size(), 0) == state.size());
    return state;
}

bool restores(llama_context * ctx, const std::vector<uint8_t> & state) {
    return llama_state_seq_set_data(ctx, state.data(), state.size(), 0) == state.size();
}
