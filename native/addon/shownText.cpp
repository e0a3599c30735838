#include "shownText.h"

#include <cstdint>

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

} // namespace

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

} // namespace concertina
