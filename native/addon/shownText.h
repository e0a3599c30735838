// Text of a foreign file as it may be shown, logged and stored: short, and nothing in it that steers a terminal or turns the
// order of what stands around it. The same rule as shownText in electron/services/hub/ggufHeader.ts; test/fixtures/shownText.ts holds both to it.
#pragma once

#include <string>

namespace concertina {

constexpr size_t shownLength = 200;

// At most `most` characters, up to a zero. Left out: control characters, controls of the writing direction, line and paragraph separators,
// the byte order mark, bytes that are no UTF-8; and white space around the rest.
std::string shownText(const std::string & text, size_t most = shownLength);

} // namespace concertina
