// Which lane runs next, and the meetings of lanes: SIMD-group collectives and the two barriers.
#pragma once

#include "msl-exec.h"

namespace msl {

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
