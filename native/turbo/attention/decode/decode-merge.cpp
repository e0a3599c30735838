// The end of decode: the partial results of the chunks become the rows of the result, in the order of the chunks.

#include "decode-plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

// The chunks of one stream and one source, first .. last - 1.
struct span {
    int first;
    int last;
};

span span_of(const decode_scratch & mem, int n_chunk, int stream, bool recent) {
    const auto before = [&](int c) {
        const decode_tile & tile = mem.tiles[mem.chunks[c].first];
        return tile.stream < stream || (tile.stream == stream && tile.recent < recent);
    };
    const auto within = [&](int c) {
        const decode_tile & tile = mem.tiles[mem.chunks[c].first];
        return tile.stream == stream && tile.recent == recent;
    };
    span res = { 0, 0 };
    while (res.first < n_chunk && before(res.first)) { ++res.first; }
    for (res.last = res.first; res.last < n_chunk && within(res.last);) { ++res.last; }
    return res;
}

// Adds to out what the chunks of a span gathered for query vector i, weights relative to exp(max); returns the sum of the weights.
float add_span(const decode_plan & pl, const decode_scratch & mem, span of, int i, float max, float * out) {
    float sum = 0.0f;
    for (int c = of.first; c < of.last; ++c) {
        const decode_state st = mem.states(c)[i];
        if (st.sum <= 0.0f) { // nothing visible
            continue;
        }
        const float * acc = mem.acc(c, i);
        const float w = expf(st.max - max);
        sum += w * st.sum;
        for (int d = 0; d < pl.at->v.head_dim; ++d) { out[d] += w * acc[d]; }
    }
    return sum;
}

// spans: of the sources
void merge(const decode_plan & pl, const decode_scratch & mem, int stream, const span * spans, int row, int head) {
    const turbo_attention * at = pl.at;
    const int i = decode_vec_index(at, row, head);
    const int dv = at->v.head_dim;

    const float sink = at->sinks != nullptr ? at->sinks[head] : -INFINITY;
    float max = sink;
    for (int s = 0; s < pl.n_source; ++s) {
        for (int c = spans[s].first; c < spans[s].last; ++c) { max = std::max(max, mem.states(c)[i].max); }
    }

    float * out = (float *) (at->dst + head * at->dst_nb_head + row * at->dst_nb_row + stream * at->dst_nb_stream);
    memset(out, 0, dv * sizeof(float));
    float sum = sink == -INFINITY ? 0.0f : expf(sink - max);
    sum += add_span(pl, mem, spans[0], i, max, out);
    pl.source[0].v_kernels->finish(out, dv);
    if (pl.n_source > 1 && spans[1].first < spans[1].last) {
        float * own = (float *) mem.padded; // of a size that holds a row: 32 rows of both sides
        memset(own, 0, dv * sizeof(float));
        sum += add_span(pl, mem, spans[1], i, max, own);
        pl.source[1].v_kernels->finish(own, dv);
        for (int d = 0; d < dv; ++d) { out[d] += own[d]; }
    }
    const float inv = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (int d = 0; d < dv; ++d) { out[d] *= inv; }
}

} // namespace

void decode_merge(const decode_plan & pl, const decode_scratch & mem, int n_chunk) {
    const turbo_attention * at = pl.at;
    for (int s = 0; s < at->n_stream; ++s) {
        const span spans[2] = { span_of(mem, n_chunk, s, false), span_of(mem, n_chunk, s, true) };
        for (int i = at->ith; i < pl.n_vec; i += at->nth) { merge(pl, mem, s, spans, i / at->n_head, i % at->n_head); }
    }
}
