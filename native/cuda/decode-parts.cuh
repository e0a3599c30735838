// Parts of the decode kernel: rows of a cache to shared memory, matrix units, factors of blocks.
#pragma once

#include "blocks.cuh"

namespace {

template <int bytes> __device__ __forceinline__ void copy_async(uint32_t to, const char * from, bool some) {
    const int given = some ? bytes : 0; // the rest is filled with zeros
    if constexpr (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(given));
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(given));
    }
}

// Which chunks of some rows a thread copies: every so many, from row to row without a division.
struct copy_turn {
    int n; // chunks of a row
    int row, at; // of the first
    int rows, rest; // to the next

    __device__ __forceinline__ copy_turn(int thread, int n_threads, int row_bytes, int chunk)
        : n(row_bytes / chunk), row(thread / n), at(thread % n), rows(n_threads / n), rest(n_threads % n) {}
};

// n_rows rows to shared memory at `to`, without gaps; zeros for those from n_given on.
template <int chunk>
__device__ __forceinline__ void copy_rows(const copy_turn & turn, uint32_t to, const char * from, int64_t stride,
    int n_rows, int n_given, int thread, int n_threads) {
    int row = turn.row;
    int at = turn.at;
    to += chunk * thread;
    while (row < n_rows) {
        copy_async<chunk>(to, from + min(row, n_given - 1) * stride + chunk * at, row < n_given);
        to += chunk * n_threads;
        row += turn.rows;
        at += turn.rest;
        if (at >= turn.n) {
            at -= turn.n;
            ++row;
        }
    }
}

// Threads whose number is a multiple of 32, under a number of their own from 1 to 15; a single warp needs none.
__device__ __forceinline__ void sync_some(int number, int n_threads) {
    if (n_threads == 32) {
        __syncwarp();
    } else {
        asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(n_threads) : "memory");
    }
}

// [16, 16] x [16, 8] in fp16, added up in fp32.
__device__ __forceinline__ void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ uint32_t transposed(uint32_t pair) {
    uint32_t result;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
    return result;
}

__device__ __forceinline__ float over_positions_max(float x) {
#pragma unroll
    for (int d = 4; d < 32; d *= 2) { x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, d)); }
    return x;
}

__device__ __forceinline__ float over_positions_sum(float x) {
#pragma unroll
    for (int d = 4; d < 32; d *= 2) { x += __shfl_xor_sync(0xFFFFFFFFu, x, d); }
    return x;
}

// The factors of a block of K for lane t; pick: that of word i, for nibbles 0, 2, ... or (odd) for the others.
template <typename F> struct key_factors {
    half2 of_02, of_13, less_02, less_13; // of quarters 0 and 2, 1 and 3; -1024 times as much

    __device__ __forceinline__ key_factors(uint32_t head, int t) {
        if constexpr (!F::four && F::group == 64) {
            const uint32_t s = head >> (16 + 4 * (t % 2 * 2 + t / 2)) & 15u;
            of_02 = of_13 = turbo_cuda_factors<0, 0>(s);
        } else {
            of_02 = turbo_cuda_factors<0, 1>(head >> 16 & 0x0F0Fu);
            of_13 = turbo_cuda_factors<0, 1>(head >> 20 & 0x0F0Fu);
        }
        less_02 = __hmul2(of_02, __float2half2_rn(-1024.0f));
        less_13 = __hmul2(of_13, __float2half2_rn(-1024.0f));
    }

    static __device__ __forceinline__ half2 pick(half2 a, half2 b, int i, int odd) {
        if constexpr (F::four) {
            const half2 pair = (F::group == 128 ? i / 2 : i) ? b : a;
            return odd ? __high2half2(pair) : __low2half2(pair);
        } else if constexpr (F::group == 128) {
            return i == 0 ? __low2half2(a) : i == 1 ? __low2half2(b) : i == 2 ? __high2half2(a) : __high2half2(b);
        } else {
            return a;
        }
    }
};

// The factors of the blocks of V at two positions for the lanes of row g; pick: the index of one, likewise.
template <typename F> struct value_factors {
    half2 of[2], less[2];

    __device__ __forceinline__ value_factors(uint32_t head_a, uint32_t head_b, int g) {
        const int quarter = F::four ? g / 4 : F::group == 128 ? g % 2 * 2 : g % 4 / 2 * 2 + g / 4;
        const uint32_t a = head_a >> (16 + 4 * quarter);
        const uint32_t b = head_b >> (16 + 4 * quarter);
        if constexpr (F::four) { // this quarter, and the next but one
            const uint32_t bytes = __byte_perm(a, b, 0x5140) & 0x0F0F0F0Fu;
            of[0] = turbo_cuda_factors<0, 1>(bytes);
            of[1] = turbo_cuda_factors<2, 3>(bytes);
        } else {
            const uint32_t bytes = __byte_perm(a, b, 0x5140);
            of[0] = turbo_cuda_factors<0, 1>(bytes & 0x0F0Fu);
            of[1] = turbo_cuda_factors<0, 1>(bytes >> 4 & 0x0F0Fu);
        }
        less[0] = __hmul2(of[0], __float2half2_rn(-1024.0f));
        less[1] = __hmul2(of[1], __float2half2_rn(-1024.0f));
    }

    static __device__ __forceinline__ int pick(int i, int odd) { return F::four ? odd : F::group == 128 ? i : 0; }
};

} // namespace
