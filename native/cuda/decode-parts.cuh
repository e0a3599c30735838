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

// Where a thread is that copies every so many chunks of some rows, from row to row without a division.
struct copy_turn {
    int n; // chunks of a row
    int row, at;
    int rows, rest; // to the next

    __device__ __forceinline__ copy_turn(int thread, int n_threads, int row_bytes, int chunk)
        : n(row_bytes / chunk), row(thread / n), at(thread % n), rows(n_threads / n), rest(n_threads % n) {}

    __device__ __forceinline__ void next() {
        row += rows;
        at += rest;
        if (at >= n) {
            at -= n;
            ++row;
        }
    }
};

// n_rows rows to shared memory at `to`, without gaps, in words; zeros for those from n_given on.
__device__ __forceinline__ void copy_rows(
    uint32_t to, const char * from, int64_t stride, int row_bytes, int n_rows, int n_given, int thread, int n_threads) {
    to += 4 * thread;
    for (copy_turn turn(thread, n_threads, row_bytes, 4); turn.row < n_rows; turn.next()) {
        copy_async<4>(to, from + min(turn.row, n_given - 1) * stride + 4 * turn.at, turn.row < n_given);
        to += 4 * n_threads;
    }
}

// The same in chunks of 16 bytes, where all rows are given: a thread knows its chunks of every tile from the start, `most` or fewer.
template <int most> struct copy_plan {
    int from[most]; // bytes from the first row's; below 0: none

    __device__ __forceinline__ copy_plan(int64_t stride, int row_bytes, int n_rows, int thread, int n_threads) {
        copy_turn turn(thread, n_threads, row_bytes, 16);
#pragma unroll
        for (int i = 0; i < most; ++i) {
            from[i] = turn.row < n_rows ? (int) (turn.row * stride) + 16 * turn.at : -1;
            turn.next();
        }
    }

    __device__ __forceinline__ void copy(uint32_t to, const char * rows, int thread, int n_threads) const {
        to += 16 * thread;
#pragma unroll
        for (int i = 0; i < most; ++i) {
            if (from[i] >= 0) { copy_async<16>(to + 16 * n_threads * i, rows + from[i], true); }
        }
    }
};

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
    half2 of_02, of_13; // of quarters 0 and 2, 1 and 3

    __device__ __forceinline__ key_factors(uint32_t head, int t) {
        if constexpr (!F::four && F::group == 64) {
            const uint32_t s = head >> (16 + 4 * (t % 2 * 2 + t / 2)) & 15u;
            of_02 = of_13 = turbo_cuda_factors<0, 0>(s);
        } else {
            of_02 = turbo_cuda_factors<0, 1>(head >> 16 & 0x0F0Fu);
            of_13 = turbo_cuda_factors<0, 1>(head >> 20 & 0x0F0Fu);
        }
    }

    __device__ __forceinline__ half2 pick(int i, int odd) const {
        if constexpr (F::four) {
            const half2 pair = (F::group == 128 ? i / 2 : i) ? of_13 : of_02;
            return odd ? __high2half2(pair) : __low2half2(pair);
        } else if constexpr (F::group == 128) {
            const half2 pair = i % 2 ? of_13 : of_02;
            return i / 2 ? __high2half2(pair) : __low2half2(pair);
        } else {
            return of_02;
        }
    }
};

// The factors of the blocks of V at two positions for the lanes of row g; pick: those of word i, likewise.
template <typename F> struct value_factors {
    half2 of[2];

    __device__ __forceinline__ value_factors(uint32_t head_a, uint32_t head_b, int g) {
        const int quarter = F::four ? g / 4 : F::group == 128 ? g % 2 * 2 : g % 4 / 2 * 2 + g / 4;
        const uint32_t bytes = __byte_perm(head_a >> (16 + 4 * quarter), head_b >> (16 + 4 * quarter), 0x5140);
        if constexpr (F::four) { // this quarter, and the next but one
            of[0] = turbo_cuda_factors<0, 1>(bytes & 0x0F0F0F0Fu);
            of[1] = turbo_cuda_factors<2, 3>(bytes & 0x0F0F0F0Fu);
        } else {
            of[0] = turbo_cuda_factors<0, 1>(bytes & 0x0F0Fu);
            of[1] = turbo_cuda_factors<0, 1>(bytes >> 4 & 0x0F0Fu);
        }
    }

    __device__ __forceinline__ half2 pick(int i, int odd) const { return of[F::four ? odd : F::group == 128 ? i : 0]; }
};

} // namespace
