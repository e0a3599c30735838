// Decode: few query vectors per KV head. Units of work are (tile of positions, KV head), tile by tile so that whole rows of
// the cache stream by; each thread takes a contiguous range of them, and partial results are merged after a barrier.

#include "attention.h"
#include "decode-kernels.h"
#include "turbo-codec.h"

#include "ggml-cpu-impl.h"

#include <cmath>
#include <cstring>

namespace {

static_assert(TURBO_DECODE_MAX_QUERIES <= DECODE_MAX_QUERIES, "decode is asked for more query vectors than a tile takes");

const int    T             = DECODE_TILE;
const int    MAX_QUERIES   = DECODE_MAX_QUERIES;
const size_t CACHE_LINE    = 64;
const uint16_t HALF_NEVER  = 0xfc00; // -inf

// logits this far below the running maximum have weights below 1e-6, which is under the rounding of the sums: their V is not read
const float NEGLIGIBLE = -13.8f;

size_t align_up(size_t n) {
    return (n + CACHE_LINE - 1)/CACHE_LINE*CACHE_LINE;
}

int type_of(ggml_type type) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4:    return DECODE_TURBO4;
        case GGML_TYPE_TURBO3:    return DECODE_TURBO3;
        case GGML_TYPE_TURBO4_64: return DECODE_TURBO4_64;
        case GGML_TYPE_TURBO3_64: return DECODE_TURBO3_64;
        case GGML_TYPE_Q8_0:      return DECODE_Q8_0;
        case GGML_TYPE_Q5_0:      return DECODE_Q5_0;
        case GGML_TYPE_IQ4_NL:    return DECODE_IQ4_NL;
        case GGML_TYPE_Q4_0:      return DECODE_Q4_0;
        case GGML_TYPE_F16:       return DECODE_F16;
        default:                  return DECODE_TYPE_COUNT;
    }
}

// A tile with a visible position, of a stream.
struct tile_ref {
    int32_t stream;
    int32_t p0;   // its first position
    bool    open; // the mask is 0 for all of it
};

// Shape, kernels and the place of everything in the scratch memory.
struct plan {
    const turbo_attention * at;
    const decode_k_kernels * k;
    const decode_v_kernels * v;
    void (*softmax)(float * score, const decode_row * row, int n_query, decode_step * step);

    int n_query;    // query vectors of a KV head
    int n_vec;      // all query vectors
    int n_tile;     // tiles of a stream
    int n_part;     // threads

    size_t query_size;
    size_t acc_size;
    size_t padded_size;
    size_t part_size; // scratch of a thread
};

bool make_plan(const turbo_attention * at, int n_threads, plan & pl) {
    const int k = type_of(at->k.type);
    const int v = type_of(at->v.type);
    if (k == DECODE_TYPE_COUNT || v == DECODE_TYPE_COUNT || at->n_kv <= 0) {
        return false;
    }
    static const decode_kernels * const kernels = decode_kernels_at(ggml_turbo_simd_level());
    pl.at      = at;
    pl.k       = &kernels->k[k];
    pl.v       = &kernels->v[v];
    pl.softmax = kernels->softmax;
    pl.n_query = at->n_rows*at->gqa;
    pl.n_vec   = at->n_rows*at->n_head*at->n_stream;
    pl.n_tile  = (at->n_kv + T - 1)/T;
    pl.n_part  = n_threads;
    if (pl.k->scores == nullptr || pl.v->accumulate == nullptr || pl.n_query > MAX_QUERIES ||
        at->k.head_dim % 32 != 0 || at->v.head_dim % 32 != 0) {
        return false;
    }
    // a table without SIMD is slower than upstream's for upstream's types
    if (kernels == &decode_kernels_scalar && !ggml_turbo_is_turbo(at->k.type) && !ggml_turbo_is_turbo(at->v.type)) {
        return false;
    }
    pl.query_size = pl.k->query_size(at->k.head_dim);
    pl.acc_size   = align_up(at->v.head_dim*sizeof(float));
    pl.padded_size = align_up(T*(ggml_row_size(at->k.type, at->k.head_dim) + ggml_row_size(at->v.type, at->v.head_dim)));
    pl.part_size   = align_up(pl.n_vec*sizeof(decode_state)) + pl.n_vec*(pl.acc_size + pl.query_size) +
        align_up((size_t) pl.n_tile*at->n_stream*sizeof(tile_ref)) + pl.padded_size;
    return true;
}

// Scratch of one thread.
struct part {
    decode_state * state;
    char *         acc;
    char *         query;
    tile_ref *     tiles; // those with a visible position
    char *         padded; // a tile's rows of one KV head, for the last tile when n_kv is not a multiple of it
};

part part_of(const plan & pl, int ith) {
    char * base = (char *) align_up((size_t) pl.at->work) + ith*pl.part_size;
    part p;
    p.state = (decode_state *) base;
    p.acc   = base + align_up(pl.n_vec*sizeof(decode_state));
    p.query = p.acc + pl.n_vec*pl.acc_size;
    p.tiles = (tile_ref *) (p.query + pl.n_vec*pl.query_size);
    p.padded = base + pl.part_size - pl.padded_size;
    return p;
}

// fp16 mask of a tile for a row, head and stream
const uint16_t * mask_of(const turbo_attention * at, int row, int head, int stream, int p0) {
    return (const uint16_t *) (at->mask + row*at->mask_nb_row + (head % at->mask_n_head)*at->mask_nb_head +
        (stream % at->mask_n_stream)*at->mask_nb_stream) + p0;
}

int tile_size(const turbo_attention * at, int p0) {
    return at->n_kv - p0 < T ? at->n_kv - p0 : T;
}

// What the mask leaves of a tile for all rows and heads together.
enum tile_sight {
    TILE_HIDDEN, // nothing
    TILE_MASKED, // the mask has to be applied
    TILE_OPEN,   // everything, the mask is 0
};

tile_sight sight_of(const uint16_t * mask, int n) {
    uint64_t any  = 0;
    uint64_t seen = 0;
    if (n == T) {
        uint64_t four[T/4];
        memcpy(four, mask, sizeof(four));
        for (int i = 0; i < T/4; ++i) {
            any  |= four[i];
            seen |= four[i] ^ 0x0001000100010001*HALF_NEVER;
        }
        return any == 0 ? TILE_OPEN : seen == 0 ? TILE_HIDDEN : TILE_MASKED;
    }
    for (int p = 0; p < n; ++p) {
        seen |= mask[p] ^ HALF_NEVER;
    }
    return seen == 0 ? TILE_HIDDEN : TILE_MASKED; // positions behind the last are always masked
}

tile_sight sight_of_tile(const turbo_attention * at, int stream, int p0) {
    const int n = tile_size(at, p0);
    if (at->mask == nullptr) {
        return n == T ? TILE_OPEN : TILE_MASKED;
    }
    const int n_head = at->mask_n_head < at->n_head ? at->mask_n_head : at->n_head;
    const tile_sight first = sight_of(mask_of(at, 0, 0, stream, p0), n);
    for (int row = 0; row < at->n_rows; ++row) {
        for (int head = 0; head < n_head; ++head) {
            if (sight_of(mask_of(at, row, head, stream, p0), n) != first) {
                return TILE_MASKED;
            }
        }
    }
    return first;
}

int list_tiles(const plan & pl, tile_ref * tiles) {
    int n = 0;
    for (int s = 0; s < pl.at->n_stream; ++s) {
        for (int p0 = 0; p0 < pl.at->n_kv; p0 += T) {
            const tile_sight sight = sight_of_tile(pl.at, s, p0);
            if (sight != TILE_HIDDEN) {
                tiles[n++] = { s, p0, sight == TILE_OPEN };
            }
        }
    }
    return n;
}

int vec_index(const turbo_attention * at, int stream, int row, int head) {
    return (stream*at->n_rows + row)*at->n_head + head;
}

// Row p0 of one side of a KV head and those behind it.
decode_rows rows_of(const turbo_attention * at, const turbo_kv & kv, int stream, int head, int p0) {
    const int kv_stream = stream*kv.n_stream/at->n_stream;
    return { kv.data + p0*kv.nb_pos + head*kv.nb_head + kv_stream*kv.nb_stream, kv.nb_pos, kv.head_dim, nullptr, 0 };
}

// A tile of fewer than T rows with zeros behind them.
decode_rows pad(const decode_rows & rows, ggml_type type, int n, char * out) {
    const size_t size = ggml_row_size(type, rows.dim);
    memset(out, 0, T*size);
    for (int p = 0; p < n; ++p) {
        memcpy(out + p*size, rows.data + p*rows.stride, size);
    }
    return { out, size, rows.dim, nullptr, 0 };
}

// Has the kernels ask for this head's share of another tile. Where the rows of all heads are neighbours the share is a piece
// of whole rows, so that memory is read in order.
void look_ahead(const turbo_attention * at, const turbo_kv & kv, const tile_ref & next, int head, decode_rows & rows) {
    const bool        whole = kv.nb_head < kv.nb_pos;
    const decode_rows first = rows_of(at, kv, next.stream, whole ? 0 : head, next.p0);
    const size_t      size  = tile_size(at, next.p0)*kv.nb_pos;
    rows.ahead_size = whole ? align_up(size/at->n_head_kv) : size; // a little too far is harmless
    rows.ahead      = first.data + (whole ? head*rows.ahead_size : 0);
}

struct worker {
    const plan & pl;
    const part & mine;

    void prepare(int stream, int head_kv);
    void unit(const tile_ref & tile, const tile_ref * next, int head_kv);
    const uint16_t * mask_of_tile(const tile_ref & tile, int row, int head, uint16_t * padded) const;
    void range(int n_tiles);
};

// The queries of a KV head, made at its first tile.
void worker::prepare(int stream, int head_kv) {
    const turbo_attention * at = pl.at;
    for (int row = 0; row < at->n_rows; ++row) {
        for (int g = 0; g < at->gqa; ++g) {
            const int head = head_kv*at->gqa + g;
            const int i    = vec_index(at, stream, row, head);
            const float * q = (const float *) (at->q + row*at->q_nb_row + head*at->q_nb_head + stream*at->q_nb_stream);
            pl.k->query(q, at->k.head_dim, at->scale, mine.query + i*pl.query_size);
            mine.state[i] = { -INFINITY, 0.0f };
            memset(mine.acc + i*pl.acc_size, 0, pl.acc_size);
        }
    }
}

// The mask of T positions, NULL when it does nothing.
const uint16_t * worker::mask_of_tile(const tile_ref & tile, int row, int head, uint16_t * padded) const {
    if (tile.open) {
        return nullptr;
    }
    const uint16_t * mask = pl.at->mask != nullptr ? mask_of(pl.at, row, head, tile.stream, tile.p0) : nullptr;
    const int n = tile_size(pl.at, tile.p0);
    if (n == T) {
        return mask;
    }
    for (int p = 0; p < T; ++p) {
        padded[p] = p >= n ? HALF_NEVER : mask != nullptr ? mask[p] : 0;
    }
    return padded;
}

// next: the tile whose unit of this head comes after this one; NULL: none
void worker::unit(const tile_ref & tile, const tile_ref * next, int head_kv) {
    const turbo_attention * at = pl.at;
    const int stream = tile.stream;
    const int n      = tile_size(at, tile.p0);
    decode_rows k = rows_of(at, at->k, stream, head_kv, tile.p0);
    decode_rows v = rows_of(at, at->v, stream, head_kv, tile.p0);
    if (n < T) {
        k = pad(k, at->k.type, n, mine.padded);
        v = pad(v, at->v.type, n, mine.padded + T*k.stride);
    }
    if (next != nullptr) {
        look_ahead(at, at->k, *next, head_kv, k);
        look_ahead(at, at->v, *next, head_kv, v);
    }

    const void * query  [MAX_QUERIES];
    float *      acc    [MAX_QUERIES];
    decode_row   row    [MAX_QUERIES];
    decode_step  step   [MAX_QUERIES];
    float        rescale[MAX_QUERIES];
    alignas(64) float score[MAX_QUERIES*T];
    uint16_t     padded_mask[MAX_QUERIES*T];
    int j = 0;
    for (int r = 0; r < at->n_rows; ++r) {
        for (int head = head_kv*at->gqa; head < (head_kv + 1)*at->gqa; ++head, ++j) {
            const int i = vec_index(at, stream, r, head);
            query[j] = mine.query + i*pl.query_size;
            acc  [j] = (float *) (mine.acc + i*pl.acc_size);
            row  [j] = { mask_of_tile(tile, r, head, padded_mask + j*T), turbo_attention_slope(at, head), &mine.state[i] };
        }
    }
    pl.k->scores(&k, query, pl.n_query, score);
    if (at->softcap != 0.0f) {
        for (int i = 0; i < pl.n_query*T; ++i) {
            score[i] = at->softcap*tanhf(score[i]);
        }
    }
    pl.softmax(score, row, pl.n_query, step);

    bool needed = false;
    for (j = 0; j < pl.n_query; ++j) {
        rescale[j] = step[j].rescale;
        needed = needed || !(step[j].top < NEGLIGIBLE);
    }
    if (needed) {
        pl.v->accumulate(&v, score, rescale, pl.n_query, acc);
    }
}

void worker::range(int n_tiles) {
    const turbo_attention * at = pl.at;
    const int64_t n_unit = (int64_t) n_tiles*at->n_head_kv;
    const int64_t first  = n_unit* at->ith     /pl.n_part;
    const int64_t last   = n_unit*(at->ith + 1)/pl.n_part;
    const tile_ref * tile = mine.tiles + first/at->n_head_kv;
    int head = int(first % at->n_head_kv);
    for (int64_t u = first; u < last; ++u) {
        if (mine.state[vec_index(at, tile->stream, 0, head*at->gqa)].sum < 0.0f) {
            prepare(tile->stream, head);
        }
        unit(*tile, u + at->n_head_kv < last ? tile + 1 : nullptr, head);
        if (++head == at->n_head_kv) {
            head = 0;
            ++tile;
        }
    }
}

// Sums the parts of one query vector into dst.
void merge(const plan & pl, int stream, int row, int head) {
    const turbo_attention * at = pl.at;
    const int i  = vec_index(at, stream, row, head);
    const int dv = at->v.head_dim;

    const float sink = at->sinks != nullptr ? at->sinks[head] : -INFINITY;
    float max = sink;
    for (int t = 0; t < pl.n_part; ++t) {
        const float m = part_of(pl, t).state[i].max;
        max = m > max ? m : max;
    }

    float * out = (float *) (at->dst + head*at->dst_nb_head + row*at->dst_nb_row + stream*at->dst_nb_stream);
    memset(out, 0, dv*sizeof(float));
    float sum = sink == -INFINITY ? 0.0f : expf(sink - max);
    for (int t = 0; t < pl.n_part; ++t) {
        const part p = part_of(pl, t);
        const decode_state st = p.state[i];
        if (st.sum <= 0.0f) { // untouched, or nothing visible
            continue;
        }
        float * acc = (float *) (p.acc + i*pl.acc_size);
        pl.v->finish(acc, dv);
        const float w = expf(st.max - max);
        sum += w*st.sum;
        for (int d = 0; d < dv; ++d) {
            out[d] += w*acc[d];
        }
    }
    const float inv = sum == 0.0f ? 0.0f : 1.0f/sum;
    for (int d = 0; d < dv; ++d) {
        out[d] *= inv;
    }
}

} // namespace

extern "C" size_t turbo_decode_work(const turbo_attention * at, int n_threads) {
    plan pl;
    return make_plan(at, n_threads, pl) ? n_threads*pl.part_size + CACHE_LINE : 0;
}

extern "C" bool turbo_decode_run(const turbo_attention * at) {
    plan pl;
    if (!make_plan(at, at->nth, pl) || at->nth*pl.part_size + CACHE_LINE > at->work_size) {
        return false;
    }
    const part mine = part_of(pl, at->ith);
    for (int i = 0; i < pl.n_vec; ++i) {
        mine.state[i] = { -INFINITY, -1.0f }; // untouched
    }
    worker w = { pl, mine };
    w.range(list_tiles(pl, mine.tiles));

    if (at->nth > 1) {
        ggml_barrier(at->threadpool);
    }
    for (int i = at->ith; i < pl.n_vec; i += at->nth) {
        const int head   = i % at->n_head;
        const int row    = i/at->n_head % at->n_rows;
        const int stream = i/at->n_head/at->n_rows;
        merge(pl, stream, row, head);
    }
    return true;
}
