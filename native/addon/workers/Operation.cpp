#include "workers/Operation.h"

#include <cstring>

namespace concertina {
namespace {

struct Shape {
    int32_t type;
    uint32_t there; // 0: no tensor
    int64_t ne[GGML_MAX_DIMS];
    uint64_t nb[GGML_MAX_DIMS];
};

struct Sent {
    int32_t op, flags;
    int32_t params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    Shape result, sources[GGML_MAX_SRC];
};

constexpr int64_t mostValues = int64_t(1) << 40;
constexpr char digits[] = "0123456789abcdef";

Shape shapeOf(const ggml_tensor * tensor) {
    Shape shape{};
    if (!tensor) return shape;
    shape.type = tensor->type;
    shape.there = 1;
    std::memcpy(shape.ne, tensor->ne, sizeof(shape.ne));
    std::memcpy(shape.nb, tensor->nb, sizeof(shape.nb));
    return shape;
}

// nullptr: no tensor of ggml can be like this
ggml_tensor * tensorOf(ggml_context * context, const Shape & shape) {
    if (shape.type < 0 || shape.type >= GGML_TYPE_COUNT) return nullptr;
    const auto type = static_cast<ggml_type>(shape.type);
    if (ggml_blck_size(type) == 0) return nullptr;
    int64_t values = 1;
    for (const int64_t ne : shape.ne) {
        if (ne < 1 || ne > mostValues / values) return nullptr;
        values *= ne;
    }
    if (shape.ne[0] % ggml_blck_size(type) != 0) return nullptr;
    ggml_tensor * tensor = ggml_new_tensor(context, type, GGML_MAX_DIMS, shape.ne);
    for (int i = 0; i < GGML_MAX_DIMS; i++) tensor->nb[i] = shape.nb[i];
    return tensor;
}

int digitOf(char letter) {
    const char * found = letter ? std::strchr(digits, letter) : nullptr;
    return found ? static_cast<int>(found - digits) : -1;
}

} // namespace

std::string operationText(const ggml_tensor * operation) {
    Sent sent{};
    sent.op = operation->op;
    sent.flags = operation->flags;
    std::memcpy(sent.params, operation->op_params, sizeof(sent.params));
    sent.result = shapeOf(operation);
    for (int i = 0; i < GGML_MAX_SRC; i++) sent.sources[i] = shapeOf(operation->src[i]);
    unsigned char bytes[sizeof(sent)];
    std::memcpy(bytes, &sent, sizeof(sent));
    std::string text;
    text.reserve(2 * sizeof(sent));
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::optional<ReadOperation> readOperation(const std::string & text) {
    Sent sent;
    if (text.size() != 2 * sizeof(sent)) return std::nullopt;
    unsigned char bytes[sizeof(sent)];
    for (size_t i = 0; i < sizeof(sent); i++) {
        const int high = digitOf(text[2 * i]), low = digitOf(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes[i] = static_cast<unsigned char>(high << 4 | low);
    }
    std::memcpy(&sent, bytes, sizeof(sent));
    if (sent.op < 0 || sent.op >= GGML_OP_COUNT) return std::nullopt;
    ReadOperation read;
    read.context.reset(ggml_init({ (1 + GGML_MAX_SRC) * ggml_tensor_overhead(), nullptr, true }));
    read.tensor = tensorOf(read.context.get(), sent.result);
    if (!read.tensor) return std::nullopt;
    read.tensor->op = static_cast<ggml_op>(sent.op);
    read.tensor->flags = sent.flags;
    std::memcpy(read.tensor->op_params, sent.params, sizeof(sent.params));
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (!sent.sources[i].there) continue;
        read.tensor->src[i] = tensorOf(read.context.get(), sent.sources[i]);
        if (!read.tensor->src[i]) return std::nullopt;
    }
    return read;
}

bool hasPointers(const ggml_tensor * operation) {
    switch (operation->op) {
        case GGML_OP_MAP_CUSTOM1:
        case GGML_OP_MAP_CUSTOM2:
        case GGML_OP_MAP_CUSTOM3:
        case GGML_OP_CUSTOM: return true;
        default: return false;
    }
}

} // namespace concertina
