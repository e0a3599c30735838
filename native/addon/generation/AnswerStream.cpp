#include "generation/AnswerStream.h"

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

} // namespace concertina
