// From the bytes of an answer to its two visible parts, thinking and text, as they grow.
#pragma once

#include "ChatFormat.h"
#include "TextStream.h"

#include <chrono>
#include <string>
#include <vector>

namespace concertina {

struct AnswerDelta {
    std::string text;
    std::string thinking;
};

class AnswerStream {
public:
    // stops: the caller's; those of the template come behind them
    AnswerStream(const ChatPrompt & prompt, const std::vector<std::string> & stops);

    AnswerDelta push(const std::string & bytes);
    AnswerDelta finish();

    bool stopped() const { return stream.stopped(); }
    // ended by a mark of the template, not by a stop string of the caller
    bool stoppedByTemplate() const { return stream.stopIndex() >= callerStops; }

    const std::string & text() const { return shownText; }
    const std::string & thinking() const { return shownThinking; }

private:
    AnswerDelta add(const std::string & safe, bool last);
    bool due();
    AnswerDelta parse(bool last);

    const ChatPrompt & prompt;
    const int callerStops;
    TextStream stream;
    std::string raw; // safe text before the thinking is taken out; empty for templates without thinking
    std::string shownText, shownThinking;
    std::chrono::steady_clock::time_point nextParse{};
};

} // namespace concertina
