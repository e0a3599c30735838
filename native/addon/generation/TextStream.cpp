#include "generation/TextStream.h"

#include <algorithm>
#include <utility>

namespace concertina {
namespace {

size_t characterLength(unsigned char lead) {
    if (lead < 0x80) return 1;
    if ((lead & 0xE0) == 0xC0) return 2;
    if ((lead & 0xF0) == 0xE0) return 3;
    if ((lead & 0xF8) == 0xF0) return 4;
    return 1; // not a lead byte: invalid text, passed on as it is
}

// longest end of `text` that begins `stop`
size_t overlap(const std::string & text, const std::string & stop) {
    for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; length--) {
        if (text.compare(text.size() - length, length, stop, 0, length) == 0) return length;
    }
    return 0;
}

} // namespace

size_t unfinishedBytes(const std::string & text) {
    for (size_t back = 1; back <= std::min<size_t>(3, text.size()); back++) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xC0) == 0x80) continue; // inside a character
        return characterLength(byte) > back ? back : 0;
    }
    return 0;
}

TextStream::TextStream(std::vector<std::string> stops, std::string begun)
    : stops(std::move(stops)), held(std::move(begun)) {
    const auto empty = [](const std::string & stop) { return stop.empty(); };
    this->stops.erase(std::remove_if(this->stops.begin(), this->stops.end(), empty), this->stops.end());
}

std::string TextStream::push(const std::string & bytes) {
    if (stopped()) return "";
    held += bytes;
    size_t first = std::string::npos;
    for (size_t i = 0; i < stops.size(); i++) {
        const size_t at = held.find(stops[i]);
        if (at >= first) continue;
        first = at;
        matched = static_cast<int>(i);
    }
    if (stopped()) {
        held.resize(first);
        return "";
    }
    return take(safeLength());
}

std::string TextStream::finish(bool goesOn) {
    const size_t tail = unfinishedBytes(held);
    if (goesOn) return take(held.size() - tail);
    if (tail) {
        held.resize(held.size() - tail);
        held += "\xEF\xBF\xBD";
    }
    return take(held.size());
}

size_t TextStream::safeLength() const {
    size_t keep = unfinishedBytes(held);
    for (const std::string & stop : stops) keep = std::max(keep, overlap(held, stop));
    return held.size() - keep;
}

std::string TextStream::take(size_t length) {
    std::string text = held.substr(0, length);
    held.erase(0, length);
    return text;
}

} // namespace concertina
