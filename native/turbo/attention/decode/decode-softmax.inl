// The running softmax of decode over a tile, for all levels. Included within a level's anonymous namespace after its vec-*.inl and
// exp_of(x), e^x for x <= 0. Query vectors go through each step together: one's chain of operations hides another's.

// score += slope*mask, -inf where the mask is -inf; returns the largest that is no NaN. A mask of NULL changes nothing.
INLINE float apply_mask(float * score, const uint16_t * mask, float slope) {
    vec top = set1(-INFINITY);
    UNROLL for (int i = 0; i < DECODE_TILE; i += WIDTH) {
        vec x = load(score + i);
        if (mask != nullptr) {
            const vec m = load_f16(mask + i);
            x = hide(fma(set1(slope), m, x), m);
            store(score + i, x);
        }
        top = max2(x, top); // a NaN leaves top as it was
    }
    return reduce_max(top);
}

// score = e^(score - max); returns their sum, NaN when one of them is
INLINE float weights_of_logits(float * score, float max) {
    vec sum = set1(0.0f);
    UNROLL for (int i = 0; i < DECODE_TILE; i += WIDTH) {
        const vec w = exp_of(sub(load(score + i), set1(max)));
        store(score + i, w);
        sum = add(sum, w);
    }
    return reduce_add(sum);
}

// Of a tile whose largest logit is -inf: all are masked, or NaN.
INLINE decode_step nothing_visible(float * score, decode_state * state) {
    for (int p = 0; p < DECODE_TILE; ++p) {
        state->sum = score[p] != score[p] ? score[p] : state->sum;
        score[p] = 0.0f;
    }
    return { 1.0f, -INFINITY };
}

INLINE decode_step raise_max(float top, decode_state * state) {
    float rescale = 1.0f;
    if (top > state->max) {
        rescale = first(exp_of(set1(state->max - top)));
        state->max = top;
    }
    return { rescale, top - state->max };
}

void softmax(float * score, const decode_row * row, int n_query, decode_step * step) {
    float top[DECODE_MAX_QUERIES];
    for (int j = 0; j < n_query; ++j) { top[j] = apply_mask(score + j * DECODE_TILE, row[j].mask, row[j].slope); }
    for (int j = 0; j < n_query; ++j) {
        step[j] = top[j] == -INFINITY ? nothing_visible(score + j * DECODE_TILE, row[j].state)
                                      : raise_max(top[j], row[j].state);
    }
    for (int j = 0; j < n_query; ++j) {
        decode_state * state = row[j].state;
        if (top[j] != -INFINITY) {
            state->sum = state->sum * step[j].rescale + weights_of_logits(score + j * DECODE_TILE, state->max);
        }
    }
}
