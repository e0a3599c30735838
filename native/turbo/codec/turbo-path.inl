// The path of least error around the ring of a quarter (Viterbi's algorithm). Included by each level's file, which has defined
//   INLINE
//   metrics                     the errors of the best paths to each of TURBO_STATES codes: whole numbers of 16 bits, whose low four
//                               bits are the code before, so that the least of two numbers names its origin and a tie has one winner
//   equal_metrics()             all 0
//   one_metric(state)           0 for a code, 0xfff0 for the others
//   store_metrics(p, m)
//   extend(m, level, x, level2, x2, two)
//       by a code: the least, over the codes before, of (m & ~15 | code before) + d(x - level[before][code])^2 [+ the same of x2 and
//       level2], sums saturating at 65535; then all less the least & ~15. d(e) = min(|e|, 252), in quarters of a step: its square is
//       a multiple of 16 that fits.

// Codes from which the first state is found, on either side of it: decisions further away change it rarely.
#define PATH_MARGIN 8

#define MAX_CODES (TURBO_GROUP / TURBO_SUBSCALES)

// t: code of the ring
INLINE metrics extend_path(metrics m, const struct turbo_branches * b, int words, const int16_t * x, int t) {
    if (words == 4) { return extend(m, b->level[0], x[t], b->level[0], 0, 0); }
    const int k = t % 3;
    const int16_t * v = x + t / 3 * 4;
    return k < 2 ? extend(m, b->level[k], v[k], b->level[k], 0, 0) : extend(m, b->level[2], v[2], b->level[3], v[3], 1);
}

// The code before the first: that of the best path over the end and the beginning of the ring, whose own ends are free. m: metrics
// of its 2*PATH_MARGIN codes
INLINE int first_state(uint16_t m[][2][TURBO_STATES], int i) {
    const int last = 2 * PATH_MARGIN - 1;
    int state = 0;
    for (int s = 1; s < TURBO_STATES; ++s) { state = (m[last][i][s] | 15) < (m[last][i][state] | 15) ? s : state; }
    for (int t = last; t >= PATH_MARGIN; --t) { state = m[t][i][state] & 15; }
    return state;
}

INLINE void paths_n(
    const struct turbo_branches * b, int words, int n, const int16_t x[2][MAX_CODES], uint8_t code[2][MAX_CODES]) {
    uint16_t m[MAX_CODES][2][TURBO_STATES];
    metrics now[2] = { equal_metrics(), equal_metrics() };
    for (int t = 0; t < 2 * PATH_MARGIN; ++t) {
        for (int i = 0; i < 2; ++i) {
            now[i] = extend_path(now[i], b, words, x[i], t < PATH_MARGIN ? n - PATH_MARGIN + t : t - PATH_MARGIN);
            store_metrics(m[t][i], now[i]);
        }
    }
    const int first[2] = { first_state(m, 0), first_state(m, 1) };
    for (int i = 0; i < 2; ++i) { now[i] = one_metric(first[i]); }
    for (int t = 0; t < n; ++t) {
        for (int i = 0; i < 2; ++i) {
            now[i] = extend_path(now[i], b, words, x[i], t);
            store_metrics(m[t][i], now[i]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        int s = first[i]; // the last code, too
        for (int t = n - 1; t >= 0; --t) {
            code[i][t] = s;
            s = m[t][i][s] & 15;
        }
    }
}

static void paths(
    const struct turbo_branches * b, int words, int n, const int16_t x[2][MAX_CODES], uint8_t code[2][MAX_CODES]) {
    if (words == 4) {
        paths_n(b, 4, n, x, code);
    } else {
        paths_n(b, 3, n, x, code);
    }
}
