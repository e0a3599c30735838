// Speculative decoding in one chat: whether drafting pays, by the clock.
#pragma once

#include "fields.h"

#include <cstddef>

namespace concertina {

// What was drafted for an answer so far, and how much of it the model would have written too; slower: nothing more is drafted
// in this chat, because it was faster without.
struct Drafts {
    size_t drafted = 0, accepted = 0;
    bool slower = false;

    CONCERTINA_FIELDS(drafted, accepted, slower)
};

// Tokens of a chat that were written with drafts and without them, and the time that they took. The first ones come with
// drafts, the next without, and then the faster way is kept.
struct DraftTrial {
    static constexpr size_t tokensWith = 200, tokensWithout = 64;

    size_t withTokens = 0, withoutTokens = 0;
    double withMs = 0, withoutMs = 0;

    bool slower() const { return decided() && !wantsDrafts(); }
    bool decided() const { return withTokens >= tokensWith && withoutTokens >= tokensWithout; }
    bool wantsDrafts() const {
        if (!decided()) return withTokens < tokensWith;
        return withMs / withTokens <= withoutMs / withoutTokens;
    }
    void add(bool drafts, double ms) {
        (drafts ? withTokens : withoutTokens)++;
        (drafts ? withMs : withoutMs) += ms;
    }

    CONCERTINA_FIELDS(withTokens, withoutTokens, withMs, withoutMs)
};

} // namespace concertina
