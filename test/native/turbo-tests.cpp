// Runs all cases, those whose name contains the argument, or with --kernels those that run no model. The first line names the SIMD level in effect, the last is
// "N passed, N failed, N skipped". Exit status 1 when a case failed.

#include "check.h"

#include "ggml-turbo.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct entry {
    std::string name;
    std::function<void()> body;
    bool of_model;
};

struct skipped {
    std::string reason;
};

std::vector<entry> & entries() {
    static std::vector<entry> list; // cases register before main, in no fixed order of files
    return list;
}

int n_failures = 0;

} // namespace

test_case::test_case(const char * name, std::function<void()> body, bool of_model) {
    entries().push_back({ name, std::move(body), of_model });
}

void check(bool ok, const char * file, int line, const std::string & what) {
    if (!ok) {
        const char * base = strrchr(file, '/');
        printf("  %s:%d: %s\n", base ? base + 1 : file, line, what.c_str());
        ++n_failures;
    }
}

void skip(const std::string & reason) { throw skipped{ reason }; }

int main(int argc, char ** argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    printf("SIMD level: %s\n", ggml_turbo_simd_level());
    const bool only_kernels = argc > 1 && strcmp(argv[1], "--kernels") == 0;
    int n_passed = 0;
    int n_failed = 0;
    int n_skipped = 0;
    for (const entry & e : entries()) {
        if (only_kernels ? e.of_model : e.name.find(argc > 1 ? argv[1] : "") == std::string::npos) { continue; }
        n_failures = 0;
        try {
            e.body();
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
