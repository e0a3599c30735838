#include "Inspect.h"

#include "LogSink.h"
#include "errors.h"

#include "ggml-turbo.h"
#include "gguf.h"
#include "llama.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

namespace concertina {
namespace {

namespace fs = std::filesystem;

using Header = std::unique_ptr<gguf_context, decltype(&gguf_free)>;

constexpr uint64_t maxLayers = 512; // LLAMA_MAX_LAYERS: llama.cpp aborts above it
constexpr const char * oldTypeHint = "Get the model in another quantisation, Q4_0 or Q4_K_M for example.";
constexpr const char * downloadHint = "Download the file again, or choose another one.";

int64_t find(const gguf_context * header, const std::string & key) {
    return gguf_find_key(header, key.c_str());
}

std::string text(const gguf_context * header, const std::string & key) {
    const int64_t id = find(header, key);
    return id >= 0 && gguf_get_kv_type(header, id) == GGUF_TYPE_STRING ? gguf_get_val_str(header, id) : "";
}

uint64_t scalar(gguf_type type, const void * data) {
    switch (type) {
        case GGUF_TYPE_UINT8: case GGUF_TYPE_INT8: case GGUF_TYPE_BOOL: return *static_cast<const uint8_t *>(data);
        case GGUF_TYPE_UINT16: case GGUF_TYPE_INT16: return *static_cast<const uint16_t *>(data);
        case GGUF_TYPE_UINT32: case GGUF_TYPE_INT32: return *static_cast<const uint32_t *>(data);
        case GGUF_TYPE_UINT64: case GGUF_TYPE_INT64: return *static_cast<const uint64_t *>(data);
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

Header open(const std::string & path) {
    std::error_code error;
    const fs::path file = fs::u8path(path);
    if (!fs::exists(file, error)) throw CodedError("model-missing", "There is no file " + path, "It was moved or deleted; add it again.");
    if (!fs::is_regular_file(file, error)) throw CodedError("model-invalid", path + " is not a file", "Choose a .gguf file.");
    std::FILE * stream = ggml_fopen(path.c_str(), "rb");
    if (!stream) throw CodedError("model-missing", path + " cannot be opened: " + std::strerror(errno), "Check that you may read it.");
    char magic[4] = {};
    const bool named = std::fread(magic, 1, sizeof magic, stream) == sizeof magic && std::memcmp(magic, "GGUF", 4) == 0;
    std::fclose(stream);
    if (!named) throw CodedError("model-invalid", path + " is not a GGUF file", "Models for this app are .gguf files.");

    const LogSink::Capture log;
    Header header(gguf_init_from_file(path.c_str(), {true, nullptr}), gguf_free);
    if (!header && log.errors().find("REMOVED") != std::string::npos) {
        throw CodedError("model-unsupported", withLog(path + " has an old quantisation that llama.cpp removed", log.errors()), oldTypeHint);
    }
    if (!header) {
        throw CodedError("model-invalid", withLog(path + " is damaged or truncated", log.errors()), downloadHint);
    }
    return header;
}

void checkLength(const gguf_context * header, const std::string & path, uint64_t bytes) {
    uint64_t needed = gguf_get_data_offset(header);
    for (int64_t id = 0; id < gguf_get_n_tensors(header); id++) {
        needed = std::max<uint64_t>(
            needed, gguf_get_data_offset(header) + gguf_get_tensor_offset(header, id) + gguf_get_tensor_size(header, id));
    }
    if (bytes >= needed) return;
    throw CodedError(
        "model-invalid",
        path + " is truncated: " + std::to_string(needed - bytes) + " of its " + std::to_string(needed) + " bytes are missing", downloadHint);
}

// adds what a file holds: bytes, parameters, tensor names that matter
void addFile(const gguf_context * header, const std::string & path, ModelInfo & info) {
    const uint64_t bytes = fs::file_size(fs::u8path(path));
    info.fileBytes += bytes;
    for (int64_t id = 0; id < gguf_get_n_tensors(header); id++) {
        // our cache types live in the slots of removed types: such a tensor is an old Q4_0_8_8 or IQ4_NL_N_M, or a forgery
        if (ggml_turbo_is_turbo(gguf_get_tensor_type(header, id))) {
            throw CodedError("model-unsupported", path + " has an old quantisation that llama.cpp removed", oldTypeHint);
        }
        const std::string name = gguf_get_tensor_name(header, id);
        const int64_t * ne = gguf_get_tensor_ne(header, id);
        info.parameters += static_cast<uint64_t>(ne[0]) * ne[1] * ne[2] * ne[3];
        if (name.rfind("blk.", 0) != 0) continue;
        info.hasKBias = info.hasKBias || name.find(".attn_k.bias") != std::string::npos || name.find(".attn_qkv.bias") != std::string::npos;
    }
    checkLength(header, path, bytes);
}

// the other files of a model that is split into parts
std::vector<std::string> otherParts(const gguf_context * header, const std::string & path) {
    const auto count = static_cast<int>(number(header, "split.count", 1));
    const auto index = static_cast<int>(number(header, "split.no"));
    std::vector<std::string> parts;
    if (count <= 1) return parts;
    std::vector<char> buffer(path.size() + 64);
    if (!llama_split_prefix(buffer.data(), buffer.size(), path.c_str(), index, count)) {
        throw CodedError("model-invalid", path + " is one part of a split model but is not named like one",
                         "Keep the names of the parts as they were downloaded.");
    }
    const std::string prefix = buffer.data();
    for (int part = 0; part < count; part++) {
        if (part == index) continue;
        llama_split_path(buffer.data(), buffer.size(), prefix.c_str(), part, count);
        parts.emplace_back(buffer.data());
    }
    return parts;
}

void checkLayers(const gguf_context * header, const std::string & path, const std::string & arch) {
    const uint64_t layers = number(header, arch + ".block_count", 1); // where it is missing, llama.cpp says so itself
    if (layers >= 1 && layers <= maxLayers) return;
    throw CodedError("model-invalid", path + " is damaged: its header names " + std::to_string(layers) + " layers", downloadHint);
}

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
    info.vocabSize = static_cast<int>(
        tokens >= 0 && gguf_get_kv_type(header, tokens) == GGUF_TYPE_ARRAY ? gguf_get_arr_n(header, tokens) : number(header, arch + ".vocab_size"));
}

} // namespace

ModelInfo inspect(const std::string & path) {
    const Header header = open(path);
    ModelInfo info;
    info.architecture = text(header.get(), "general.architecture");
    if (info.architecture.empty()) {
        throw CodedError("model-invalid", path + " names no architecture: it is not a language model", "Choose another .gguf file.");
    }
    info.name = text(header.get(), "general.name");
    if (info.name.empty()) info.name = fs::u8path(path).stem().u8string();
    info.license = text(header.get(), "general.license");
    info.hasChatTemplate = find(header.get(), "tokenizer.chat_template") >= 0;
    const uint64_t unknown = LLAMA_FTYPE_GUESSED;
    info.quantization = llama_ftype_name(static_cast<llama_ftype>(number(header.get(), "general.file_type", unknown)));
    checkLayers(header.get(), path, info.architecture);
    readShape(header.get(), info);
    addFile(header.get(), path, info);
    for (const std::string & part : otherParts(header.get(), path)) addFile(open(part).get(), part, info);
    return info;
}

} // namespace concertina
