#include "machine.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <stdexcept>

namespace msl {

namespace {
module * loading; // whose initialisers run
std::map<std::string, std::vector<std::string>> files;
std::map<std::string, std::unique_ptr<module>> loaded;

struct extent {
    uintptr_t base, end;
};

int extend_image(dl_phdr_info * info, size_t, void * data) {
    extent & m = *(extent *) data;
    if (info->dlpi_addr != m.base) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto & header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        m.end = std::max<uintptr_t>(m.end, m.base + header.p_vaddr + header.p_memsz);
    }
    return 1;
}

const char * type_name(msl_constant::kind kind) {
    switch (kind) {
        case msl_constant::boolean: return "bool";
        case msl_constant::i16: return "short";
        case msl_constant::i32: return "int";
        case msl_constant::u32: return "uint";
        case msl_constant::f32: return "float";
    }
    return "";
}

std::string plain(const std::string & type) {
    static const std::map<std::string, std::string> names = { { "int16_t", "short" }, { "int32_t", "int" },
        { "uint32_t", "uint" } };
    const auto found = names.find(type);
    return found == names.end() ? type : found->second;
}
} // namespace

module::module(std::string name, const std::vector<std::string> & files) : name(std::move(name)) {
    for (const std::string & file : files) images.push_back(load(file));
}

module::image module::load(const std::string & file) {
    loading = this;
    void * handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    loading = nullptr;
    if (!handle) throw std::runtime_error(std::string("cannot load a kernel module: ") + dlerror());
    link_map * map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    extent e = { map->l_addr, map->l_addr };
    dl_iterate_phdr(extend_image, &e);
    return { e.base, e.end };
}

bool module::contains(const void * address) const {
    for (const image & i : images)
        if ((uintptr_t) address - i.begin < i.end - i.begin) return true;
    return false;
}

const kernel_info & module::kernel(const std::string & kernel_name) const {
    const auto found = kernels.find(kernel_name);
    if (found == kernels.end()) throw std::runtime_error("no kernel " + kernel_name + " in module " + name);
    return found->second;
}

const std::vector<parameter> & module::parameters(const kernel_info & kernel) const {
    const auto found = signatures.find(kernel.function);
    if (found == signatures.end() || (int) found->second.size() != kernel.n_parameters) {
        throw std::runtime_error(
            "the parameters of " + kernel.function + " in module " + name + " were not understood by rewrite.mjs");
    }
    return found->second;
}

void module::specialise(const std::vector<msl_constant> & values) {
    for (function_constant & fc : constants) fc.is_set = false;
    for (const msl_constant & value : values) {
        bool found = false;
        for (function_constant & fc : constants) {
            if (fc.index != value.index) continue;
            if (plain(fc.type) != type_name(value.type)) {
                throw std::runtime_error(
                    "function constant " + fc.name + " is " + fc.type + ", the dispatch sets " + type_name(value.type));
            }
            memcpy(fc.value, &value.bits, fc.bytes);
            fc.is_set = found = true;
        }
        if (!found)
            throw std::runtime_error("no function constant " + std::to_string(value.index) + " in module " + name);
    }
}

const function_constant * module::constant_at(const void * address) const {
    for (const function_constant & fc : constants) {
        if ((uintptr_t) address - (uintptr_t) fc.value < fc.bytes) return &fc;
    }
    return nullptr;
}

module & find_module(const std::string & name) {
    std::unique_ptr<module> & m = loaded[name];
    if (!m) {
        const auto file = files.find(name);
        if (file == files.end()) throw std::runtime_error("no module " + name + ": see test/kernels/build.mjs");
        m = std::make_unique<module>(name, file->second);
    }
    return *m;
}

} // namespace msl

using namespace msl;

void msl_set_module(const std::string & name, const std::vector<std::string> & list) { files[name] = list; }
bool msl_has_module(const std::string & name) { return files.count(name) > 0; }

extern "C" {

void msl_register_kernel(const char * name, const char * function, kernel_call call, void * f, int n_parameters) {
    loading->kernels[name] = { function, call, f, n_parameters };
}

void msl_register_parameters(const char * function, const parameter * parameters, int n) {
    loading->signatures[function].assign(parameters, parameters + n);
}

void msl_register_constant(int index, const char * name, const char * type, void * value, size_t bytes) {
    loading->constants.push_back({ index, name, type, value, bytes });
}
}
