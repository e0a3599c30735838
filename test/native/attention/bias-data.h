// Random data for the part of the score beside q.k (TURBO_SRC_BIAS_* of turbo-hooks.h).
#pragma once

#include "ggml.h"
#include "turbo-hooks.h"

#include <cmath>
#include <random>
#include <vector>

struct bias_data {
    static constexpr int n_panel = 5;
    static constexpr int n_unused = 3; // rows of T before those that count

    int n_rows, n_head, n_row, n_kv;
    std::vector<float> z; // [stream][row][head][n_row]
    std::vector<ggml_fp16_t> turns; // [n_panel][n_unused + n_row][TURBO_BIAS_PANEL]
    std::vector<int32_t> block; // [stream][turbo_bias_row(n_kv)]

    // scattered: neighbors in the cache lie in any blocks; else in runs of a length
    bias_data(int n_stream, int n_rows, int n_head, int n_kv, int n_row, bool scattered, unsigned seed)
        : n_rows(n_rows), n_head(n_head), n_row(n_row), n_kv(n_kv) {
        std::mt19937 rng(seed + 77);
        std::normal_distribution<float> gauss;
        z.resize((size_t) n_stream * n_rows * n_head * n_row);
        turns.resize((size_t) n_panel * (n_unused + n_row) * TURBO_BIAS_PANEL);
        for (float & value : z) { value = gauss(rng); }
        for (ggml_fp16_t & value : turns) { value = ggml_fp32_to_fp16(gauss(rng)); }
        const int n_block = n_panel * TURBO_BIAS_PANEL;
        const int run = scattered ? 1 : 5 + int(rng() % 30);
        for (int s = 0; s < n_stream; ++s) {
            const int first = int(rng() % n_block);
            for (int p = 0; p < n_kv; ++p) {
                block.push_back(scattered ? int(rng() % n_block) : (first + p / run) % n_block);
            }
            block.resize((s + 1) * turbo_bias_row(n_kv));
            turbo_bias_list_runs(block.data() + s * turbo_bias_row(n_kv), n_kv);
        }
    }

    // as sources of the operation; the tensors' data is this one's
    void attach(ggml_context * ctx, ggml_tensor * attention) {
        ggml_tensor * of_z = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, n_row, n_head, z.size() / n_row / n_head);
        ggml_tensor * of_turns = ggml_new_tensor_3d(ctx, GGML_TYPE_F16, TURBO_BIAS_PANEL, n_unused + n_row, n_panel);
        ggml_tensor * of_block =
            ggml_new_tensor_2d(ctx, GGML_TYPE_I32, turbo_bias_row(n_kv), block.size() / turbo_bias_row(n_kv));
        of_z->data = z.data();
        of_turns->data = turns.data();
        of_block->data = block.data();
        attention->src[TURBO_SRC_BIAS_QUERIES] = of_z;
        attention->src[TURBO_SRC_BIAS_TURNS] = of_turns;
        attention->src[TURBO_SRC_BIAS_BLOCKS] = of_block;
    }

    // of the bias and of its absolute terms
    struct sum {
        double value = 0, size = 0;
    };

    sum at(int stream, int row, int head, int p) const {
        const int b = block[stream * turbo_bias_row(n_kv) + p];
        const float * x = z.data() + (((size_t) stream * n_rows + row) * n_head + head) * n_row;
        const ggml_fp16_t * column = turns.data() +
                                     (size_t) b / TURBO_BIAS_PANEL * (n_unused + n_row) * TURBO_BIAS_PANEL +
                                     n_unused * TURBO_BIAS_PANEL + b % TURBO_BIAS_PANEL;
        sum res;
        for (int r = 0; r < n_row; ++r) {
            const double term = double(x[r]) * ggml_fp16_to_fp32(column[r * TURBO_BIAS_PANEL]);
            res.value += term;
            res.size += std::fabs(term);
        }
        return res;
    }
};
