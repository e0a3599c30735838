// Bytes of tokens in, text that may be shown out: whole UTF-8 characters only, and nothing that could still turn out to
// be the beginning of a stop string.
#pragma once

#include <string>
#include <vector>

namespace concertina {

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

} // namespace concertina
