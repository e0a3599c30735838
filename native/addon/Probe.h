// How fast this machine reads its memory, by threads: what decoding on the CPU is bound by.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace concertina {

struct Bandwidth {
    int threads = 0;
    double bytesPerSecond = 0;
};

// Reads a buffer far above the caches with 1, 2, 4, ... and `maxThreads` threads, about a third of a second each and under
// three in all. The best pass counts: another program can only make one slower. `bytes`: of the buffer. When cancelled it
// returns what was measured until then.
std::vector<Bandwidth> readBandwidths(
    int maxThreads, size_t bytes, const std::atomic<bool> & cancel, const std::function<void(float)> & report);

} // namespace concertina
