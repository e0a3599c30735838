// What self-tests of GPU kernels found, kept in a file, with a line before each test: where the process ended in between, that is a
// finding, too. Used by metal/host/mac/self-test.cpp and native/vulkan/app.cpp.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <csignal>
#include <unistd.h>
#endif

// The file: under a line that says what it holds for, "testing WHAT PID" before a test and "passed WHAT" or "failed WHAT PROBLEM" after
// it, with tabs between; "left WHAT" where the process was asked to end meanwhile.
class turbo_self_test_record {
public:
    // name: "", or a file that cannot be written, keeps nothing. first: what the results hold for. ended: the problem of what was tested
    // when a process ended.
    turbo_self_test_record(const std::string & name, const std::string & first, const std::string & ended)
        : file(std::filesystem::u8path(name)) {
        std::ifstream in(file);
        std::string line;
        const bool holds = std::getline(in, line) && line == first;
        if (!holds) { std::ofstream(file, std::ios::trunc) << first << '\n'; }
        while (holds && std::getline(in, line)) {
            std::istringstream parts(line);
            std::string part[3];
            for (std::string & p : part) { std::getline(parts, p, '\t'); }
            if (part[0] == "left") {
                known.erase(part[1]);
            } else if (part[0] != "testing") {
                known[part[1]] = part[0] == "failed" ? part[2] : "";
            } else if (!is_running(part[2])) {
                known[part[1]] = ended;
            }
        }
    }

    // The problem of what was tested before, empty where there was none; nullptr: not tested.
    const std::string * of(const std::string & what) const {
        const auto found = known.find(what);
        return found == known.end() ? nullptr : &found->second;
    }

    void begin(const std::string & what) {
        const std::lock_guard<std::mutex> lock(mutex);
        note("testing\t" + what + "\t" + std::to_string(process_id()));
        tested.insert(what);
    }

    void end(const std::string & what, const std::string & problem) {
        const std::lock_guard<std::mutex> lock(mutex);
        known[what] = problem;
        tested.erase(what);
        note(problem.empty() ? "passed\t" + what : "failed\t" + what + "\t" + problem);
    }

    // For an end of the process that is no fault of what is tested.
    void leave() {
        const std::lock_guard<std::mutex> lock(mutex);
        for (const std::string & what : tested) { note("left\t" + what); }
        tested.clear();
    }

private:
    static long process_id() {
#ifdef _WIN32
        return (long) GetCurrentProcessId();
#else
        return (long) getpid();
#endif
    }

    // Another engine may be in the middle of the same test: it will write how that ended.
    static bool is_running(const std::string & pid) {
        const long id = std::strtol(pid.c_str(), nullptr, 10);
        if (id <= 0 || id == process_id()) { return false; }
#ifdef _WIN32
        HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD) id);
        if (!process) { return false; }
        const bool running = WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
        CloseHandle(process);
        return running;
#else
        return kill((pid_t) id, 0) == 0;
#endif
    }

    // Opened and closed each time: the line is in the system's hands before the test is.
    void note(const std::string & line) const { std::ofstream(file, std::ios::app) << line << '\n'; }

    std::filesystem::path file;
    std::map<std::string, std::string> known; // problems; empty: none
    std::set<std::string> tested; // now
    std::mutex mutex; // a process leaves on another thread than it tests on
};
