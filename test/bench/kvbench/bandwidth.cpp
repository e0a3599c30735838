#include "bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

constexpr size_t n_bytes  = size_t(512) << 20;
constexpr int    n_passes = 8;

// Four sums, so that additions do not wait for each other.
uint64_t sum(const uint64_t * x, size_t n) {
    uint64_t s[4] = { 0, 0, 0, 0 };
    for (size_t i = 0; i + 8 <= n; i += 8) {
        s[0] += x[i + 0] ^ x[i + 4];
        s[1] += x[i + 1] ^ x[i + 5];
        s[2] += x[i + 2] ^ x[i + 6];
        s[3] += x[i + 3] ^ x[i + 7];
    }
    return s[0] + s[1] + s[2] + s[3];
}

// Seconds from the common start to the end of the last thread.
double one_pass(const std::vector<uint64_t> & buffer, int n_threads, std::atomic<uint64_t> & sink) {
    using clock = std::chrono::steady_clock;
    std::atomic<int>  ready(0);
    std::atomic<bool> go(false);
    const size_t share = buffer.size()/size_t(n_threads)/8*8;
    std::vector<std::thread> threads;
    for (int i = 0; i < n_threads; ++i) {
        threads.emplace_back([&, i] {
            ready.fetch_add(1);
            while (!go.load(std::memory_order_acquire)) {
                std::this_thread::yield();
            }
            sink.fetch_add(sum(buffer.data() + size_t(i)*share, share));
        });
    }
    while (ready.load() < n_threads) {
        std::this_thread::yield();
    }
    const auto start = clock::now();
    go.store(true, std::memory_order_release);
    for (std::thread & thread : threads) {
        thread.join();
    }
    return std::chrono::duration<double>(clock::now() - start).count();
}

} // namespace

double read_bandwidth(int n_threads) {
    std::vector<uint64_t> buffer(n_bytes/sizeof(uint64_t), 0x9e3779b97f4a7c15u);
    std::atomic<uint64_t> sink(0);
    double best = 0;
    for (int pass = 0; pass < n_passes; ++pass) {
        best = std::max(best, double(n_bytes)/one_pass(buffer, n_threads, sink));
    }
    // without a use of the sum the reads could go
    return sink.load() == 1 ? 0 : best;
}
