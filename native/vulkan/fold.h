// Rotations that cost no dispatch of their own: K, V and the query of a turbo cache are rotated by the kernel that reads them
// (shaders/set-rows.comp, shaders/decode.comp), and the result of attention by the kernel that wrote it. A product with the matrix
// takes 4 us on a large GPU however small it is, and an 8B model has 144 of them a token.
//
// Before a graph is allocated, views of the product are led to what was rotated, and the operation at its side gets a mark of ours. An
// allocation is planned on one graph and used for others of the same sizes, prompts and single tokens, so neither the order of nodes nor
// how long tensors live may depend on what was folded. Rows are stored rotated for every number of tokens: their products leave the graph.
// Products for query and result stay for prompts: where they are folded they only lose the mark of being computed, and both sides of every
// candidate are kept until the last reader. All this is done after upstream has put the nodes in order.
#pragma once

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

// Bits of the last of an operation's parameters, which upstream leaves at 0 in SET_ROWS and FLASH_ATTN_EXT. shaders/decode.comp knows the second
// and third.
static constexpr int turbo_vk_mark_at = GGML_MAX_OP_PARAMS / sizeof(int32_t) - 1;
static constexpr int32_t turbo_vk_rotates_rows = 1;
static constexpr int32_t turbo_vk_rotates_query = 1 << 25;
static constexpr int32_t turbo_vk_rotates_result = 1 << 26;

static int32_t turbo_vk_marks(const ggml_tensor * op) { return ggml_get_op_params_i32(op, turbo_vk_mark_at); }

// Whether ggml_vk_flash_attn will take our decode kernel, by the rules at its start.
static bool turbo_vk_takes_decode(const vk_device & device, const ggml_tensor * op) {
    const ggml_tensor * q = op->src[0];
    const ggml_tensor * k = op->src[1];
    const ggml_tensor * v = op->src[2];
    const ggml_tensor * mask = op->src[3];
    const bool f32acc = !device->fp16 || op->op_params[3] == GGML_PREC_F32;
    const auto params = [&](uint32_t n_rows) {
        return get_fa_tuning_params(
            device, (uint32_t) k->ne[0], (uint32_t) v->ne[0], n_rows, (uint32_t) k->ne[1], k->type, v->type, f32acc);
    };
    const uint32_t ratio = (uint32_t) (q->ne[2] / k->ne[2]);
    const bool grouped = q->ne[1] <= 8 && ratio > 1 && ratio <= std::min(params(512).block_rows, 32u) &&
                         ratio * k->ne[2] == q->ne[2] && k->ne[2] == v->ne[2] && (!mask || mask->ne[2] <= 1);
    vk_fa_tuning_params unused;
    return turbo_vk_decode(device, (uint32_t) k->ne[0], (uint32_t) v->ne[0], grouped ? ratio : (uint32_t) q->ne[1],
        k->type, v->type, unused);
}

// The marks of an attention for the shader, which is to be the decode kernel where there are any.
static uint32_t turbo_vk_attention_marks(const ggml_tensor * op, const vk_fa_pipeline_state & state) {
    const int32_t marks = turbo_vk_involves(op->src[1]->type, op->src[2]->type) ? turbo_vk_marks(op) : 0;
    GGML_ASSERT(marks == 0 || state.D_split == turbo_vk_decode_mark);
    return (uint32_t) marks;
}

// A product with a Hadamard matrix and who uses it within the graph.
struct turbo_vk_rotation {
    ggml_tensor * product;
    std::vector<ggml_tensor *> views;
    std::vector<ggml_tensor *> readers; // of views
    int n_uses = 0; // of the product and its views
    bool foldable = true;
};

static ggml_tensor * turbo_vk_base(ggml_tensor * tensor) { return tensor->view_src ? tensor->view_src : tensor; }

static bool turbo_vk_is_rotation(const ggml_tensor * node) {
    return node->op == GGML_OP_MUL_MAT && ggml_get_op_params_i32(node, 1) == GGML_HINT_SRC0_IS_HADAMARD &&
           node->type == GGML_TYPE_F32 && node->src[1]->type == GGML_TYPE_F32 && ggml_is_contiguous(node->src[1]) &&
           !node->buffer; // not allocated yet
}

static std::vector<turbo_vk_rotation> turbo_vk_rotations(const ggml_cgraph * graph) {
    std::vector<turbo_vk_rotation> rotations;
    std::unordered_map<const ggml_tensor *, size_t> at;
    std::vector<int> n_known; // uses by anyone, in this graph or another
    for (int i = 0; i < graph->n_nodes; ++i) {
        ggml_tensor * node = graph->nodes[i];
        const auto of = node->view_src ? at.find(node->view_src) : at.end();
        if (of != at.end()) {
            turbo_vk_rotation & rotation = rotations[of->second];
            rotation.views.push_back(node);
            rotation.foldable &= (node->flags & GGML_TENSOR_FLAG_OUTPUT) == 0 && ggml_op_is_empty(node->op);
            n_known[of->second] += ggml_node_get_use_count(graph, i);
        }
        for (ggml_tensor * src : node->src) {
            const auto found = src ? at.find(turbo_vk_base(src)) : at.end();
            if (found == at.end()) continue;
            turbo_vk_rotation & rotation = rotations[found->second];
            ++rotation.n_uses;
            if (of != at.end()) continue;
            rotation.readers.push_back(node);
            rotation.foldable &= src != rotation.product;
        }
        if (turbo_vk_is_rotation(node)) {
            at[node] = rotations.size();
            rotations.push_back({ node, {}, {} });
            rotations.back().foldable = (node->flags & GGML_TENSOR_FLAG_OUTPUT) == 0;
            n_known.push_back(ggml_node_get_use_count(graph, i));
        }
    }
    for (size_t r = 0; r < rotations.size(); ++r) rotations[r].foldable &= rotations[r].n_uses == n_known[r];
    return rotations;
}

static void turbo_vk_fold_one(const turbo_vk_rotation & rotation) {
    ggml_tensor * input = rotation.product->src[1];
    for (ggml_tensor * view : rotation.views) {
        view->view_src = turbo_vk_base(input);
        view->view_offs += input->view_offs;
        if (view->src[0] == rotation.product) view->src[0] = input;
    }
    rotation.product->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
}

static void turbo_vk_mark(ggml_tensor * op, int32_t mark) {
    ggml_set_op_params_i32(op, turbo_vk_mark_at, turbo_vk_marks(op) | mark);
}

static int turbo_vk_uses(const ggml_cgraph * graph, const ggml_tensor * tensor) {
    for (int i = 0; i < graph->n_nodes; ++i) {
        if (graph->nodes[i] == tensor) return ggml_node_get_use_count(graph, i);
    }
    return 0; // of another graph
}

// A node that computes nothing, holds no memory and keeps none.
static void turbo_vk_drop(ggml_tensor * node, ggml_tensor * of) {
    node->op = GGML_OP_NONE;
    node->view_src = of;
    std::fill(std::begin(node->src), std::end(node->src), nullptr);
}

// The view that `rows` stores is led to what was rotated, and what lay between is dropped. Behind RoPE the view and the store come next:
// there upstream finds what it gives to one kernel (turbo_vk_fuses).
static void turbo_vk_fold_rows(ggml_cgraph * graph, const turbo_vk_rotation & rotation, ggml_tensor * rows) {
    ggml_tensor * view = rows->src[0];
    ggml_tensor * input = rotation.product->src[1];
    ggml_tensor * base = turbo_vk_base(input);
    turbo_vk_fold_one(rotation);
    turbo_vk_drop(rotation.product, base);
    for (ggml_tensor * other : rotation.views) {
        if (other != view) turbo_vk_drop(other, base);
    }
    while (input->view_src && ggml_op_is_empty(input->op) && turbo_vk_uses(graph, input) == 1) {
        ggml_tensor * dropped = input;
        input = input->src[0];
        turbo_vk_drop(dropped, base);
    }
    view->src[0] = input;
    ggml_tensor ** end = graph->nodes + graph->n_nodes;
    ggml_tensor ** rope = std::find(graph->nodes, end, input);
    if (rope == end || input->op != GGML_OP_ROPE || view->op != GGML_OP_VIEW || rows->src[1]->op != GGML_OP_NONE)
        return;
    for (ggml_tensor * node : { rows, view }) {
        ggml_tensor ** at = std::find(rope, end, node);
        std::rotate(rope + 1, at, at + 1);
    }
}

// The attention whose result a product rotates, when nothing else reads that result; nullptr: none.
static ggml_tensor * turbo_vk_rotated_attention(const ggml_cgraph * graph, const ggml_tensor * product) {
    ggml_tensor * tensor = product->src[1];
    ggml_tensor * attention = turbo_vk_base(tensor);
    if (attention->op != GGML_OP_FLASH_ATTN_EXT || tensor->view_offs != 0) return nullptr;
    for (;; tensor = tensor->src[0]) {
        if (turbo_vk_uses(graph, tensor) != 1 || (tensor->flags & GGML_TENSOR_FLAG_OUTPUT)) return nullptr;
        if (tensor == attention) return attention;
    }
}

static void turbo_vk_fold(const vk_device & device, ggml_cgraph * graph, ggml_backend_graph_optimize_params * params) {
    for (const turbo_vk_rotation & rotation : turbo_vk_rotations(graph)) {
        if (!rotation.foldable || rotation.readers.empty()) continue;
        ggml_tensor * product = rotation.product;
        ggml_tensor * input = turbo_vk_base(product->src[1]);
        const bool is_copy = input->op == GGML_OP_CONT; // of many tokens, where it may be a view of one
        ggml_tensor * copied = is_copy ? turbo_vk_base(input->src[0]) : nullptr;
        const auto keep = [&](ggml_tensor * tensor) {
            for (ggml_tensor * reader : rotation.readers) {
                if (tensor) params->add_alloc_dep(params->user_data, tensor, reader);
            }
        };
        const auto fold = [&](ggml_tensor * op, int32_t mark) {
            keep(input);
            keep(product);
            keep(copied);
            if (!turbo_vk_takes_decode(device, op) || (turbo_vk_marks(op) & mark)) return;
            turbo_vk_fold_one(rotation);
            turbo_vk_mark(op, mark);
        };
        const int64_t n = product->src[0]->ne[0];
        ggml_tensor * reader = rotation.readers.size() == 1 ? rotation.readers[0] : nullptr;
        ggml_tensor * attention = turbo_vk_rotated_attention(graph, product);
        if (reader && reader->op == GGML_OP_SET_ROWS && turbo_vk_base(reader->src[0]) == product) {
            if (turbo_vk_has(reader->type) && n == ggml_blck_size(reader->type) && reader->src[0]->ne[0] % n == 0 &&
                ggml_is_contiguous(reader->src[0])) {
                keep(copied);
                if (turbo_vk_marks(reader) & turbo_vk_rotates_rows) continue;
                turbo_vk_mark(reader, turbo_vk_rotates_rows);
                turbo_vk_fold_rows(graph, rotation, reader);
            }
        } else if (reader && reader->op == GGML_OP_FLASH_ATTN_EXT && turbo_vk_base(reader->src[0]) == product) {
            // a view at an offset may not lie as a buffer of a shader must
            if (turbo_vk_involves(reader->src[1]->type, reader->src[2]->type) && n == reader->src[0]->ne[0] &&
                product->src[1]->view_offs == 0) {
                fold(reader, turbo_vk_rotates_query);
            }
        } else if (attention && turbo_vk_involves(attention->src[1]->type, attention->src[2]->type) &&
                   n == attention->ne[0]) {
            fold(attention, turbo_vk_rotates_result);
        }
    }
}
