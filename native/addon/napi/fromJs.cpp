// The struct of each JavaScript value that the addon is given.

#include "napi/convert.h"

#include "errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concertina {
namespace {

[[noreturn]] void wrongType(const char * name, const char * wanted) {
    throw CodedError("bad-request", std::string(name) + " must be " + wanted);
}

double readNumber(const Napi::Value & value, const char * name) {
    if (!value.IsNumber()) wrongType(name, "a number");
    const double number = value.As<Napi::Number>().DoubleValue();
    if (!std::isfinite(number)) wrongType(name, "a finite number");
    return number;
}

std::string optionalText(const Napi::Object & object, const char * name) {
    const Napi::Value value = object.Get(name);
    return value.IsUndefined() || value.IsNull() ? "" : readText(value, name);
}

int optionalInteger(const Napi::Object & object, const char * name) {
    const Napi::Value value = object.Get(name);
    return value.IsUndefined() || value.IsNull() ? 0 : readInteger(value, name);
}

Napi::Object readObject(const Napi::Value & value, const char * name) {
    if (!value.IsObject()) wrongType(name, "an object");
    return value.As<Napi::Object>();
}

SamplingOptions readSampling(const Napi::Value & value) {
    const Napi::Object object = readObject(value, "sampling");
    SamplingOptions options;
    options.temperature = static_cast<float>(readNumber(object.Get("temperature"), "temperature"));
    options.topK = readInteger(object.Get("topK"), "topK");
    options.topP = static_cast<float>(readNumber(object.Get("topP"), "topP"));
    options.minP = static_cast<float>(readNumber(object.Get("minP"), "minP"));
    options.repeatPenalty = static_cast<float>(readNumber(object.Get("repeatPenalty"), "repeatPenalty"));
    const double seed = readNumber(object.Get("seed"), "seed");
    if (seed < 0 || seed > std::numeric_limits<uint32_t>::max()) wrongType("seed", "between 0 and 4294967295");
    options.seed = static_cast<uint32_t>(seed);
    return options;
}

} // namespace

std::string readText(const Napi::Value & value, const char * name) {
    if (!value.IsString()) wrongType(name, "a text");
    return value.As<Napi::String>().Utf8Value();
}

int readInteger(const Napi::Value & value, const char * name) {
    const double number = readNumber(value, name);
    if (number != std::floor(number) || std::abs(number) > std::numeric_limits<int>::max())
        wrongType(name, "a whole number");
    return static_cast<int>(number);
}

std::vector<std::string> readTexts(const Napi::Value & value, const char * name) {
    if (!value.IsArray()) wrongType(name, "an array of texts");
    const Napi::Array array = value.As<Napi::Array>();
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < array.Length(); i++) texts.push_back(readText(array.Get(i), name));
    return texts;
}

std::vector<llama_token> readTokens(const Napi::Value & value) {
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array)
        wrongType("tokens", "an Int32Array");
    const Napi::Int32Array array = value.As<Napi::Int32Array>();
    return { array.Data(), array.Data() + array.ElementLength() };
}

TimePoint readTime(const Napi::Value & value) {
    if (value.IsUndefined()) return std::chrono::system_clock::now();
    const double ms = readNumber(value, "now");
    if (!(std::abs(ms) < 1e14)) wrongType("now", "a time"); // year 5138
    return TimePoint(std::chrono::duration_cast<TimePoint::duration>(std::chrono::duration<double, std::milli>(ms)));
}

std::vector<ChatMessage> readMessages(const Napi::Value & value) {
    if (!value.IsArray()) wrongType("messages", "an array");
    const Napi::Array array = value.As<Napi::Array>();
    std::vector<ChatMessage> messages;
    for (uint32_t i = 0; i < array.Length(); i++) {
        const Napi::Object message = readObject(array.Get(i), "message");
        messages.push_back({ readText(message.Get("role"), "role"), readText(message.Get("content"), "content") });
    }
    if (messages.empty()) throw CodedError("bad-request", "The chat is empty", "Write a message first.");
    return messages;
}

AnswerSoFar readSoFar(const Napi::Value & value) {
    if (value.IsUndefined()) return {};
    const Napi::Object object = readObject(value, "the answer so far");
    return { readText(object.Get("text"), "text"), readText(object.Get("thinking"), "thinking") };
}

ContextOptions readContextOptions(const Napi::Value & value) {
    const Napi::Object object = readObject(value, "context options");
    ContextOptions options;
    const Napi::Value cells = object.Get("nCtx");
    options.nCtx = cells.IsNumber() ? cells.As<Napi::Number>().DoubleValue() : 0;
    options.typeK = readText(object.Get("typeK"), "typeK");
    options.typeV = readText(object.Get("typeV"), "typeV");
    options.flashAttention = readText(object.Get("flashAttention"), "flashAttention");
    options.threads = readInteger(object.Get("threads"), "threads");
    options.batch = readInteger(object.Get("batch"), "batch");
    if (const std::string rope = optionalText(object, "rope"); !rope.empty()) options.rope = rope;
    return options;
}

CalibrationOptions readCalibrationOptions(const Napi::Value & value) {
    const Napi::Object object = readObject(value, "calibration options");
    CalibrationOptions options;
    options.text = readText(object.Get("text"), "text");
    options.maxTokens = readInteger(object.Get("maxTokens"), "maxTokens");
    options.positions = readInteger(object.Get("positions"), "positions");
    options.threads = readInteger(object.Get("threads"), "threads");
    if (const std::string rope = optionalText(object, "rope"); !rope.empty()) options.rope = rope;
    return options;
}

std::vector<uint8_t> readBytes(const Napi::Value & value, const char * name) {
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
        throw CodedError("bad-request", std::string(name) + " must be a Uint8Array");
    }
    const auto bytes = value.As<Napi::Uint8Array>();
    return { bytes.Data(), bytes.Data() + bytes.ByteLength() };
}

GenerateRequest readGenerateRequest(const Napi::Value & prompt, const Napi::Value & value) {
    const Napi::Object options = readObject(value, "generate options");
    GenerateRequest request;
    if (prompt.IsArray()) {
        request.messages = readMessages(prompt);
    } else {
        request.tokens = readTokens(prompt);
    }
    request.sampling = readSampling(options.Get("sampling"));
    request.now = readTime(options.Get("now"));
    request.grammar.jsonSchema = optionalText(options, "jsonSchema");
    request.grammar.gbnf = optionalText(options, "grammar");
    request.soFar = readSoFar(options.Get("continueFrom"));
    request.stop = readTexts(options.Get("stop"), "stop");
    request.maxTokens = readInteger(options.Get("maxTokens"), "maxTokens");
    request.candidates = optionalInteger(options, "candidates");
    request.ignoreEnd = options.Get("ignoreEnd").ToBoolean();
    return request;
}

EvaluateRequest readFileEvaluation(const Napi::Value & tokens, const Napi::Value & value) {
    const Napi::Object options = readObject(value, "evaluation options");
    EvaluateRequest request;
    request.tokens = readTokens(tokens);
    request.chunk = static_cast<size_t>(std::max(0, optionalInteger(options, "chunk")));
    request.score = static_cast<size_t>(std::max(0, optionalInteger(options, "score")));
    request.record = optionalText(options, "record");
    request.against = optionalText(options, "against");
    return request;
}

} // namespace concertina
