#include "machine/Probe.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <thread>

namespace concertina {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double totalSeconds = 2.4;
constexpr double longestStep = 0.35;
constexpr int fewestPasses = 2;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Time that this thread had a core: one that waits for its turn beside other programs reads nothing, and memory is not slower
// for that. Windows counts it in steps that are longer than a pass: there, time passes for waiting threads, too.
double threadSeconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID) && !defined(_WIN32)
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
#else
    return secondsSince(Clock::time_point());
#endif
}

// Four sums, so that additions do not wait for each other.
uint64_t sum(const uint64_t * values, size_t count) {
    uint64_t sums[4] = { 0, 0, 0, 0 };
    for (size_t i = 0; i + 8 <= count; i += 8) {
        sums[0] += values[i + 0] ^ values[i + 4];
        sums[1] += values[i + 1] ^ values[i + 5];
        sums[2] += values[i + 2] ^ values[i + 6];
        sums[3] += values[i + 3] ^ values[i + 7];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

std::vector<int> threadCounts(int maxThreads) {
    std::vector<int> counts;
    for (int threads = 1; threads < maxThreads; threads *= 2) counts.push_back(threads);
    counts.push_back(maxThreads);
    return counts;
}

} // namespace

double SequentialReads::pass(int threads) {
    std::atomic<int> ready(0);
    std::atomic<bool> go(false);
    const size_t share = buffer.size() / static_cast<size_t>(threads) / 8 * 8;
    std::vector<double> rates(static_cast<size_t>(threads), 0);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; i++) {
        running.emplace_back([&, i] {
            ready++;
            while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
            const double start = threadSeconds();
            sink += sum(buffer.data() + static_cast<size_t>(i) * share, share);
            const double seconds = threadSeconds() - start;
            if (seconds > 0) rates[static_cast<size_t>(i)] = static_cast<double>(share * sizeof(uint64_t)) / seconds;
        });
    }
    while (ready.load() < threads) std::this_thread::yield();
    go.store(true, std::memory_order_release);
    for (std::thread & thread : running) thread.join();
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

std::vector<Bandwidth> readBandwidths(
    int maxThreads, size_t bytes, const std::atomic<bool> & cancel, const std::function<void(float)> & report) {
    std::vector<Bandwidth> found;
    const std::vector<int> counts = threadCounts(std::max(1, maxThreads));
    const double stepSeconds = std::min(longestStep, totalSeconds / static_cast<double>(counts.size()));
    SequentialReads reads(bytes);
    for (const int threads : counts) {
        const auto start = Clock::now();
        double fastest = 0;
        for (int pass = 0; !cancel && (pass < fewestPasses || secondsSince(start) < stepSeconds); pass++) {
            fastest = std::max(fastest, reads.pass(threads));
        }
        if (cancel) break;
        found.push_back({ threads, fastest });
        report(static_cast<float>(found.size()) / static_cast<float>(counts.size()));
    }
    return found;
}

} // namespace concertina
