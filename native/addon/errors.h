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

constexpr size_t shownLength = 200;

// Text of a foreign file as it may be shown, logged and stored: short, and nothing in it that steers a terminal or turns the
// order of what stands around it. The same rule as shownText in electron/services/hub/ggufHeader.ts; test/fixtures/shownText.ts holds both to it.
// At most `most` characters, up to a zero. Left out: control characters, controls of the writing direction, line and paragraph separators,
// the byte order mark, bytes that are no UTF-8; and white space around the rest.
std::string shownText(const std::string & text, size_t most = shownLength);

// What llama.cpp's log says about an allocation that failed: `out-of-memory` that names the part and its size; none when the log is about something else. `hint`: what to do
std::optional<CodedError> failedAllocation(const std::string & log, const std::string & hint);

} // namespace concertina
