// Memory bandwidth of this machine.
#pragma once

#include <cstddef>

// Bytes per second of a sequential read by n_threads threads, each over its own contiguous share of a buffer far above
// the last-level cache: the best of a few passes, for a bound is what the machine can do when nobody disturbs it.
double read_bandwidth(int n_threads);
