// What the self-test has found out, kept in a text file: one line per kernel under the GPU, system and build it holds for.
#pragma once

#include <map>
#include <string>

class turbo_metal_record {
public:
    // file: "" keeps nothing beyond this object, and neither does a file that cannot be written. key: one line; a file of another
    // key is begun anew.
    turbo_metal_record(const std::string & file, const std::string & key);

    // Whether a kernel was tested, and what was wrong with it (empty: nothing). One whose test the process did not survive is wrong.
    bool knows(const std::string & name, std::string & problem) const;

    // Before and after the test of a kernel. problem, note: one line.
    void begin(const std::string & name);
    void end(const std::string & name, const std::string & problem, const std::string & note);

private:
    bool read(const std::string & key);
    void append(const std::string & line) const;

    std::string file;
    std::map<std::string, std::string> problems;
};
