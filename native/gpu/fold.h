// Rotations that cost no dispatch of their own: K, V and the query of a turbo cache are rotated by the kernel that reads them
// (set_rows, attention of few rows), and the result of attention by the kernel that wrote it. A product with the matrix
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

// Bits of the last of an operation's parameters, which upstream leaves at 0 in SET_ROWS and FLASH_ATTN_EXT. native/vulkan/shaders/decode.glsl knows the
// second and third.
static constexpr int turbo_fold_mark_at = GGML_MAX_OP_PARAMS / sizeof(int32_t) - 1;
static constexpr int32_t turbo_fold_rotates_rows = 1;
static constexpr int32_t turbo_fold_rotates_query = 1 << 25;
static constexpr int32_t turbo_fold_rotates_result = 1 << 26;

static int32_t turbo_fold_marks(const ggml_tensor * op) { return ggml_get_op_params_i32(op, turbo_fold_mark_at); }

// A product with a Hadamard matrix and who uses it within the graph.
struct turbo_fold_rotation {
    ggml_tensor * product;
    std::vector<ggml_tensor *> views;
    std::vector<ggml_tensor *> readers; // of views
    int n_uses = 0; // of the product and its views
    bool foldable = true;
};

static ggml_tensor * turbo_fold_base(ggml_tensor * tensor) { return tensor->view_src ? tensor->view_src : tensor; }

static bool turbo_fold_is_rotation(const ggml_tensor * node) {
    return node->op == GGML_OP_MUL_MAT && ggml_get_op_params_i32(node, 1) == GGML_HINT_SRC0_IS_HADAMARD &&
           node->type == GGML_TYPE_F32 && node->src[1]->type == GGML_TYPE_F32 && ggml_is_contiguous(node->src[1]) &&
           !node->buffer; // not allocated yet
}

static std::vector<turbo_fold_rotation> turbo_fold_rotations(const ggml_cgraph * graph) {
    std::vector<turbo_fold_rotation> rotations;
    std::unordered_map<const ggml_tensor *, size_t> at;
    std::vector<int> n_known; // uses by anyone, in this graph or another
    for (int i = 0; i < graph->n_nodes; ++i) {
        ggml_tensor * node = graph->nodes[i];
        const auto of = node->view_src ? at.find(node->view_src) : at.end();
        if (of != at.end()) {
            turbo_fold_rotation & rotation = rotations[of->second];
            rotation.views.push_back(node);
            rotation.foldable &= (node->flags & GGML_TENSOR_FLAG_OUTPUT) == 0 && ggml_op_is_empty(node->op);
            n_known[of->second] += ggml_node_get_use_count(graph, i);
        }
        for (ggml_tensor * src : node->src) {
            const auto found = src ? at.find(turbo_fold_base(src)) : at.end();
            if (found == at.end()) continue;
            turbo_fold_rotation & rotation = rotations[found->second];
            ++rotation.n_uses;
            if (of != at.end()) continue;
            rotation.readers.push_back(node);
            rotation.foldable &= src != rotation.product;
        }
        if (turbo_fold_is_rotation(node)) {
            at[node] = rotations.size();
            rotations.push_back({ node, {}, {} });
            rotations.back().foldable = (node->flags & GGML_TENSOR_FLAG_OUTPUT) == 0;
            n_known.push_back(ggml_node_get_use_count(graph, i));
        }
    }
    for (size_t r = 0; r < rotations.size(); ++r) rotations[r].foldable &= rotations[r].n_uses == n_known[r];
    return rotations;
}

static void turbo_fold_one(const turbo_fold_rotation & rotation) {
    ggml_tensor * input = rotation.product->src[1];
    for (ggml_tensor * view : rotation.views) {
        view->view_src = turbo_fold_base(input);
        view->view_offs += input->view_offs;
        if (view->src[0] == rotation.product) view->src[0] = input;
    }
    rotation.product->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
}

static void turbo_fold_mark(ggml_tensor * op, int32_t mark) {
    ggml_set_op_params_i32(op, turbo_fold_mark_at, turbo_fold_marks(op) | mark);
}

static int turbo_fold_uses(const ggml_cgraph * graph, const ggml_tensor * tensor) {
    for (int i = 0; i < graph->n_nodes; ++i) {
        if (graph->nodes[i] == tensor) return ggml_node_get_use_count(graph, i);
    }
    return 0; // of another graph
}

// A node that computes nothing, holds no memory and keeps none.
static void turbo_fold_drop(ggml_tensor * node, ggml_tensor * of) {
    node->op = GGML_OP_NONE;
    node->view_src = of;
    std::fill(std::begin(node->src), std::end(node->src), nullptr);
}

// The view that `rows` stores is led to what was rotated, and what lay between is dropped. Behind RoPE the view and the store come next:
// there upstream finds what it gives to one kernel.
static void turbo_fold_rows(ggml_cgraph * graph, const turbo_fold_rotation & rotation, ggml_tensor * rows) {
    ggml_tensor * view = rows->src[0];
    ggml_tensor * input = rotation.product->src[1];
    ggml_tensor * base = turbo_fold_base(input);
    turbo_fold_one(rotation);
    turbo_fold_drop(rotation.product, base);
    for (ggml_tensor * other : rotation.views) {
        if (other != view) turbo_fold_drop(other, base);
    }
    while (input->view_src && ggml_op_is_empty(input->op) && turbo_fold_uses(graph, input) == 1) {
        ggml_tensor * dropped = input;
        input = input->src[0];
        turbo_fold_drop(dropped, base);
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
static ggml_tensor * turbo_fold_rotated_attention(const ggml_cgraph * graph, const ggml_tensor * product) {
    ggml_tensor * tensor = product->src[1];
    ggml_tensor * attention = turbo_fold_base(tensor);
    if (attention->op != GGML_OP_FLASH_ATTN_EXT || tensor->view_offs != 0) return nullptr;
    for (;; tensor = tensor->src[0]) {
        if (turbo_fold_uses(graph, tensor) != 1 || (tensor->flags & GGML_TENSOR_FLAG_OUTPUT)) return nullptr;
        if (tensor == attention) return attention;
    }
}

// has(type): whether its rows are stored by a kernel of the back end's. takes_decode(op): whether attention will be by the kernel that
// rotates what it reads and writes.
template <typename Has, typename Takes>
static void turbo_fold(
    ggml_cgraph * graph, ggml_backend_graph_optimize_params * params, Has && has, Takes && takes_decode) {
    const auto involves = [&](const ggml_tensor * op) { return has(op->src[1]->type) || has(op->src[2]->type); };
    for (const turbo_fold_rotation & rotation : turbo_fold_rotations(graph)) {
        if (!rotation.foldable || rotation.readers.empty()) continue;
        ggml_tensor * product = rotation.product;
        ggml_tensor * input = turbo_fold_base(product->src[1]);
        const bool is_copy = input->op == GGML_OP_CONT; // of many tokens, where it may be a view of one
        ggml_tensor * copied = is_copy ? turbo_fold_base(input->src[0]) : nullptr;
        const auto keep = [&](ggml_tensor * tensor) {
            for (ggml_tensor * reader : rotation.readers) {
                if (tensor) params->add_alloc_dep(params->user_data, tensor, reader);
            }
        };
        const auto fold = [&](ggml_tensor * op, int32_t mark) {
            keep(input);
            keep(product);
            keep(copied);
            if (!takes_decode(op) || (turbo_fold_marks(op) & mark)) return;
            turbo_fold_one(rotation);
            turbo_fold_mark(op, mark);
        };
        const int64_t n = product->src[0]->ne[0];
        ggml_tensor * reader = rotation.readers.size() == 1 ? rotation.readers[0] : nullptr;
        ggml_tensor * attention = turbo_fold_rotated_attention(graph, product);
        if (reader && reader->op == GGML_OP_SET_ROWS && turbo_fold_base(reader->src[0]) == product) {
            if (has(reader->type) && n == ggml_blck_size(reader->type) && reader->src[0]->ne[0] % n == 0 &&
                ggml_is_contiguous(reader->src[0])) {
                keep(copied);
                if (turbo_fold_marks(reader) & turbo_fold_rotates_rows) continue;
                turbo_fold_mark(reader, turbo_fold_rotates_rows);
                turbo_fold_rows(graph, rotation, reader);
            }
        } else if (reader && reader->op == GGML_OP_FLASH_ATTN_EXT && turbo_fold_base(reader->src[0]) == product) {
            // a view at an offset may not lie as a buffer of a shader must
            if (involves(reader) && n == reader->src[0]->ne[0] && product->src[1]->view_offs == 0) {
                fold(reader, turbo_fold_rotates_query);
            }
        } else if (attention && involves(attention) && n == attention->ne[0]) {
            fold(attention, turbo_fold_rotates_result);
        }
    }
}
