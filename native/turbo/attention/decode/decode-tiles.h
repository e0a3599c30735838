// What decode has to read of the cache: the tiles of DECODE_TILE positions that the mask leaves, and the chunks of them that
// threads take. Included by the files of decode only.
#pragma once

#include "attention.h"
#include "decode-kernels.h"

#define HALF_NEVER 0xfc00 // fp16 -inf: a mask that hides

// A tile with a visible position, of a stream.
struct decode_tile {
    int32_t stream;
    int32_t p0; // its first position
    bool open; // the mask is 0 for all of it
};

// Tiles first .. last - 1, of one stream.
struct decode_chunk {
    int32_t first;
    int32_t last;
};

// fp16 mask from position p0 on
const uint16_t * decode_mask(const turbo_attention * at, int row, int head, int stream, int p0);

// Positions of a tile: DECODE_TILE, or less at the end.
int decode_tile_size(const turbo_attention * at, int p0);

// Visible tiles, stream by stream; at most ceil(n_kv/DECODE_TILE) a stream.
int decode_list_tiles(const turbo_attention * at, decode_tile * tiles);

// Chunks of equal numbers of tiles, but for the last of a stream; at most n_chunk + n_stream.
int decode_list_chunks(const decode_tile * tiles, int n_tile, int n_chunk, decode_chunk * chunks);
