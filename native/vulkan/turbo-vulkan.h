// Turbo types on Vulkan: what the patched lines of ggml-vulkan.cpp call. Included there once, after upstream's own headers.
#pragma once

#include "facts.h"
#include "fold.h"
#include "ggml-turbo.h"
#include "turbo-spirv.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

// True for the types that have kernels here: those with a trellis have none, nor those that the self-test found wrong, and
// llama_turbo_resolve says so.
static bool turbo_vk_has(ggml_type type) {
    return ggml_turbo_is_turbo(type) && ggml_turbo_without_trellis(type) == type && !turbo_vk_is_faulty(type);
}

// shaders/blocks.glsl
static_assert(
    GGML_TYPE_TURBO4 == 36 && GGML_TYPE_TURBO3 == 37 && GGML_TYPE_TURBO4_64 == 38 && GGML_TYPE_TURBO3_64 == 33);

// Matrix units of the NV kind call a decoder for every value: no path for codes of a block (docs/gpu.md has the figures).
static bool turbo_vk_involves(ggml_type type_k, ggml_type type_v) {
    return turbo_vk_has(type_k) || turbo_vk_has(type_v);
}

// shaders/decode.comp and decode-fragments.comp: rows of a workgroup, and their marks in upstream's key of a pipeline, where d_split and
// row_split are not 0 in upstream's scalar and coopmat1 attention.
static constexpr uint32_t turbo_vk_decode_rows = 16;
static constexpr uint32_t turbo_vk_decode_mark = 0; // d_split
static constexpr uint32_t turbo_vk_fragments_mark = 0; // row_split

// Subgroups of a size that the shader knows, and whole ones: a lane has its part of a tile. On Intel upstream leaves the size to the driver,
// since a fixed one is slow there.
static bool turbo_vk_decodes(const vk_device & device) {
    return device->fp16 && device->subgroup_size >= 4 && device->subgroup_size <= 64 && device->subgroup_shuffle &&
           device->subgroup_vote && device->subgroup_size_control && device->subgroup_require_full_support &&
           device->vendor_id != VK_VENDOR_ID_INTEL;
}

static bool turbo_vk_has_matrices(const vk_device & device) {
    // upstream, too, leaves NVIDIA's Turing out: its compiler gets such attention wrong (ggml-org/llama.cpp pull request 19075)
    return device->coopmat1_fa_support && device->coopmat_support_16x16x16_f32acc && device->subgroup_size >= 32 &&
           device->architecture != vk_device_architecture::NVIDIA_TURING;
}

// Whether matrices of 16x8x16 may lie in registers as shaders/decode-fragments.comp wants them.
static bool turbo_vk_has_fragments(const vk_device & device) {
    if (device->vendor_id != VK_VENDOR_ID_NVIDIA || device->subgroup_size != 32 || !turbo_vk_has_matrices(device)) {
        return false;
    }
    const auto query = (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR) vkGetInstanceProcAddr(
        vk_instance.instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    uint32_t n = 0;
    query(device->physical_device, &n, nullptr);
    std::vector<VkCooperativeMatrixPropertiesKHR> shapes(n, { VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR });
    query(device->physical_device, &n, shapes.data());
    return std::any_of(shapes.begin(), shapes.end(), [](const VkCooperativeMatrixPropertiesKHR & shape) {
        return shape.MSize == 16 && shape.NSize == 8 && shape.KSize == 16 &&
               shape.AType == VK_COMPONENT_TYPE_FLOAT16_KHR && shape.BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
               shape.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && shape.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
               shape.scope == VK_SCOPE_SUBGROUP_KHR;
    });
}

// Subgroups of a workgroup of shaders/decode.comp, up to 128 threads: as many as its shared memory has room for; 0: too few for a thread
// for each row, which its join_states needs.
static uint32_t turbo_vk_decode_subgroups(const vk_device & device, uint32_t head_k, uint32_t head_v) {
    const uint32_t tile = 16;
    const uint32_t half = 2;
    const uint32_t row_k = head_k + 8;
    const uint32_t row = std::max(head_k, head_v) + 8;
    // queries, and the levels of a byte for K and V
    const uint32_t shared = tile * row_k * half + 512 * sizeof(uint32_t);
    // a tile, its scores and weights, scales of K, factors of K and V, factor and state of each row
    const uint32_t own = tile * row * half + tile * (tile + 4) * sizeof(float) + tile * (tile + 8) * half +
                         tile * sizeof(float) + 2 * tile * 4 * half + tile * 3 * sizeof(float);
    const uint32_t limit = device->properties.limits.maxComputeSharedMemorySize;
    const uint32_t subgroups = limit < shared ? 0 : std::min(128 / device->subgroup_size, (limit - shared) / own);
    return subgroups * device->subgroup_size < tile ? 0 : subgroups;
}

// Parameters of the decode kernel for up to 16 rows (heads of a group, or tokens) over a cache of one turbo type for each of K and V;
// none when upstream's own choice must do it.
static std::optional<vk_fa_tuning_params> turbo_vk_decode(
    const vk_device & device, uint32_t head_k, uint32_t head_v, uint32_t n_rows, ggml_type type_k, ggml_type type_v) {
    if (turbo_vk_decode_level() < 1 || !turbo_vk_has(type_k) || !turbo_vk_has(type_v) ||
        n_rows > turbo_vk_decode_rows) {
        return {};
    }
    // one block a head and position
    if (head_k != (uint32_t) ggml_blck_size(type_k) || head_v != (uint32_t) ggml_blck_size(type_v)) { return {}; }
    if (!turbo_vk_decodes(device)) { return {}; }
    const uint32_t subgroups = turbo_vk_decode_subgroups(device, head_k, head_v);
    if (subgroups == 0) { return {}; }
    vk_fa_tuning_params params = {};
    params.path = turbo_vk_has_matrices(device) ? FA_COOPMAT1 : FA_SCALAR;
    params.subgroup_size = device->subgroup_size;
    params.workgroup_size = subgroups * device->subgroup_size;
    params.block_rows = turbo_vk_decode_rows;
    while (params.path == FA_SCALAR && params.block_rows >= 2 * n_rows) {
        params.block_rows /= 2;
    } // its sums lie in registers
    params.block_cols = 64;
    params.d_split = turbo_vk_decode_mark;
    params.row_split = 1;
    if (params.path == FA_COOPMAT1 && turbo_vk_takes_fragments(device->name)) {
        params.row_split = turbo_vk_fragments_mark;
        params.block_rows = n_rows <= 8 ? 8 : 16;
        params.workgroup_size = 4 * device->subgroup_size; // 24 KB of shared memory at most
    }
    return params;
}

// The attention module for K or V of a turbo type in place of upstream's: its source compiled with -DTURBO, or our own for few rows.
static void turbo_vk_attention(
    const vk_device & device, const vk_fa_pipeline_state & state, const void *& data, size_t & size) {
    if (!turbo_vk_involves(state.k_type, state.v_type)) { return; }
    const bool matrices = state.path == FA_COOPMAT1;
    turbo_spirv module = turbo_attention_fp32;
    if (state.D_split == turbo_vk_decode_mark) {
        module = state.row_split == turbo_vk_fragments_mark ? turbo_decode_fragments
                 : matrices                                 ? turbo_decode_cm1
                                                            : turbo_decode_fp16;
    } else if (matrices) {
        module = state.f32acc ? turbo_attention_cm1 : turbo_attention_cm1_f16acc;
    } else if (device->fp16 && device->dot2_f16) {
        module = state.f32acc ? turbo_attention_dot2 : turbo_attention_dot2_f16acc;
    } else if (device->fp16) {
        module = state.f32acc ? turbo_attention_fp16 : turbo_attention_fp16_f16acc;
    }
    data = module.data;
    size = module.size;
}

// Kernels that turn and store K have places in upstream's tables of copies from and to f32, where turbo types have none.
static vk_pipeline & turbo_vk_rope_rows(const vk_device & device, ggml_type type) {
    return device->pipeline_cpy_quant_f32[type];
}

static vk_pipeline & turbo_vk_norm_rope_rows(const vk_device & device, ggml_type type) {
    return device->pipeline_cpy_f32_quant[type];
}

// What joins the ranges of an attention: ours has a place in upstream's table of expansions, where turbo types have none.
static vk_pipeline & turbo_vk_own_reduce(const vk_device & device) {
    return device->pipeline_dequant[GGML_TYPE_TURBO4];
}

static vk_pipeline & turbo_vk_reduce(const vk_device & device, const vk_fa_pipeline_state & state) {
    const bool ours = turbo_vk_has(state.k_type) && state.D_split == turbo_vk_decode_mark;
    return ours ? turbo_vk_own_reduce(device) : device->pipeline_flash_attn_split_k_reduce;
}

// The pipelines, in upstream's own tables. create: ggml_vk_load_shaders' own function.
template <typename F> static void turbo_vk_pipelines(vk_device & device, F && create) {
    const bool xe1 = device->vendor_id == VK_VENDOR_ID_INTEL &&
                     (!device->coopmat_support || device->architecture == vk_device_architecture::INTEL_XE1);
    turbo_vk_note(device->name, [&]() -> turbo_vk_facts {
        return { turbo_vk_decodes(device) && turbo_vk_decode_subgroups(device, 128, 128) > 0,
            turbo_vk_has_matrices(device), turbo_vk_has_fragments(device), !xe1, !xe1 && !device->coopmat2,
            device->properties.limits.maxStorageBufferRange,
            std::string(device->properties.deviceName.data()) + " " +
                std::to_string(device->properties.driverVersion) };
    });
    const uint32_t pc_rows = sizeof(vk_op_binary_push_constants);
    create(device, turbo_vk_own_reduce(device), "fa_split_k_reduce_turbo", turbo_reduce.size, turbo_reduce.data, "main",
        3, sizeof(vk_op_flash_attn_split_k_reduce_push_constants), { 1, 128, 1 }, {}, 1, true);
    for (const ggml_type type : { GGML_TYPE_TURBO4, GGML_TYPE_TURBO3, GGML_TYPE_TURBO4_64, GGML_TYPE_TURBO3_64 }) {
        const uint32_t group = (uint32_t) ggml_blck_size(type);
        const auto rows = [&](vk_pipeline & pipeline, const turbo_spirv & module) {
            create(device, pipeline, "set_rows_turbo", module.size, module.data, "main", 3, pc_rows, { 1, 1, 1 },
                { (uint32_t) type, group }, 1);
        };
        rows(device->pipeline_set_rows_i32[0][type], turbo_rows_f32_i32);
        rows(device->pipeline_set_rows_i64[0][type], turbo_rows_f32_i64);
        rows(device->pipeline_set_rows_i32[1][type], turbo_rows_f16_i32);
        rows(device->pipeline_set_rows_i64[1][type], turbo_rows_f16_i64);
        const auto turned = [&](vk_pipeline & pipeline, const turbo_spirv & module, uint32_t n_buffers, size_t pc,
                                std::array<uint32_t, 3> denominators) {
            if (pc > device->properties.limits.maxPushConstantsSize) { return; }
            create(device, pipeline, "rope_rows_turbo", module.size, module.data, "main", n_buffers, (uint32_t) pc,
                denominators, { (uint32_t) type, group }, 1);
        };
        turned(
            turbo_vk_rope_rows(device, type), turbo_rope_rows, 5, sizeof(vk_op_rope_push_constants), { 1, group, 1 });
        turned(turbo_vk_norm_rope_rows(device, type), turbo_norm_rope_rows, 7,
            sizeof(vk_op_rms_norm_mul_rope_push_constants), { 1, 1, 1 });
        create(device, device->pipeline_dequant_transpose[type], "dequant_turbo", turbo_dequant.size,
            turbo_dequant.data, "main", 2, 5 * sizeof(uint32_t), { 4096, 1, 1 }, { (uint32_t) type }, 1);
    }
}

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
    return turbo_vk_decode(
        device, (uint32_t) k->ne[0], (uint32_t) v->ne[0], grouped ? ratio : (uint32_t) q->ne[1], k->type, v->type)
        .has_value();
}

// The marks of an attention for the shader, which is to be the decode kernel where there are any.
static uint32_t turbo_vk_attention_marks(const ggml_tensor * op, const vk_fa_pipeline_state & state) {
    const int32_t marks = turbo_vk_involves(op->src[1]->type, op->src[2]->type) ? turbo_fold_marks(op) : 0;
    GGML_ASSERT(marks == 0 || state.D_split == turbo_vk_decode_mark);
    return (uint32_t) marks;
}

static void turbo_vk_fold(const vk_device & device, ggml_cgraph * graph, ggml_backend_graph_optimize_params * params) {
    turbo_fold(graph, params, turbo_vk_has, [&](const ggml_tensor * op) { return turbo_vk_takes_decode(device, op); });
}

// Whether K is turned and stored by one kernel, perhaps normalized before: RoPE, a view of it and SET_ROWS from node i on. Upstream asks
// first for all five nodes, then for these three.
static bool turbo_vk_fuses(ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int i) {
    const ggml_tensor * rope = graph->nodes[i];
    const ggml_tensor * rows = graph->nodes[i + 2];
    const int mode = ggml_get_op_params_i32(rope, 2);
    if (!turbo_vk_has(rows->type) || (mode != GGML_ROPE_TYPE_NORMAL && mode != GGML_ROPE_TYPE_NEOX)) { return false; }
    if (rope->src[0]->type != GGML_TYPE_F32 || rope->ne[0] != ggml_blck_size(rows->type)) { return false; }
    if (get_misalign_bytes(ctx, rows) != 0) { return false; }
    const ggml_tensor * product = rope->src[0];
    const ggml_tensor * norm = i < 2 ? nullptr : graph->nodes[i - 2];
    if (norm && norm->op == GGML_OP_RMS_NORM && graph->nodes[i - 1] == product && product->op == GGML_OP_MUL &&
        ggml_vk_can_fuse_rms_norm_mul_rope(ctx, graph, i - 2)) {
        const ggml_tensor * weight = product->src[product->src[0] == norm];
        return weight->ne[0] == rope->ne[0] && ggml_nrows(weight) == 1;
    }
    return true;
}

// What upstream's kernels of RoPE get for a store, with the mark of ours in the highest bit (shaders/rope-rows.comp).
static uint32_t turbo_vk_stride(const ggml_tensor * rows, uint32_t stride) {
    return turbo_vk_has(rows->type) ? stride | (uint32_t) turbo_fold_marks(rows) << 31 : stride;
}

// The same for K that is normalized before: its pipeline, with the mark put into `pc`.
static vk_pipeline turbo_vk_norm_rope(
    const vk_device & device, const ggml_tensor * rows, vk_op_rope_push_constants & pc) {
    pc.set_rows_stride = turbo_vk_stride(rows, pc.set_rows_stride);
    return turbo_vk_norm_rope_rows(device, rows->type);
}
