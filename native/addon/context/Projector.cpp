#include "context/Projector.h"

#include "errors.h"

#include "mtmd-helper.h"
#include "mtmd.h"

#include <filesystem>

namespace concertina {
namespace {

constexpr char unusable[] = "It is damaged, or of a kind that this version cannot run.";

// as server_context makes them
mtmd_context_params paramsOf(const common_params & core, bool warmup = false) {
    mtmd_context_params params = mtmd_context_params_default();
    params.use_gpu = core.mmproj_use_gpu;
    params.device = core.mmproj_device;
    params.print_timings = false;
    params.n_threads = core.cpuparams.n_threads;
    params.flash_attn_type = core.flash_attn_type;
    params.warmup = warmup;
    params.image_min_tokens = core.image_min_tokens;
    params.image_max_tokens = core.image_max_tokens;
    params.batch_max_tokens = core.mtmd_batch_max_tokens;
    return params;
}

std::string nameOf(const common_params & core) {
    return std::filesystem::u8path(core.mmproj.path).filename().u8string();
}

[[noreturn]] void refuse(const ContextOptions & asked, const common_params & core, const std::string & why) {
    const std::string sentence = "The projector " + nameOf(core) + " cannot be used. " + why;
    if (core.mmproj.path == asked.projector) throw ProjectorRefusal(sentence);
    throw CodedError("context-invalid", sentence, "Change the options of llama-server that choose it.");
}

void collect(ggml_log_level level, const char * text, void * to) {
    if (level == GGML_LOG_LEVEL_ERROR) *static_cast<std::string *>(to) += text;
}

void ignore(ggml_log_level, const char *, void *) {}

} // namespace

ProjectorBytes projectorBytes(const ContextOptions & asked, const common_params & core) {
    if (!asked.problems.projector.empty()) refuse(asked, core, asked.problems.projector);
    const char * path = core.mmproj.path.c_str();
    mtmd_helper_log_set(ignore, nullptr); // else it prints
    // upstream tells the sum; without the warm-up it has no buffers
    ProjectorBytes bytes{ mtmd_get_memory_usage(path, paramsOf(core)),
        mtmd_get_memory_usage(path, paramsOf(core, true)) };
    if (bytes.weights.empty() || bytes.compute.empty()) refuse(asked, core, unusable);
    for (const auto & [device, weights] : bytes.weights) bytes.compute[device] -= weights;
    return bytes;
}

ProjectorInUse projectorOf(const common_params & core) {
    const mtmd_caps can = mtmd_get_cap_from_file(core.mmproj.path.c_str());
    return { nameOf(core), can.inp_vision, can.inp_audio, "" };
}

void requireProjector(const ContextOptions & asked, const common_params & core, const llama_model * model) {
    std::string lines;
    mtmd_helper_log_set(collect, &lines);
    const mtmd::context_ptr tried(mtmd_init_from_file(core.mmproj.path.c_str(), model, paramsOf(core)));
    mtmd_helper_log_set(ignore, nullptr);
    if (tried) return;
    const bool other = lines.find("mismatch between text model") != std::string::npos;
    refuse(asked, core,
        other ? "It belongs to another model: its embeddings have another size than those of this one." : unusable);
}

} // namespace concertina
