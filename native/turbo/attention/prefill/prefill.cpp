// Prefill: many query vectors per KV head. The plan of an operation, its scratch memory, the work of a thread, and its items.

#include "prefill.h"

#include "turbo-hooks.h"

#include "ggml-cpu-impl.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

// Query vectors of an item at most: the cost of expanding a tile is shared by all of them. Their Q and O are streamed once per
// tile, from the third-level cache if need be.
constexpr int MAX_BLOCK = 512;

// Items per thread at least, so that threads end together although the causal mask makes early rows cheap.
constexpr int ITEMS_PER_THREAD = 4;

// Query vectors of a KV head whose positions are divided, from so many tiles on: as many as decode takes of the types that it knows.
// With more of them a row has the same bits in whatever batch it is read. In so many items, whatever the number of threads is.
constexpr int MAX_SPLIT_QUERIES = TURBO_DECODE_MAX_QUERIES;
constexpr int MIN_SPLIT_TILES = 4;
constexpr int SPLIT_ITEMS = 64;

// Register tiles in a part.
constexpr int TILES_PER_PART = 8;

// Fewer query vectors than this do not pay for the expansion.
constexpr int MIN_QUERIES = 4;

constexpr size_t ALIGN = 64;

int round_up(int n, int to) { return (n + to - 1) / to * to; }

const prefill_kernels * choose_kernels() {
    static const prefill_kernels * const tables[] = {
#ifdef TURBO_X86_KERNELS
        &prefill_kernels_avx512,
        &prefill_kernels_avx2,
#endif
#ifdef TURBO_NEON_KERNELS
        &prefill_kernels_neon,
#endif
    };
    for (const prefill_kernels * kern : tables) {
        if (strcmp(kern->level, ggml_turbo_simd_level()) == 0) { return kern; }
    }
    return &prefill_kernels_scalar;
}

const prefill_kernels & kernels() {
    static const prefill_kernels * const chosen = choose_kernels();
    return *chosen;
}

// False when the type has no decoder.
bool decoder_of(const prefill_kernels & kern, ggml_type type, ggml_to_float_t & decoder) {
    switch (type) {
        case GGML_TYPE_F32: decoder = nullptr; return true;
        case GGML_TYPE_F16: decoder = kern.f16; return true;
        case GGML_TYPE_Q8_0: decoder = kern.q8_0; return true;
        case GGML_TYPE_Q4_0: decoder = kern.q4_0; return true;
        default: decoder = turbo_v_decoder(type, ggml_get_type_traits(type)->to_float); return decoder != nullptr;
    }
}

// Lays the buffers out from base and returns the end.
char * lay_out(const turbo_attention & at, const prefill_plan & plan, char * base, prefill_buffers & buf) {
    const auto take = [&base](size_t n) {
        float * p = (float *) base;
        base = base + (n * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN;
        return p;
    };
    buf.q = take((size_t) plan.block * plan.k_stride);
    buf.out = take((size_t) plan.block * plan.v_stride);
    buf.max = take(plan.block);
    buf.sum = take(plan.block);
    buf.scores = take((size_t) plan.part * PREFILL_TILE);
    buf.k = take((size_t) PREFILL_TILE * at.k.head_dim);
    buf.v = take((size_t) PREFILL_TILE * plan.v_stride);
    buf.rows = take((size_t) plan.kern->nr * std::max(plan.k_stride, plan.v_stride));
    if (plan.z_stride > 0) {
        buf.z = take((size_t) plan.block * plan.z_stride);
        buf.turns = take((size_t) plan.z_stride * plan.kern->nr);
        buf.bias = take((size_t) plan.block * plan.kern->nr);
    }
    return base;
}

// False when prefill does not take the operation.
bool make_plan(const turbo_attention & at, int n_threads, prefill_plan & plan) {
    plan = {};
    plan.kern = &kernels();
    plan.n_query = at.n_rows * at.gqa;
    // nobody else takes a bias, or knows of other rows than the cache's
    const int least_queries = at.bias.n_row > 0 || turbo_has_recent(&at) ? 1 : MIN_QUERIES;
    if (plan.n_query < least_queries || at.n_kv == 0 || !decoder_of(*plan.kern, at.k.type, plan.k_decoder) ||
        !decoder_of(*plan.kern, at.v.type, plan.v_decoder)) {
        return false;
    }
    if (turbo_has_recent(&at) && !decoder_of(*plan.kern, at.recent.k.type, plan.recent_decoder)) { return false; }

    const int mr = plan.kern->mr;
    const int nr = plan.kern->nr;
    const int heads = at.n_head_kv * at.n_stream;
    const int least =
        std::max((plan.n_query + MAX_BLOCK - 1) / MAX_BLOCK, (ITEMS_PER_THREAD * n_threads + heads - 1) / heads);
    plan.n_tile = (at.n_kv + PREFILL_TILE - 1) / PREFILL_TILE;
    const bool divided = plan.n_query <= MAX_SPLIT_QUERIES && plan.n_tile >= MIN_SPLIT_TILES;
    plan.n_split = divided ? std::min(plan.n_tile, std::max(1, SPLIT_ITEMS / heads)) : 1;
    plan.part = TILES_PER_PART * mr;
    if (plan.n_split > 1) {
        plan.block = round_up(plan.n_query, mr);
    } else {
        plan.block = round_up((plan.n_query + least - 1) / least, plan.n_query > plan.part * least ? plan.part : mr);
    }
    plan.n_block = (plan.n_query + plan.block - 1) / plan.block;

    plan.z_stride = at.bias.n_row;
    plan.k_stride = at.k.head_dim;
    plan.v_stride = round_up(at.v.head_dim, nr);

    plan.view_size = (size_t) at.mask_n_stream * at.mask_n_head * at.n_rows * plan.n_tile;
    plan.view_size = (plan.view_size + ALIGN - 1) / ALIGN * ALIGN;
    if (plan.n_split > 1) {
        plan.split_size = (heads * plan.n_split * prefill_gathered_size(plan) + ALIGN - 1) / ALIGN * ALIGN;
    }
    prefill_buffers buf;
    plan.thread_size = lay_out(at, plan, nullptr, buf) - (char *) nullptr;
    return true;
}

// This thread's share of the table of views.
void fill_views(const turbo_attention & at, const prefill_plan & plan, uint8_t * views) {
    const int64_t n_row = (int64_t) at.mask_n_stream * at.mask_n_head * at.n_rows;
    for (int64_t i = n_row * at.ith / at.nth; i < n_row * (at.ith + 1) / at.nth; ++i) {
        const int64_t row = i % at.n_rows;
        const int64_t head = i / at.n_rows % at.mask_n_head;
        const int64_t stream = i / at.n_rows / at.mask_n_head;
        const uint16_t * mask =
            (const uint16_t *) (at.mask + row * at.mask_nb_row + head * at.mask_nb_head + stream * at.mask_nb_stream);
        for (int tile = 0; tile < plan.n_tile; ++tile) {
            const int first = tile * PREFILL_TILE;
            views[i * plan.n_tile + tile] = plan.kern->view(mask + first, std::min(PREFILL_TILE, at.n_kv - first));
        }
    }
}

char * aligned(char * p) { return (char *) (((uintptr_t) p + ALIGN - 1) / ALIGN * ALIGN); }

// --- an item: a block of query vectors of one KV head against tiles of K and V, with a running softmax. Logits are in base 2
// throughout: log2(e) is part of the scale.

struct tile {
    int index;
    int first; // position
    int n; // positions
    int n_pad; // rounded up to panels
    bool expanded;
    int n_bad; // rows of V that are not finite: left out of v, see add_bad_rows
    int bad[PREFILL_TILE];
};

class item {
public:
    item(const turbo_attention & at, const prefill_plan & plan, const prefill_buffers & buf, const uint8_t * views,
        int stream, int head_kv, int first)
        : at(at), plan(plan), kern(*plan.kern), buf(buf), views(views), stream(stream), head_kv(head_kv), first(first),
          n(std::min(plan.block, plan.n_query - first)), bias(at, plan, buf) {
        bias.begin();
    }

    void run(int first_tile, int last_tile) {
        load_queries();
        for (int t = first_tile; t < last_tile; ++t) {
            tile now = { t, t * PREFILL_TILE, std::min(PREFILL_TILE, at.n_kv - t * PREFILL_TILE), 0, false, 0, {} };
            now.n_pad = (now.n + kern.nr - 1) / kern.nr * kern.nr;
            if (plan.z_stride > 0) { bias.list_runs(stream, now.first, now.n); }
            for (int part = 0; part < n; part += plan.part) { add_tile(now, part, std::min(plan.part, n - part)); }
        }
    }

    // What it gathered, where it saw all tiles.
    void store_rows() const {
        for (int i = 0; i < n; ++i) {
            float * out = buf.out + (size_t) i * plan.v_stride;
            prefill_store(at, plan, stream, row_of(i), head_of(i), buf.max[i], buf.sum[i], out);
        }
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
    const int n; // query vectors

    prefill_bias bias;

    int row_of(int i) const { return (first + i) / at.gqa; }
    int head_of(int i) const { return head_kv * at.gqa + (first + i) % at.gqa; }

    void load_queries() {
        const float scale = at.softcap == 0.0f ? at.scale * LOG2E : at.scale;
        const int n_pad = (n + kern.mr - 1) / kern.mr * kern.mr;
        for (int i = 0; i < n; ++i) {
            const float * q =
                (const float *) (at.q + row_of(i) * at.q_nb_row + head_of(i) * at.q_nb_head + stream * at.q_nb_stream);
            float * y = buf.q + (size_t) i * plan.k_stride;
            for (int d = 0; d < at.k.head_dim; ++d) { y[d] = q[d] * scale; }
            if (plan.z_stride > 0) { bias.load(stream, row_of(i), head_of(i), i, scale); }
            buf.max[i] = -INFINITY;
            buf.sum[i] = 0.0f;
        }
        std::fill(buf.q + (size_t) n * plan.k_stride, buf.q + (size_t) n_pad * plan.k_stride, 0.0f);
        std::fill(buf.out, buf.out + (size_t) n_pad * plan.v_stride, 0.0f);
        if (plan.z_stride > 0) {
            std::fill(buf.z + (size_t) n * plan.z_stride, buf.z + (size_t) n_pad * plan.z_stride, 0.0f);
        }
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

    // The row of a position of one side, or the one that is held of it in a finer type.
    void decode(
        const turbo_kv & cache, const turbo_kv & recent, ggml_to_float_t decoder, int position, float * y) const {
        const int slot = turbo_has_recent(&at) ? at.recent.slot[position / TURBO_RECENT_TILE] : -1;
        const turbo_kv & kv = slot >= 0 ? recent : cache;
        if (slot >= 0) {
            decoder = plan.recent_decoder;
            position = slot * TURBO_RECENT_TILE + position % TURBO_RECENT_TILE;
        }
        const char * row =
            kv.data + position * kv.nb_pos + head_kv * kv.nb_head + turbo_stream_of(&kv, &at, stream) * kv.nb_stream;
        if (decoder != nullptr) {
            decoder(row, y, kv.head_dim);
        } else {
            memcpy(y, row, kv.head_dim * sizeof(float));
        }
    }

    void decode_k(int position, float * y) const { decode(at.k, at.recent.k, plan.k_decoder, position, y); }
    void decode_v(int position, float * y) const { decode(at.v, at.recent.v, plan.v_decoder, position, y); }

    void expand(tile & now) const {
        const int nr = kern.nr;
        for (int p = 0; p < now.n; p += nr) {
            const int here = std::min(nr, now.n - p);
            for (int i = 0; i < here; ++i) { decode_k(now.first + p + i, buf.rows + i * plan.k_stride); }
            std::fill(buf.rows + here * plan.k_stride, buf.rows + nr * plan.k_stride, 0.0f);
            kern.transpose(buf.rows, plan.k_stride, at.k.head_dim, buf.k + p * at.k.head_dim);
        }

        std::fill(buf.rows + at.v.head_dim, buf.rows + plan.v_stride, 0.0f);
        for (int p = 0; p < now.n; ++p) {
            decode_v(now.first + p, buf.rows);
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
    void add_tile(tile & now, int part, int n_part) {
        bool hidden = true;
        for (int i = part; i < part + n_part && hidden; ++i) { hidden = view(i, now) == PREFILL_HIDDEN; }
        if (hidden) { return; }
        if (!now.expanded) { expand(now); }

        const int rows = (n_part + kern.mr - 1) / kern.mr * kern.mr;
        const float * q = buf.q + (size_t) part * plan.k_stride;
        for (int p = 0; p < now.n_pad; p += kern.nr) {
            const float * keys = buf.k + p * at.k.head_dim;
            const float * start = plan.z_stride > 0 ? bias.begin_scores(part, n_part, p, p + kern.nr) : nullptr;
            if (start != nullptr) {
                kern.gemm_from(start, q, plan.k_stride, keys, at.k.head_dim, buf.scores + p, PREFILL_TILE, rows);
            } else {
                kern.gemm(q, plan.k_stride, keys, at.k.head_dim, buf.scores + p, PREFILL_TILE, rows, plan.z_stride > 0);
            }
        }
        for (int i = 0; i < n_part; ++i) { weigh(now, part + i, buf.scores + i * PREFILL_TILE); }
        float * out = buf.out + (size_t) part * plan.v_stride;
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
            decode_v(now.first + now.bad[b], buf.rows);
            for (int i = 0; i < n_part; ++i) {
                const float weight = buf.scores[i * PREFILL_TILE + now.bad[b]];
                float * out = buf.out + (size_t) (part + i) * plan.v_stride;
                for (int d = 0; d < at.v.head_dim && weight != 0.0f; ++d) { out[d] += weight * buf.rows[d]; }
            }
        }
    }
};

size_t work_size(const prefill_plan & plan, int n_threads) {
    return ALIGN + plan.view_size + plan.split_size + n_threads * plan.thread_size;
}

} // namespace

extern "C" size_t turbo_prefill_work(const turbo_attention * at, int n_threads) {
    prefill_plan plan;
    return make_plan(*at, n_threads, plan) ? work_size(plan, n_threads) : 0;
}

extern "C" bool turbo_prefill_run(const turbo_attention * at) {
    prefill_plan plan;
    if (!make_plan(*at, at->nth, plan) || work_size(plan, at->nth) > at->work_size) { return false; }

    char * base = aligned(at->work);
    uint8_t * views = (uint8_t *) base;
    char * splits = base + plan.view_size;
    prefill_buffers buf;
    lay_out(*at, plan, splits + plan.split_size + at->ith * plan.thread_size, buf);

    fill_views(*at, plan, views);
    if (at->ith == 0) { ggml_threadpool_chunk_set(at->threadpool, at->nth); }
    ggml_barrier(at->threadpool);

    // late rows first: they see most, and a small item at the end leaves no thread waiting long
    const int heads = at->n_head_kv * at->n_stream;
    const int n_item = heads * plan.n_block * plan.n_split;
    for (int i = at->ith; i < n_item; i = ggml_threadpool_chunk_add(at->threadpool, 1)) {
        const int head = i % heads;
        const int split = i / heads % plan.n_split;
        const int block = plan.n_block - 1 - i / heads / plan.n_split;
        if (plan.n_split > 1) {
            const prefill_gathered own = prefill_split(plan, splits, head, split);
            buf.out = own.out;
            buf.max = own.max;
            buf.sum = own.sum;
        }
        item work(*at, plan, buf, views, head / at->n_head_kv, head % at->n_head_kv, block * plan.block);
        work.run(plan.n_tile * split / plan.n_split, plan.n_tile * (split + 1) / plan.n_split);
        if (plan.n_split == 1) { work.store_rows(); }
    }
    if (plan.n_split > 1) {
        ggml_barrier(at->threadpool);
        prefill_merge(*at, plan, splits);
    }
    return true;
}
