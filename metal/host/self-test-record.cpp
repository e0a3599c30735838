#include "self-test-record.h"

#include <csignal>
#include <fstream>
#include <unistd.h>

namespace {

const char * const FIRST = "concertina metal self-test 1: ";

// Splits off the part of a line before the next tab.
std::string take(std::string & line) {
    const size_t tab = line.find('\t');
    const std::string part = line.substr(0, tab);
    line = tab == std::string::npos ? "" : line.substr(tab + 1);
    return part;
}

// Another engine may be in the middle of the same test: it will write how that ended.
bool is_running(const std::string & pid) {
    const long id = std::strtol(pid.c_str(), nullptr, 10);
    return id > 0 && id != (long) getpid() && kill((pid_t) id, 0) == 0;
}

} // namespace

turbo_metal_record::turbo_metal_record(const std::string & file, const std::string & key) : file(file) {
    if (!file.empty() && !read(key)) {
        problems.clear();
        std::ofstream(file, std::ios::trunc) << FIRST << key << '\n';
    }
}

bool turbo_metal_record::read(const std::string & key) {
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || line != FIRST + key) { return false; }
    while (std::getline(in, line)) {
        const std::string what = take(line);
        const std::string name = take(line);
        if (what == "passed") {
            problems[name] = "";
        } else if (what == "failed") {
            problems[name] = line;
        } else if (what == "testing" && !is_running(line)) {
            problems[name] = "the engine ended while it was tested";
        }
    }
    return true;
}

bool turbo_metal_record::knows(const std::string & name, std::string & problem) const {
    const auto found = problems.find(name);
    if (found == problems.end()) { return false; }
    problem = found->second;
    return true;
}

void turbo_metal_record::begin(const std::string & name) {
    append("testing\t" + name + "\t" + std::to_string(getpid()));
}

void turbo_metal_record::end(const std::string & name, const std::string & problem, const std::string & note) {
    problems[name] = problem;
    append(problem.empty() ? "passed\t" + name + "\t" + note : "failed\t" + name + "\t" + problem);
}

// Opened and closed each time: the line is in the system's hands when the kernel runs.
void turbo_metal_record::append(const std::string & line) const {
    if (!file.empty()) { std::ofstream(file, std::ios::app) << line << '\n'; }
}
