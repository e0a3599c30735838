#include "context/Placement.h"

#include "llama-context.h"
#include "llama-graph.h"
#include "llama-memory.h"
#include "llama-model.h"

#include <cstdlib>
#include <cstring>

namespace concertina {
namespace {

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
    // the graph of one token, divided among the backends but not allocated: what the scheduler forgets when it reserves
    const llama_memory_context_ptr memory = context->get_memory()->init_full();
    if (!context->graph_reserve(1, 1, 1, memory.get(), true)) return {};
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

Placement placementOf(llama_context * context) {
    const llama_model & model = *llama_get_model(context);
    const int layers = llama_model_n_layer(&model);
    Placement placement;
    placement.layers = layers + 1;
    for (int layer = 0; layer < layers; layer++) placement.offloaded += isGpu(model.dev_layer(layer));
    placement.offloaded += isGpu(model.dev_output());
    placement.attention = attentionOf(context);
    return placement;
}

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
