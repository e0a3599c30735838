// Inside of a calibration, its bytes, and which model has which. Shared by the files of centering; see README.md.
#pragma once

#include "llama-turbo-calibration.h"

#include <cstdint>
#include <memory>
#include <vector>

// Positions of a block of keys that are centered alike (key-blocks.h), at most. Fewer where keys have a bias: what of it turns within
// a block cannot be taken off, and 1 leaves nothing of it.
constexpr uint32_t turbo_center_block = 32;

constexpr bool turbo_is_block(uint32_t n) { return n > 0 && n <= turbo_center_block && (n & (n - 1)) == 0; }

// What is taken off, and the mean square of what is left; [head of KV][value].
struct turbo_means {
    std::vector<float> mean, var;
};

struct turbo_layer_stats {
    uint32_t il = 0;
    uint32_t n_head_kv = 0;
    uint32_t head_k = 0; // values per head
    uint32_t head_v = 0;
    uint32_t n_pair = 0; // of channels that RoPE turns; 0: the model leaves the keys of this layer as they are
    turbo_means k; // one vector for all positions
    turbo_means k_block; // one that turns with the positions; as it is at position 0
    std::vector<float> q_sq; // [n_head_kv][head_k], mean square over tokens and the query heads of the group
    turbo_means v;
};

struct llama_turbo_calibration {
    uint64_t hash = 0;
    uint32_t n_tokens = 0;
    uint32_t block = turbo_center_block; // a power of two; k_block of the layers is of blocks of this size
    std::vector<turbo_layer_stats> layers; // in order of il; layers without a KV cache of their own are missing

    const turbo_layer_stats * find(uint32_t il) const;
    bool finite() const; // a number that is not would make every answer of the model nonsense
    void seal(); // computes the hash
};

// Collects the cache tensors of a context that is being made for calibration.
struct turbo_cache_listener {
    virtual ~turbo_cache_listener() = default;
    virtual void on_layer(uint32_t il, const struct ggml_tensor * k, const struct ggml_tensor * v) = 0;
};

// While it lives, caches made for the model are not centered and are reported to the listener.
class turbo_listening {
public:
    turbo_listening(const llama_model * model, turbo_cache_listener * listener);
    ~turbo_listening();
    turbo_listening(const turbo_listening &) = delete;
    turbo_listening & operator=(const turbo_listening &) = delete;

private:
    const llama_model * model;
};

struct turbo_attached {
    std::shared_ptr<const llama_turbo_calibration> calibration;
    turbo_cache_listener * listener = nullptr;
};

turbo_attached turbo_attached_to(const llama_model * model);
