#include "errors.h"

#include <utility>

namespace concertina {

CodedError::CodedError(std::string code, const std::string & message, std::string hint)
    : std::runtime_error(message), code(std::move(code)), hint(std::move(hint)) {}

std::string withLog(const std::string & reason, const std::string & log) {
    return log.empty() ? reason : reason + ": " + log;
}

} // namespace concertina
