#include "msl-exec.h"

#include <algorithm>

static void add(msl_traffic & a, const msl_traffic & b) {
    a.read += b.read;
    a.written += b.written;
    a.loads += b.loads;
    a.stores += b.stores;
    a.unique += b.unique;
}

msl_counters & msl_counters::operator+=(const msl_counters & o) {
    add(device, o.device);
    add(arguments, o.arguments);
    add(tables, o.tables);
    add(threadgroup, o.threadgroup);
    for (const auto & b : o.buffers) add(buffers[b.first], b.second);
    threadgroup_barriers += o.threadgroup_barriers;
    simdgroup_barriers += o.simdgroup_barriers;
    collectives += o.collectives;
    threadgroups += o.threadgroups;
    threads += o.threads;
    threadgroup_memory = std::max(threadgroup_memory, o.threadgroup_memory);
    return *this;
}
