// Every load and store of a kernel comes here: bounds, races, counters.
#pragma once

#include "module.h"
#include "msl-exec.h"

namespace msl {

// The memory that the next run may touch: n buffers of the dispatch, and what is bound as bytes.
void memory_bind(const msl_dispatch & dispatch, const module & from, msl_counters & counters);
void memory_release(uint32_t n_threads, uint32_t n_threadgroups);
void memory_access(const void * address, size_t bytes, bool store, const void * site);

} // namespace msl
