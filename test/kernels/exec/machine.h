// The threadgroup that is being executed: its lanes, SIMD-groups and memory. One at a time, hence one global.
#pragma once

#include "../shim/msl-abi.h"
#include "msl-exec.h"
#include "shadow.h"

#include <map>
#include <vector>

namespace msl {

constexpr size_t ARENA_BYTES = 64 * 1024; // twice Metal's limit, so that overruns stay inside
constexpr size_t THREADGROUP_LIMIT = 32 * 1024; // maxThreadgroupMemoryLength of every Apple GPU so far

enum class lane_state { running, at_simdgroup, at_threadgroup, done };

struct simdgroup;

struct lane {
    int index;           // in the threadgroup
    int in_simdgroup;
    simdgroup * group;
    void * stack_pointer;
    lane_state state;
    const void * site;            // of the rendezvous that it waits at
    bool is_barrier;
    unsigned parity;          // which of the two exchanges the next collective uses
};

struct simdgroup {
    int index, n_lanes, n_alive, n_arrived;
    int barrier_flags;
    uint32_t epoch;               // simdgroup barriers so far that order threadgroup memory
    exchange values[2];           // double-buffered: a lane may enter the next collective while others still read
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
    uint64_t threadgroup = 0;  // linear index
    uint8_t * arena = nullptr;
    size_t arena_used = 0;   // dynamic and static
    size_t dynamic_bytes = 0;
    std::map<const void *, static_variable> statics;
    call_context call = {};
    kernel_call entry = nullptr;
    void * function = nullptr;
    memory_shadow shadow{ ARENA_BYTES };
    msl_counters counters;
};

extern machine * current;        // null outside msl_run
extern lane * current_lane;   // null outside fibres

} // namespace msl
