#include "errors.h"

#include "shownText.h"

#include <utility>

namespace concertina {

// llama.cpp quotes what it does not know from the file: a name can be as long as the file
constexpr size_t longestLog = 500;

CodedError::CodedError(std::string code, const std::string & message, std::string hint)
    : std::runtime_error(message), code(std::move(code)), hint(std::move(hint)) {}

std::string withLog(const std::string & reason, const std::string & log) {
    return log.empty() ? reason : reason + ": " + shownText(log, longestLog);
}

} // namespace concertina
