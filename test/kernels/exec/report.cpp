// Findings, with the line of the source that each is at.

#include "machine.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <utility>

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

// Code address -> "file.metal:line", by binutils' addr2line from the line tables of the module: the innermost inlined frame that is
// not in the shim; "?" for code without lines.
static std::string source_line(const void * return_address) {
    static std::map<const void *, std::string> known;
    auto found = known.find(return_address);
    if (found == known.end()) found = known.emplace(return_address, look_up(return_address)).first;
    return found->second;
}

namespace {
typedef std::pair<std::string, std::vector<const void *>> finding;
struct entry {
    std::string detail;
    uint64_t count = 0;
};
std::map<finding, entry> findings;
std::vector<finding> order;
} // namespace

void report(const std::string & kind, const std::string & detail, const std::vector<const void *> & sites) {
    const finding key(kind, sites);
    entry & e = findings[key];
    if (e.count++ > 0) return;
    e.detail = detail;
    order.push_back(key);
}

// One site of the source can be several places of the machine code.
std::vector<msl_report> take_reports() {
    std::vector<msl_report> result;
    std::map<std::pair<std::string, std::string>, size_t> seen;
    for (const finding & key : order) {
        std::string sites;
        for (const void * site : key.second) sites += (sites.empty() ? "" : "; ") + source_line(site);
        const entry & e = findings[key];
        const auto found = seen.find({ key.first, sites });
        if (found != seen.end()) {
            result[found->second].count += e.count;
            continue;
        }
        seen[{ key.first, sites }] = result.size();
        result.push_back({ key.first, e.detail, sites, e.count });
    }
    findings.clear();
    order.clear();
    return result;
}

} // namespace msl

std::string msl_result::text() const {
    std::string all;
    for (const msl_report & r : reports) {
        all += r.kind + " (" + r.detail + ") at " + r.site +
               (r.count > 1 ? ", " + std::to_string(r.count) + " times" : "") + "\n";
    }
    return all;
}
