// Stands in for the Objective-C files of ggml-metal, so that its C++ and ours (encoding, memory, supports_op) run here: kernels of
// the modules are executed, others only noted down. Used by cases/mac-host.cpp.
#pragma once

#include "../exec/msl-exec.h"

#include "ggml-backend.h"

#include <set>

struct fake_dispatch {
    std::string kernel, pipeline; // the latter with its function constants
    std::map<int, uint8_t *> slots; // where bound memory begins
    bool after; // a barrier is before it
    bool executed;
};

// The Metal backend of ggml on the executor; an M2. The same for the whole program.
ggml_backend_t fake_metal_backend();

// Of the last graph: what was encoded, in order, and what the executor reported. A graph with a report has failed.
const std::vector<fake_dispatch> & fake_metal_log();
std::string fake_metal_reports();

// The chip family from now on.
void fake_metal_family(int family);

// Pipelines whose names begin so give wrong values from now on, as by a driver that compiles them wrongly.
void fake_metal_damage(const std::set<std::string> & pipelines);

// A kernel that does not compile from now on; "" for none.
void fake_metal_refuse(const std::string & kernel);

// Threads of a threadgroup that a kernel takes at most, from now on; "" for no limits.
void fake_metal_limit(const std::string & kernel, int threads);
