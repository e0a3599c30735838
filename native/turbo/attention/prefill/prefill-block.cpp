// Prefill of one item: a block of query vectors of one KV head against all tiles of K and V, with a running softmax.
// Logits are in base 2 throughout: log2(e) is part of the scale.

#include "prefill.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

constexpr float LOG2E = 1.44269504f;

struct tile {
    int index;
    int first;              // position
    int n;                  // positions
    int n_pad;              // rounded up to panels
    bool expanded;
    int n_bad;              // rows of V that are not finite: left out of v, see add_bad_rows
    int bad[PREFILL_TILE];
};

class item {
public:
    item(const turbo_attention & at, const prefill_plan & plan, const prefill_buffers & buf, const uint8_t * views,
        int stream, int head_kv, int first)
        : at(at), plan(plan), kern(*plan.kern), buf(buf), views(views), stream(stream), head_kv(head_kv), first(first),
          n(std::min(plan.block, plan.n_query - first)) {
        k = side(at.k);
        v = side(at.v);
    }

    void run() {
        load_queries();
        for (int t = 0; t < plan.n_tile; ++t) {
            tile now = { t, t * PREFILL_TILE, std::min(PREFILL_TILE, at.n_kv - t * PREFILL_TILE), 0, false, 0, {} };
            now.n_pad = (now.n + kern.nr - 1) / kern.nr * kern.nr;
            for (int part = 0; part < n; part += plan.part) { add_tile(now, part, std::min(plan.part, n - part)); }
        }
        store_rows();
    }

private:
    const turbo_attention & at;
    const prefill_plan & plan;
    const prefill_kernels & kern;
    const prefill_buffers & buf;
    const uint8_t * views;

    const int stream;
    const int head_kv;
    const int first; // query vector of the KV head
    const int n;     // query vectors

    const char * k;
    const char * v;

    const char * side(const turbo_kv & kv) const {
        return kv.data + head_kv * kv.nb_head + stream * kv.n_stream / at.n_stream * kv.nb_stream;
    }

    int row_of(int i) const { return (first + i) / at.gqa; }
    int head_of(int i) const { return head_kv * at.gqa + (first + i) % at.gqa; }

    void load_queries() const {
        const float scale = at.softcap == 0.0f ? at.scale * LOG2E : at.scale;
        const int n_pad = (n + kern.mr - 1) / kern.mr * kern.mr;
        for (int i = 0; i < n; ++i) {
            const float * q =
                (const float *) (at.q + row_of(i) * at.q_nb_row + head_of(i) * at.q_nb_head + stream * at.q_nb_stream);
            float * y = buf.q + (size_t) i * plan.k_stride;
            for (int d = 0; d < at.k.head_dim; ++d) { y[d] = q[d] * scale; }
            buf.max[i] = -INFINITY;
            buf.sum[i] = 0.0f;
        }
        std::fill(buf.q + (size_t) n * plan.k_stride, buf.q + (size_t) n_pad * plan.k_stride, 0.0f);
        std::fill(buf.out, buf.out + (size_t) n_pad * plan.v_stride, 0.0f);
    }

    prefill_view view(int i, const tile & now) const {
        if (at.mask_n_head == 0) { return PREFILL_OPEN; }
        const size_t row =
            ((size_t) (stream % at.mask_n_stream) * at.mask_n_head + head_of(i) % at.mask_n_head) * at.n_rows +
            row_of(i);
        return (prefill_view) views[row * plan.n_tile + now.index];
    }

    const uint16_t * mask_of(int i, const tile & now) const {
        return (const uint16_t *) (at.mask + row_of(i) * at.mask_nb_row +
                                   head_of(i) % at.mask_n_head * at.mask_nb_head +
                                   stream % at.mask_n_stream * at.mask_nb_stream) +
               now.first;
    }

    static void decode(ggml_to_float_t decoder, const char * row, float * y, int n) {
        if (decoder != nullptr) {
            decoder(row, y, n);
        } else {
            memcpy(y, row, n * sizeof(float));
        }
    }

    void expand(tile & now) const {
        const int nr = kern.nr;
        for (int p = 0; p < now.n; p += nr) {
            const int here = std::min(nr, now.n - p);
            for (int i = 0; i < here; ++i) {
                decode(
                    plan.k_decoder, k + (now.first + p + i) * at.k.nb_pos, buf.rows + i * plan.k_stride, at.k.head_dim);
            }
            std::fill(buf.rows + here * plan.k_stride, buf.rows + nr * plan.k_stride, 0.0f);
            kern.transpose(buf.rows, plan.k_stride, at.k.head_dim, buf.k + p * at.k.head_dim);
        }

        std::fill(buf.rows + at.v.head_dim, buf.rows + plan.v_stride, 0.0f);
        for (int p = 0; p < now.n; ++p) {
            decode(plan.v_decoder, v + (now.first + p) * at.v.nb_pos, buf.rows, at.v.head_dim);
            if (!kern.finite(buf.rows, at.v.head_dim)) {
                now.bad[now.n_bad++] = p;
                std::fill(buf.rows, buf.rows + at.v.head_dim, 0.0f);
            }
            for (int d = 0; d < plan.v_stride; d += nr) {
                memcpy(buf.v + d * PREFILL_TILE + p * nr, buf.rows + d, nr * sizeof(float));
            }
        }
        now.expanded = true;
    }

    // Query vectors part .. part + n_part - 1 of the item.
    void add_tile(tile & now, int part, int n_part) const {
        bool hidden = true;
        for (int i = part; i < part + n_part && hidden; ++i) { hidden = view(i, now) == PREFILL_HIDDEN; }
        if (hidden) { return; }
        if (!now.expanded) { expand(now); }

        const int rows = (n_part + kern.mr - 1) / kern.mr * kern.mr;
        const float * q = buf.q + (size_t) part * plan.k_stride;
        float * out = buf.out + (size_t) part * plan.v_stride;
        for (int p = 0; p < now.n_pad; p += kern.nr) {
            kern.gemm(
                q, plan.k_stride, buf.k + p * at.k.head_dim, at.k.head_dim, buf.scores + p, PREFILL_TILE, rows, false);
        }
        for (int i = 0; i < n_part; ++i) { weigh(now, part + i, buf.scores + i * PREFILL_TILE); }
        for (int d = 0; d < plan.v_stride; d += kern.nr) {
            kern.gemm(buf.scores, PREFILL_TILE, buf.v + d * PREFILL_TILE, now.n, out + d, plan.v_stride, rows, true);
        }
        add_bad_rows(now, part, n_part);
    }

    // Logits of query vector i become weights, and what it gathered so far is scaled to the new maximum.
    void weigh(const tile & now, int i, float * s) const {
        const prefill_view how = view(i, now);
        if (how == PREFILL_HIDDEN) {
            std::fill(s, s + now.n_pad, 0.0f);
            return;
        }
        if (at.softcap != 0.0f) { kern.soft_cap(s, now.n_pad, at.softcap * LOG2E); }
        if (how == PREFILL_MIXED) {
            kern.add_mask(s, mask_of(i, now), now.n, turbo_attention_slope(&at, head_of(i)) * LOG2E);
        }
        std::fill(s + now.n, s + now.n_pad, -INFINITY);

        const float old = buf.max[i];
        const float max = kern.max(s, now.n_pad);
        if (max > old) {
            const float factor = std::exp2(old - max);
            kern.scale(buf.out + (size_t) i * plan.v_stride, plan.v_stride, factor);
            buf.sum[i] *= factor;
            buf.max[i] = max;
        }
        // all -inf, or NaN among them: weights 0 and NaN
        buf.sum[i] += kern.exp2_sum(s, now.n_pad, buf.max[i] == -INFINITY ? 0.0f : buf.max[i]);
    }

    // 0 * inf would carry a row of V that is not finite to query vectors that do not see it.
    void add_bad_rows(const tile & now, int part, int n_part) const {
        for (int b = 0; b < now.n_bad; ++b) {
            decode(plan.v_decoder, v + (now.first + now.bad[b]) * at.v.nb_pos, buf.rows, at.v.head_dim);
            for (int i = 0; i < n_part; ++i) {
                const float weight = buf.scores[i * PREFILL_TILE + now.bad[b]];
                float * out = buf.out + (size_t) (part + i) * plan.v_stride;
                for (int d = 0; d < at.v.head_dim && weight != 0.0f; ++d) { out[d] += weight * buf.rows[d]; }
            }
        }
    }

    void store_rows() const {
        for (int i = 0; i < n; ++i) {
            float * out = buf.out + (size_t) i * plan.v_stride;
            if (at.sinks != nullptr) { add_sink(at.sinks[head_of(i)] * LOG2E, i, out); }
            kern.scale(out, plan.v_stride, buf.sum[i] == 0.0f ? 0.0f : 1.0f / buf.sum[i]);
            memcpy(at.dst + head_of(i) * at.dst_nb_head + row_of(i) * at.dst_nb_row + stream * at.dst_nb_stream, out,
                at.v.head_dim * sizeof(float));
        }
    }

    void add_sink(float sink, int i, float * out) const {
        if (sink > buf.max[i]) {
            const float factor = std::exp2(buf.max[i] - sink);
            kern.scale(out, plan.v_stride, factor);
            buf.sum[i] = buf.sum[i] * factor + 1.0f;
        } else {
            buf.sum[i] += std::exp2(sink - buf.max[i]);
        }
    }
};

} // namespace

void prefill_block(const turbo_attention & at, const prefill_plan & plan, const prefill_buffers & buf,
    const uint8_t * views, int stream, int head_kv, int first) {
    item(at, plan, buf, views, stream, head_kv, first).run();
}
