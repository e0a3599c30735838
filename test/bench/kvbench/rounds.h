// Interleaved rounds over the variants: in each round every variant has one turn, and each round begins with another one.
// What drifts (clock, neighbors) then meets all of them alike, and a ratio within a round is fair.
#pragma once

#include "variant.h"

#include <functional>
#include <string>

// One measurement of one variant, in seconds; the number of variants[i].
using turn = std::function<double(size_t i)>;

struct round_plan {
    const std::vector<variant> & variants;
    int n_rounds; // after one of warm-up
    double deadline; // in seconds of now()
};

// Seconds of a clock that never goes back.
double now();

// True before the deadline; else prints a "cut" event: the part is left out at this depth.
bool in_time(const round_plan & plan, const std::string & what, int depth);

// Prints a "sample" event for each turn after the warm-up, and a "cut" event when the deadline ended it early: one round
// of decode is measured at any price, all others must end in time. In parts other than decode a variant whose warm-up
// took very long (stock q8_0 prefilling deep: minutes) is not asked again: its warm-up counts as round 1. what is the
// part (protocol.h); depth and n_tokens, of the batch that a turn's seconds are for, go into the event.
void run_rounds(const round_plan & plan, const std::string & what, int depth, int n_tokens, const turn & measure);

// Seconds per token of a few single tokens at this depth, their median; the first is not timed. What the cache
// holds from depth on is replaced. Ends the process when decoding fails or gives logits that are not finite.
double decode_turn(const variant & one, int depth);

// Seconds of one batch at this depth; it stays in the cache, in place of what was there from depth on.
double prefill_turn(const variant & one, int depth, std::vector<llama_token> & batch);

// Prefills up to the longest of the lengths, batch by batch, all variants taking their turn at each batch; prints a
// "sample" event ("prompt", seconds for all its tokens) for each variant and length. A variant that has spent
// patience_seconds at the end of one length leaves the longer ones out.
void prefill_prompts(const std::vector<variant> & variants, const std::vector<int> & lengths, int n_batch, int n_vocab,
    double patience_seconds);
