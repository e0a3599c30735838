// The running softmax of decode over a tile, for all levels. A level file defines within its anonymous namespace
//   apply_mask(score, mask, slope)   score += slope*mask, -inf where the mask is -inf, for DECODE_TILE values; returns the
//                                    largest that is no NaN. A mask of NULL changes nothing.
//   weights_of_logits(score, max)    score = exp(score - max); returns their sum, NaN when one of them is
//   exp_of(x)                        e^x for x <= 0
// and includes this file there. Query vectors go through each step together: one's chain of operations hides another's.

// Of a tile whose largest logit is -inf: all are masked, or NaN.
INLINE decode_step nothing_visible(float * score, decode_state * state) {
    for (int p = 0; p < DECODE_TILE; ++p) {
        state->sum = score[p] != score[p] ? score[p] : state->sum;
        score[p]   = 0.0f;
    }
    return { 1.0f, -INFINITY };
}

INLINE decode_step raise_max(float top, decode_state * state) {
    float rescale = 1.0f;
    if (top > state->max) {
        rescale    = exp_of(state->max - top);
        state->max = top;
    }
    return { rescale, top - state->max };
}

void softmax(float * score, const decode_row * row, int n_query, decode_step * step) {
    float top[DECODE_MAX_QUERIES];
    for (int j = 0; j < n_query; ++j) {
        top[j] = apply_mask(score + j*DECODE_TILE, row[j].mask, row[j].slope);
    }
    for (int j = 0; j < n_query; ++j) {
        step[j] = top[j] == -INFINITY ? nothing_visible(score + j*DECODE_TILE, row[j].state) : raise_max(top[j], row[j].state);
    }
    for (int j = 0; j < n_query; ++j) {
        decode_state * state = row[j].state;
        if (top[j] != -INFINITY) {
            state->sum = state->sum*step[j].rescale + weights_of_logits(score + j*DECODE_TILE, state->max);
        }
    }
}
