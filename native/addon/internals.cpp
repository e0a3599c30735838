#include "internals.h"

#include "llama-context.h"
#include "llama-ext.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"
#include "llama-memory-recurrent.h"
#include "llama-model.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace concertina {
namespace {

constexpr uint64_t halfBytes = 2;

void addTensors(const llama_kv_cache * cache, bool hasV, PartBytes & bytes) {
    // get_v makes a view and so wants a context; the view's source is the tensor in the cache
    const ggml_init_params params = {ggml_tensor_overhead() * (cache->get_layer_ids().size() + 1), nullptr, true};
    ggml_context * scratch = ggml_init(params);
    llama_kv_cache::slot_info first;
    first.s0 = first.s1 = 0;
    for (const uint32_t layer : cache->get_layer_ids()) {
        const ggml_tensor * k = cache->get_k_storage(layer);
        bytes.kvK += ggml_nbytes(k);
        bytes.kvF16 += ggml_nelements(k) * halfBytes;
        if (!hasV) continue;
        const ggml_tensor * v = cache->get_v(scratch, layer, 1, first)->view_src;
        bytes.kvV += ggml_nbytes(v);
        bytes.kvF16 += ggml_nelements(v) * halfBytes;
    }
    ggml_free(scratch);
}

// the KV caches inside a memory; empty for kinds that are not known here
std::vector<const llama_kv_cache *> cachesOf(const llama_memory_i * memory) {
    if (const auto * plain = dynamic_cast<const llama_kv_cache *>(memory)) return {plain};
    if (const auto * window = dynamic_cast<const llama_kv_cache_iswa *>(memory)) return {window->get_base(), window->get_swa()};
    if (const auto * hybrid = dynamic_cast<const llama_memory_hybrid *>(memory)) return {hybrid->get_mem_attn()};
    if (const auto * hybrid = dynamic_cast<const llama_memory_hybrid_iswa *>(memory)) {
        return {hybrid->get_mem_attn()->get_base(), hybrid->get_mem_attn()->get_swa()};
    }
    return {};
}

uint64_t numberIn(const char * path, const std::string & key) {
    std::ifstream file(path);
    std::string word;
    uint64_t value = 0;
    if (key.empty()) return file >> value ? value : 0;
    while (file >> word) {
        if (word == key && file >> value) return value;
    }
    return 0;
}

// 0: no limit
uint64_t controlGroupLimit() {
    return numberIn("/sys/fs/cgroup/memory.max", "");
}

} // namespace

PartBytes partBytes(const llama_context * context) {
    PartBytes bytes;
    uint64_t held = 0;
    for (const auto & [type, part] : llama_get_memory_breakdown(context)) {
        bytes.weights += part.model;
        bytes.compute += part.compute;
        held += part.context;
    }
    const llama_memory_i * memory = llama_get_memory(context);
    const bool hasV = !llama_get_model(context)->hparams.is_mla();
    for (const llama_kv_cache * cache : cachesOf(memory)) addTensors(cache, hasV, bytes);
    const bool known = bytes.kvK > 0 || dynamic_cast<const llama_memory_recurrent *>(memory) != nullptr;
    if (!known) {
        // latent caches of newer architectures: one store for both sides
        bytes.kvK = bytes.kvF16 = held;
        return bytes;
    }
    const uint64_t cache = bytes.kvK + bytes.kvV;
    bytes.compute += held > cache ? held - cache : 0;
    return bytes;
}

bool usesFlashAttention(const llama_context * context) {
    return context->get_cparams().flash_attn;
}

uint64_t expectedKvBytes(const llama_model * model, uint32_t cells, uint32_t batch, ggml_type typeK, ggml_type typeV) {
    const llama_hparams & hparams = model->hparams;
    uint64_t bytes = 0;
    for (uint32_t layer = 0; layer < hparams.n_layer(); layer++) {
        if (!hparams.has_kv(layer) || hparams.is_recr(layer)) continue;
        const uint64_t window = std::min<uint64_t>(cells, uint64_t(hparams.n_swa) + batch);
        const uint64_t rows = hparams.is_swa(layer) && hparams.n_swa > 0 ? window : cells;
        bytes += rows * ggml_row_size(typeK, hparams.n_embd_k_gqa(layer));
        if (!hparams.is_mla()) bytes += rows * ggml_row_size(typeV, hparams.n_embd_v_gqa(layer));
    }
    return bytes;
}

bool headDimsFit(const llama_model * model, ggml_type typeK, ggml_type typeV) {
    const llama_hparams & hparams = model->hparams;
    for (uint32_t layer = 0; layer < hparams.n_layer(); layer++) {
        if (hparams.n_embd_head_k(layer) % ggml_blck_size(typeK) != 0) return false;
        if (hparams.n_embd_head_v(layer) % ggml_blck_size(typeV) != 0) return false;
    }
    return true;
}

TrainedContextGuard::TrainedContextGuard(llama_model * made) : model(made), trained(made->hparams.n_ctx_train) {}

TrainedContextGuard::~TrainedContextGuard() {
    model->hparams.n_ctx_train = trained;
}

uint64_t totalMemory() {
    size_t available = 0, total = 0;
    ggml_backend_dev_memory(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), &available, &total);
    const uint64_t limit = controlGroupLimit();
    return limit ? std::min<uint64_t>(limit, total) : total;
}

uint64_t availableMemory() {
    const uint64_t kibibytes = numberIn("/proc/meminfo", "MemAvailable:");
    const uint64_t total = totalMemory();
    return kibibytes ? std::min(kibibytes * 1024, total) : total;
}

} // namespace concertina
