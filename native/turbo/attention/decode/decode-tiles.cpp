#include "attention.h"
#include "decode-kernels.h"

#include <cstring>
#include <initializer_list>

namespace {

const int T = DECODE_TILE;
static_assert(DECODE_TILE == TURBO_RECENT_TILE, "a tile is read from one source");

// What the mask leaves of a tile for all rows and heads together.
enum tile_sight {
    TILE_HIDDEN, // nothing
    TILE_MASKED, // the mask has to be applied
    TILE_OPEN,   // everything, the mask is 0
};

tile_sight sight_of(const uint16_t * mask, int n) {
    uint64_t any = 0;
    uint64_t seen = 0;
    if (n == T) {
        uint64_t four[T / 4];
        memcpy(four, mask, sizeof(four));
        for (int i = 0; i < T / 4; ++i) {
            any |= four[i];
            seen |= four[i] ^ uint64_t(0x0001000100010001) * HALF_NEVER;
        }
        return any == 0 ? TILE_OPEN : seen == 0 ? TILE_HIDDEN : TILE_MASKED;
    }
    for (int p = 0; p < n; ++p) { seen |= mask[p] ^ HALF_NEVER; }
    return seen == 0 ? TILE_HIDDEN : TILE_MASKED; // positions behind the last are always masked
}

tile_sight sight_of_tile(const turbo_attention * at, int stream, int p0) {
    const int n = decode_tile_size(at, p0);
    if (at->mask == nullptr) { return n == T ? TILE_OPEN : TILE_MASKED; }
    const int n_head = at->mask_n_head < at->n_head ? at->mask_n_head : at->n_head;
    const tile_sight first = sight_of(decode_mask(at, 0, 0, stream, p0), n);
    for (int row = 0; row < at->n_rows; ++row) {
        for (int head = row == 0 ? 1 : 0; head < n_head; ++head) {
            if (sight_of(decode_mask(at, row, head, stream, p0), n) != first) { return TILE_MASKED; }
        }
    }
    return first;
}

} // namespace

const uint16_t * decode_mask(const turbo_attention * at, int row, int head, int stream, int p0) {
    const auto among = [](int i, int n) { return n == 1 ? 0 : i % n; };
    return (const uint16_t *) (at->mask + row * at->mask_nb_row + among(head, at->mask_n_head) * at->mask_nb_head +
                               among(stream, at->mask_n_stream) * at->mask_nb_stream) +
           p0;
}

int decode_tile_size(const turbo_attention * at, int p0) { return at->n_kv - p0 < T ? at->n_kv - p0 : T; }

int decode_list_tiles(const turbo_attention * at, decode_tile * tiles) {
    const auto is_recent = [&](int p0) { return turbo_has_recent(at) && at->recent.slot[p0 / T] >= 0; };
    int n = 0;
    for (int s = 0; s < at->n_stream; ++s) {
        for (const bool recent : { false, true }) {
            if (recent && !turbo_has_recent(at)) { continue; }
            for (int p0 = 0; p0 < at->n_kv; p0 += T) {
                if (is_recent(p0) != recent) { continue; }
                const tile_sight sight = sight_of_tile(at, s, p0);
                if (sight != TILE_HIDDEN) { tiles[n++] = { s, p0, sight == TILE_OPEN, recent }; }
            }
        }
    }
    return n;
}

int decode_list_chunks(const decode_tile * tiles, int n_tile, int n_chunk, decode_chunk * chunks) {
    const int size = (n_tile + n_chunk - 1) / n_chunk;
    int n = 0;
    for (int first = 0, last = 0; first < n_tile; first = last) {
        const auto fits = [&](const decode_tile & tile) {
            return tile.stream == tiles[first].stream && tile.recent == tiles[first].recent;
        };
        while (last < n_tile && last - first < size && fits(tiles[last])) { ++last; }
        chunks[n++] = { first, last };
    }
    return n;
}
