// Stacks and the switch between them. x86-64 System V only: the caller of a switch saves what the ABI lets a call destroy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msl {

// n stacks of one size; reused from run to run.
void fibre_reserve(int n);
// A stack pointer that, switched to, enters function (which never returns) on stack i.
void * fibre_start(int i, void (*function)());
// Saves the running fibre's stack pointer in *from and continues at to.
void fibre_switch(void ** from, void * to);

// asked at every access of memory
extern uint8_t * fibre_stacks;
extern size_t fibre_stack_bytes;
inline bool fibre_owns(const void * address) {
    return (uintptr_t) address - (uintptr_t) fibre_stacks < fibre_stack_bytes;
}

} // namespace msl
