// How fast this machine reads its memory, by threads: what decoding on the CPU is bound by.
#pragma once

#include "fields.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace concertina {

// A buffer to read from beginning to end. Far above the last-level cache it measures the memory.
class SequentialReads {
public:
    explicit SequentialReads(size_t bytes) : buffer(bytes / sizeof(uint64_t), 0x9e3779b97f4a7c15u) {}

    // Bytes per second of one pass by that many threads, each over its own contiguous share, by the time that it had a core.
    // Another program on the memory can only make a pass slower, so the best of several is what the machine can do.
    double pass(int threads);

private:
    std::vector<uint64_t> buffer;
    // keeps the reads: a sum that nobody uses could go
    std::atomic<uint64_t> sink{ 0 };
};

struct Bandwidth {
    int threads = 0;
    double bytesPerSecond = 0;

    CONCERTINA_FIELDS(threads, bytesPerSecond)
};

// Reads a buffer far above the caches with 1, 2, 4, ... and `maxThreads` threads, about a third of a second each and under
// three in all; the best pass counts. `bytes`: of the buffer. When canceled it returns what was measured until then.
std::vector<Bandwidth> readBandwidths(
    int maxThreads, size_t bytes, const std::atomic<bool> & cancel, const std::function<void(float)> & report);

} // namespace concertina
