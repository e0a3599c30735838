#include "dispatch.h"

#include <cstdio>

void print_counts(const char * what, const msl_counters & c) {
    printf("count %s: ", what);
    for (const auto & b : c.buffers) {
        if (b.second.read + b.second.written == 0) continue;
        printf("%s read %lu (%lu distinct) written %lu, ", b.first.c_str(), b.second.read, b.second.unique, b.second.written);
    }
    printf("tables read %lu in %lu loads, threadgroup read %lu written %lu of %zu, ", c.tables.read, c.tables.loads, c.threadgroup.read, c.threadgroup.written, c.threadgroup_memory);
    printf("barriers %lu threadgroup %lu simdgroup, collectives %lu, threadgroups %lu\n", c.threadgroup_barriers, c.simdgroup_barriers, c.collectives, c.threadgroups);
}
