#include "errors.h"

#include <algorithm>
#include <regex>
#include <utility>

namespace concertina {
namespace {

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
    return log.empty() ? reason : reason + ": " + quoted(log, longestLog);
}

std::string quoted(std::string text, size_t most) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.substr(0, most);
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
