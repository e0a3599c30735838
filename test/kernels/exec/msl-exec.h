// Runs a kernel of a rewritten .metal source on this CPU: one fibre per thread, SIMD-groups of 32, exact rendezvous, memory
// checks and counters. For the cases in test/kernels/cases. One kernel at a time; not for use from several OS threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct msl_dims {
    uint32_t x = 1, y = 1, z = 1;
};

// Device memory. Starts as bytes of 0xff (NaN as half and float), between guards that are no part of it.
class msl_buffer {
public:
    msl_buffer(std::string name, size_t size);
    template <class T>
    msl_buffer(std::string name, const std::vector<T> & from) : msl_buffer(std::move(name), from.size() * sizeof(T)) {
        fill(from.data());
    }
    ~msl_buffer();
    msl_buffer(const msl_buffer &) = delete;
    msl_buffer & operator=(const msl_buffer &) = delete;

    const std::string & name() const { return label; }
    size_t size() const { return bytes; }
    uint8_t * data() { return base; }
    template <class T> T * as() { return (T *) base; }
    template <class T> std::vector<T> to() const {
        return std::vector<T>((const T *) base, (const T *) (base + bytes / sizeof(T) * sizeof(T)));
    }

private:
    void fill(const void * from);
    std::string label;
    size_t bytes;
    uint8_t * mapping;
    uint8_t * base;
};

struct msl_constant {
    enum kind { boolean, i16, i32, u32, f32 };
    int index;
    kind type;
    int64_t bits; // of the value, in the low bytes
};

// What is bound to a slot: a place in a buffer, or bytes (setBytes).
struct msl_binding {
    int slot;
    msl_buffer * buffer = nullptr;
    size_t offset = 0;
    std::vector<uint8_t> bytes = {};
};

struct msl_dispatch {
    std::string module; // of test/kernels/build.mjs
    std::string kernel; // host_name
    std::vector<msl_constant> constants;
    std::vector<msl_binding> bindings;
    msl_dims grid; // threadgroups
    msl_dims threads; // per threadgroup
    size_t threadgroup_memory = 0; // bytes of [[threadgroup(0)]]
    bool after = true; // waits for all before it: the encoder puts a memory barrier; else they overlap
};

// Which lane runs next. lockstep: all lanes of the threadgroup make their n-th access of threadgroup memory before the next one.
struct msl_schedule {
    enum kind { round_robin, random, lifo, lockstep };
    kind order = round_robin;
    uint64_t seed = 1;
};

// All orders, with a few seeds: a kernel without races gives the same bits in each.
std::vector<msl_schedule> msl_all_schedules(int n_seeds = 2);
std::string msl_schedule_name(const msl_schedule & schedule);

struct msl_traffic {
    uint64_t read = 0, written = 0; // bytes, as requested by load and store instructions
    uint64_t loads = 0, stores = 0;
    uint64_t unique = 0; // bytes read at least once, counted again per threadgroup
};

struct msl_counters {
    msl_traffic device; // bound buffers
    msl_traffic arguments; // bytes bound as constants
    msl_traffic tables; // constant arrays of the source
    msl_traffic threadgroup;
    std::map<std::string, msl_traffic> buffers; // device, by name of the buffer
    uint64_t threadgroup_barriers = 0, simdgroup_barriers = 0,
             collectives = 0; // of all SIMD-groups: lanes together count once
    uint64_t threadgroups = 0, threads = 0;
    size_t threadgroup_memory = 0; // bytes of one threadgroup, dynamic and static
    msl_counters & operator+=(const msl_counters & other);
};

// Something wrong that no value needs to show. site: file:line of the access or call, "; "-separated when there are several.
struct msl_report {
    std::string kind, detail, site;
    uint64_t count = 1;
};

struct msl_result {
    msl_counters counters;
    std::vector<msl_report> reports;
    std::string text() const; // the reports, one a line; empty when there are none
};

// Throws std::runtime_error for mistakes of the caller: unknown kernel, unbound slot, function constant of another type, more than
// Metal's limits. Dispatches that overlap still run one after the other here, but what one writes the other may not touch.
msl_result msl_run(const msl_dispatch & dispatch, const msl_schedule & schedule = {});

// The shared objects that a module is loaded from; set before its first use. Cases run by name only.
void msl_set_module(const std::string & module, const std::vector<std::string> & files);
bool msl_has_module(const std::string & module);
