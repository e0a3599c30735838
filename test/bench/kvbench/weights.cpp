#include "weights.h"

#include "gguf.h"
#include "ggml-cpp.h"

namespace {

// The value of "<architecture>.<name>" or 0.
int64_t number(const gguf_context * meta, const std::string & name) {
    const int64_t arch = gguf_find_key(meta, "general.architecture");
    if (arch < 0) { return 0; }
    const int64_t id = gguf_find_key(meta, (gguf_get_val_str(meta, arch) + ("." + name)).c_str());
    return id >= 0 && gguf_get_kv_type(meta, id) == GGUF_TYPE_UINT32 ? gguf_get_val_u32(meta, id) : 0;
}

} // namespace

int64_t weight_bytes_per_token(const std::string & path) {
    gguf_context_ptr meta(gguf_init_from_file(path.c_str(), { /*.no_alloc =*/true, /*.ctx =*/nullptr }));
    if (!meta) { return 0; }
    const bool tied = gguf_find_tensor(meta.get(), "output.weight") < 0;
    const int64_t n_expert = number(meta.get(), "expert_count");
    const int64_t n_used = number(meta.get(), "expert_used_count");
    int64_t sum = 0;
    for (int64_t i = 0; i < gguf_get_n_tensors(meta.get()); ++i) {
        const std::string name = gguf_get_tensor_name(meta.get(), i);
        int64_t bytes = int64_t(gguf_get_tensor_size(meta.get(), i));
        if (name == "token_embd.weight" && !tied) { continue; }
        if (n_expert > 0 && name.find("_exps.") != std::string::npos) { bytes = bytes * n_used / n_expert; }
        sum += bytes;
    }
    return sum;
}
