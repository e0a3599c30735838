// kernel-cases [--module NAME=FILE,FILE]... [--flush] [--failures N] [FILTER]: runs the cases whose name contains the filter,
// all without one.
// --flush: subnormal numbers are zero, as a GPU may have it. --failures: so many failed checks end their case.
// The last line is "N passed, N failed, N skipped"; exit status 1 when a case failed. Lines that start with "count " go into the
// table of counts (run.mjs prints them together).

#include "../../native/check.h"
#include "../exec/msl-exec.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <vector>
#include <xmmintrin.h>

namespace {

struct entry {
    std::string name;
    std::function<void()> body;
};

struct skipped {
    std::string reason;
};

std::vector<entry> & entries() {
    static std::vector<entry> list; // cases register before main, in no fixed order of files
    return list;
}

/** A case has failed as often as it may. */
struct enough {};

int n_failures = 0;
int max_failures = INT_MAX;

std::vector<std::string> split(const std::string & list) {
    std::vector<std::string> parts;
    std::stringstream stream(list);
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    return parts;
}

void report(const char * file, int line, const std::string & what) {
    const char * base = strrchr(file, '/');
    printf("  %s:%d: %s\n", base ? base + 1 : file, line, what.c_str());
    ++n_failures;
}

void run(const entry & e) {
    try {
        e.body();
    } catch (const skipped &) { throw; } catch (const enough &) {
        return;
    } catch (const std::exception & error) { report(__FILE__, __LINE__, error.what()); }
}

} // namespace

test_case::test_case(const char * name, std::function<void()> body, bool) {
    entries().push_back({ name, std::move(body) });
}

void check(bool ok, const char * file, int line, const std::string & what) {
    if (ok) return;
    report(file, line, what);
    if (n_failures >= max_failures) throw enough{};
}

void skip(const std::string & reason) { throw skipped{ reason }; }

int main(int argc, char ** argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    std::string filter;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--module" && i + 1 < argc) {
            const std::string pair = argv[++i];
            msl_set_module(pair.substr(0, pair.find('=')), split(pair.substr(pair.find('=') + 1)));
        } else if (arg == "--flush") {
            _mm_setcsr(_mm_getcsr() | 0x8040); // flush to zero, denormals are zero
        } else if (arg == "--failures" && i + 1 < argc) {
            max_failures = std::stoi(argv[++i]);
        } else {
            filter = arg;
        }
    }
    int n_passed = 0, n_failed = 0, n_skipped = 0;
    for (const entry & e : entries()) {
        if (e.name.find(filter) == std::string::npos) continue;
        n_failures = 0;
        try {
            run(e);
        } catch (const skipped & s) {
            printf("skipped: %s: %s\n", e.name.c_str(), s.reason.c_str());
            ++n_skipped;
            continue;
        }
        printf("%s: %s\n", n_failures ? "FAILED" : "ok", e.name.c_str());
        ++(n_failures ? n_failed : n_passed);
    }
    printf("%d passed, %d failed, %d skipped\n", n_passed, n_failed, n_skipped);
    return n_failed > 0;
}
