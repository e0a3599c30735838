// Prefill of whole prompts from an empty cache.
#pragma once

#include "variant.h"

// Prefills up to the longest of the lengths, batch by batch, all variants taking their turn at each batch; prints a
// "sample" event ("prompt", seconds for all its tokens) for each variant and length. A variant that has spent
// patience_seconds at the end of one length leaves the longer ones out.
void prefill_prompts(const std::vector<variant> & variants, const std::vector<int> & lengths, int n_batch, int n_vocab,
    double patience_seconds);
