#include "report.h"

#include "symbols.h"

#include <map>
#include <utility>

namespace msl {

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
