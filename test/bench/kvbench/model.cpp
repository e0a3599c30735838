#include "kvbench.h"

#include "ggml-cpp.h"
#include "gguf.h"

#include <cmath>
#include <cstring>
#include <random>

namespace {

constexpr uint32_t n_vocab = 32000;
constexpr uint32_t n_ctx = 131072;

class writer {
public:
    explicit writer(size_t n_tensors)
        : meta(gguf_init_empty()), data(ggml_init({ ggml_tensor_overhead() * n_tensors, nullptr, true })), rng(7) {}

    // Q8_0 of uniform values whose variance is 1/rows, so that activations keep theirs through every matrix.
    void matrix(const std::string & name, int64_t rows, int64_t cols) {
        ggml_tensor * t = ggml_new_tensor_2d(data.get(), GGML_TYPE_Q8_0, rows, cols);
        // a block is the fp16 scale and 32 values; uniform on [-127, 127] has the variance 127*128/3
        const ggml_fp16_t scale = ggml_fp32_to_fp16(1.0f / std::sqrt(float(rows) * 127.0f * 128.0f / 3.0f));
        uint8_t * bytes = add(t, name);
        const size_t block = ggml_type_size(GGML_TYPE_Q8_0);
        for (size_t at = 0; at < ggml_nbytes(t); at += block) {
            memcpy(bytes + at, &scale, sizeof(scale));
            for (size_t i = sizeof(scale); i < block; i += sizeof(uint64_t)) {
                const uint64_t random = rng();
                memcpy(bytes + at + i, &random, sizeof(random));
            }
        }
    }

    void norm(const std::string & name, int64_t n) {
        ggml_tensor * t = ggml_new_tensor_1d(data.get(), GGML_TYPE_F32, n);
        uint8_t * bytes = add(t, name);
        const float one = 1.0f;
        for (int64_t i = 0; i < n; ++i) { memcpy(bytes + i * sizeof(one), &one, sizeof(one)); }
    }

    gguf_context_ptr meta;

private:
    uint8_t * add(ggml_tensor * t, const std::string & name) {
        ggml_set_name(t, name.c_str());
        buffers.emplace_back(ggml_nbytes(t));
        t->data = buffers.back().data();
        gguf_add_tensor(meta.get(), t);
        return buffers.back().data();
    }

    ggml_context_ptr data;
    std::vector<std::vector<uint8_t>> buffers;
    std::mt19937_64 rng;
};

void write_metadata(gguf_context * meta, const model_shape & shape, uint32_t n_layer) {
    gguf_set_val_str(meta, "general.architecture", "qwen3");
    gguf_set_val_str(meta, "general.name", shape.name);
    gguf_set_val_str(meta, "tokenizer.ggml.model", "no_vocab");
    const std::pair<const char *, uint32_t> sizes[] = { { "vocab_size", n_vocab }, { "context_length", n_ctx },
        { "embedding_length", shape.n_embd }, { "block_count", n_layer }, { "feed_forward_length", shape.n_ff },
        { "attention.head_count", shape.n_head }, { "attention.head_count_kv", shape.n_head_kv },
        { "attention.key_length", shape.head_dim }, { "attention.value_length", shape.head_dim },
        { "rope.dimension_count", shape.head_dim } };
    for (const auto & [name, size] : sizes) { gguf_set_val_u32(meta, (std::string("qwen3.") + name).c_str(), size); }
    gguf_set_val_f32(meta, "qwen3.rope.freq_base", 1e6f);
    gguf_set_val_f32(meta, "qwen3.attention.layer_norm_rms_epsilon", 1e-6f);
}

void write_layer(writer & w, const model_shape & shape, uint32_t il) {
    const std::string blk = "blk." + std::to_string(il) + ".";
    const int64_t n_q = int64_t(shape.n_head) * shape.head_dim;
    const int64_t n_kv = int64_t(shape.n_head_kv) * shape.head_dim;
    w.norm(blk + "attn_norm.weight", shape.n_embd);
    w.matrix(blk + "attn_q.weight", shape.n_embd, n_q);
    w.matrix(blk + "attn_k.weight", shape.n_embd, n_kv);
    w.matrix(blk + "attn_v.weight", shape.n_embd, n_kv);
    w.matrix(blk + "attn_output.weight", n_q, shape.n_embd);
    w.norm(blk + "attn_q_norm.weight", shape.head_dim);
    w.norm(blk + "attn_k_norm.weight", shape.head_dim);
    w.norm(blk + "ffn_norm.weight", shape.n_embd);
    w.matrix(blk + "ffn_gate.weight", shape.n_embd, shape.n_ff);
    w.matrix(blk + "ffn_up.weight", shape.n_embd, shape.n_ff);
    w.matrix(blk + "ffn_down.weight", shape.n_ff, shape.n_embd);
}

// The value of "<architecture>.<name>" or 0.
int64_t number(const gguf_context * meta, const std::string & name) {
    const int64_t arch = gguf_find_key(meta, "general.architecture");
    if (arch < 0) { return 0; }
    const int64_t id = gguf_find_key(meta, (gguf_get_val_str(meta, arch) + ("." + name)).c_str());
    return id >= 0 && gguf_get_kv_type(meta, id) == GGUF_TYPE_UINT32 ? gguf_get_val_u32(meta, id) : 0;
}

} // namespace

const model_shape * find_shape(const std::string & name) {
    static const std::vector<model_shape> shapes = {
        { "qwen3-0.6b", "Qwen3-0.6B, 8 of 28 layers, GQA 2", 8, 1024, 16, 8, 128, 3072, true },
        { "qwen3-0.6b-gqa4", "the 0.6B shape with 32 query heads, GQA 4", 8, 1024, 32, 8, 128, 3072, true },
        { "qwen3-0.6b-gqa8", "the 0.6B shape with 32 query and 4 KV heads, GQA 8", 8, 1024, 32, 4, 128, 3072, true },
        { "qwen3-8b", "Qwen3-8B, 4 of 36 layers, GQA 4", 4, 4096, 32, 8, 128, 12288, false },
    };
    for (const model_shape & shape : shapes) {
        if (name == shape.name) { return &shape; }
    }
    return nullptr;
}

bool write_shape(const model_shape & shape, uint32_t n_layer, const std::string & path) {
    n_layer = n_layer > 0 ? n_layer : shape.n_layer;
    writer w(3 + 11 * size_t(n_layer));
    write_metadata(w.meta.get(), shape, n_layer);
    w.matrix("token_embd.weight", shape.n_embd, n_vocab);
    w.norm("output_norm.weight", shape.n_embd);
    if (!shape.tied) { w.matrix("output.weight", shape.n_embd, n_vocab); }
    for (uint32_t il = 0; il < n_layer; ++il) { write_layer(w, shape, il); }
    return gguf_write_to_file(w.meta.get(), path.c_str(), false);
}

int64_t weight_bytes_per_token(const std::string & path) {
    gguf_context_ptr meta(gguf_init_from_file(path.c_str(), { /*.no_alloc =*/true, /*.ctx =*/nullptr }));
    if (!meta) { return 0; }
    const bool tied = gguf_find_tensor(meta.get(), "output.weight") < 0;
    const int64_t n_expert = number(meta.get(), "expert_count");
    const int64_t n_used = number(meta.get(), "expert_used_count");
    int64_t sum = 0;
    for (int64_t i = 0; i < gguf_get_n_tensors(meta.get()); ++i) {
        const std::string name = gguf_get_tensor_name(meta.get(), i);
        int64_t bytes = int64_t(gguf_get_tensor_size(meta.get(), i));
        if (name == "token_embd.weight" && !tied) { continue; }
        if (n_expert > 0 && name.find("_exps.") != std::string::npos) { bytes = bytes * n_used / n_expert; }
        sum += bytes;
    }
    return sum;
}
