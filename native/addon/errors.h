// The one error that leaves this addon: a code of electron/contract/errors.ts, what happened, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace concertina {

class CodedError : public std::runtime_error {
public:
    CodedError(std::string code, const std::string & message, std::string hint = "");

    const std::string code;
    const std::string hint;
};

// "reason: first useful line of llama.cpp's log", or only the reason when the log is empty
std::string withLog(const std::string & reason, const std::string & log);

} // namespace concertina
