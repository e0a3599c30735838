#include "dispatch.h"

#include <cstdio>

// cache read: as load instructions ask for it; distinct: what a threadgroup reads once or more counts once (first-level cache);
// other device: queries, mask, partial and final results; the rest per cell too, barriers and collectives per simdgroup
void print_counts(const std::string & what, const msl_counters & c, uint64_t cells) {
    uint64_t asked = 0, distinct = 0;
    for (const char * name : { "k", "v" }) {
        const auto found = c.buffers.find(name);
        if (found == c.buffers.end()) continue;
        asked += found->second.read;
        distinct += found->second.unique;
    }
    const uint64_t other = c.device.read + c.device.written - asked;
    const auto per = [cells](uint64_t n) { return (double) n / (double) cells; };
    printf("row counts | %s | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f | %.3f | %.3f | %.2f | %zu |\n", what.c_str(),
        per(asked), per(distinct), per(other), per(c.tables.loads), per(c.threadgroup.read), per(c.threadgroup.written),
        per(c.threadgroup_barriers), per(c.simdgroup_barriers), per(c.collectives), c.threadgroup_memory);
}
