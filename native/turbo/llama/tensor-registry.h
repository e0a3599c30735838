// What the graph's hooks know of the tensors of a cache, for as long as it lives. Costs nothing while no cache has entered any.
#pragma once

#include "ggml.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

template <typename Entry> class turbo_tensor_registry {
public:
    // of a tensor of a cache or a view of one; an empty entry where there is none
    Entry find(const ggml_tensor * cache) const {
        if (n_entry == 0) { return {}; }
        const std::shared_lock<std::shared_mutex> lock(mutex);
        const auto found = entries.find(cache->view_src ? cache->view_src : cache);
        return found == entries.end() ? Entry() : found->second;
    }

    // False: it has one. A cache that shares tensors of another one keeps what their owner entered.
    bool enter(const ggml_tensor * cache, const Entry & entry) {
        const std::unique_lock<std::shared_mutex> lock(mutex);
        const bool entered = entries.emplace(cache, entry).second;
        n_entry = entries.size();
        return entered;
    }

    void leave(const ggml_tensor * cache) {
        const std::unique_lock<std::shared_mutex> lock(mutex);
        entries.erase(cache);
        n_entry = entries.size();
    }

private:
    mutable std::shared_mutex mutex;
    std::unordered_map<const ggml_tensor *, Entry> entries;
    std::atomic<size_t> n_entry{ 0 };
};
