#include "errors.h"

#include <cstdint>
#include <regex>
#include <utility>

namespace concertina {
namespace {

constexpr uint32_t noCharacter = 0xFFFD;

// The character that begins at `at`, which is moved behind it; of bytes that are no UTF-8 one is passed over.
uint32_t next(const std::string & text, size_t & at) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const uint32_t first = byte(at);
    const int length = first < 0x80 ? 1 : first >> 5 == 0x6 ? 2 : first >> 4 == 0xE ? 3 : first >> 3 == 0x1E ? 4 : 0;
    uint32_t character = length == 1 ? first : first & (0x7Fu >> length);
    bool valid = length > 0;
    for (int i = 1; i < length; i++) {
        valid = valid && byte(at + i) >> 6 == 2;
        character = character << 6 | (byte(at + i) & 0x3F);
    }
    static constexpr uint32_t shortest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    valid =
        valid && character >= shortest[length] && character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF);
    at += valid ? length : 1;
    return valid ? character : noCharacter;
}

bool isShown(uint32_t c) {
    const bool control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
    const bool direction =
        c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    const bool separator = c == 0x2028 || c == 0x2029;
    return !control && !direction && !separator && c != 0xFEFF && c != noCharacter;
}

// in the order in which they are looked for: the line about the buffer itself comes with each of them
const struct {
    const char * words;
    const char * part;
} parts[] = {
    { "buffer for kv cache", "The KV cache" },
    { "buffer for rs cache", "The recurrent state" },
    { "allocate compute", "The compute buffers" },
    { "unable to allocate", "A buffer for the weights" },
    { "failed to allocate", "A buffer" },
    { "out of memory", "A buffer" },
};

std::string sizeIn(const std::string & log) {
    std::smatch found;
    if (!std::regex_search(log, found, std::regex("of size ([0-9]{1,18})\\b"))) return "";
    return " of " + std::to_string((std::stoull(found[1]) + (1u << 20) - 1) >> 20) + " MiB";
}

} // namespace

// llama.cpp quotes what it does not know from the file: a name can be as long as the file
constexpr size_t longestLog = 500;

CodedError::CodedError(std::string code, const std::string & message, std::string hint)
    : std::runtime_error(message), code(std::move(code)), hint(std::move(hint)) {}

std::string withLog(const std::string & reason, const std::string & log) {
    return log.empty() ? reason : reason + ": " + shownText(log, longestLog);
}

std::string shownText(const std::string & text, size_t most) {
    std::string shown;
    size_t characters = 0;
    for (size_t at = 0; at < text.size() && text[at] != 0 && characters < most;) {
        const size_t start = at;
        const uint32_t character = next(text, at);
        if (!isShown(character) || (shown.empty() && character == ' ')) continue;
        shown.append(text, start, at - start);
        characters++;
    }
    shown.erase(shown.find_last_not_of(' ') + 1);
    return shown;
}

std::optional<CodedError> failedAllocation(const std::string & log, const std::string & hint) {
    for (const auto & [words, part] : parts) {
        if (log.find(words) == std::string::npos) continue;
        return CodedError("out-of-memory",
            std::string(part) + sizeIn(log) + " could not be allocated: the system has no such memory left", hint);
    }
    return std::nullopt;
}

} // namespace concertina
