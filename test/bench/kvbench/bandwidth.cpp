#include "bandwidth.h"

#include "machine/Probe.h"

#include <algorithm>

namespace {

constexpr size_t n_bytes = size_t(512) << 20;
constexpr int n_passes = 8;

} // namespace

double read_bandwidth(int n_threads) {
    concertina::SequentialReads reads(n_bytes);
    double best = 0;
    for (int pass = 0; pass < n_passes; ++pass) { best = std::max(best, reads.pass(n_threads)); }
    return best;
}
