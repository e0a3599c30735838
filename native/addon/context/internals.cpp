#include "context/internals.h"

#include "machine/Capabilities.h"

#include "ggml-turbo.h"
#include "llama-context.h"
#include "llama-ext.h"
#include "llama-graph.h"
#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"
#include "llama-memory-recurrent.h"
#include "llama-memory.h"
#include "llama-model.h"
#include "llama-turbo-calibration.h"
#include "recent-window.h"

#ifdef CONCERTINA_VULKAN
#include "turbo-vulkan-app.h"
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace concertina {
namespace {

constexpr uint64_t halfBytes = 2;

// visit(layer, K's tensor, V's or null)
template <typename Visit> void forEachLayer(const llama_kv_cache * cache, bool hasV, Visit && visit) {
    // get_v makes a view and so wants a context; the view's source is the tensor in the cache
    const ggml_init_params params = { ggml_tensor_overhead() * (cache->get_layer_ids().size() + 1), nullptr, true };
    ggml_context * scratch = ggml_init(params);
    llama_kv_cache::slot_info first;
    first.s0 = first.s1 = 0;
    for (const uint32_t layer : cache->get_layer_ids()) {
        const ggml_tensor * v = hasV ? cache->get_v(scratch, layer, 1, first)->view_src : nullptr;
        visit(layer, cache->get_k_storage(layer), v);
    }
    ggml_free(scratch);
}

// Returns those of the window of recent cells, by the buffer of the cache, whose device holds the window, too.
std::map<ggml_backend_buffer_t, uint64_t> addTensors(const llama_kv_cache * cache, bool hasV, PartBytes & bytes) {
    std::map<ggml_backend_buffer_t, uint64_t> recent;
    const auto add = [&](const ggml_tensor * side, uint64_t & part) {
        recent[side->buffer] += llama_turbo_recent_bytes(side);
        part += ggml_nbytes(side) + llama_turbo_recent_bytes(side);
        bytes.kvF16 += ggml_nelements(side) * halfBytes;
    };
    forEachLayer(cache, hasV, [&](uint32_t, const ggml_tensor * k, const ggml_tensor * v) {
        add(k, bytes.kvK);
        if (v) add(v, bytes.kvV);
    });
    return recent;
}

// a turbo type, where one of the layers has one for K
ggml_type centeredType(const llama_kv_cache * cache) {
    ggml_type type = cache->type_k();
    forEachLayer(cache, false, [&](uint32_t, const ggml_tensor * k, const ggml_tensor *) {
        if (ggml_turbo_is_turbo(k->type)) type = k->type;
    });
    return type;
}

// the KV caches inside a memory; empty for kinds that are not known here
std::vector<const llama_kv_cache *> cachesOf(const llama_memory_i * memory) {
    if (const auto * plain = dynamic_cast<const llama_kv_cache *>(memory)) return { plain };
    if (const auto * window = dynamic_cast<const llama_kv_cache_iswa *>(memory))
        return { window->get_base(), window->get_swa() };
    if (const auto * hybrid = dynamic_cast<const llama_memory_hybrid *>(memory)) return { hybrid->get_mem_attn() };
    if (const auto * hybrid = dynamic_cast<const llama_memory_hybrid_iswa *>(memory)) {
        return { hybrid->get_mem_attn()->get_base(), hybrid->get_mem_attn()->get_swa() };
    }
    return {};
}

const llama_kv_cache * windowOf(const llama_memory_i * memory) {
    if (const auto * window = dynamic_cast<const llama_kv_cache_iswa *>(memory)) return window->get_swa();
    const auto * hybrid = dynamic_cast<const llama_memory_hybrid_iswa *>(memory);
    return hybrid ? hybrid->get_mem_attn()->get_swa() : nullptr;
}

const llama_memory_recurrent * recurrentOf(const llama_memory_i * memory) {
    if (const auto * hybrid = dynamic_cast<const llama_memory_hybrid *>(memory)) return hybrid->get_mem_recr();
    if (const auto * hybrid = dynamic_cast<const llama_memory_hybrid_iswa *>(memory)) return hybrid->get_mem_recr();
    return dynamic_cast<const llama_memory_recurrent *>(memory);
}

// upstream's name for a buffer over a mapped file ("CPU_Mapped")
bool isMapped(ggml_backend_buffer_type_t type) {
    const std::string name = ggml_backend_buft_name(type), suffix = "_Mapped";
    return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// Upstream counts a mapped buffer from the first of its tensors in the file to the last, also those in between that were
// repacked into a buffer of their own and are thus counted twice. Here: what its own tensors take.
uint64_t mappedBytes(const llama_model & model, ggml_backend_buffer_type_t type) {
    std::map<const void *, uint64_t> sizes; // tied embeddings are two tensors over the same bytes
    for (const auto & [name, tensor] : llama_internal_get_tensor_map(&model)) {
        if (!tensor->buffer || ggml_backend_buffer_get_type(tensor->buffer) != type) continue;
        sizes[tensor->data] =
            GGML_PAD(ggml_backend_buft_get_alloc_size(type, tensor), ggml_backend_buft_get_alignment(type));
    }
    uint64_t bytes = 0;
    for (const auto & [data, size] : sizes) bytes += size;
    return bytes;
}

DeviceUse & entryOf(std::vector<DeviceUse> & uses, const std::string & name, const std::string & kind) {
    for (DeviceUse & use : uses) {
        if (use.name == name) return use;
    }
    return uses.emplace_back(DeviceUse{ name, kind });
}

DeviceUse & entryAt(std::vector<DeviceUse> & uses, ggml_backend_dev_t device) {
    if (device && ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU) device = nullptr;
    return entryOf(uses, nameOf(device), kindOf(device));
}

// What back ends take for K and V of one layer as f16 while they read a prompt: one buffer a device, for the largest layer.
std::map<ggml_backend_dev_t, uint64_t> copiesForPrefill(const llama_model & model, const llama_memory_i * memory) {
    std::map<ggml_backend_dev_t, uint64_t> copies;
#ifdef CONCERTINA_VULKAN
    for (const llama_kv_cache * cache : cachesOf(memory)) {
        forEachLayer(cache, !model.hparams.is_mla(), [&](uint32_t layer, const ggml_tensor * k, const ggml_tensor * v) {
            ggml_backend_dev_t device = model.dev_layer(static_cast<int>(layer));
            if (!v || !isLocalGpu(device)) return;
            uint64_t & bytes = copies[device];
            bytes = std::max(
                bytes, turbo_vulkan_copy_bytes(device, k->type, v->type, ggml_nelements(k), ggml_nelements(v)));
        });
    }
#else
    (void) model, (void) memory;
#endif
    return copies;
}

MemoryUse useOf(const llama_context * context) {
    const llama_model & model = *llama_get_model(context);
    MemoryUse use;
    PartBytes & parts = use.parts;
    uint64_t held = 0, recent = 0; // of contexts; of windows of recent cells
    for (const auto & [type, part] : llama_get_memory_breakdown(context)) {
        // host memory that a GPU's driver pins is RAM
        ggml_backend_dev_t device = ggml_backend_buft_is_host(type) ? nullptr : ggml_backend_buft_get_device(type);
        DeviceUse & there = entryOf(use.devices, nameOf(device), kindOf(device));
        const uint64_t weights = isMapped(type) ? std::min<uint64_t>(part.model, mappedBytes(model, type)) : part.model;
        if (isMapped(type)) there.mapped += weights;
        there.weights += weights;
        there.context += part.context;
        there.compute += part.compute;
        parts.weights += weights;
        parts.compute += part.compute;
        held += part.context;
    }
    const llama_memory_i * memory = llama_get_memory(context);
    for (const llama_kv_cache * one : cachesOf(memory)) {
        for (const auto & [buffer, bytes] : addTensors(one, !model.hparams.is_mla(), parts)) {
            recent += bytes;
            entryAt(use.devices, ggml_backend_buft_get_device(ggml_backend_buffer_get_type(buffer))).context += bytes;
        }
        if (one->get_layer_ids().empty()) continue; // all layers have windows, or none has
        const size_t turns =
            llama_turbo_block_bytes(&model, centeredType(one), context->get_cparams().flash_attn, one->get_size());
        parts.compute += turns;
        if (turns > 0) entryAt(use.devices, nullptr).compute += turns;
    }
    const uint64_t cache = parts.kvK + parts.kvV - recent;
    for (const auto & [device, bytes] : copiesForPrefill(model, memory)) {
        parts.compute += bytes;
        entryAt(use.devices, device).compute += bytes;
    }
    if (parts.kvK > 0 || dynamic_cast<const llama_memory_recurrent *>(memory))
        parts.compute += held > cache ? held - cache : 0;
    else
        parts.kvK = parts.kvF16 = held; // latent caches of newer architectures: one store for both sides
    return use;
}

// "kq_soft_max-12" -> 12; -1: another node
int layerOfSoftMax(const ggml_tensor * node) {
    constexpr char prefix[] = "kq_soft_max-";
    if (node->op != GGML_OP_SOFT_MAX || std::strncmp(node->name, prefix, sizeof(prefix) - 1) != 0) return -1;
    return std::atoi(node->name + sizeof(prefix) - 1);
}

class Groups {
public:
    explicit Groups(const llama_context * context) : context(context), model(*llama_get_model(context)) {}

    void add(ggml_tensor * node, int layer) {
        ggml_backend_t backend = ggml_backend_sched_get_tensor_backend(context->get_sched(), node);
        if (!backend || layer < 0) return;
        ggml_backend_dev_t device = ggml_backend_get_device(backend);
        const AttentionPlace place{ backendName(device), ggml_backend_dev_description(device),
            backendName(model.dev_layer(layer)), model.hparams.is_swa(static_cast<uint32_t>(layer)), 0 };
        for (AttentionPlace & known : found) {
            if (known.device != place.device || known.layerBackend != place.layerBackend ||
                known.window != place.window)
                continue;
            known.layers++;
            return;
        }
        found.push_back(place);
        found.back().layers = 1;
    }

    std::vector<AttentionPlace> found;

private:
    const llama_context * context;
    const llama_model & model;
};

std::vector<AttentionPlace> attentionOf(llama_context * context) {
    // the graph of one token of each sequence, as upstream reserves it, divided among the backends but not allocated: what the
    // scheduler forgets when it reserves
    const llama_memory_context_ptr memory = context->get_memory()->init_full();
    const uint32_t sequences = context->get_cparams().n_seq_max;
    if (!context->graph_reserve(sequences, sequences, sequences, memory.get(), true)) return {};
    const llm_graph_result * graph = context->get_gf_res_reserve();
    Groups groups(context);
    for (const llm_graph_fused_node & node : graph->get_fused_nodes()) {
        if (node.op == LLM_FUSED_OP_FLASH_ATTN) groups.add(node.tensor, node.il);
    }
    for (int i = 0; i < ggml_graph_n_nodes(graph->get_gf()); i++) {
        ggml_tensor * node = ggml_graph_node(graph->get_gf(), i);
        groups.add(node, layerOfSoftMax(node));
    }
    return groups.found;
}

} // namespace

uint64_t bytesOfCheckpoint(const llama_context * context) {
    const llama_memory_i * memory = llama_get_memory(context);
    const llama_model & model = *llama_get_model(context);
    uint64_t bytes = 0;
    if (const llama_kv_cache * window = windowOf(memory)) {
        PartBytes parts;
        uint64_t recent = 0; // states have none
        for (const auto & [_, part] : addTensors(window, !model.hparams.is_mla(), parts)) recent += part;
        const uint64_t cells = std::min(window->get_size(), model.hparams.n_swa);
        bytes += (parts.kvK + parts.kvV - recent) * cells / std::max(1u, window->get_size());
    }
    if (const llama_memory_recurrent * recurrent = recurrentOf(memory)) {
        uint64_t all = 0; // sequences
        for (const auto & [type, held] : recurrent->memory_breakdown()) all += held;
        bytes += all / context->get_cparams().n_seq_max;
    }
    return bytes;
}

MemoryUse memoryUse(const llama_context * context, const llama_context * draft, const ProjectorBytes & projector,
    uint64_t checkpoints, uint64_t promptCache) {
    MemoryUse use = useOf(context);
    use.parts.compute += checkpoints;
    for (const auto & [device, bytes] : projector.weights) {
        entryAt(use.devices, device).weights += bytes;
        use.parts.projector.weights += bytes;
    }
    for (const auto & [device, bytes] : projector.compute) {
        entryAt(use.devices, device).compute += bytes;
        use.parts.projector.compute += bytes;
    }
    for (DeviceUse & device : use.devices) {
        if (device.kind == kindOf(nullptr)) device.compute += checkpoints + promptCache;
    }
    if (!draft) return use;
    const bool ownWeights = llama_get_model(draft) != llama_get_model(context);
    const auto [parts, devices] = useOf(draft);
    use.parts.draft = { ownWeights ? parts.weights : 0, parts.kvK + parts.kvV, parts.compute };
    for (const DeviceUse & drafting : devices) {
        DeviceUse & device = entryOf(use.devices, drafting.name, drafting.kind);
        if (ownWeights) device.weights += drafting.weights;
        if (ownWeights) device.mapped += drafting.mapped;
        device.context += drafting.context;
        device.compute += drafting.compute;
    }
    return use;
}

void reserve(llama_context * context) { context->sched_reserve(); }

bool usesFlashAttention(const llama_context * context) { return context->get_cparams().flash_attn; }

bool sharesCells(const llama_context * context) {
    return dynamic_cast<const llama_kv_cache *>(llama_get_memory(context)) != nullptr;
}

ModelLimits modelLimits() {
    ModelLimits limits{ {}, LLAMA_MAX_LAYERS, LLAMA_MAX_EXPERTS };
    for (int id = 0; id < GGML_TYPE_COUNT; id++) {
        const auto type = static_cast<ggml_type>(id);
        const char * name = ggml_type_name(type);
        // ours lie in the slots of removed types, and are in no file
        limits.types.push_back(
            { name ? name : "", ggml_turbo_is_turbo(type) ? 0 : ggml_blck_size(type), ggml_type_size(type) });
    }
    return limits;
}

bool hasMtp(const llama_model * model) {
    const llama_hparams & hparams = model->hparams;
    const uint32_t layers = hparams.n_layer_nextn;
    if (layers == 0 || hparams.router_layer >= 0 || (layers > 1 && model->arch != LLM_ARCH_STEP35)) return false;
    return model->layers.at(hparams.n_layer()).nextn.eh_proj != nullptr;
}

HeadShape headShape(const llama_model * model) {
    const llama_hparams & hparams = model->hparams;
    HeadShape most;
    for (uint32_t layer = 0; layer < hparams.n_layer(); layer++) {
        most.dimK = std::max(most.dimK, hparams.n_embd_head_k(layer));
        most.dimV = std::max(most.dimV, hparams.n_embd_head_v(layer));
        most.heads = std::max(most.heads, hparams.n_head(layer));
        most.headsKv = std::max(most.headsKv, hparams.n_head_kv(layer));
    }
    return most;
}

CacheShape cacheShape(const llama_model * model) {
    const llama_hparams & hparams = model->hparams;
    CacheShape shape;
    shape.all = hparams.n_layer_all;
    shape.recurrent = llama_model_is_recurrent(model) || llama_model_is_hybrid(model);
    shape.latent = hparams.is_mla() || model->arch == LLM_ARCH_DEEPSEEK4;
    for (uint32_t layer = 0; layer < hparams.n_layer(); layer++) {
        shape.gpu = shape.gpu || isGpu(model->dev_layer(static_cast<int>(layer)));
        if (hparams.has_kv(layer) && !hparams.is_recr(layer)) shape.layers.push_back(layer);
    }
    return shape;
}

std::vector<CacheLayer> cacheLayers(const llama_context * context) {
    std::vector<CacheLayer> layers;
    const bool hasV = !llama_get_model(context)->hparams.is_mla();
    for (const llama_kv_cache * cache : cachesOf(llama_get_memory(context))) {
        forEachLayer(cache, hasV, [&](uint32_t layer, const ggml_tensor * k, const ggml_tensor * v) {
            layers.push_back({ layer, ggml_type_name(k->type), v ? ggml_type_name(v->type) : "", ggml_nbytes(k),
                v ? ggml_nbytes(v) : 0, llama_turbo_recent_bytes(k) > 0 });
        });
    }
    const auto before = [](const CacheLayer & left, const CacheLayer & right) { return left.layer < right.layer; };
    std::sort(layers.begin(), layers.end(), before);
    return layers;
}

bool headDimsFit(const llama_model * model, ggml_type typeK, ggml_type typeV) {
    const llama_hparams & hparams = model->hparams;
    for (uint32_t layer = 0; layer < hparams.n_layer(); layer++) {
        if (hparams.n_embd_head_k(layer) % ggml_blck_size(typeK) != 0) return false;
        if (hparams.n_embd_head_v(layer) % ggml_blck_size(typeV) != 0) return false;
    }
    return true;
}

TrainedContextGuard::TrainedContextGuard(llama_model * made, uint32_t atLeast)
    : model(made), trained(made->hparams.n_ctx_train) {
    model->hparams.n_ctx_train = std::max(trained, atLeast);
}

TrainedContextGuard::~TrainedContextGuard() { model->hparams.n_ctx_train = trained; }

Placement placementOf(llama_context * context) {
    const llama_model & model = *llama_get_model(context);
    const int layers = llama_model_n_layer(&model);
    Placement placement;
    placement.layers = layers + 1;
    for (int layer = 0; layer < layers; layer++) placement.gpuLayers += isGpu(model.dev_layer(layer));
    placement.gpuLayers += isGpu(model.dev_output());
    if (llama_get_memory(context)) placement.attention = attentionOf(context);
    return placement;
}

ggml_backend_dev_t deviceOfLayer(const llama_model * model, int layer) { return model->dev_layer(layer); }

std::string backendName(ggml_backend_dev_t device) {
    if (!device) return "CPU";
    const std::string name = ggml_backend_reg_name(ggml_backend_dev_backend_reg(device));
    return name == "MTL" ? "Metal" : name;
}

bool isGpu(ggml_backend_dev_t device) {
    if (!device) return false;
    const auto type = ggml_backend_dev_type(device);
    return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

} // namespace concertina
