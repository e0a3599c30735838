#include "attention.h"
#include "decode-kernels.h"

#include <algorithm>

namespace {

const int P = TURBO_BIAS_PANEL;
const int PANEL_SHIFT = 4;
static_assert(1 << PANEL_SHIFT == TURBO_BIAS_PANEL, "blocks of a panel");
static_assert(DECODE_TILE == TURBO_BIAS_TILE, "runs are counted by tiles");
const int VECTORS_AT_ONCE = 32;

// panels that cells of a stream can lie in
size_t n_slot(const turbo_attention * at) { return std::min(at->bias.n_panel, at->n_kv); }

// Gives the panels of the tiles of a stream their slots.
void list_panels(const decode_bias * bias, const decode_tile * tiles, int n_tile, int32_t * slots) {
    int n = 0;
    const auto use = [&](int32_t block) {
        int32_t & slot = slots[block >> PANEL_SHIFT];
        if (slot < 0) { slot = n++; }
    };
    for (int t = 0; t < n_tile; ++t) {
        const turbo_bias_runs * runs = turbo_runs_of(bias->at, tiles[t].stream, tiles[t].p0);
        if (runs->n > 0) {
            use(runs->block);
            use(runs->behind);
            continue;
        }
        const int32_t * block = turbo_blocks_of(bias->at, tiles[t].stream, tiles[t].p0);
        std::for_each(block, block + decode_tile_size(bias->at, tiles[t].p0), use);
    }
}

void fill_panel(const decode_bias * bias, const decode_kernels * kernels, int stream, int panel, float * out) {
    const turbo_attention * at = bias->at;
    const float * z[VECTORS_AT_ONCE];
    for (int first = 0; first < bias->n_vec; first += VECTORS_AT_ONCE) {
        const int n = std::min(VECTORS_AT_ONCE, bias->n_vec - first);
        for (int j = 0; j < n; ++j) {
            const int row = (first + j) / at->n_head;
            const int head = (first + j) % at->n_head;
            z[j] = (const float *) (at->bias.z + row * at->bias.z_nb_row + head * at->bias.z_nb_head +
                                    stream * at->bias.z_nb_stream);
        }
        kernels->bias(at->bias.turns + panel * at->bias.panel_size, at->bias.n_row, z, n, at->scale, out + first * P);
    }
}

} // namespace

size_t decode_bias_size(const turbo_attention * at, int n_vec) {
    return at->bias.n_row == 0 ? 0 : at->n_stream * n_slot(at) * n_vec * P * sizeof(float);
}

size_t decode_bias_map_size(const turbo_attention * at) {
    return at->bias.n_row == 0 ? 0 : (size_t) at->n_stream * at->bias.n_panel * sizeof(int32_t);
}

void decode_bias_fill(decode_bias * bias, const decode_kernels * kernels, const decode_tile * tiles, int n_tile) {
    const turbo_attention * at = bias->at;
    std::fill(bias->slot_of, bias->slot_of + at->n_stream * at->bias.n_panel, -1);
    int item = 0;
    for (int first = 0, last = 0; first < n_tile; first = last) {
        const int stream = tiles[first].stream;
        while (last < n_tile && tiles[last].stream == stream) { ++last; }
        int32_t * slots = bias->slot_of + stream * at->bias.n_panel;
        list_panels(bias, tiles + first, last - first, slots);
        for (int panel = 0; panel < at->bias.n_panel; ++panel) {
            if (slots[panel] < 0 || item++ % at->nth != at->ith) { continue; }
            fill_panel(
                bias, kernels, stream, panel, bias->values + (stream * n_slot(at) + slots[panel]) * bias->n_vec * P);
        }
    }
}

void decode_bias_runs(const decode_bias * bias, const decode_tile * tile, decode_run * runs) {
    const turbo_attention * at = bias->at;
    const int32_t * slots = bias->slot_of + tile->stream * at->bias.n_panel;
    const float * values = bias->values + tile->stream * n_slot(at) * bias->n_vec * P;
    const size_t slot_size = (size_t) bias->n_vec * P;
    const auto run = [&](int32_t block, int end) -> decode_run {
        return { end, values + slots[block >> PANEL_SHIFT] * slot_size + block % P };
    };
    const int size = decode_tile_size(at, tile->p0);
    const turbo_bias_runs * known = turbo_runs_of(at, tile->stream, tile->p0);
    if (known->n > 0) {
        runs[0] = run(known->block, known->n);
        if (known->n < size) { runs[1] = run(known->behind, size); }
        return;
    }
    const int32_t * block = turbo_blocks_of(at, tile->stream, tile->p0);
    for (int n = 0, p = 0, end = 0; p < size; p = end) {
        end = p + 1;
        while (end < size && block[end] == block[p]) { ++end; }
        runs[n++] = run(block[p], end);
    }
}
