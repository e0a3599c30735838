// Stacks and the switch between them. x86-64 System V only: the caller of a switch saves what the ABI lets a call destroy.
#pragma once

#include <cstddef>

namespace msl {

// n stacks of one size; reused from run to run.
void fibre_reserve(int n);
// A stack pointer that, switched to, enters function (which never returns) on stack i.
void * fibre_start(int i, void (*function)());
bool fibre_owns(const void * address);
// Saves the running fibre's stack pointer in *from and continues at to.
void fibre_switch(void ** from, void * to);

} // namespace msl
