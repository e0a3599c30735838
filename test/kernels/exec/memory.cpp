// What instrumented kernels call at every load and store, and what is checked and counted there.

#include "machine.h"

#include <algorithm>
#include <cstring>
#include <map>

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

namespace {

// Per byte of a buffer. Threads are numbered from 1 through all dispatches that may overlap; 0 is nobody.
struct device_byte {
    uint32_t writer = 0, reader = 0;
    uint32_t counted_in = 0; // number of the threadgroup that has read it
};
const uint32_t SEVERAL = UINT32_MAX;

struct region {
    uintptr_t begin, end;
    std::string name;
    const msl_buffer * buffer; // null for arguments
    msl_traffic * traffic; // of this buffer in the counters
    std::vector<device_byte> bytes;
};

std::vector<region> regions;
const module * source;

// of dispatches that may still run
std::map<const msl_buffer *, std::vector<device_byte>> kept;
uint32_t threads_before, threadgroups_before;

void count(msl_traffic & t, size_t bytes, bool store) {
    (store ? t.written : t.read) += bytes;
    (store ? t.stores : t.loads) += 1;
}

uint32_t thread_number() {
    return threads_before + (uint32_t) (current->threadgroup * current->lanes.size()) + current_lane->index + 1;
}

// Threads of one grid have no order that a kernel could rely on (barriers order one threadgroup only, and none of our kernels
// hands data over through device memory): a byte that one thread writes belongs to it until the next dispatch.
void check_sharing(const region & r, device_byte & b, size_t offset, bool store, const void * site) {
    const uint32_t me = thread_number();
    const auto complain = [&](const char * kind) {
        report(kind, r.name + " byte " + std::to_string(offset), { site });
    };
    if (b.writer != 0 && b.writer != me)
        complain(
            store ? "two threads write the same device bytes" : "a thread reads device bytes that another has written");
    if (store && b.reader != 0 && b.reader != me) complain("a thread writes device bytes that another has read");
    if (store)
        b.writer = me;
    else
        b.reader = b.reader == 0 || b.reader == me ? me : SEVERAL;
}

void access_buffer(region & r, uintptr_t a, size_t bytes, bool store, const void * site) {
    msl_counters & c = current->counters;
    msl_traffic & mine = *r.traffic;
    count(c.device, bytes, store);
    count(mine, bytes, store);
    const uint32_t stamp = threadgroups_before + (uint32_t) current->threadgroup + 1;
    for (size_t i = a - r.begin; i < a - r.begin + bytes; ++i) {
        device_byte & b = r.bytes[i];
        check_sharing(r, b, i, store, site);
        if (!store && b.counted_in != stamp) {
            b.counted_in = stamp;
            ++c.device.unique;
            ++mine.unique;
        }
    }
}

bool access_region(uintptr_t a, size_t bytes, bool store, const void * site) {
    for (region & r : regions) {
        if (a < r.begin || a >= r.end) continue;
        if (a + bytes > r.end) {
            report("device memory out of bounds",
                r.name + ", " + std::to_string(a + bytes - r.end) + " bytes past its end", { site });
            abort_run();
        }
        if (r.buffer)
            access_buffer(r, a, bytes, store, site);
        else if (store)
            report("write to constant memory", r.name, { site });
        else
            count(current->counters.arguments, bytes, store);
        return true;
    }
    return false;
}

bool in_threadgroup_memory(size_t offset, size_t bytes) {
    if (offset + bytes <= current->dynamic_bytes) return true;
    for (const auto & s : current->statics) {
        if (offset >= s.second.offset && offset + bytes <= s.second.offset + s.second.bytes) return true;
    }
    return false;
}

void access_threadgroup(size_t offset, size_t bytes, bool store, const void * site) {
    count(current->counters.threadgroup, bytes, store);
    if (!in_threadgroup_memory(offset, bytes)) {
        report("threadgroup memory out of bounds",
            std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " +
                std::to_string(current->dynamic_bytes),
            { site });
    }
    const access a = { (int16_t) current_lane->index, (int16_t) current_lane->group->index, current->epoch,
        current_lane->group->epoch, site };
    if (store)
        current->shadow.write(offset, bytes, a);
    else
        current->shadow.read(offset, bytes, a);
}

bool access_module(const void * address, size_t bytes, bool store, const void * site) {
    if (!source->contains(address)) return false;
    if (const function_constant * fc = source->constant_at(address)) {
        if (!fc->is_set)
            report(
                "function constant is read but not set", fc->name + ", index " + std::to_string(fc->index), { site });
        return true; // compiled in on a GPU: no traffic
    }
    if (store)
        report("write to a constant table", "", { site });
    else
        count(current->counters.tables, bytes, store);
    return true;
}

// The nearest buffer says most about a wild address.
[[noreturn]] void report_wild(uintptr_t a, bool store, const void * site) {
    std::string nearest = "far from all";
    size_t best = 1 << 20;
    for (const region & r : regions) {
        const size_t before = r.begin - a, after = a - r.end;
        if (before < best) {
            best = before;
            nearest = std::to_string(before) + " bytes before " + r.name;
        }
        if (after < best) {
            best = after;
            nearest = std::to_string(after) + " bytes past " + r.name;
        }
    }
    report("device memory out of bounds", std::string(store ? "store " : "load ") + nearest, { site });
    abort_run();
}

} // namespace

void memory_bind(const msl_dispatch & dispatch, const module & from, msl_counters & counters) {
    regions.clear();
    source = &from;
    if (dispatch.after) {
        kept.clear();
        threads_before = threadgroups_before = 0;
    }
    for (const msl_binding & b : dispatch.bindings) {
        const std::string name = b.buffer ? b.buffer->name() : "arguments";
        const uintptr_t begin = (uintptr_t) (b.buffer ? b.buffer->data() : b.bytes.data());
        const size_t size = b.buffer ? b.buffer->size() : b.bytes.size();
        bool known = false;
        for (const region & r : regions) known = known || (size > 0 && r.begin == begin);
        if (known) continue;
        regions.push_back({ begin, begin + size, name, b.buffer, b.buffer ? &counters.buffers[name] : nullptr, {} });
        if (!b.buffer) continue;
        regions.back().bytes = std::move(kept[b.buffer]);
        regions.back().bytes.resize(size);
    }
}

void memory_release(uint32_t n_threads, uint32_t n_threadgroups) {
    for (region & r : regions)
        if (r.buffer) kept[r.buffer] = std::move(r.bytes);
    threads_before += n_threads;
    threadgroups_before += n_threadgroups;
    regions.clear();
    source = nullptr;
}

static void memory_access(const void * address, size_t bytes, bool store, const void * site) {
    if (!current_lane || fibre_owns(address)) return;
    const uintptr_t a = (uintptr_t) address;
    const size_t in_arena = a - (uintptr_t) current->arena;
    if (in_arena < ARENA_BYTES) {
        if (is_lockstep) yield();
        access_threadgroup(in_arena, bytes, store, site);
    } else if (!access_region(a, bytes, store, site) && !access_module(address, bytes, store, site)) {
        report_wild(a, store, site);
    }
}

} // namespace msl

using namespace msl;

// clang's outline checks of -fsanitize=kernel-address, answered here instead of by a sanitizer's runtime, and the handlers of its
// checks for undefined behaviour.

#define SITE __builtin_return_address(0)

extern "C" {

// clang-format off: a table of macros
#define X(n) \
    void __asan_load##n##_noabort(const void * p)  { memory_access(p, n, false, SITE); } \
    void __asan_store##n##_noabort(const void * p) { memory_access(p, n, true, SITE); }
X(1) X(2) X(4) X(8) X(16)
#undef X
    // clang-format on
    void __asan_loadN_noabort(const void * p, size_t n) {
    memory_access(p, n, false, SITE);
}
void __asan_storeN_noabort(const void * p, size_t n) { memory_access(p, n, true, SITE); }

void * __asan_memcpy(void * d, const void * s, size_t n) {
    memory_access(s, n, false, SITE);
    memory_access(d, n, true, SITE);
    return memcpy(d, s, n);
}
void * __asan_memmove(void * d, const void * s, size_t n) {
    memory_access(s, n, false, SITE);
    memory_access(d, n, true, SITE);
    return memmove(d, s, n);
}
void * __asan_memset(void * d, int c, size_t n) {
    memory_access(d, n, true, SITE);
    return memset(d, c, n);
}
void __asan_handle_no_return() {}

// The arguments (description of the place, operands) are not needed: the return address says the line.
// clang-format off: a table of macros
#define X(name, text) void __ubsan_handle_##name() { report("undefined behaviour: " text, "", { SITE }); }
X(type_mismatch_v1, "misaligned or null pointer")
X(alignment_assumption, "misaligned pointer")
X(add_overflow, "signed overflow of +")
X(sub_overflow, "signed overflow of -")
X(mul_overflow, "signed overflow of *")
X(negate_overflow, "signed overflow of unary -")
X(divrem_overflow, "division by zero or overflow")
X(shift_out_of_bounds, "shift count")
X(out_of_bounds, "array index")
X(float_cast_overflow, "float to integer out of range")
#undef X
// clang-format on
}
