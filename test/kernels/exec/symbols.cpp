#include "symbols.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <vector>

namespace msl {

static std::vector<std::string> lines_of(const std::string & command) {
    std::vector<std::string> lines;
    FILE * pipe = popen(command.c_str(), "r");
    char line[4096];
    while (pipe && fgets(line, sizeof line, pipe)) lines.emplace_back(line, strcspn(line, "\n"));
    if (pipe) pclose(pipe);
    return lines;
}

static std::string short_name(const std::string & place) {
    const std::string without = place.substr(0, place.find(" ("));
    const size_t slash = without.rfind('/');
    return slash == std::string::npos ? without : without.substr(slash + 1);
}

static std::string look_up(const void * address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) return "?";
    char command[4200];
    // the call or access is before the return address
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx", info.dli_fname,
        (size_t) ((uintptr_t) address - (uintptr_t) info.dli_fbase - 1));
    for (const std::string & place : lines_of(command)) {
        if (place.find("/shim/") == std::string::npos && place.find("??") == std::string::npos)
            return short_name(place);
    }
    return "?";
}

std::string source_line(const void * return_address) {
    static std::map<const void *, std::string> known;
    auto found = known.find(return_address);
    if (found == known.end()) found = known.emplace(return_address, look_up(return_address)).first;
    return found->second;
}

} // namespace msl
