// A compiled .metal source: shared objects, each with some of the kernels, whose initialisers register kernels, parameters and function constants.
#pragma once

#include "../shim/msl-abi.h"
#include "msl-exec.h"

#include <map>
#include <string>
#include <vector>

namespace msl {

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

} // namespace msl
