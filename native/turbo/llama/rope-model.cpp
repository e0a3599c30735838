#include "rope-model.h"

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "llama-cparams.h"
#include "llama-hparams.h"
#include "llama-impl.h"
#include "llama-model.h"

turbo_rope turbo_rope_turns::at(size_t i) const {
    turbo_rope rope = { neox, std::vector<std::complex<double>>(n_pair) };
    const float * row = values.data() + i * 2 * n_pair;
    for (uint32_t j = 0; j < n_pair; ++j) { rope.turn[j] = { row[2 * j], row[2 * j + 1] }; }
    return rope;
}

// By ggml itself: RoPE of a 1 in the first channel of each pair. The parameters are those of upstream's K-shift
// (build_rope_shift), but for layers whose graphs take others.
turbo_rope_turns turbo_turns_of(
    const llama_model & model, const llama_cparams & cparams, uint32_t il, const std::vector<int32_t> & positions) {
    const llama_hparams & hparams = model.hparams;
    if (!hparams.has_rope(il) || hparams.rope_type == LLAMA_ROPE_TYPE_NONE || hparams.n_rot(il) == 0) { return {}; }
    const int64_t n_rot = hparams.n_rot(il);
    const int64_t n_pos = int64_t(positions.size());
    // M-RoPE orders its channels as NEOX; the positions of a text token are equal but for the last, of the slowest pairs at most
    const bool norm = hparams.rope_type == LLAMA_ROPE_TYPE_NORM;

    // layers with a sliding window whose RoPE is not scaled (models/mellum.cpp), or only without factors (models/step35.cpp)
    const bool plain = hparams.is_swa(il) && model.arch == LLM_ARCH_MELLUM;
    const bool no_factors = hparams.is_swa(il) && (plain || model.arch == LLM_ARCH_STEP35);
    const ggml_tensor * factors_of_model = no_factors ? nullptr : model.get_rope_factors(cparams, il);
    const ggml_context_ptr ctx(ggml_init({ 8 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true }));
    ggml_tensor * unit = ggml_new_tensor_3d(ctx.get(), GGML_TYPE_F32, n_rot, 1, n_pos);
    ggml_tensor * pos = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_I32, n_pos);
    ggml_tensor * factors = factors_of_model ? ggml_dup_tensor(ctx.get(), factors_of_model) : nullptr;
    ggml_tensor * turned =
        ggml_rope_ext(ctx.get(), unit, pos, factors, int(n_rot), norm ? GGML_ROPE_TYPE_NORMAL : GGML_ROPE_TYPE_NEOX,
            cparams.n_ctx_orig_yarn, model.get_rope_freq_base(cparams, il),
            plain ? 1.0f : model.get_rope_freq_scale(cparams, il), plain ? 0.0f : cparams.yarn_ext_factor,
            plain ? 1.0f : cparams.yarn_attn_factor, cparams.yarn_beta_fast, cparams.yarn_beta_slow);
    const ggml_backend_ptr cpu(ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr));
    // one thread: the back end's four would stay as a team of OpenMP's for this thread of the system, and with more threads in all than
    // processors libgomp sleeps at every barrier of the model's own (a token of a small model takes a fifth longer)
    const auto set_n_threads = (ggml_backend_set_n_threads_t) ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(ggml_backend_get_device(cpu.get())), "ggml_backend_set_n_threads");
    if (set_n_threads) { set_n_threads(cpu.get(), 1); }
    const ggml_backend_buffer_ptr buffer(ggml_backend_alloc_ctx_tensors(ctx.get(), cpu.get()));
    GGML_ASSERT(buffer);

    const turbo_rope order = { !norm, std::vector<std::complex<double>>(n_rot / 2) };
    std::vector<float> values(n_rot * n_pos);
    for (int64_t i = 0; i < n_pos; ++i) {
        for (uint32_t j = 0; j < n_rot / 2; ++j) { values[i * n_rot + order.first(j)] = 1.0f; }
    }
    ggml_backend_tensor_set(unit, values.data(), 0, ggml_nbytes(unit));
    ggml_backend_tensor_set(pos, positions.data(), 0, ggml_nbytes(pos));
    if (factors) {
        std::vector<char> bytes(ggml_nbytes(factors_of_model));
        ggml_backend_tensor_get(factors_of_model, bytes.data(), 0, bytes.size());
        ggml_backend_tensor_set(factors, bytes.data(), 0, bytes.size());
    }
    ggml_cgraph * graph = ggml_new_graph(ctx.get());
    ggml_build_forward_expand(graph, turned);
    GGML_ASSERT(ggml_backend_graph_compute(cpu.get(), graph) == GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(turned, values.data(), 0, ggml_nbytes(turned));

    turbo_rope_turns res = { !norm, uint32_t(n_rot / 2), std::vector<float>(values.size()) };
    for (int64_t i = 0; i < n_pos; ++i) {
        for (uint32_t j = 0; j < res.n_pair; ++j) {
            res.values[i * n_rot + 2 * j] = values[i * n_rot + order.first(j)];
            res.values[i * n_rot + 2 * j + 1] = values[i * n_rot + order.second(j)];
        }
    }
    return res;
}
