#include "shadow.h"

#include "report.h"

#include <algorithm>
#include <string>

namespace msl {

void memory_shadow::reset() {
    std::fill(cells.begin(), cells.begin() + touched, cell{});
    touched = 0;
}

bool memory_shadow::ordered(const access & before, const access & now) {
    return before.lane == now.lane || before.epoch < now.epoch ||
           (before.group == now.group && before.group_epoch < now.group_epoch);
}

static std::string where(size_t offset) { return "threadgroup byte " + std::to_string(offset); }

static void report_race(const char * what, const access & before, const access & now, size_t offset) {
    const bool inside = before.group == now.group;
    report(std::string("race: ") + what + (inside ? " inside a simdgroup" : " between simdgroups"),
        where(offset) + ", lanes " + std::to_string(before.lane) + " and " + std::to_string(now.lane),
        { before.site, now.site });
}

void memory_shadow::read(size_t offset, size_t bytes, const access & a) {
    const size_t end = std::min(offset + bytes, cells.size());
    touched = std::max(touched, end);
    for (size_t i = offset; i < end; ++i) {
        cell & c = cells[i];
        if (!c.written)
            report("read of uninitialised threadgroup memory", where(i), { a.site });
        else if (!ordered(c.writer, a))
            report_race("read after write", c.writer, a, i);
        add_reader(c, a);
    }
}

void memory_shadow::write(size_t offset, size_t bytes, const access & a) {
    const size_t end = std::min(offset + bytes, cells.size());
    touched = std::max(touched, end);
    for (size_t i = offset; i < end; ++i) {
        cell & c = cells[i];
        if (c.written && !ordered(c.writer, a)) report_race("write after write", c.writer, a, i);
        if (read_races(c, a)) report_race("write after read", c.reader, a, i);
        c = cell{ a, {}, true, nobody };
    }
}

bool memory_shadow::read_races(const cell & c, const access & now) {
    if (c.who == nobody || c.reader.epoch < now.epoch) return false;
    if (c.who == several_groups) return true;
    if (c.reader.group != now.group) return true;
    return c.reader.group_epoch >= now.group_epoch && !(c.who == one_lane && c.reader.lane == now.lane);
}

// Reads that a barrier has ordered before every later write are forgotten.
void memory_shadow::add_reader(cell & c, const access & now) {
    const bool forget = c.who == nobody || c.reader.epoch < now.epoch;
    if (forget)
        c.who = one_lane;
    else if (c.reader.group != now.group)
        c.who = several_groups;
    else if (c.who == one_group || c.who == one_lane) {
        if (c.reader.group_epoch < now.group_epoch)
            c.who = one_lane;
        else if (c.reader.lane != now.lane)
            c.who = one_group;
    }
    c.reader = now;
}

} // namespace msl
