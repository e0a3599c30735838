// The quantizer of native/turbo/codec/turbo-quantize.c, a thread for each value of a group: the same whole-number search, and the float
// operations around it rounded as there one by one, whatever flags the compiler has (-use_fast_math among them): the same bytes.
//
// The threads of a quarter, a warp or half of one, share its sub-scales and, where there are more threads than sub-scales, the values under
// each: a token's rows are few, so what counts is how long one group takes.

#include "blocks.cuh"
#include "fold.h"
#include "turbo-cuda.cuh"

#include <cfloat>

namespace {

// From native/turbo/codec/turbo-quantize.c and turbo-codec.h.
constexpr uint32_t SATURATE = 0x48800000u; // 2^18
constexpr float FP16_MAX = 65504.0f;
constexpr uint32_t FP16_NAN = 0x7e00u;
constexpr int THREADS = 128;

template <typename F> struct coder {
    static constexpr int levels = F::four ? 8 : 4;
    static constexpr int quarter = F::group / 4;
    static constexpr int groups = THREADS / F::group; // of a block of threads
    static constexpr float d_of_rms = F::four ? 1.0515f : 0.8642f;

    static __device__ __forceinline__ int magnitude(int i) {
        const uint32_t word = F::four ? i < 4 ? TURBO4_LOW : TURBO4_HIGH : TURBO3_ALL;
        return (int) (word >> 8 * (i % 4) & 0xFFu);
    }
};

// What the threads of a group share.
template <typename F> struct group_memory {
    float a[F::group];
    int16_t whole[F::group];
    uint8_t code[F::group];
    int3 best[TURBO_SUBSCALES]; // sub-scale, dot and norm
    uint32_t some_nan;
};

__device__ __forceinline__ uint32_t half_of(float d) { return __half_as_ushort(__float2half_rn(fminf(d, FP16_MAX))); }

// One round: the best of the sub-scales first, first + every, ... of each quarter, and the d of least squares for them.
template <typename F, int every>
__device__ __forceinline__ float refit(group_memory<F> & shared, float a, float d, int first, int thread) {
    using C = coder<F>;
    constexpr int tries = 16 / every;
    constexpr int parts = C::quarter / tries; // threads that share the values under one sub-scale
    const int quarter = thread / C::quarter;
    const int at = thread % C::quarter;
    const int part = at % parts;

    const float inv = __frcp_rn(__fmul_rn(4.0f * TURBO_UNIT, d));
    shared.whole[thread] = (int16_t) (int) fminf(__fadd_rn(__fmul_rn(a, inv), 0.5f), 32767.0f);
    __syncwarp();
    const int s = first + at / parts * every;
    const int mult = TURBO_MULT(s);
    int threshold[C::levels], step[C::levels];
#pragma unroll
    for (int k = 0; k + 1 < C::levels; ++k) {
        threshold[k] = ((C::magnitude(k) + C::magnitude(k + 1)) * mult + 128) / 256 - 1;
        step[k] = C::magnitude(k + 1) - C::magnitude(k);
    }
    int dot = 0, norm = 0;
#pragma unroll
    for (int i = 0; i < tries; ++i) {
        const int x = shared.whole[quarter * C::quarter + i * parts + part];
        int level = C::magnitude(0);
#pragma unroll
        for (int k = 0; k + 1 < C::levels; ++k) { level += x >> 5 > threshold[k] ? step[k] : 0; }
        dot += x * level;
        norm += level * level;
    }
#pragma unroll
    for (int e = 1; e < parts; e *= 2) {
        dot += __shfl_xor_sync(0xFFFFFFFFu, dot, e);
        norm += __shfl_xor_sync(0xFFFFFFFFu, norm, e);
    }
    // the smaller error, the lower sub-scale on a tie
    float error = __fmul_rn((float) (mult * norm - 8 * dot), (float) mult);
    int best = s;
#pragma unroll
    for (int e = parts; e < C::quarter; e *= 2) {
        const float error_other = __shfl_xor_sync(0xFFFFFFFFu, error, e);
        const int s_other = __shfl_xor_sync(0xFFFFFFFFu, best, e);
        const int dot_other = __shfl_xor_sync(0xFFFFFFFFu, dot, e);
        const int norm_other = __shfl_xor_sync(0xFFFFFFFFu, norm, e);
        if (error_other < error || (error_other == error && s_other < best)) {
            error = error_other;
            best = s_other;
            dot = dot_other;
            norm = norm_other;
        }
    }
    if (at == 0) { shared.best[quarter] = make_int3(best, dot, norm); }
    __syncthreads();

    long long all_dot = 0, all_norm = 0;
#pragma unroll
    for (int q = 0; q < TURBO_SUBSCALES; ++q) {
        const int3 of = shared.best[q];
        const int m = TURBO_MULT(of.x);
        all_dot += (long long) m * of.y;
        all_norm += (long long) (m * m) * of.z;
    }
    return __fmul_rn(d, __fdiv_rn(__fmul_rn(4.0f, __ll2float_rn(all_dot)), __ll2float_rn(all_norm)));
}

// The root of the mean square: the reference sums in 16 lanes (index % 16) in order of the index, then folds 8, 4, 2, 1.
template <typename F> __device__ __forceinline__ float root_mean_square(const group_memory<F> & shared, int thread) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < F::group; i += 16) {
        const float x = shared.a[i + thread % 16];
        sum = __fadd_rn(sum, __fmul_rn(x, x));
    }
#pragma unroll
    for (int e = 8; e > 0; e /= 2) { sum = __fadd_rn(sum, __shfl_xor_sync(0xFFFFFFFFu, sum, e)); }
    return __fsqrt_rn(__fmul_rn(sum, 1.0f / F::group));
}

// Word w of the codes, from one code a byte: magnitude in the low bits, sign above.
template <typename F> __device__ __forceinline__ uint32_t pack(const uint8_t * code, int w) {
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int at = 4 * w + i; // byte of qs
        uint32_t byte = 0;
        if constexpr (F::four) {
            byte = code[at] | code[at + F::group / 2] << 4;
        } else {
            constexpr int n = F::group / 16;
            const int piece = at / n; // words of n bytes in the order 00 01 10 11 02 12 (half, word)
            const int half = piece < 4 ? piece / 2 : piece - 4;
            const int k = piece < 4 ? piece % 2 : 2;
            const int j = at % n;
#pragma unroll
            for (int b = 0; b < 2; ++b) {
                const int u = 2 * n * k + n * b + j; // value u/16*32 + 16*half + u%16
                const int r = 6 * n + n * b + j; // of the codes that go into the bits left over
                byte |= (uint32_t) code[u / 16 * 32 + 16 * half + u % 16] << 4 * b;
                byte |= (code[r / 16 * 32 + 16 * half + r % 16] >> k & 1u) << (4 * b + 3);
            }
        }
        word |= byte << 8 * i;
    }
    return word;
}

// One group by as many threads as it has values. Every thread of the block takes part in the barriers, so `block` may be nullptr for those
// beyond the last group.
template <typename F>
__device__ __forceinline__ void quantize(
    float x, bool rotates, uint32_t * block, group_memory<F> & shared, int thread) {
    using C = coder<F>;
    if (rotates) { x = turbo_cuda_rotate_threads<F::group>(x, shared.a, thread); }
    const uint32_t bits = __float_as_uint(x) & 0x7fffffffu;
    const float a = __uint_as_float(min(bits, SATURATE)); // as whole numbers: infinity saturates too
    shared.a[thread] = a;
    if (thread == 0) { shared.some_nan = 0; }
    __syncthreads();
    if (bits > 0x7f800000u) { shared.some_nan = 1; }
    __syncthreads();
    const bool nan = shared.some_nan != 0;

    float d = __fmul_rn(C::d_of_rms, root_mean_square(shared, thread));
    uint32_t d16 = half_of(d);
    const bool tiny = d16 == 0;
    if (nan || tiny) { d = 1.0f; } // something finite for the rounds, which all threads go through
    d = refit<F, 4>(shared, a, d, 1, thread);
    __syncthreads(); // the next round overwrites the best
    d = refit<F, 1>(shared, a, d, 0, thread);
    d16 = nan ? FP16_NAN : tiny ? 0 : half_of(d); // NaN, so that the damage stays visible
    const bool empty = nan || d16 == 0;

    uint32_t code = 0;
    if (!empty) {
        const float unit = __fmul_rn(__half2float(__ushort_as_half((uint16_t) d16)), TURBO_UNIT);
        const float v =
            __fmul_rn(a, __frcp_rn(__fmul_rn(unit, (float) TURBO_MULT(shared.best[thread / C::quarter].x))));
#pragma unroll
        for (int i = 0; i + 1 < C::levels; ++i) { code += v > 0.5f * (C::magnitude(i) + C::magnitude(i + 1)) ? 1 : 0; }
        code |= (__float_as_uint(x) >> 31) * C::levels;
    }
    shared.code[thread] = (uint8_t) code;
    __syncthreads();
    if (!block) { return; }
    if (thread + 1 < F::block_words) { block[1 + thread] = pack<F>(shared.code, thread); }
    if (thread == F::group - 1) {
        uint32_t sub = 0;
#pragma unroll
        for (int q = 0; q < TURBO_SUBSCALES; ++q) { sub |= (uint32_t) shared.best[q].x << 4 * q; }
        block[0] = d16 | (empty ? 0 : sub << 16);
    }
}

struct rows_params {
    const char * src;
    const char * ids;
    char * dst;
    int64_t n_groups;
    bool rotates;
    uint3 row_groups, n_rows, n_planes, ids_1, ids_2; // groups of a row; sizes of the source and of the ids
    int64_t s1, s2, s3, i0, i1, i2, d1, d2, d3; // bytes
};

template <typename F, typename id_t>
__global__ void __launch_bounds__(THREADS) turbo_cuda_rows_kernel(const rows_params p) {
    __shared__ group_memory<F> shared[coder<F>::groups];
    const int thread = threadIdx.x % F::group;
    const int64_t group = (int64_t) blockIdx.x * coder<F>::groups + threadIdx.x / F::group;
    const bool some = group < p.n_groups;
    const uint2 in_row = fast_div_modulo((uint32_t) (some ? group : 0), p.row_groups);
    const uint2 in_plane = fast_div_modulo(in_row.x, p.n_rows);
    const uint2 in_cube = fast_div_modulo(in_plane.x, p.n_planes);
    const int64_t i = in_row.y, r = in_plane.y, i2 = in_cube.y, i3 = in_cube.x;
    ggml_cuda_pdl_lc();
    ggml_cuda_pdl_sync();
    const int64_t to = *(const id_t *) (p.ids + r * p.i0 + fastmodulo((uint32_t) i2, p.ids_1) * p.i1 +
                                        fastmodulo((uint32_t) i3, p.ids_2) * p.i2);
    const float * src = (const float *) (p.src + r * p.s1 + i2 * p.s2 + i3 * p.s3) + i * F::group;
    uint32_t * block = (uint32_t *) (p.dst + to * p.d1 + i2 * p.d2 + i3 * p.d3) + i * F::block_words;
    quantize<F>(src[thread], p.rotates, some ? block : nullptr, shared[threadIdx.x / F::group], thread);
}

template <typename F> void launch(ggml_backend_cuda_context & ctx, const rows_params & p, bool wide) {
    const ggml_cuda_kernel_launch_params params(
        dim3((unsigned) ((p.n_groups + coder<F>::groups - 1) / coder<F>::groups)), dim3(THREADS), (size_t) 0,
        ctx.stream());
    if (wide) {
        ggml_cuda_kernel_launch(turbo_cuda_rows_kernel<F, int64_t>, params, p);
    } else {
        ggml_cuda_kernel_launch(turbo_cuda_rows_kernel<F, int32_t>, params, p);
    }
}

} // namespace

bool turbo_cuda_set_rows(ggml_backend_cuda_context & ctx, ggml_tensor * dst) {
    if (!turbo_cuda_has(dst->type)) { return false; }
    const ggml_tensor * src = dst->src[0];
    const ggml_tensor * ids = dst->src[1];
    GGML_ASSERT(src->type == GGML_TYPE_F32 && src->nb[0] == sizeof(float));
    GGML_ASSERT(ids->type == GGML_TYPE_I64 || ids->type == GGML_TYPE_I32);
    rows_params p = {};
    p.src = (const char *) src->data;
    p.ids = (const char *) ids->data;
    p.dst = (char *) dst->data;
    p.n_groups = ggml_nelements(src) / ggml_blck_size(dst->type);
    if (p.n_groups == 0) { return true; }
    GGML_ASSERT(p.n_groups < INT32_MAX);
    p.row_groups = init_fastdiv_values((uint64_t) (src->ne[0] / ggml_blck_size(dst->type)));
    p.n_rows = init_fastdiv_values((uint64_t) src->ne[1]);
    p.n_planes = init_fastdiv_values((uint64_t) src->ne[2]);
    p.ids_1 = init_fastdiv_values((uint64_t) ids->ne[1]);
    p.ids_2 = init_fastdiv_values((uint64_t) ids->ne[2]);
    p.s1 = (int64_t) src->nb[1];
    p.s2 = (int64_t) src->nb[2];
    p.s3 = (int64_t) src->nb[3];
    p.i0 = (int64_t) ids->nb[0];
    p.i1 = (int64_t) ids->nb[1];
    p.i2 = (int64_t) ids->nb[2];
    p.d1 = (int64_t) dst->nb[1];
    p.d2 = (int64_t) dst->nb[2];
    p.d3 = (int64_t) dst->nb[3];
    p.rotates = turbo_fold_marks(dst) & turbo_fold_rotates_rows;
    const bool wide = ids->type == GGML_TYPE_I64;
    switch ((int) dst->type) {
        case GGML_TYPE_TURBO4: launch<turbo_cuda_format<true, 128>>(ctx, p, wide); break;
        case GGML_TYPE_TURBO3: launch<turbo_cuda_format<false, 128>>(ctx, p, wide); break;
        case GGML_TYPE_TURBO4_64: launch<turbo_cuda_format<true, 64>>(ctx, p, wide); break;
        case GGML_TYPE_TURBO3_64: launch<turbo_cuda_format<false, 64>>(ctx, p, wide); break;
        default: GGML_ABORT("no kernel of this turbo type");
    }
    return true;
}
