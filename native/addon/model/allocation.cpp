#include "model/allocation.h"

#include <cstdint>
#include <regex>

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

std::optional<CodedError> failedAllocation(const std::string & log, const std::string & hint) {
    for (const auto & [words, part] : parts) {
        if (log.find(words) == std::string::npos) continue;
        return CodedError("out-of-memory",
            std::string(part) + sizeIn(log) + " could not be allocated: the system has no such memory left", hint);
    }
    return std::nullopt;
}

} // namespace concertina
