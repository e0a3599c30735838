// K and V of a turbo cache as f16, which upstream's attention reads where decode.cu does not do it. Four threads expand a block.

#include "blocks.cuh"
#include "turbo-cuda.cuh"

namespace {

constexpr int THREADS = 256;

// at: of the four lanes of all blocks in the order of the result; the blocks lie s01, s02 and s03 blocks apart.
template <typename F>
__global__ void __launch_bounds__(THREADS) turbo_cuda_expand_kernel(const void * src, half * dst, int64_t n_lanes,
    int64_t ne0, int64_t ne1, int64_t ne2, int64_t s01, int64_t s02, int64_t s03) {
    const int64_t at = (int64_t) blockIdx.x * THREADS + threadIdx.x;
    if (at >= n_lanes) { return; }
    const int t = (int) (at % 4);
    const int64_t block_at = at / 4;
    const int64_t i0 = block_at % ne0, row = block_at / ne0;
    const int64_t i1 = row % ne1, i2 = row / ne1 % ne2, i3 = row / ne1 / ne2;
    const uint32_t * block = (const uint32_t *) src + (i0 + i1 * s01 + i2 * s02 + i3 * s03) * F::block_words;
    half * to = dst + block_at * F::group;

    const uint32_t head = *block;
    const float unit = __half2float(__ushort_as_half((uint16_t) head)) * TURBO_UNIT;
    uint32_t codes[F::lane_words];
    turbo_cuda_lane_codes<F>(block, t, codes);
#pragma unroll
    for (int i = 0; i < F::lane_words; ++i) {
        const turbo_cuda_place place = turbo_cuda_lane_place<F>(t, i);
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
            const int base = place.base + odd * place.odd;
            const float factor = unit * (135.0f + 8.0f * (float) (head >> (16 + base / (F::group / 4) * 4) & 15u));
            half2 values[2];
#pragma unroll
            for (int e = 0; e < 4; e += 2) {
                const auto value = [&](int n) {
                    const uint32_t code = codes[i] >> (8 * n + 4 * odd);
                    const uint32_t table = F::four ? code & 4u ? TURBO4_HIGH : TURBO4_LOW : TURBO3_ALL;
                    const float size = (float) (table >> 8 * (code & 3u) & 0xFFu);
                    return factor * (code & (F::four ? 8u : 4u) ? -size : size);
                };
                values[e / 2] = __floats2half2_rn(value(e), value(e + 1));
            }
            // one store of a vector: nvcc 13.0 gets memcpy from an array of half wrong here (seen on an H200)
            *(uint2 *) (to + base) = make_uint2(turbo_cuda_bits(values[0]), turbo_cuda_bits(values[1]));
        }
    }
}

template <typename F>
void expand_strided(const void * src, half * dst, int64_t ne00, int64_t ne01, int64_t ne02, int64_t ne03, int64_t s01,
    int64_t s02, int64_t s03, cudaStream_t stream) {
    const int64_t ne0 = ne00 / F::group;
    const int64_t n_lanes = 4 * ne0 * ne01 * ne02 * ne03;
    if (n_lanes == 0) { return; }
    turbo_cuda_expand_kernel<F><<<(unsigned) ((n_lanes + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
        src, dst, n_lanes, ne0, ne01, ne02, s01, s02, s03);
}

template <typename F> void expand_all(const void * src, half * dst, int64_t n, cudaStream_t stream) {
    expand_strided<F>(src, dst, n, 1, 1, 1, 0, 0, 0, stream);
}

} // namespace

to_fp16_cuda_t turbo_cuda_to_fp16(ggml_type type) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4: return expand_all<turbo_cuda_format<true, 128>>;
        case GGML_TYPE_TURBO3: return expand_all<turbo_cuda_format<false, 128>>;
        case GGML_TYPE_TURBO4_64: return expand_all<turbo_cuda_format<true, 64>>;
        case GGML_TYPE_TURBO3_64: return expand_all<turbo_cuda_format<false, 64>>;
        default: return nullptr;
    }
}

to_fp16_nc_cuda_t turbo_cuda_to_fp16_nc(ggml_type type) {
    switch ((int) type) {
        case GGML_TYPE_TURBO4: return expand_strided<turbo_cuda_format<true, 128>>;
        case GGML_TYPE_TURBO3: return expand_strided<turbo_cuda_format<false, 128>>;
        case GGML_TYPE_TURBO4_64: return expand_strided<turbo_cuda_format<true, 64>>;
        case GGML_TYPE_TURBO3_64: return expand_strided<turbo_cuda_format<false, 64>>;
        default: return nullptr;
    }
}
