#include "model/Inspect.h"

#include "LogSink.h"
#include "errors.h"

#include "ggml-turbo.h"
#include "gguf.h"
#include "llama-hparams.h"
#include "llama.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

namespace concertina {
namespace {

namespace fs = std::filesystem;

using Header = std::unique_ptr<gguf_context, decltype(&gguf_free)>;

constexpr uint64_t maxParts = 1000;
constexpr const char * oldTypeHint = "Get the model in another quantization, Q4_0 or Q4_K_M for example.";
constexpr const char * downloadHint = "Download the file again, or choose another one.";

int64_t find(const gguf_context * header, const std::string & key) { return gguf_find_key(header, key.c_str()); }

std::string text(const gguf_context * header, const std::string & key) {
    const int64_t id = find(header, key);
    return id >= 0 && gguf_get_kv_type(header, id) == GGUF_TYPE_STRING ? gguf_get_val_str(header, id) : "";
}

uint64_t scalar(gguf_type type, const void * data) {
    switch (type) {
        case GGUF_TYPE_UINT8:
        case GGUF_TYPE_INT8:
        case GGUF_TYPE_BOOL: return *static_cast<const uint8_t *>(data);
        case GGUF_TYPE_UINT16:
        case GGUF_TYPE_INT16: return *static_cast<const uint16_t *>(data);
        case GGUF_TYPE_UINT32:
        case GGUF_TYPE_INT32: return *static_cast<const uint32_t *>(data);
        case GGUF_TYPE_UINT64:
        case GGUF_TYPE_INT64: return *static_cast<const uint64_t *>(data);
        default: return 0;
    }
}

// a whole number; of an array (head counts by layer) the largest
uint64_t number(const gguf_context * header, const std::string & key, uint64_t missing = 0) {
    const int64_t id = find(header, key);
    if (id < 0) return missing;
    const gguf_type type = gguf_get_kv_type(header, id);
    if (type == GGUF_TYPE_STRING) return missing;
    if (type != GGUF_TYPE_ARRAY) return scalar(type, gguf_get_val_data(header, id));
    const gguf_type element = gguf_get_arr_type(header, id);
    if (element != GGUF_TYPE_INT32 && element != GGUF_TYPE_UINT32) return missing;
    const auto * values = static_cast<const uint32_t *>(gguf_get_arr_data(header, id));
    const size_t count = gguf_get_arr_n(header, id);
    return count ? *std::max_element(values, values + count) : missing;
}

std::optional<double> real(const gguf_context * header, llama_model_meta_key name) {
    const std::string key = llama_model_meta_key_str(name);
    const int64_t id = find(header, key);
    if (id < 0) return std::nullopt;
    const gguf_type type = gguf_get_kv_type(header, id);
    // 0.6 in single precision is 0.60000002
    if (type == GGUF_TYPE_FLOAT32) return std::round(double(gguf_get_val_f32(header, id)) * 1e6) / 1e6;
    if (type == GGUF_TYPE_FLOAT64) return gguf_get_val_f64(header, id);
    if (type == GGUF_TYPE_INT32) return gguf_get_val_i32(header, id);
    if (type == GGUF_TYPE_UINT32) return gguf_get_val_u32(header, id);
    return std::nullopt;
}

// its sampler sequence and Mirostat are not among the settings here
ModelSampling recommendedSampling(const gguf_context * header) {
    ModelSampling sampling;
    sampling.temperature = real(header, LLAMA_MODEL_META_KEY_SAMPLING_TEMP);
    sampling.topK = real(header, LLAMA_MODEL_META_KEY_SAMPLING_TOP_K);
    sampling.topP = real(header, LLAMA_MODEL_META_KEY_SAMPLING_TOP_P);
    sampling.minP = real(header, LLAMA_MODEL_META_KEY_SAMPLING_MIN_P);
    sampling.repeatPenalty = real(header, LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_REPEAT);
    sampling.penaltyTokens = real(header, LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_LAST_N);
    sampling.xtcProbability = real(header, LLAMA_MODEL_META_KEY_SAMPLING_XTC_PROBABILITY);
    sampling.xtcThreshold = real(header, LLAMA_MODEL_META_KEY_SAMPLING_XTC_THRESHOLD);
    return sampling;
}

Header open(const std::string & path) {
    std::error_code error;
    const fs::path file = fs::u8path(path);
    if (!fs::exists(file, error))
        throw CodedError("model-missing", "There is no file " + path, "It was moved or deleted; add it again.");
    if (!fs::is_regular_file(file, error))
        throw CodedError("model-invalid", path + " is not a file", "Choose a .gguf file.");
    std::FILE * stream = ggml_fopen(path.c_str(), "rb");
    if (!stream)
        throw CodedError(
            "model-missing", path + " cannot be opened: " + std::strerror(errno), "Check that you may read it.");
    char magic[4] = {};
    const bool named = std::fread(magic, 1, sizeof magic, stream) == sizeof magic && std::memcmp(magic, "GGUF", 4) == 0;
    std::fclose(stream);
    if (!named) throw CodedError("model-invalid", path + " is not a GGUF file", "Models for this app are .gguf files.");

    const LogSink::Capture log;
    Header header(gguf_init_from_file(path.c_str(), { true, nullptr }), gguf_free);
    if (!header && log.errors().find("REMOVED") != std::string::npos) {
        throw CodedError("model-unsupported",
            withLog(path + " has an old quantization that llama.cpp removed", log.errors()), oldTypeHint);
    }
    if (!header) {
        throw CodedError("model-invalid", withLog(path + " is damaged or truncated", log.errors()), downloadHint);
    }
    return header;
}

void checkLength(const gguf_context * header, const std::string & path, uint64_t bytes) {
    uint64_t needed = gguf_get_data_offset(header);
    for (int64_t id = 0; id < gguf_get_n_tensors(header); id++) {
        needed = std::max<uint64_t>(needed,
            gguf_get_data_offset(header) + gguf_get_tensor_offset(header, id) + gguf_get_tensor_size(header, id));
    }
    if (bytes >= needed) return;
    throw CodedError("model-invalid",
        path + " is truncated: " + std::to_string(needed - bytes) + " of its " + std::to_string(needed) +
            " bytes are missing",
        downloadHint);
}

// adds what a file holds: bytes, parameters, tensor names that matter
void addFile(const gguf_context * header, const std::string & path, ModelInfo & info) {
    const uint64_t bytes = fs::file_size(fs::u8path(path));
    info.fileBytes += bytes;
    for (int64_t id = 0; id < gguf_get_n_tensors(header); id++) {
        // our cache types live in the slots of removed types: such a tensor is an old Q4_0_8_8 or IQ4_NL_N_M, or a forgery
        if (ggml_turbo_is_turbo(gguf_get_tensor_type(header, id))) {
            throw CodedError(
                "model-unsupported", path + " has an old quantization that llama.cpp removed", oldTypeHint);
        }
        const std::string name = gguf_get_tensor_name(header, id);
        const int64_t * ne = gguf_get_tensor_ne(header, id);
        info.parameters += static_cast<uint64_t>(ne[0]) * ne[1] * ne[2] * ne[3];
        if (name.rfind("blk.", 0) != 0) continue;
        info.hasKBias = info.hasKBias || name.find(".attn_k.bias") != std::string::npos ||
                        name.find(".attn_qkv.bias") != std::string::npos;
    }
    checkLength(header, path, bytes);
}

// the other files of a model that is split into parts; they are opened one by one, so that the first one that is missing ends it
void addOtherParts(const gguf_context * header, const std::string & path, ModelInfo & info) {
    const uint64_t told = number(header, "split.count", 1);
    if (told <= 1) return;
    if (told > maxParts) {
        throw CodedError("model-invalid",
            path + " is damaged: it calls itself one of " + std::to_string(told) + " parts", downloadHint);
    }
    const auto count = static_cast<int>(told);
    const auto index = static_cast<int>(std::min(number(header, "split.no"), maxParts));
    std::vector<char> buffer(path.size() + 64);
    if (!llama_split_prefix(buffer.data(), buffer.size(), path.c_str(), index, count)) {
        throw CodedError("model-invalid", path + " is one part of a split model but is not named like one",
            "Keep the names of the parts as they were downloaded.");
    }
    const std::string prefix = buffer.data();
    for (int part = 0; part < count; part++) {
        if (part == index) continue;
        llama_split_path(buffer.data(), buffer.size(), prefix.c_str(), part, count);
        const std::string name = buffer.data();
        addFile(open(name).get(), name, info);
    }
}

// llama.cpp asserts what follows, and a failed assertion ends the process. Where a key is missing, it says so itself.
class HeaderCheck {
public:
    HeaderCheck(const gguf_context * header, const std::string & path, const ModelInfo & info)
        : header(header), path(path), info(info), arch(info.architecture) {}

    void run() const {
        layers();
        experts();
        heads();
        norms();
        vocabulary();
    }

private:
    uint64_t value(const char * key, uint64_t missing = 0) const { return number(header, arch + "." + key, missing); }

    void require(bool holds, const std::string & what) const {
        if (!holds) throw CodedError("model-invalid", path + " is damaged: " + what, downloadHint);
    }

    void layers() const {
        const uint64_t count = value("block_count", 1);
        require(count >= 1 && count <= LLAMA_MAX_LAYERS, "its header names " + std::to_string(count) + " layers");
        for (const char * key : { "nextn_predict_layers", "posnet.block_count", "convnext.block_count" }) {
            const uint64_t part = value(key);
            require(part <= count, "its header names " + std::to_string(count) + " layers, but " +
                                       std::to_string(part) + " of one kind (" + key + ")");
        }
    }

    void experts() const {
        const uint64_t count = value("expert_count");
        const uint64_t used = value("expert_used_count");
        const uint64_t groups = value("expert_group_count");
        const uint64_t groupsUsed = value("expert_group_used_count");
        if (count <= 1 && arch.rfind("hunyuan", 0) == 0) return; // llama.cpp reads these as models without experts
        require(count <= LLAMA_MAX_EXPERTS, "its header names " + std::to_string(count) + " experts");
        require(used <= count && (used > 0) == (count > 0),
            "its header says that " + std::to_string(used) + " of " + std::to_string(count) + " experts are used");
        const bool grouped = groups <= 1 || (count % groups == 0 && groupsUsed > 0 && groupsUsed < groups);
        require((count > 0 ? groups < count : groups == 0) && grouped,
            "its header divides " + std::to_string(count) + " experts into " + std::to_string(groups) +
                " groups, of which " + std::to_string(groupsUsed) + " are used");
    }

    void heads() const {
        const std::string scaling = text(header, arch + ".rope.scaling.type");
        static const std::set<std::string> scalings = { "", "none", "linear", "yarn", "longrope" };
        require(scalings.count(scaling) > 0, "its header names an unknown position scaling (" + quoted(scaling) + ")");
        // test/engine/models/headers.test.ts compares this list with llama.cpp's sources
        static const std::set<std::string> wholeHeads = {
            "granite",
            "mistral3",
            "olmo2",
            "qwen2",
            "qwen2moe",
            "qwen3",
            "qwen3moe",
            "smollm3",
            "starcoder2",
        };
        if (!wholeHeads.count(arch) || info.headCount <= 0) return;
        const uint64_t rotated = value("rope.dimension_count", info.headDimK);
        require(info.headDimK == info.headDimV && rotated == static_cast<uint64_t>(info.headDimK),
            "its attention heads have " + std::to_string(info.headDimK) + " key, " + std::to_string(info.headDimV) +
                " value and " + std::to_string(rotated) + " rotary dimensions, which should be equal");
    }

    void norms() const {
        for (const char * key :
            { ".attention.layer_norm_rms_epsilon", ".attention.layer_norm_epsilon", ".attention.group_norm_epsilon" }) {
            const int64_t id = find(header, arch + key);
            if (id < 0 || gguf_get_kv_type(header, id) != GGUF_TYPE_FLOAT32) continue;
            require(gguf_get_val_f32(header, id) >= 0, std::string("its header has no usable number for ") + (key + 1));
        }
    }

    void vocabulary() const {
        const std::string kind = text(header, "tokenizer.ggml.model");
        const bool merges = find(header, "tokenizer.ggml.merges") >= 0;
        const bool scores = find(header, "tokenizer.ggml.scores") >= 0;
        // no assertion, but answers that never end
        require(!merges || !(kind == "bert" || kind == "t5" || kind == "rwkv" || (kind == "llama" && !scores)),
            "its vocabulary is made for byte pair encoding, and it says \"" + kind + "\"");
        tokens();
    }

    // each token may be there once; llama.cpp gives those without a text a name of their own
    void tokens() const {
        const int64_t id = find(header, "tokenizer.ggml.tokens");
        if (id < 0 || gguf_get_kv_type(header, id) != GGUF_TYPE_ARRAY ||
            gguf_get_arr_type(header, id) != GGUF_TYPE_STRING)
            return;
        std::unordered_set<std::string_view> known;
        const size_t count = gguf_get_arr_n(header, id);
        known.reserve(count);
        for (size_t token = 0; token < count; token++) {
            const std::string_view name = gguf_get_arr_str(header, id, token);
            require(name.empty() || known.insert(name).second,
                "its vocabulary has a token twice (" + quoted(std::string(name)) + ")");
        }
    }

    const gguf_context * header;
    const std::string & path;
    const ModelInfo & info;
    const std::string & arch;
};

void readShape(const gguf_context * header, ModelInfo & info) {
    const std::string & arch = info.architecture;
    info.layers = static_cast<int>(number(header, arch + ".block_count"));
    info.headCount = static_cast<int>(number(header, arch + ".attention.head_count"));
    info.headCountKv = static_cast<int>(number(header, arch + ".attention.head_count_kv", info.headCount));
    const uint64_t embedding = number(header, arch + ".embedding_length");
    const uint64_t headDim = info.headCount ? embedding / info.headCount : 0;
    info.headDimK = static_cast<int>(number(header, arch + ".attention.key_length", headDim));
    info.headDimV = static_cast<int>(number(header, arch + ".attention.value_length", headDim));
    info.nCtxTrain = static_cast<int>(number(header, arch + ".context_length"));
    const int64_t tokens = find(header, "tokenizer.ggml.tokens");
    info.vocabSize = static_cast<int>(tokens >= 0 && gguf_get_kv_type(header, tokens) == GGUF_TYPE_ARRAY
                                          ? gguf_get_arr_n(header, tokens)
                                          : number(header, arch + ".vocab_size"));
}

} // namespace

ModelInfo inspect(const std::string & path) {
    const Header header = open(path);
    ModelInfo info;
    info.architecture = text(header.get(), "general.architecture");
    if (info.architecture.empty()) {
        throw CodedError(
            "model-invalid", path + " names no architecture: it is not a language model", "Choose another .gguf file.");
    }
    info.name = text(header.get(), "general.name");
    info.license = text(header.get(), "general.license");
    info.hasChatTemplate = find(header.get(), "tokenizer.chat_template") >= 0;
    const uint64_t unknown = LLAMA_FTYPE_GUESSED;
    info.quantization = llama_ftype_name(static_cast<llama_ftype>(number(header.get(), "general.file_type", unknown)));
    info.sampling = recommendedSampling(header.get());
    readShape(header.get(), info);
    HeaderCheck(header.get(), path, info).run();
    addFile(header.get(), path, info);
    addOtherParts(header.get(), path, info);
    return info;
}

} // namespace concertina
