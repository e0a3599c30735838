// Which caches are centered, and why others are not.

#include "calibration-store.h"
#include "ggml-turbo.h"

#include "llama-arch.h"
#include "llama-hparams.h"
#include "llama-model.h"

#include <atomic>
#include <string>

namespace {

constexpr const char * reason_type = "only turbo types are centered";
constexpr const char * reason_absent = "the model has not been calibrated";
constexpr const char * reason_sinks =
    "the model's attention sinks are compared with the keys, so centering would not be exact";
constexpr const char * reason_softcap = "the model caps its attention scores, so centering K would not be exact";
constexpr const char * reason_mla = "the model uses latent attention (MLA), where V is a part of K";
constexpr const char * reason_own_path = "the model's attention writes its cache on a path of its own";
constexpr const char * reason_split = "the cache is split by tensors over several devices";

std::atomic<bool> every_type{ false };

bool has_sinks(const llama_model & model) {
    for (uint32_t il = 0; il < model.hparams.n_layer_all; ++il) {
        if (model.get_tensor(("blk." + std::to_string(il) + ".attn_sinks.weight").c_str())) { return true; }
    }
    return false;
}

// graphs that call cpy_k, cpy_v or build_attn_mha themselves
bool has_own_path(const llama_model & model) {
    switch (model.arch) {
        case LLM_ARCH_QWEN4EXP:
        case LLM_ARCH_MINIMAX_M3:
        case LLM_ARCH_DFLASH:
        case LLM_ARCH_HY_V4:
        case LLM_ARCH_DOTS3NOTE: return true;
        default: return model.hparams.indexer_head_size > 0;
    }
}

// nullptr: nothing forbids it
const char * forbidden(const llama_model & model) {
    if (model.hparams.is_mla() || model.arch == LLM_ARCH_DEEPSEEK4) { return reason_mla; }
    if (has_own_path(model)) { return reason_own_path; }
    if (has_sinks(model)) { return reason_sinks; }
    return model.split_mode() == LLAMA_SPLIT_MODE_TENSOR ? reason_split : nullptr;
}

} // namespace

llama_turbo_centering llama_turbo_centering_resolve(const llama_model * model, ggml_type type_k, ggml_type type_v) {
    const auto calibration = turbo_attached_to(model).calibration;
    const char * common = forbidden(*model);
    const bool softcap = model->hparams.attn_soft_cap || model->arch == LLM_ARCH_GROK;
    const auto reason = [&](ggml_type type, const char * own) {
        return !ggml_turbo_is_turbo(type) && !every_type ? reason_type
               : common                                  ? common
               : own                                     ? own
               : !calibration                            ? reason_absent
                                                         : nullptr;
    };
    const char * reason_k = reason(type_k, softcap ? reason_softcap : nullptr);
    const char * reason_v = reason(type_v, nullptr);
    const bool wanted = reason_k == reason_absent || reason_v == reason_absent;
    return { !reason_k, !reason_v, reason_k, reason_v, !reason_k || !reason_v ? calibration->hash : 0, wanted };
}

void llama_turbo_centering_every_type(bool on) { every_type = on; }
