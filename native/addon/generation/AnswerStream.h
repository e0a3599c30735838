// From the bytes of an answer to its two visible parts, thinking and text, as they grow.
#pragma once

#include "model/ChatFormat.h"

#include <chrono>
#include <string>
#include <vector>

namespace concertina {

// Bytes of tokens in, text that may be shown out: whole UTF-8 characters only, and nothing that could still turn out to
// be the beginning of a stop string.
class TextStream {
public:
    // `begun`: bytes of a character that an earlier stream ended in
    explicit TextStream(std::vector<std::string> stops, std::string begun = "");

    // returns the text that became safe
    std::string push(const std::string & bytes);
    // no more bytes: the rest. An unfinished character becomes U+FFFD, or stays in `unfinished` for a stream that goes on.
    std::string finish(bool goesOn = false);
    const std::string & unfinished() const { return held; }

    // a stop string was met; it and everything after it are gone
    bool stopped() const { return matched >= 0; }
    // index of the stop string that was met, -1: none
    int stopIndex() const { return matched; }

private:
    size_t safeLength() const;
    std::string take(size_t length);

    std::vector<std::string> stops;
    std::string held; // not given out yet
    int matched = -1;
};

// bytes at the end of `text` that begin a UTF-8 character without finishing it
size_t unfinishedBytes(const std::string & text);

// Where a stream stopped, for another one that goes on with the same answer.
struct StreamState {
    std::string raw, text, thinking;
    std::string unfinished; // bytes of a character
};

struct AnswerDelta {
    std::string text;
    std::string thinking;
};

class AnswerStream {
public:
    // stops: the caller's; those of the template come behind them
    // a prompt may end inside an answer: what it has of it is not given out again
    AnswerStream(const ChatPrompt & prompt, const std::vector<std::string> & stops);
    // goes on where another stream of the same prompt stopped
    AnswerStream(const ChatPrompt & prompt, const std::vector<std::string> & stops, const StreamState & from);

    AnswerDelta push(const std::string & bytes);
    // goesOn: an unfinished character is kept for the stream that goes on
    AnswerDelta finish(bool goesOn = false);
    StreamState state() const { return { raw, shownText, shownThinking, stream.unfinished() }; }

    bool stopped() const { return stream.stopped(); }
    // ended by a mark of the template, not by a stop string of the caller
    bool stoppedByTemplate() const { return stream.stopIndex() >= callerStops; }

    // of this stream alone
    std::string text() const { return shownText.substr(textBefore); }
    std::string thinking() const { return shownThinking.substr(thinkingBefore); }

private:
    AnswerDelta add(const std::string & safe, bool last, bool goesOn);
    bool due();
    AnswerDelta parse(bool last, bool goesOn);

    const ChatPrompt & prompt;
    const int callerStops;
    TextStream stream;
    std::string raw; // safe text before the thinking is taken out; empty for templates without thinking
    std::string shownText, shownThinking;
    size_t textBefore = 0, thinkingBefore = 0; // of them: from the prompt, or from an earlier stream
    std::chrono::steady_clock::time_point nextParse{};
};

} // namespace concertina
