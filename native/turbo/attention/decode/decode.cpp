// Decode: few query vectors per KV head. The visible tiles of the cache are cut into chunks. Threads take a chunk when they are done
// with one, so that a slower core or a busy one holds nobody up; a chunk is read tile by tile, all KV heads of a tile in turn, so that
// whole rows of the cache stream by. Each chunk leaves a partial result of its own, and these are merged in their order after a
// barrier: the result has the same bits whichever thread took what, and for any number of them.

#include "decode-plan.h"
#include "turbo-codec.h"

#include "ggml-cpu-impl.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

static_assert(
    TURBO_DECODE_MAX_QUERIES <= DECODE_MAX_QUERIES, "decode is asked for more query vectors than a tile takes");

const int T = DECODE_TILE;
const int MAX_QUERIES = DECODE_MAX_QUERIES;

// Chunks of an operation: so many that the last one to end is soon done, so few that their partial results cost nothing.
const int MAX_CHUNKS = 32;
const int MIN_CHUNKS = 8;
const int PARTIAL_VECTORS = 4096; // of all chunks together, unless that leaves fewer than MIN_CHUNKS

// Pieces of work for a thread, if there are heads enough to divide short contexts into so many.
const int ITEMS_PER_THREAD = 4;

// logits this far below the running maximum have weights below 1e-6, which is under the rounding of the sums: their V is not read
const float NEGLIGIBLE = -13.8f;

int type_of(ggml_type type) {
    switch ((int) type) {
#define PLACE_OF_TURBO(ID, name, group) \
    case GGML_TYPE_##ID: return DECODE_##ID;
        TURBO_EACH_TYPE(PLACE_OF_TURBO)
        case GGML_TYPE_Q8_0: return DECODE_Q8_0;
        case GGML_TYPE_Q5_0: return DECODE_Q5_0;
        case GGML_TYPE_IQ4_NL: return DECODE_IQ4_NL;
        case GGML_TYPE_Q4_0: return DECODE_Q4_0;
        case GGML_TYPE_F16: return DECODE_F16;
        default: return DECODE_TYPE_COUNT;
    }
}

// Table of the named level (turbo-codec.h); the next lower one's where a level has none. NULL: unknown to this build or CPU.
const decode_kernels * kernels_at(const char * level) {
    if (turbo_kernels_at(level) == nullptr) { return nullptr; }
#ifdef TURBO_X86_KERNELS
    if (strcmp(level, "avx512") == 0) { return &decode_kernels_avx512; }
    if (strcmp(level, "avx2") == 0) { return &decode_kernels_avx2; }
#endif
#ifdef TURBO_NEON_KERNELS
    if (strcmp(level, "neon") == 0) { return &decode_kernels_neon; }
#endif
    return &decode_kernels_scalar;
}

size_t share_of_head(const turbo_attention * at, const turbo_kv & kv) {
    const size_t rows = T * kv.nb_pos;
    return kv.nb_head < kv.nb_pos ? decode_align(rows / at->n_head_kv) : rows;
}

// Adds a source of tiles to a plan whose n_vec is known. False: no kernels for its types.
bool add_source(decode_plan & pl, const turbo_kv & k, const turbo_kv & v) {
    const int type_k = type_of(k.type);
    const int type_v = type_of(v.type);
    if (type_k == DECODE_TYPE_COUNT || type_v == DECODE_TYPE_COUNT) { return false; }
    const decode_k_kernels & k_kernels = pl.kernels->k[type_k];
    const decode_v_kernels & v_kernels = pl.kernels->v[type_v];
    if (k_kernels.scores == nullptr || v_kernels.accumulate == nullptr) { return false; }
    const size_t query_size = k_kernels.query_size(k.head_dim);
    pl.source[pl.n_source++] = { &k, &v, &k_kernels, &v_kernels, query_size, pl.queries_size, share_of_head(pl.at, k),
        share_of_head(pl.at, v) };
    pl.queries_size += pl.n_vec * pl.at->n_stream * query_size;
    pl.padded_size = std::max(
        pl.padded_size, decode_align(T * (ggml_row_size(k.type, k.head_dim) + ggml_row_size(v.type, v.head_dim))));
    return true;
}

bool make_plan(const turbo_attention * at, decode_plan & pl) {
    static const decode_kernels * const kernels = kernels_at(ggml_turbo_simd_level());
    pl = {};
    pl.at = at;
    pl.kernels = kernels;
    pl.n_query = at->n_rows * at->gqa;
    pl.n_vec = at->n_rows * at->n_head;
    if (at->n_kv <= 0 || pl.n_query > MAX_QUERIES || at->k.head_dim % 32 != 0 || at->v.head_dim % 32 != 0 ||
        !add_source(pl, at->k, at->v)) {
        return false;
    }
    if (turbo_has_recent(at) && !add_source(pl, at->recent.k, at->recent.v)) { return false; }
    // a table without SIMD is slower than upstream's for upstream's types
    if (kernels == &decode_kernels_scalar && !ggml_turbo_is_turbo(at->k.type) && !ggml_turbo_is_turbo(at->v.type)) {
        return false;
    }
    const int by_vectors = PARTIAL_VECTORS / pl.n_vec;
    pl.n_chunk = by_vectors > MAX_CHUNKS ? MAX_CHUNKS : by_vectors < MIN_CHUNKS ? MIN_CHUNKS : by_vectors;

    const size_t n_tile = (size_t) (at->n_kv + T - 1) / T * at->n_stream;
    pl.acc_size = decode_align(at->v.head_dim * sizeof(float));
    pl.padded_size = std::max(pl.padded_size, pl.acc_size); // the merge has a row there
    pl.partial_size = decode_align(pl.n_vec * sizeof(decode_state)) + pl.n_vec * pl.acc_size;
    pl.bias_size = decode_align(decode_bias_size(at, pl.n_vec));
    pl.thread_size = decode_align(n_tile * sizeof(decode_tile)) + pl.chunks_size() + pl.padded_size +
                     decode_align(decode_bias_map_size(at));
    return true;
}

// Row p0 of one side of a KV head and those behind it.
decode_rows rows_of(const turbo_attention * at, const turbo_kv & kv, int stream, int head, int p0) {
    const int kv_stream = stream * kv.n_stream / at->n_stream;
    return { kv.data + p0 * kv.nb_pos + head * kv.nb_head + kv_stream * kv.nb_stream, kv.nb_pos, kv.head_dim, nullptr,
        0 };
}

// A tile of fewer than T rows with zeros behind them.
decode_rows pad(const decode_rows & rows, ggml_type type, int n, char * out) {
    const size_t size = ggml_row_size(type, rows.dim);
    memset(out, 0, T * size);
    for (int p = 0; p < n; ++p) { memcpy(out + p * size, rows.data + p * rows.stride, size); }
    return { out, size, rows.dim, nullptr, 0 };
}

decode_rows rows_of(const turbo_attention * at, const turbo_kv & kv, const decode_tile & tile, int head) {
    return rows_of(at, kv, tile.stream, head,
        tile.recent ? at->recent.slot[tile.p0 / TURBO_RECENT_TILE] * TURBO_RECENT_TILE : tile.p0);
}

// Has the kernels ask for this head's share of another tile. Where the rows of all heads are neighbors the share is a piece
// of whole rows, so that memory is read in order. A little too far is harmless.
void look_ahead(const turbo_attention * at, const turbo_kv & kv, size_t share, const decode_tile & next, int head,
    decode_rows & rows) {
    const bool whole = kv.nb_head < kv.nb_pos;
    rows.ahead_size = share;
    rows.ahead = rows_of(at, kv, next, whole ? 0 : head).data + (whole ? head * share : 0);
}

// A piece of work: a chunk for some of the KV heads.
struct item {
    int chunk;
    int head; // first KV head
    int head_end;
};

struct worker {
    const decode_plan & pl;
    const decode_scratch & mem;
    int n_chunk;
    int n_group; // of KV heads

    void prepare_queries() const;
    item item_at(int i) const;
    void begin(const item & it) const;
    void unit(
        const decode_tile & tile, const decode_run * runs, const decode_tile * next, int chunk, int head_kv) const;
    const uint16_t * mask_of_tile(const decode_tile & tile, int row, int head, uint16_t * padded) const;
    void run() const;
};

// This thread's share of them.
void worker::prepare_queries() const {
    const turbo_attention * at = pl.at;
    for (int i = at->ith; i < pl.n_vec * at->n_stream; i += at->nth) {
        const int stream = i / pl.n_vec;
        const int vec = i % pl.n_vec;
        const int row = vec / at->n_head;
        const int head = vec % at->n_head;
        const float * q =
            (const float *) (at->q + row * at->q_nb_row + head * at->q_nb_head + stream * at->q_nb_stream);
        for (int s = 0; s < pl.n_source; ++s) {
            pl.source[s].k_kernels->query(q, at->k.head_dim, at->scale, mem.query(s, stream, vec));
        }
    }
}

item worker::item_at(int i) const {
    const int n = pl.at->n_head_kv;
    const int group = i % n_group;
    return { i / n_group, n * group / n_group, n * (group + 1) / n_group };
}

// Empties the partial results.
void worker::begin(const item & it) const {
    const turbo_attention * at = pl.at;
    for (int row = 0; row < at->n_rows; ++row) {
        for (int head = it.head * at->gqa; head < it.head_end * at->gqa; ++head) {
            const int i = decode_vec_index(at, row, head);
            mem.states(it.chunk)[i] = { -INFINITY, 0.0f };
            memset(mem.acc(it.chunk, i), 0, pl.acc_size);
        }
    }
}

// The mask of T positions, NULL when it does nothing.
const uint16_t * worker::mask_of_tile(const decode_tile & tile, int row, int head, uint16_t * padded) const {
    if (tile.open) { return nullptr; }
    const uint16_t * mask = pl.at->mask != nullptr ? decode_mask(pl.at, row, head, tile.stream, tile.p0) : nullptr;
    const int n = decode_tile_size(pl.at, tile.p0);
    if (n == T) { return mask; }
    for (int p = 0; p < T; ++p) { padded[p] = p >= n ? HALF_NEVER : mask != nullptr ? mask[p] : 0; }
    return padded;
}

// next: the tile whose unit of this head comes after this one; NULL: none
void worker::unit(
    const decode_tile & tile, const decode_run * runs, const decode_tile * next, int chunk, int head_kv) const {
    const turbo_attention * at = pl.at;
    const int stream = tile.stream;
    const int n = decode_tile_size(at, tile.p0);
    const decode_source & from = pl.source[tile.recent];
    decode_rows k = rows_of(at, *from.k, tile, head_kv);
    decode_rows v = rows_of(at, *from.v, tile, head_kv);
    if (n < T) {
        k = pad(k, from.k->type, n, mem.padded);
        v = pad(v, from.v->type, n, mem.padded + T * k.stride);
    }
    if (next != nullptr) {
        const decode_source & source = pl.source[next->recent];
        look_ahead(at, *source.k, source.k_share, *next, head_kv, k);
        look_ahead(at, *source.v, source.v_share, *next, head_kv, v);
    }

    const void * query[MAX_QUERIES];
    float * acc[MAX_QUERIES];
    int vec[MAX_QUERIES];
    decode_row row[MAX_QUERIES];
    decode_step step[MAX_QUERIES];
    float rescale[MAX_QUERIES];
    alignas(64) float score[MAX_QUERIES * T];
    uint16_t padded_mask[MAX_QUERIES * T];
    int j = 0;
    for (int r = 0; r < at->n_rows; ++r) {
        for (int head = head_kv * at->gqa; head < (head_kv + 1) * at->gqa; ++head, ++j) {
            const int i = decode_vec_index(at, r, head);
            vec[j] = i;
            query[j] = mem.query(tile.recent, stream, i);
            acc[j] = mem.acc(chunk, i);
            row[j] = { mask_of_tile(tile, r, head, padded_mask + j * T), turbo_attention_slope(at, head),
                mem.states(chunk) + i };
        }
    }
    from.k_kernels->scores(&k, query, pl.n_query, score);
    if (runs != nullptr) { pl.kernels->add_bias(runs, n, vec, pl.n_query, score); }
    if (at->softcap != 0.0f) { pl.kernels->soft_cap(score, pl.n_query * T, at->softcap); }
    pl.kernels->softmax(score, row, pl.n_query, step);

    bool needed = false;
    for (j = 0; j < pl.n_query; ++j) {
        rescale[j] = step[j].rescale;
        needed = needed || !(step[j].top < NEGLIGIBLE);
    }
    if (needed) { from.v_kernels->accumulate(&v, score, rescale, pl.n_query, acc); }
}

void worker::run() const {
    const turbo_attention * at = pl.at;
    const int n_item = n_chunk * n_group;
    for (int i = at->ith, following = 0; i < n_item; i = following) {
        const item it = item_at(i);
        const decode_chunk chunk = mem.chunks[it.chunk];
        begin(it);
        for (int t = chunk.first; t < chunk.last; ++t) {
            const decode_tile * next = mem.tiles + t + 1;
            if (t + 1 == chunk.last) { // taken now, so that the kernels can look ahead into it
                following = at->nth > 1 ? ggml_threadpool_chunk_add(at->threadpool, 1) : i + 1;
                next = following < n_item ? mem.tiles + mem.chunks[item_at(following).chunk].first : nullptr;
            }
            decode_run runs[T];
            if (at->bias.n_row > 0) { decode_bias_runs(&mem.bias, &mem.tiles[t], runs); }
            for (int head = it.head; head < it.head_end; ++head) {
                unit(mem.tiles[t], at->bias.n_row > 0 ? runs : nullptr, next, it.chunk, head);
            }
        }
    }
}

int groups_of_heads(const turbo_attention * at, int n_chunk) {
    const int wanted = n_chunk == 0 ? 1 : (ITEMS_PER_THREAD * at->nth + n_chunk - 1) / n_chunk;
    return at->nth == 1 || wanted < 1 ? 1 : wanted > at->n_head_kv ? at->n_head_kv : wanted;
}

} // namespace

extern "C" size_t turbo_decode_work(const turbo_attention * at, int n_threads) {
    decode_plan pl;
    return make_plan(at, pl) ? pl.work_size(n_threads) : 0;
}

extern "C" bool turbo_decode_run(const turbo_attention * at) {
    decode_plan pl;
    if (!make_plan(at, pl) || pl.work_size(at->nth) > at->work_size) { return false; }
    decode_scratch mem(pl);
    const int n_tile = decode_list_tiles(at, mem.tiles);
    const int n_chunk = decode_list_chunks(mem.tiles, n_tile, pl.n_chunk, mem.chunks);
    const worker w = { pl, mem, n_chunk, groups_of_heads(at, n_chunk) };
    w.prepare_queries();
    if (at->bias.n_row > 0) { decode_bias_fill(&mem.bias, pl.kernels, mem.tiles, n_tile); }
    if (at->nth > 1) {
        if (at->ith == 0) { ggml_threadpool_chunk_set(at->threadpool, at->nth); }
        ggml_barrier(at->threadpool);
    }
    w.run();
    if (at->nth > 1) { ggml_barrier(at->threadpool); }
    decode_merge(pl, mem, n_chunk);
    return true;
}
