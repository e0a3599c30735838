#include "prefill.h"
#include "turbo-hooks.h"

#include "ggml-impl.h"

#include <algorithm>

void prefill_bias::begin() {
    GGML_ASSERT(plan.block <= MAX_PARTS * plan.part);
    turns_window = -1;
    std::fill(std::begin(held), std::end(held), -1);
}

void prefill_bias::load(int stream, int row, int head, int i, float scale) {
    const float * z =
        (const float *) (at.bias.z + row * at.bias.z_nb_row + head * at.bias.z_nb_head + stream * at.bias.z_nb_stream);
    float * y = buf.z + (size_t) i * plan.z_stride;
    for (int r = 0; r < plan.z_stride; ++r) { y[r] = z[r] * scale; }
}

void prefill_bias::list_runs(int stream, int first, int n) {
    const int32_t * block = turbo_blocks_of(&at, stream, first);
    n_run = 0;
    for (int p = 0; p < n; ++p) {
        if (p == 0 || block[p] != block[p - 1]) { runs[n_run++].block = block[p]; }
        runs[n_run - 1].end = p + 1;
    }
}

// T of a window's blocks as a panel of the product; zeros behind its last block
void prefill_bias::load_turns(int window) {
    if (turns_window == window) { return; }
    turns_window = window;
    const int nr = plan.kern->nr;
    for (int column = 0, here = 0; column < nr; column += here) {
        const int block = window * nr + column;
        const int offset = block % TURBO_BIAS_PANEL;
        const bool any = block / TURBO_BIAS_PANEL < at.bias.n_panel;
        here = std::min(TURBO_BIAS_PANEL - offset, nr - column);
        const uint16_t * from = at.bias.turns + (any ? block / TURBO_BIAS_PANEL * at.bias.panel_size + offset : 0);
        for (int r = 0; r < plan.z_stride; ++r) {
            float * to = buf.turns + (size_t) r * nr + column;
            if (any) {
                ggml_fp16_to_fp32_row(from + r * TURBO_BIAS_PANEL, to, here);
            } else {
                std::fill(to, to + here, 0.0f);
            }
        }
    }
}

// The bias of vector part + i for a block at [i*nr].
const float * prefill_bias::of_block(int part, int n_part, int block) {
    const prefill_kernels & kern = *plan.kern;
    const int window = block / kern.nr;
    float * bias = buf.bias + (size_t) part * kern.nr;
    if (held[part / plan.part] != window) {
        held[part / plan.part] = window;
        load_turns(window);
        const int rows = (n_part + kern.mr - 1) / kern.mr * kern.mr;
        kern.gemm(
            buf.z + (size_t) part * plan.z_stride, plan.z_stride, buf.turns, plan.z_stride, bias, kern.nr, rows, false);
    }
    return bias + block % kern.nr;
}

const float * prefill_bias::begin_scores(int part, int n_part, int first, int last) {
    int i = 0;
    while (runs[i].end <= first) { ++i; }
    if (runs[i].end >= last || i + 1 == n_run) { return of_block(part, n_part, runs[i].block); }
    for (int p = first; p < last; p = runs[i++].end) {
        const float * bias = of_block(part, n_part, runs[i].block);
        const int end = i + 1 < n_run ? std::min(runs[i].end, last) : last;
        for (int j = 0; j < n_part; ++j) {
            float * s = buf.scores + j * PREFILL_TILE;
            std::fill(s + p, s + end, bias[j * plan.kern->nr]);
        }
        if (end == last) { break; }
    }
    return nullptr;
}
