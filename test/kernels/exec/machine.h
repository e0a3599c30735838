// What the parts of the executor share: the threadgroup that is being executed, and what each part does for the others.
#pragma once

#include "../shim/msl-abi.h"
#include "msl-exec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace msl {

// --- report.cpp: collects what the executor finds wrong; equal findings (kind and sites) are counted

void report(const std::string & kind, const std::string & detail, const std::vector<const void *> & sites);

// The findings since the last call, with sites as file:line.
std::vector<msl_report> take_reports();

// --- module.cpp: a compiled .metal source, shared objects, each with some of the kernels, whose initialisers register kernels,
// parameters and function constants

struct kernel_info {
    std::string function; // of the source, shared by instantiations
    kernel_call call;
    void * address;
    int n_parameters;
};

struct function_constant {
    int index;
    std::string name, type;
    void * value;
    size_t bytes;
    bool is_set = false;
};

class module {
public:
    module(std::string name, const std::vector<std::string> & files);
    const kernel_info & kernel(const std::string & name) const;
    const std::vector<parameter> & parameters(const kernel_info & kernel) const;
    // Sets the constants given, and marks the others as not set.
    void specialise(const std::vector<msl_constant> & values);
    const function_constant * constant_at(const void * address) const;
    bool contains(const void * address) const;

    std::map<std::string, kernel_info> kernels;
    std::map<std::string, std::vector<parameter>> signatures; // by function
    std::vector<function_constant> constants;

private:
    struct image {
        uintptr_t begin, end;
    };
    image load(const std::string & file);
    std::string name;
    std::vector<image> images;
};

// Loads on first use.
module & find_module(const std::string & name);

// --- memory.cpp: every load and store of a kernel comes here: bounds, races, counters

// Race detector of threadgroup memory: per byte the last write and the reads since.
// Order comes from program order, threadgroup barriers (epoch) and simdgroup barriers (group epoch) and from nothing else:
// simd_sum and its like do not order memory.
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

// The memory that the next run may touch: n buffers of the dispatch, and what is bound as bytes.
void memory_bind(const msl_dispatch & dispatch, const module & from, msl_counters & counters);
void memory_release(uint32_t n_threads, uint32_t n_threadgroups);

// --- the threadgroup that is being executed: its lanes, SIMD-groups and memory. One at a time, hence one global

constexpr size_t ARENA_BYTES = 64 * 1024; // twice Metal's limit, so that overruns stay inside
constexpr size_t THREADGROUP_LIMIT = 32 * 1024; // maxThreadgroupMemoryLength of every Apple GPU so far

enum class lane_state { running, at_simdgroup, at_threadgroup, done };

struct simdgroup;

struct lane {
    int index; // in the threadgroup
    int in_simdgroup;
    simdgroup * group;
    void * stack_pointer;
    lane_state state;
    const void * site; // of the rendezvous that it waits at
    bool is_barrier;
    unsigned parity; // which of the two exchanges the next collective uses
};

struct simdgroup {
    int index, n_lanes, n_alive, n_arrived;
    int barrier_flags;
    uint32_t epoch; // simdgroup barriers so far that order threadgroup memory
    exchange values[2]; // double-buffered: a lane may enter the next collective while others still read
};

struct static_variable {
    size_t offset, bytes;
};

struct machine {
    std::vector<lane> lanes;
    std::vector<simdgroup> groups;
    std::vector<thread_position> positions;
    int n_alive = 0, n_arrived = 0;
    int barrier_flags = 0;
    uint32_t epoch = 1;
    bool aborted = false;
    uint64_t threadgroup = 0; // linear index
    uint8_t * arena = nullptr;
    size_t arena_used = 0; // dynamic and static
    size_t dynamic_bytes = 0;
    std::map<const void *, static_variable> statics;
    call_context call = {};
    kernel_call entry = nullptr;
    void * function = nullptr;
    memory_shadow shadow{ ARENA_BYTES };
    msl_counters counters;
};

extern machine * current; // null outside msl_run
extern lane * current_lane; // null outside fibres

// --- schedule.cpp: which lane runs next on which stack, and the meetings of lanes: SIMD-group collectives and the two barriers

// n stacks of one size; reused from run to run.
void fibre_reserve(int n);

// asked at every access of memory
extern uint8_t * fibre_stacks;
extern size_t fibre_stack_bytes;
inline bool fibre_owns(const void * address) {
    return (uintptr_t) address - (uintptr_t) fibre_stacks < fibre_stack_bytes;
}

void schedule_start(const msl_schedule & schedule);
// Order in which the threadgroups run: theirs is undefined in Metal too.
std::vector<uint32_t> threadgroup_order(uint32_t n);

// Runs the current machine's threadgroup to its end, to a deadlock or to an abort (current->aborted).
void run_threadgroup();

// Under lockstep the other lanes run before every access of threadgroup memory.
extern bool is_lockstep;
void yield();
// Ends the run: from a fibre, after a finding that leaves nothing sensible to execute.
[[noreturn]] void abort_run();

} // namespace msl
