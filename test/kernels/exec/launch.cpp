// The API of msl-exec.h. msl_run sets up a machine for a dispatch and runs its threadgroups one after the other.

#include "machine.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <sys/mman.h>

using namespace msl;

// Device memory has guards: whole pages that stop what the checks do not see (code of the shim that is not instrumented).
static const size_t PAGE = 4096;
static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

msl_buffer::msl_buffer(std::string name, size_t size) : label(std::move(name)), bytes(size) {
    const size_t inside = pages(size + 1);
    void * p = mmap(nullptr, inside + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("no memory for buffer " + label);
    mapping = (uint8_t *) p;
    base = mapping + PAGE;
    memset(base, 0xff, inside);
    mprotect(mapping, PAGE, PROT_NONE);
    mprotect(base + inside, PAGE, PROT_NONE);
}

msl_buffer::~msl_buffer() { munmap(mapping, pages(bytes + 1) + 2 * PAGE); }

void msl_buffer::fill(const void * from) {
    if (bytes > 0) memcpy(base, from, bytes);
}

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

namespace {

const int MAX_SLOTS = 31;
const size_t MAX_ARGUMENT_BYTES = 4096; // of setBytes

uint8_t * arena() {
    static uint8_t * memory = (uint8_t *) aligned_alloc(4096, ARENA_BYTES);
    return memory;
}

const msl_binding * binding_of(const msl_dispatch & d, int slot) {
    for (const msl_binding & b : d.bindings)
        if (b.slot == slot) return &b;
    return nullptr;
}

void * pointer_of(const msl_dispatch & d, const parameter & p) {
    if (!strcmp(p.role, "threadgroup")) return arena();
    if (strcmp(p.role, "buffer") != 0) return nullptr;
    const msl_binding * b = binding_of(d, p.index);
    if (!b) throw std::runtime_error(d.kernel + ": nothing is bound to slot " + std::to_string(p.index));
    return b->buffer ? b->buffer->data() + b->offset : (void *) b->bytes.data();
}

vec3 position_in(uint32_t i, msl_dims size) { return { { i % size.x, i / size.x % size.y, i / size.x / size.y } }; }

void start_lane(machine & m, const msl_dispatch & d, int i) {
    m.lanes[i] = { i, i % SIMD_WIDTH, &m.groups[i / SIMD_WIDTH], nullptr, lane_state::running, nullptr, false, 0 };
    thread_position & p = m.positions[i];
    p.threadgroup = position_in((uint32_t) m.threadgroup, d.grid);
    p.in_threadgroup = position_in(i, d.threads);
    p.threads_per_threadgroup = { { d.threads.x, d.threads.y, d.threads.z } };
    p.threadgroups = { { d.grid.x, d.grid.y, d.grid.z } };
    for (int k = 0; k < 3; ++k)
        p.in_grid.v[k] = p.threadgroup.v[k] * p.threads_per_threadgroup.v[k] + p.in_threadgroup.v[k];
    p.index_in_threadgroup = i;
    p.lane = i % SIMD_WIDTH;
    p.simdgroup = i / SIMD_WIDTH;
    p.simdgroups = (uint32_t) m.groups.size();
}

void start_threadgroup(machine & m, const msl_dispatch & d, uint32_t index) {
    const int n = (int) m.lanes.size();
    m.threadgroup = index;
    m.n_alive = n;
    m.n_arrived = 0;
    m.epoch = 1;
    m.statics.clear();
    m.arena_used = d.threadgroup_memory;
    memset(m.arena, 0xff, ARENA_BYTES); // NaN
    m.shadow.reset();
    for (size_t s = 0; s < m.groups.size(); ++s) {
        simdgroup & g = m.groups[s];
        g.index = (int) s;
        g.n_lanes = g.n_alive = std::min(SIMD_WIDTH, n - SIMD_WIDTH * (int) s);
        g.n_arrived = g.barrier_flags = 0;
        g.epoch = 1;
        for (exchange & x : g.values) memset(x.present, 0, sizeof x.present);
    }
    for (int i = 0; i < n; ++i) start_lane(m, d, i);
}

void check_limits(const machine & m) {
    if (m.arena_used > THREADGROUP_LIMIT) {
        report("more threadgroup memory than a GPU has",
            std::to_string(m.arena_used) + " of " + std::to_string(THREADGROUP_LIMIT) + " bytes", {});
    }
}

} // namespace

msl_result msl_run(const msl_dispatch & d, const msl_schedule & schedule) {
    module & source = find_module(d.module);
    const kernel_info & kernel = source.kernel(d.kernel);
    const std::vector<parameter> & parameters = source.parameters(kernel);
    source.specialise(d.constants);

    const uint64_t n = (uint64_t) d.threads.x * d.threads.y * d.threads.z;
    const uint64_t n_threadgroups = (uint64_t) d.grid.x * d.grid.y * d.grid.z;
    if (n == 0 || n > 1024 || n_threadgroups == 0 || n * n_threadgroups >= UINT32_MAX)
        throw std::runtime_error(d.kernel + ": empty or too large a grid");
    if (d.threadgroup_memory > ARENA_BYTES) throw std::runtime_error(d.kernel + ": too much threadgroup memory");

    for (const msl_binding & b : d.bindings) {
        if (b.slot < 0 || b.slot >= MAX_SLOTS || b.bytes.size() > MAX_ARGUMENT_BYTES)
            throw std::runtime_error(d.kernel + ": slot or argument bytes beyond Metal's limits");
    }

    std::vector<void *> pointers;
    for (const parameter & p : parameters) pointers.push_back(pointer_of(d, p));

    auto m = std::make_unique<machine>();
    m->lanes.resize(n);
    m->positions.resize(n);
    m->groups.resize((n + SIMD_WIDTH - 1) / SIMD_WIDTH);
    m->arena = arena();
    m->dynamic_bytes = d.threadgroup_memory;
    m->call = { nullptr, parameters.data(), pointers.data() };
    m->entry = kernel.call;
    m->function = kernel.address;

    fibre_reserve((int) n);
    memory_bind(d, source, m->counters);
    schedule_start(schedule);
    current = m.get();
    for (uint32_t i : threadgroup_order((uint32_t) n_threadgroups)) {
        start_threadgroup(*m, d, i);
        run_threadgroup();
        msl_counters & c = m->counters;
        ++c.threadgroups;
        c.threads += n;
        c.threadgroup_memory = std::max(c.threadgroup_memory, m->arena_used);
        check_limits(*m);
        if (m->aborted) break;
    }
    current = nullptr;
    memory_release((uint32_t) (n * n_threadgroups), (uint32_t) n_threadgroups);
    return { m->counters, take_reports() };
}

std::vector<msl_schedule> msl_all_schedules(int n_seeds) {
    std::vector<msl_schedule> all = { { msl_schedule::round_robin, 1 }, { msl_schedule::lifo, 1 },
        { msl_schedule::lockstep, 1 } };
    for (int i = 1; i <= n_seeds; ++i) all.push_back({ msl_schedule::random, (uint64_t) i });
    return all;
}

std::string msl_schedule_name(const msl_schedule & s) {
    switch (s.order) {
        case msl_schedule::round_robin: return "round robin";
        case msl_schedule::random: return "random " + std::to_string(s.seed);
        case msl_schedule::lifo: return "lifo";
        case msl_schedule::lockstep: return "lockstep";
    }
    return "";
}

extern "C" {

vec3 msl_position(const thread_position * p, const char * role) {
    const auto is = [role](const char * name) { return !strcmp(role, name); };
    if (is("threadgroup_position_in_grid")) return p->threadgroup;
    if (is("thread_position_in_threadgroup")) return p->in_threadgroup;
    if (is("thread_position_in_grid")) return p->in_grid;
    if (is("threads_per_threadgroup")) return p->threads_per_threadgroup;
    if (is("threadgroups_per_grid")) return p->threadgroups;
    if (is("thread_index_in_threadgroup")) return { { p->index_in_threadgroup, 0, 0 } };
    if (is("thread_index_in_simdgroup")) return { { p->lane, 0, 0 } };
    if (is("simdgroup_index_in_threadgroup")) return { { p->simdgroup, 0, 0 } };
    if (is("simdgroups_per_threadgroup")) return { { p->simdgroups, 0, 0 } };
    if (is("threads_per_simdgroup")) return { { SIMD_WIDTH, 0, 0 } };
    report("parameter with an attribute that the executor does not know", role, {});
    return { { 0, 0, 0 } };
}

void * msl_threadgroup_variable(const void * key, size_t bytes) {
    const auto found = current->statics.find(key);
    if (found != current->statics.end()) return current->arena + found->second.offset;
    // 64 bytes apart, so that an overrun of a few bytes is no access of the next variable
    const size_t offset = (current->arena_used + 64 + 63) / 64 * 64;
    current->statics[key] = { offset, bytes };
    current->arena_used = offset + bytes;
    return current->arena + offset;
}
}
