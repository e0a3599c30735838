#include "generation/AnswerStream.h"

#include <algorithm>
#include <utility>

namespace concertina {
namespace {

using Clock = std::chrono::steady_clock;

// The parser reads the whole answer each time. After a parse of t it rests for 20 t, so it takes 5% of the time at most.
constexpr int restFactor = 20;

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string> & second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

// what `now` adds to `shown`; nothing while a partial parse disagrees with what was shown
std::string grown(std::string & shown, const std::string & now) {
    if (now.size() <= shown.size() || now.compare(0, shown.size(), shown) != 0) return "";
    std::string added = now.substr(shown.size());
    shown = now;
    return added;
}

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

AnswerStream::AnswerStream(const ChatPrompt & prompt, const std::vector<std::string> & stops)
    : AnswerStream(prompt, stops, StreamState{}) {
    if (!prompt.thinking || !prompt.open) return;
    parse(false, true);
    nextParse = {};
    textBefore = shownText.size();
    thinkingBefore = shownThinking.size();
}

AnswerStream::AnswerStream(const ChatPrompt & prompt, const std::vector<std::string> & stops, const StreamState & from)
    : prompt(prompt), callerStops(static_cast<int>(stops.size())), stream(joined(stops, prompt.stops), from.unfinished),
      raw(from.raw), shownText(from.text), shownThinking(from.thinking), textBefore(from.text.size()),
      thinkingBefore(from.thinking.size()) {}

AnswerDelta AnswerStream::push(const std::string & bytes) { return add(stream.push(bytes), false, false); }

AnswerDelta AnswerStream::finish(bool goesOn) { return add(stream.finish(goesOn), true, goesOn); }

AnswerDelta AnswerStream::add(const std::string & safe, bool last, bool goesOn) {
    if (!prompt.thinking) {
        shownText += safe;
        return { safe, "" };
    }
    raw += safe;
    if (!last && (safe.empty() || !due())) return {};
    return parse(last, goesOn);
}

bool AnswerStream::due() { return Clock::now() >= nextParse; }

AnswerDelta AnswerStream::parse(bool last, bool goesOn) {
    const auto start = Clock::now();
    common_chat_msg message;
    try {
        message = common_chat_parse(raw, !last || goesOn, prompt.parser);
    } catch (const std::exception &) {
        // the answer does not follow the template: show it as it is rather than lose it
        if (!last) return {};
        try {
            message = common_chat_parse(raw, true, prompt.parser);
        } catch (const std::exception &) { message.content = raw; }
    }
    nextParse = Clock::now() + (Clock::now() - start) * restFactor;
    const size_t tail = last ? 0 : unfinishedBytes(message.content);
    message.content.resize(message.content.size() - tail);
    AnswerDelta delta;
    delta.thinking = grown(shownThinking, message.reasoning_content);
    delta.text = grown(shownText, message.content);
    return delta;
}

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
