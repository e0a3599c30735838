// The one error that leaves this addon: a code of electron/contract/errors.ts, what happened, and what to do about it; and
// how it quotes llama.cpp's log and the texts of foreign files.
#pragma once

#include <optional>
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

// Text of a foreign file in a message: at most `most` bytes of it, in one line. What must not be shown of it
// (electron/contract/errors.ts, `hidden`) is taken out where messages and lines of the log come out of the addon.
std::string quoted(std::string text, size_t most = 200);

// What llama.cpp's log says about an allocation that failed: `out-of-memory` that names the part and its size; none when the log is about something else. `hint`: what to do
std::optional<CodedError> failedAllocation(const std::string & log, const std::string & hint);

} // namespace concertina
