#include "fibre.h"

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

void * fibre_start(int i, void (*function)()) {
    // tops at different cache sets: 1024 stacks at one offset would share a few lines
    uintptr_t top = (uintptr_t) (fibre_stacks + (i + 1) * STACK_BYTES) - 64 - (i & 15) * 256;
    void ** sp = (void **) (top & ~(uintptr_t) 15);
    *--sp = nullptr; // return address of function
    *--sp = (void *) function;
    for (int k = 0; k < SAVED; ++k) *--sp = nullptr;
    return sp;
}

void fibre_switch(void ** from, void * to) { msl_switch_stack(from, to); }

} // namespace msl
