// The plan of a decode operation and its scratch memory. Included by decode.cpp and decode-merge.cpp.
#pragma once

#include "attention.h"
#include "decode-kernels.h"

#include <cstddef>

constexpr size_t DECODE_ALIGN = 64; // a cache line

inline size_t decode_align(size_t n) { return (n + DECODE_ALIGN - 1) / DECODE_ALIGN * DECODE_ALIGN; }

// What a tile is read from: the cache, or the rows that are held of it in a finer type.
struct decode_source {
    const turbo_kv * k;
    const turbo_kv * v;
    const decode_k_kernels * k_kernels;
    const decode_v_kernels * v_kernels;
    size_t query_size;
    size_t queries; // where its query vectors are
    size_t k_share, v_share; // bytes of a KV head's share of a tile's rows: see look_ahead
};

// Shape, kernels and the place of everything in the scratch memory.
struct decode_plan {
    const turbo_attention * at;
    decode_source source[2]; // by decode_tile::recent
    int n_source;
    const decode_kernels * kernels;

    int n_query; // query vectors of a KV head
    int n_vec; // query vectors of a stream
    int n_chunk; // what the tiles are divided by; each stream may add one

    size_t queries_size; // of all sources
    size_t acc_size;
    size_t padded_size; // a tile's rows of one KV head
    size_t partial_size; // result of a chunk
    size_t bias_size;
    size_t thread_size;

    // what is left of a stream or of a source may be a chunk of its own
    int max_chunks() const { return n_chunk + at->n_stream * n_source; }
    size_t chunks_size() const { return decode_align(max_chunks() * sizeof(decode_chunk)); }
    size_t shared_size() const { return queries_size + max_chunks() * partial_size + bias_size; }
    size_t work_size(int n_threads) const { return shared_size() + n_threads * thread_size + DECODE_ALIGN; }
};

// The scratch memory: queries and partial results of all threads, then what each has for itself.
struct decode_scratch {
    const decode_plan & pl;
    char * base;
    decode_tile * tiles; // those with a visible position
    decode_chunk * chunks;
    char * padded;
    decode_bias bias;

    explicit decode_scratch(const decode_plan & pl) : pl(pl), base((char *) decode_align((size_t) pl.at->work)) {
        char * mine = base + pl.shared_size() + pl.at->ith * pl.thread_size;
        padded = mine;
        chunks = (decode_chunk *) (mine + pl.padded_size);
        char * map = (char *) chunks + pl.chunks_size();
        tiles = (decode_tile *) (map + decode_align(decode_bias_map_size(pl.at)));
        bias = { pl.at, pl.n_vec, (float *) (base + pl.shared_size() - pl.bias_size), (int32_t *) map };
    }
    char * query(int source, int stream, int vec) const {
        return base + pl.source[source].queries + (stream * pl.n_vec + vec) * pl.source[source].query_size;
    }
    decode_state * states(int chunk) const {
        return (decode_state *) (base + pl.queries_size + chunk * pl.partial_size);
    }
    float * acc(int chunk, int vec) const {
        return (float *) ((char *) states(chunk) + decode_align(pl.n_vec * sizeof(decode_state)) + vec * pl.acc_size);
    }
};

// of a query vector within its stream
inline int decode_vec_index(const turbo_attention * at, int row, int head) { return row * at->n_head + head; }

// This thread's share of the results, out of the partial ones of n_chunk chunks.
void decode_merge(const decode_plan & pl, const decode_scratch & mem, int n_chunk);
