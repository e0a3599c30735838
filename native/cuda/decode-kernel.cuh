// Attention of few rows (the heads of a group, or some tokens) over a cache of turbo types: each block is expanded once for all rows, from
// shared memory into the registers of matrix units.
//
// A block of threads takes up to four KV heads and a range of positions, in tiles of 16. Each warp has one of the heads and every so many
// tiles; the warps of the same tile, one for each head, copy its rows to shared memory by cp.async, one tile ahead, and wait for no others.
// Scores are [position, row] = K Q^T and sums [value, row] = V^T P^T by m16n8k16, so that a tile serves 8 rows without padding 8 more. Which
// value of a head is where in a fragment is free as long as K and Q agree, so each lane expands whole words of codes (blocks.cuh).
// A tile of K or of V holds level * factor in fp16. The d of K goes to the score in fp32, that of V to the weight: so that no weight leaves
// fp16, the maximum m is that of score + log2(d of V). Sums are brought to a new m only when it is more than SLACK above the old one. At
// the end warps of one head are joined in shared memory, and ranges by turbo_cuda_join_kernel (decode.cu).

#pragma once

#include "decode-parts.cuh"

namespace {

constexpr int TILE = 16; // positions
constexpr int COLUMNS = 8; // rows of attention in one matrix
constexpr int MAX_ROWS = 32; // with more, expanding the cache to f16 once costs less
constexpr int Q_PADDING = 8; // values; keeps rows of queries off each other's banks
constexpr float SLACK = 4.0f; // of scores in base 2
constexpr float WEIGHT_UNIT = 256.0f; // a weight in fp16: with SLACK below 2^13, and as far above what fp16 rounds away
constexpr float LEAST_D = 0x1p-24f; // of a block that is not zero
constexpr float LOWEST = -1e30f;
constexpr float LOG2E = 1.4426950408889634f;

struct decode_params {
    const char * q;
    const char * k;
    const char * v;
    const char * mask;
    const float * sinks;
    float * dst;
    float * parts; // [token, head, range, value] when there is more than one range
    float2 * meta; // maximum and sum of each of them
    int n_kv, n_tokens, n_head, n_head_kv, n_rows; // rows of one KV head
    int heads; // KV heads of a block of threads: 1, 2 or 4
    int n_ranges, stages; // stages of a range
    int n_row_tiles, n_masks; // n_masks: sequences of the mask
    int64_t q_token, q_head, q_seq, k_pos, k_head, k_seq, v_pos, v_head, v_seq, mask_token, mask_seq; // bytes
    float scale, soft_cap;
    bool rotates_query, rotates_result;
    bool wide_copies; // rows may be copied in chunks of 16 bytes
};

template <int tiles> struct decode_shape {
    static constexpr int warps = 16 / tiles; // more registers a thread for more rows
    static constexpr int columns = COLUMNS * tiles;
};

// Chunks of 16 bytes of a tile for one of the threads that copy it, 32 for each KV head.
template <typename F> constexpr int most_chunks = (TILE * F::block_words * 4 / 16 + 31) / 32;

template <typename K, typename V, int tiles>
__global__ void __launch_bounds__(32 * decode_shape<tiles>::warps, 1) turbo_cuda_decode_kernel(const decode_params p) {
    static_assert(K::group == V::group, "heads of K and V have one size");
    constexpr int D = K::group;
    constexpr int WARPS = decode_shape<tiles>::warps;
    constexpr int N_COLUMNS = 2 * tiles; // of a lane
    constexpr int STEPS = D / 64; // words of V of a lane

    extern __shared__ uint32_t shared[];
    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int g = lane / 4;
    const int t = lane % 4;
    const int head = warp % p.heads;
    const int turn = warp / p.heads;
    const int turns = WARPS / p.heads;
    const int seq = blockIdx.z / p.n_row_tiles;
    const int first_row = blockIdx.z % p.n_row_tiles * decode_shape<tiles>::columns;
    const int first_head = blockIdx.y * p.heads;
    const int ratio = p.n_head / p.n_head_kv;
    const int stage_positions = TILE * turns;

    ggml_cuda_pdl_lc();
    ggml_cuda_pdl_sync();

    const int begin = blockIdx.x * p.stages * stage_positions;
    const int n_stages = min(p.stages, (p.n_kv - begin + stage_positions - 1) / stage_positions);
    const int k_row = p.heads * K::block_words; // words of a position in shared memory
    const int v_row = p.heads * V::block_words;
    const int tile_words = TILE * (k_row + v_row);
    const char * k = p.k + seq * p.k_seq + first_head * p.k_head;
    const char * v = p.v + seq * p.v_seq + first_head * p.v_head;

    // the warps of one turn have two tiles' memory of their own, and wait for each other alone
    uint32_t * tiles_of_turn = shared + 2 * turn * tile_words;
    const int n_threads = 32 * p.heads;
    const int thread = 32 * head + lane;
    const copy_plan<most_chunks<K>> k_plan(p.k_pos, 4 * k_row, TILE, thread, n_threads);
    const copy_plan<most_chunks<V>> v_plan(p.v_pos, 4 * v_row, TILE, thread, n_threads);
    const auto load = [&](int stage) {
        const int first = begin + stage * stage_positions + turn * TILE;
        const int n_given = p.n_kv - first;
        const uint32_t k_to = (uint32_t) __cvta_generic_to_shared(tiles_of_turn + stage % 2 * tile_words);
        const uint32_t v_to = k_to + 4 * TILE * k_row;
        const char * k_from = k + first * p.k_pos;
        const char * v_from = v + first * p.v_pos;
        if (p.wide_copies && n_given >= TILE) {
            k_plan.copy(k_to, k_from, thread, n_threads);
            v_plan.copy(v_to, v_from, thread, n_threads);
        } else {
            copy_rows(k_to, k_from, p.k_pos, 4 * k_row, TILE, n_given, thread, n_threads);
            copy_rows(v_to, v_from, p.v_pos, 4 * v_row, TILE, n_given, thread, n_threads);
        }
        asm volatile("cp.async.commit_group;");
    };
    load(0);

    // queries: through shared memory into fragments of the second operand
    constexpr int Q_ROW = D + Q_PADDING;
    half * queries = (half *) (shared + 2 * turns * tile_words);
    const float unit = (p.soft_cap != 0.0f ? p.scale / p.soft_cap : p.scale * LOG2E);
    for (int i = warp; i < p.heads * decode_shape<tiles>::columns; i += WARPS) {
        const int row = first_row + i % decode_shape<tiles>::columns;
        const int q_head = (first_head + i / decode_shape<tiles>::columns) * ratio + row % ratio;
        const float * q = (const float *) (p.q + row / ratio * p.q_token + q_head * p.q_head + seq * p.q_seq);
        float x[D / 32];
#pragma unroll
        for (int j = 0; j < D / 32; ++j) { x[j] = row < p.n_rows ? q[lane + 32 * j] : 0.0f; }
        if (p.rotates_query) {
#pragma unroll
            for (int j = 0; j < D / 32; ++j) { x[j] = turbo_cuda_rotate_lanes<D>(x[j], lane); }
#pragma unroll
            for (int h = 1; h < D / 32; h *= 2) {
#pragma unroll
                for (int j = 0; j < D / 32; ++j) {
                    if (j & h) { continue; }
                    const float low = x[j], high = x[j + h];
                    x[j] = low + high;
                    x[j + h] = low - high;
                }
            }
        }
#pragma unroll
        for (int j = 0; j < D / 32; ++j) { queries[i * Q_ROW + lane + 32 * j] = __float2half_rn(x[j] * unit); }
    }
    __syncthreads();
    uint32_t query[tiles][K::lane_words][4];
#pragma unroll
    for (int c = 0; c < tiles; ++c) {
        const half * q = queries + (head * decode_shape<tiles>::columns + c * COLUMNS + g) * Q_ROW;
#pragma unroll
        for (int i = 0; i < K::lane_words; ++i) {
            const turbo_cuda_place place = turbo_cuda_lane_place<K>(t, i);
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                const int at = place.base + n / 2 * 2 + n % 2 * place.odd; // as turbo_cuda_levels pairs them
                query[c][i][n] = turbo_cuda_bits(__halves2half2(q[at], q[at + 1]));
            }
        }
    }

    // columns of this lane: rows of attention, whose token says where their mask begins
    const bool one_mask = p.n_tokens == 1;
    const half * mask = (const half *) (p.mask ? p.mask + seq % p.n_masks * p.mask_seq : nullptr);
    int mask_at[N_COLUMNS];
#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c) {
        const int row = min(first_row + c / 2 * COLUMNS + 2 * t + c % 2, p.n_rows - 1);
        mask_at[c] = (int) (row / ratio * (p.mask_token / (int64_t) sizeof(half)));
    }
    half bias[2][N_COLUMNS];
    const auto load_bias = [&](int first) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int pos = first + g + 8 * h;
            const half none = __float2half(pos < p.n_kv ? 0.0f : -INFINITY);
            const bool some = mask && pos < p.n_kv;
            if (one_mask) {
                const half all = some ? mask[pos] : none;
#pragma unroll
                for (int c = 0; c < N_COLUMNS; ++c) { bias[h][c] = all; }
            } else {
#pragma unroll
                for (int c = 0; c < N_COLUMNS; ++c) { bias[h][c] = some ? mask[mask_at[c] + pos] : none; }
            }
        }
    };
    load_bias(begin + turn * TILE);

    float sums[STEPS][2][2][tiles][4] = {};
    float m[N_COLUMNS], l[N_COLUMNS];
#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c) {
        m[c] = LOWEST;
        l[c] = 0.0f;
    }

    for (int stage = 0; stage < n_stages; ++stage) {
        asm volatile("cp.async.wait_all;");
        sync_some(1 + turn, n_threads);
        if (stage + 1 < n_stages) { load(stage + 1); }

        const uint32_t * k_tile = tiles_of_turn + stage % 2 * tile_words + head * K::block_words;
        const uint32_t * v_tile = tiles_of_turn + stage % 2 * tile_words + TILE * k_row + head * V::block_words;

        float scores[tiles][4] = {};
        float others[tiles][4] = {}; // a second chain of products: each waits for the one before it
        const uint32_t * k_a = k_tile + g * k_row;
        const uint32_t * k_b = k_a + 8 * k_row;
        const uint32_t k_head_a = *k_a;
        const uint32_t k_head_b = *k_b;
        {
            const key_factors<K> factors_a(k_head_a, t);
            const key_factors<K> factors_b(k_head_b, t);
            uint32_t codes_a[K::lane_words], codes_b[K::lane_words];
            turbo_cuda_lane_codes<K>(k_a, t, codes_a);
            turbo_cuda_lane_codes<K>(k_b, t, codes_b);
#pragma unroll
            for (int i = 0; i < K::lane_words; ++i) {
                uint32_t a[4], b[4];
                turbo_cuda_levels<K::four>(codes_a[i], a);
                turbo_cuda_levels<K::four>(codes_b[i], b);
#pragma unroll
                for (int n = 0; n < 4; ++n) {
                    a[n] = turbo_cuda_bits(__hmul2(turbo_cuda_half2(a[n]), factors_a.pick(i, n % 2)));
                    b[n] = turbo_cuda_bits(__hmul2(turbo_cuda_half2(b[n]), factors_b.pick(i, n % 2)));
                }
#pragma unroll
                for (int n = 0; n < 4; n += 2) {
                    const uint32_t operand[4] = { a[n], b[n], a[n + 1], b[n + 1] };
#pragma unroll
                    for (int c = 0; c < tiles; ++c) {
                        multiply(n ? others[c] : scores[c], operand, query[c][i][n], query[c][i][n + 1]);
                    }
                }
            }
        }

        // positions 2t, 2t + 1, and the same 8 further
        uint32_t codes[2][2][STEPS];
        uint32_t heads[2][2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const uint32_t * block = v_tile + (2 * t + j + 8 * h) * v_row;
                heads[h][j] = *block;
                turbo_cuda_row_codes<V>(block, g, codes[h][j]);
            }
        }

        const float d[2] = { TURBO_CUDA_UNIT * turbo_cuda_d(k_head_a), TURBO_CUDA_UNIT * turbo_cuda_d(k_head_b) };
        float v_d[2], v_log[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            v_d[h] = turbo_cuda_d(v_tile[(g + 8 * h) * v_row]);
            v_log[h] = log2f(fmaxf(v_d[h], LEAST_D));
            v_d[h] *= WEIGHT_UNIT;
        }
        bool above = false;
#pragma unroll
        for (int c = 0; c < N_COLUMNS; ++c) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float & s = scores[c / 2][2 * h + c % 2];
                float x = (s + others[c / 2][2 * h + c % 2]) * d[h];
                if (p.soft_cap != 0.0f) { x = p.soft_cap * LOG2E * tanhf(x); }
                const float b = __half2float(bias[h][c]);
                s = b == -INFINITY ? -INFINITY : x + b * LOG2E; // what lies behind a mask may be anything
                above |= s + v_log[h] > m[c] + SLACK;
            }
        }
        const int next = begin + (stage + 1) * stage_positions + turn * TILE;
        load_bias(next);
        if (__any_sync(0xFFFFFFFFu, above)) {
#pragma unroll
            for (int c = 0; c < N_COLUMNS; ++c) {
                const float most =
                    over_positions_max(fmaxf(scores[c / 2][c % 2] + v_log[0], scores[c / 2][2 + c % 2] + v_log[1]));
                const float to = fmaxf(m[c], most);
                const float factor = exp2f(m[c] - to);
                m[c] = to;
                l[c] *= factor;
#pragma unroll
                for (int i = 0; i < STEPS; ++i) {
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        sums[i][e / 2][e % 2][c / 2][c % 2] *= factor;
                        sums[i][e / 2][e % 2][c / 2][2 + c % 2] *= factor;
                    }
                }
            }
        }
        uint32_t weights[tiles][2];
#pragma unroll
        for (int c = 0; c < tiles; ++c) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float w0 = exp2f(scores[c][2 * h] - m[2 * c]);
                const float w1 = exp2f(scores[c][2 * h + 1] - m[2 * c + 1]);
                l[2 * c] += w0;
                l[2 * c + 1] += w1;
                const half2 w = __floats2half2_rn(w0 * v_d[h], w1 * v_d[h]);
                weights[c][h] = transposed(turbo_cuda_bits(w));
            }
        }

        const value_factors<V> factors[2] = { { heads[0][0], heads[0][1], g }, { heads[1][0], heads[1][1], g } };
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                uint32_t values[2][4];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    // nibbles 4e .. 4e + 3 of two positions in one word, two of each in turn
                    const uint32_t word = __byte_perm(codes[h][0][i], codes[h][1][i], e ? 0x7362 : 0x5140);
                    turbo_cuda_levels<V::four>(word, values[h]);
#pragma unroll
                    for (int n = 0; n < 4; ++n) {
                        values[h][n] =
                            turbo_cuda_bits(__hmul2(turbo_cuda_half2(values[h][n]), factors[h].pick(i, n % 2)));
                    }
                }
#pragma unroll
                for (int n = 0; n < 2; ++n) {
                    const uint32_t operand[4] = { values[0][2 * n], values[0][2 * n + 1], values[1][2 * n],
                        values[1][2 * n + 1] };
#pragma unroll
                    for (int c = 0; c < tiles; ++c) {
                        multiply(sums[i][e][n][c], operand, weights[c][0], weights[c][1]);
                    }
                }
            }
        }
    }

    // the warps of one head
#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c) { l[c] = over_positions_sum(l[c]); }
    constexpr int N_SUMS = STEPS * 4 * tiles * 4;
    float * flat = &sums[0][0][0][0][0];
    for (int half_ = turns / 2; half_ > 0; half_ /= 2) {
        __syncthreads();
        float * slot = (float *) shared + (turn % half_ * p.heads + head) * (N_SUMS + 2 * N_COLUMNS) * 32 + lane;
        if (turn >= half_ && turn < 2 * half_) {
#pragma unroll
            for (int i = 0; i < N_SUMS; ++i) { slot[32 * i] = flat[i]; }
#pragma unroll
            for (int c = 0; c < N_COLUMNS; ++c) {
                slot[32 * (N_SUMS + c)] = m[c];
                slot[32 * (N_SUMS + N_COLUMNS + c)] = l[c];
            }
        }
        __syncthreads();
        if (turn < half_) {
            float own[N_COLUMNS], other[N_COLUMNS];
#pragma unroll
            for (int c = 0; c < N_COLUMNS; ++c) {
                const float m_other = slot[32 * (N_SUMS + c)];
                const float to = fmaxf(m[c], m_other);
                own[c] = exp2f(m[c] - to);
                other[c] = exp2f(m_other - to);
                m[c] = to;
                l[c] = l[c] * own[c] + slot[32 * (N_SUMS + N_COLUMNS + c)] * other[c];
            }
#pragma unroll
            for (int i = 0; i < N_SUMS; ++i) {
                const int c = i / 4 % tiles * 2 + i % 2;
                flat[i] = flat[i] * own[c] + slot[32 * i] * other[c];
            }
        }
    }
    if (turn > 0) { return; }

#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c) {
        const int row = first_row + c / 2 * COLUMNS + 2 * t + c % 2;
        if (row >= p.n_rows) { continue; }
        const int q_head = (first_head + head) * ratio + row % ratio;
        float factor = TURBO_CUDA_UNIT / WEIGHT_UNIT;
        if (p.sinks && blockIdx.x == 0) {
            const float sink = p.sinks[q_head] * LOG2E;
            const float to = fmaxf(m[c], sink);
            const float less = exp2f(m[c] - to);
            factor *= less;
            l[c] = l[c] * less + exp2f(sink - to);
            m[c] = to;
        }
        const int64_t at = ((int64_t) seq * p.n_tokens + row / ratio) * p.n_head + q_head;
        const bool whole = p.n_ranges == 1 && !p.rotates_result;
        if (whole) { factor = l[c] > 0.0f ? factor / l[c] : 0.0f; }
        float * to = whole ? p.dst + at * D : p.parts + (at * p.n_ranges + blockIdx.x) * D;
        if (!whole && g == 0) { p.meta[at * p.n_ranges + blockIdx.x] = make_float2(m[c], l[c]); }
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            const turbo_cuda_place place = turbo_cuda_row_place<V>(g, i);
#pragma unroll
            for (int odd = 0; odd < 2; ++odd) {
                const auto sum = [&](int e) { return sums[i][e / 2][e % 2][c / 2][2 * odd + c % 2] * factor; };
                *(float4 *) (to + place.base + odd * place.odd) = make_float4(sum(0), sum(1), sum(2), sum(3));
            }
        }
    }
}

} // namespace
