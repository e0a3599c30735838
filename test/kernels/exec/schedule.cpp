// Lanes as fibres (x86-64 System V only: the caller of a switch saves what the ABI lets a call destroy), the order in which they
// run, and their meetings.

#include "machine.h"

#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <sys/mman.h>

#ifndef __x86_64__
#error "the executor switches stacks on x86-64 only (test/kernels/run.mjs skips elsewhere)"
#endif

extern "C" void msl_switch_stack(void ** from, void * to);
asm(R"(
.text
.globl msl_switch_stack
msl_switch_stack:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov  %rsp, (%rdi)
    mov  %rsi, %rsp
    pop  %r15
    pop  %r14
    pop  %r13
    pop  %r12
    pop  %rbx
    pop  %rbp
    ret
)");

namespace msl {

static const size_t STACK_BYTES = 256 * 1024;
static const int SAVED = 6;
uint8_t * fibre_stacks;
size_t fibre_stack_bytes;

void fibre_reserve(int n) {
    const size_t bytes = n * STACK_BYTES;
    if (fibre_stack_bytes >= bytes) return;
    if (fibre_stacks) munmap(fibre_stacks, fibre_stack_bytes);
    void * p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("no memory for the stacks of the lanes");
    fibre_stacks = (uint8_t *) p;
    fibre_stack_bytes = bytes;
}

// A stack pointer that, switched to, enters function (which never returns) on stack i.
static void * fibre_start(int i, void (*function)()) {
    // tops at different cache sets: 1024 stacks at one offset would share a few lines
    uintptr_t top = (uintptr_t) (fibre_stacks + (i + 1) * STACK_BYTES) - 64 - (i & 15) * 256;
    void ** sp = (void **) (top & ~(uintptr_t) 15);
    *--sp = nullptr; // return address of function
    *--sp = (void *) function;
    for (int k = 0; k < SAVED; ++k) *--sp = nullptr;
    return sp;
}

// Saves the running fibre's stack pointer in *from and continues at to.
static void fibre_switch(void ** from, void * to) { msl_switch_stack(from, to); }

machine * current;
lane * current_lane;
bool is_lockstep;

namespace {
msl_schedule schedule;
uint64_t random_state;
std::deque<int> ready;
void * main_stack;

uint64_t next_random() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

int pick() {
    if (ready.empty()) return -1;
    if (schedule.order == msl_schedule::random) std::swap(ready[next_random() % ready.size()], ready.back());
    const bool last = schedule.order == msl_schedule::random || schedule.order == msl_schedule::lifo;
    const int i = last ? ready.back() : ready.front();
    if (last)
        ready.pop_back();
    else
        ready.pop_front();
    return i;
}

void wake(lane & l) {
    l.state = lane_state::running;
    ready.push_back(l.index);
}

void switch_to(int i, void ** from) {
    current_lane = &current->lanes[i];
    fibre_switch(from, current_lane->stack_pointer);
}

// Lanes wait and nobody can complete what they wait for: on a GPU this hangs or is undefined.
void report_stuck() {
    std::map<const void *, int> waiting;
    for (const lane & l : current->lanes)
        if (l.state != lane_state::done) ++waiting[l.site];
    std::string counts;
    std::vector<const void *> sites;
    for (const auto & w : waiting) {
        counts += (counts.empty() ? "" : " and ") + std::to_string(w.second);
        sites.push_back(w.first);
    }
    report("divergent barrier or collective", counts + " lanes wait for ever", sites);
}

void give_way() {
    lane * me = current_lane;
    const int next = pick();
    if (next < 0) {
        report_stuck();
        abort_run();
    }
    if (next != me->index) switch_to(next, &me->stack_pointer);
}

template <class F> void each_alive(simdgroup & g, F f) {
    for (int i = 0; i < g.n_lanes; ++i) {
        lane & l = current->lanes[g.index * SIMD_WIDTH + i];
        if (l.state != lane_state::done) f(l);
    }
}

// All lanes that live have arrived at a collective: it must be the same one.
void check_same_site(simdgroup & g) {
    std::map<const void *, int> sites;
    each_alive(g, [&](lane & l) { ++sites[l.site]; });
    if (sites.size() == 1) return;
    std::string counts;
    std::vector<const void *> list;
    for (const auto & s : sites) {
        counts += (counts.empty() ? "" : " and ") + std::to_string(s.second);
        list.push_back(s.first);
    }
    report("divergent collective", counts + " lanes of one simdgroup", list);
}

// Metal asks that all lanes execute a barrier.
void report_returned(int n, const char * what, const void * site) {
    report(
        "barrier after lanes have returned", std::string(what) + " without " + std::to_string(n) + " lanes", { site });
}

void complete_simdgroup(simdgroup & g) {
    if (g.n_arrived == 0 || g.n_arrived < g.n_alive) return;
    check_same_site(g);
    bool barrier = true;
    unsigned next = 0;
    const void * first = nullptr;
    each_alive(g, [&](lane & l) {
        barrier = barrier && l.is_barrier;
        next = l.parity;
        first = l.site;
    });
    if (barrier) {
        ++current->counters.simdgroup_barriers;
        if (g.n_alive < g.n_lanes) report_returned(g.n_lanes - g.n_alive, "simdgroup_barrier", first);
        if (g.barrier_flags & 2) ++g.epoch; // mem_threadgroup
    } else {
        ++current->counters.collectives;
        memset(g.values[next].present, 0, sizeof g.values[next].present);
    }
    g.n_arrived = 0;
    each_alive(g, [](lane & l) {
        if (l.state == lane_state::at_simdgroup) wake(l);
    });
}

void complete_threadgroup() {
    if (current->n_arrived == 0 || current->n_arrived < current->n_alive) return;
    std::map<const void *, int> sites;
    for (const lane & l : current->lanes)
        if (l.state == lane_state::at_threadgroup) ++sites[l.site];
    if (sites.size() > 1) {
        std::vector<const void *> list;
        for (const auto & s : sites) list.push_back(s.first);
        report("threadgroup barriers at different places meet", std::to_string(sites.size()) + " places", list);
    }
    const int n_lanes = (int) current->lanes.size();
    if (current->n_alive < n_lanes)
        report_returned(n_lanes - current->n_alive, "threadgroup_barrier", sites.begin()->first);
    ++current->counters.threadgroup_barriers;
    if (current->barrier_flags & 2) ++current->epoch;
    current->n_arrived = 0;
    for (lane & l : current->lanes)
        if (l.state == lane_state::at_threadgroup) wake(l);
}

void meet_simdgroup(bool is_barrier, int flags, const void * site) {
    lane & l = *current_lane;
    l.site = site;
    l.is_barrier = is_barrier;
    l.state = lane_state::at_simdgroup;
    if (is_barrier) l.group->barrier_flags = flags;
    ++l.group->n_arrived;
    complete_simdgroup(*l.group);
    give_way();
}

void finish() {
    lane & l = *current_lane;
    l.state = lane_state::done;
    --l.group->n_alive;
    --current->n_alive;
    complete_simdgroup(*l.group);
    complete_threadgroup();
}

void lane_main() {
    current->entry(current->function,
        call_context{ &current->positions[current_lane->index], current->call.parameters, current->call.pointers });
    finish();
    lane * me = current_lane;
    const int next = pick();
    if (next >= 0) switch_to(next, &me->stack_pointer);
    if (current->n_alive > 0) {
        report_stuck();
        current->aborted = true;
    }
    fibre_switch(&me->stack_pointer, main_stack);
}
} // namespace

void abort_run() {
    current->aborted = true;
    fibre_switch(&current_lane->stack_pointer, main_stack);
    __builtin_unreachable();
}

void schedule_start(const msl_schedule & s) {
    schedule = s;
    is_lockstep = s.order == msl_schedule::lockstep;
    random_state = s.seed * 0x9E3779B97F4A7C15ull + 88172645463325252ull;
}

std::vector<uint32_t> threadgroup_order(uint32_t n) {
    std::vector<uint32_t> order(n);
    for (uint32_t i = 0; i < n; ++i) order[i] = schedule.order == msl_schedule::lifo ? n - 1 - i : i;
    if (schedule.order == msl_schedule::random) {
        for (uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[next_random() % i]);
    }
    return order;
}

void run_threadgroup() {
    ready.clear();
    for (lane & l : current->lanes) {
        l.stack_pointer = fibre_start(l.index, lane_main);
        ready.push_back(l.index);
    }
    switch_to(pick(), &main_stack);
    current_lane = nullptr;
}

void yield() {
    wake(*current_lane);
    give_way();
}

} // namespace msl

using namespace msl;

extern "C" {

const exchange * msl_exchange(const void * value, unsigned bytes, const void * site) {
    lane & l = *current_lane;
    exchange & x = l.group->values[l.parity];
    l.parity ^= 1;
    memcpy(x.value[l.in_simdgroup], value, bytes);
    x.present[l.in_simdgroup] = true;
    meet_simdgroup(false, 0, site);
    return &x;
}

void msl_simdgroup_barrier(int flags, const void * site) { meet_simdgroup(true, flags, site); }

void msl_threadgroup_barrier(int flags, const void * site) {
    current_lane->site = site;
    current_lane->state = lane_state::at_threadgroup;
    current->barrier_flags = flags;
    ++current->n_arrived;
    complete_threadgroup();
    give_way();
}

int msl_lane(void) { return current_lane->in_simdgroup; }

void msl_inactive_lane(int from, const void * site) {
    report("shuffle reads a lane that has returned",
        "lane " + std::to_string(current_lane->in_simdgroup) + " reads lane " + std::to_string(from), { site });
}
}
