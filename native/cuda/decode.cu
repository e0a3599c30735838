// The decode kernel for the operations of a graph: what it takes, how many ranges of positions, and how those are joined.

#include "decode-kernel.cuh"
#include "fold.h"
#include "turbo-cuda.cuh"

#include <algorithm>

namespace {

// The ranges of one head and token: each warp adds up some.
constexpr int JOIN_WARPS = 16;

template <int D>
__global__ void __launch_bounds__(32 * JOIN_WARPS)
    turbo_cuda_join_kernel(const float * parts, const float2 * meta, float * dst, int n_ranges, bool rotates) {
    constexpr int N = D / 32;
    __shared__ float shared[JOIN_WARPS][D];
    __shared__ float weight[JOIN_WARPS];
    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    ggml_cuda_pdl_lc();
    ggml_cuda_pdl_sync();
    parts += (int64_t) blockIdx.x * n_ranges * D + N * lane;
    meta += (int64_t) blockIdx.x * n_ranges;

    float most = LOWEST;
    for (int i = lane; i < n_ranges; i += 32) { most = fmaxf(most, meta[i].x); }
    most = warp_reduce_max(most);
    float sum[N] = {};
    float l = 0.0f;
#pragma unroll 4
    for (int i = warp; i < n_ranges; i += JOIN_WARPS) {
        const float2 of = meta[i];
        const float factor = exp2f(of.x - most);
        l += of.y * factor;
        __align__(4 * N) float part[N];
        ggml_cuda_memcpy_1<sizeof(part)>(part, parts + (int64_t) i * D);
#pragma unroll
        for (int j = 0; j < N; ++j) { sum[j] += part[j] * factor; }
    }
#pragma unroll
    for (int j = 0; j < N; ++j) { shared[warp][N * lane + j] = sum[j]; }
    if (lane == 0) { weight[warp] = l; }
    __syncthreads();
    const int i = 32 * warp + lane;
    float total = 0.0f, all = 0.0f;
#pragma unroll
    for (int w = 0; w < JOIN_WARPS; ++w) {
        total += shared[w][i % D];
        all += weight[w];
    }
    float result = all > 0.0f ? total / all : 0.0f;
    if (rotates) {
        __syncthreads(); // `shared` was read
        result = turbo_cuda_rotate_threads<D>(result, shared[0], i);
    }
    if (i < D) { dst[(int64_t) blockIdx.x * D + i] = result; }
}

template <typename K, typename V, int tiles>
void launch(ggml_backend_cuda_context & ctx, decode_params & p, int n_seqs) {
    constexpr int warps = decode_shape<tiles>::warps;
    constexpr int sums = K::group / 64 * 4 * tiles * 4 + 4 * tiles; // floats of a lane that joins
    constexpr size_t stage = TILE * warps * (K::block_words + V::block_words) * sizeof(uint32_t);
    constexpr size_t queries = 4 * decode_shape<tiles>::columns * (K::group + Q_PADDING) * sizeof(half);
    constexpr size_t joined = warps / 2 * sums * 32 * sizeof(float);
    constexpr size_t bytes = std::max({ 2 * stage + queries, joined });
    const auto kernel = turbo_cuda_decode_kernel<K, V, tiles>;
    const int device = ggml_cuda_get_device();
    CUDA_SET_SHARED_MEMORY_LIMIT(kernel, bytes);

    p.n_row_tiles = (p.n_rows + decode_shape<tiles>::columns - 1) / decode_shape<tiles>::columns;
    const int positions = TILE * warps / p.heads;
    const int n_stages = (p.n_kv + positions - 1) / positions;
    const int blocks = p.n_head_kv / p.heads * p.n_row_tiles * n_seqs;
    const int wanted = std::max(1, ggml_cuda_info().devices[device].nsm / blocks);
    p.stages = (n_stages + wanted - 1) / wanted;
    p.n_ranges = (n_stages + p.stages - 1) / p.stages;

    const int64_t rows = (int64_t) p.n_head * p.n_tokens * n_seqs;
    ggml_cuda_pool_alloc<float> parts(ctx.pool());
    ggml_cuda_pool_alloc<float2> meta(ctx.pool());
    const bool joins = p.n_ranges > 1 || p.rotates_result;
    if (joins) {
        p.parts = parts.alloc(rows * p.n_ranges * K::group);
        p.meta = meta.alloc(rows * p.n_ranges);
    }
    const ggml_cuda_kernel_launch_params decode(
        dim3(p.n_ranges, p.n_head_kv / p.heads, p.n_row_tiles * n_seqs), dim3(32, warps, 1), bytes, ctx.stream());
    ggml_cuda_kernel_launch(kernel, decode, p);
    if (joins) {
        const ggml_cuda_kernel_launch_params join(
            dim3((unsigned) rows), dim3(32, JOIN_WARPS, 1), (size_t) 0, ctx.stream());
        ggml_cuda_kernel_launch(turbo_cuda_join_kernel<K::group>, join, (const float *) p.parts,
            (const float2 *) p.meta, p.dst, p.n_ranges, p.rotates_result);
    }
}

template <typename K, typename V> void launch_rows(ggml_backend_cuda_context & ctx, decode_params & p, int n_seqs) {
    if (p.n_rows <= COLUMNS) {
        launch<K, V, 1>(ctx, p, n_seqs);
    } else {
        launch<K, V, 2>(ctx, p, n_seqs);
    }
}

template <int group>
void launch_types(ggml_backend_cuda_context & ctx, bool k_four, bool v_four, decode_params & p, int n_seqs) {
    using four = turbo_cuda_format<true, group>;
    using three = turbo_cuda_format<false, group>;
    if (k_four && v_four) { launch_rows<four, four>(ctx, p, n_seqs); }
    if (k_four && !v_four) { launch_rows<four, three>(ctx, p, n_seqs); }
    if (!k_four && v_four) { launch_rows<three, four>(ctx, p, n_seqs); }
    if (!k_four && !v_four) { launch_rows<three, three>(ctx, p, n_seqs); }
}

bool is_four(ggml_type type) { return type == GGML_TYPE_TURBO4 || type == GGML_TYPE_TURBO4_64; }

} // namespace

bool turbo_cuda_decodes_on(int compute_capability) {
    return compute_capability >= GGML_CUDA_CC_AMPERE && GGML_CUDA_CC_IS_NVIDIA(compute_capability);
}

namespace {

bool takes(const ggml_tensor * op, int compute_capability) {
    const ggml_tensor * q = op->src[0];
    const ggml_tensor * k = op->src[1];
    const ggml_tensor * v = op->src[2];
    const ggml_tensor * mask = op->src[3];
    if (!turbo_cuda_has(k->type) || !turbo_cuda_has(v->type) || !turbo_cuda_decodes_on(compute_capability)) {
        return false;
    }
    const int64_t group = ggml_blck_size(k->type);
    if (ggml_blck_size(v->type) != group || k->ne[0] != group || v->ne[0] != group) { return false; }
    float max_bias;
    memcpy(&max_bias, (const float *) op->op_params + 1, sizeof(float));
    return max_bias == 0.0f && q->ne[1] * (q->ne[2] / k->ne[2]) <= MAX_ROWS && (!mask || mask->ne[2] == 1);
}

} // namespace

void turbo_cuda_fold(int device, ggml_cgraph * graph, ggml_backend_graph_optimize_params * params) {
    const int compute_capability = ggml_cuda_info().devices[device].cc;
    turbo_fold(graph, params, turbo_cuda_has, [&](const ggml_tensor * op) { return takes(op, compute_capability); });
}

bool turbo_cuda_decode(ggml_backend_cuda_context & ctx, ggml_tensor * dst) {
    const int32_t marks = turbo_fold_marks(dst);
    if (!takes(dst, ggml_cuda_info().devices[ctx.device].cc)) {
        GGML_ASSERT(marks == 0); // upstream's kernels rotate nothing
        return false;
    }
    const ggml_tensor * q = dst->src[0];
    const ggml_tensor * k = dst->src[1];
    const ggml_tensor * v = dst->src[2];
    const ggml_tensor * mask = dst->src[3];
    const ggml_tensor * sinks = dst->src[4];
    const int group = (int) ggml_blck_size(k->type);
    float scale, soft_cap;
    memcpy(&scale, (const float *) dst->op_params + 0, sizeof(float));
    memcpy(&soft_cap, (const float *) dst->op_params + 2, sizeof(float));

    decode_params p = {};
    p.q = (const char *) q->data;
    p.k = (const char *) k->data;
    p.v = (const char *) v->data;
    p.mask = mask ? (const char *) mask->data : nullptr;
    p.sinks = sinks ? (const float *) sinks->data : nullptr;
    p.dst = (float *) dst->data;
    p.n_kv = (int) k->ne[1];
    p.n_tokens = (int) q->ne[1];
    p.n_head = (int) q->ne[2];
    p.n_head_kv = (int) k->ne[2];
    p.n_rows = (int) (q->ne[1] * (q->ne[2] / k->ne[2]));
    p.q_token = (int64_t) q->nb[1];
    p.q_head = (int64_t) q->nb[2];
    p.q_seq = (int64_t) q->nb[3];
    p.k_pos = (int64_t) k->nb[1];
    p.k_head = (int64_t) k->nb[2];
    p.k_seq = (int64_t) k->nb[3];
    p.v_pos = (int64_t) v->nb[1];
    p.v_head = (int64_t) v->nb[2];
    p.v_seq = (int64_t) v->nb[3];
    p.mask_token = mask ? (int64_t) mask->nb[1] : 0;
    p.mask_seq = mask ? (int64_t) mask->nb[3] : 0;
    p.n_masks = mask ? (int) mask->ne[3] : 1;
    p.scale = scale;
    p.soft_cap = soft_cap;
    p.rotates_query = marks & turbo_fold_rotates_query;
    p.rotates_result = marks & turbo_fold_rotates_result;

    // heads of a position that lie side by side are copied together
    const bool rows = p.k_head == (int64_t) ggml_type_size(k->type) && p.v_head == (int64_t) ggml_type_size(v->type);
    p.heads = rows && p.n_head_kv % 4 == 0 ? 4 : rows && p.n_head_kv % 2 == 0 ? 2 : 1;
    const uint64_t all = (uint64_t) p.k | (uint64_t) p.v | p.k_pos | p.v_pos | p.k_seq | p.v_seq | p.heads * p.k_head |
                         p.heads * p.v_head;
    p.wide_copies = all % 16 == 0 && (p.k_pos | p.v_pos) < INT32_MAX / TILE;

    const int n_seqs = (int) q->ne[3];
    if (group == 128) {
        launch_types<128>(ctx, is_four(k->type), is_four(v->type), p, n_seqs);
    } else {
        launch_types<64>(ctx, is_four(k->type), is_four(v->type), p, n_seqs);
    }
    return true;
}
