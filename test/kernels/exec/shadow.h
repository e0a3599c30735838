// Race detector of threadgroup memory: per byte the last write and the reads since.
// Order comes from program order, threadgroup barriers (epoch) and simdgroup barriers (group epoch) and from nothing else:
// simd_sum and its like do not order memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msl {

struct access {
    int16_t lane, group;
    uint32_t epoch, group_epoch;
    const void * site;
};

class memory_shadow {
public:
    explicit memory_shadow(size_t bytes) : cells(bytes) {}
    void reset();
    void read(size_t offset, size_t bytes, const access & a);
    void write(size_t offset, size_t bytes, const access & a);

private:
    enum readers : uint8_t { nobody, one_lane, one_group, several_groups };
    struct cell {
        access writer = {};
        access reader = {}; // the latest
        bool written = false;
        readers who = nobody;
    };
    static bool ordered(const access & before, const access & now);
    static bool read_races(const cell & c, const access & now);
    static void add_reader(cell & c, const access & now);
    std::vector<cell> cells;
    size_t touched = 0; // cells beyond were never used since reset
};

} // namespace msl
