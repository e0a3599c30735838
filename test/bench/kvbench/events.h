// What the program tells bench.mjs: one JSON object a line on stdout. Everything else (progress of loading, llama.cpp's
// errors) goes to stderr.
#pragma once

#include <cstdint>
#include <string>

// One line. Strings are escaped; numbers keep nine digits.
class event {
public:
    explicit event(const std::string & name);
    ~event(); // prints the line

    event(const event &) = delete;
    event & operator=(const event &) = delete;

    event & add(const char * key, const std::string & value);
    event & add(const char * key, const char * value);
    event & add(const char * key, double value);
    event & add(const char * key, int64_t value);
    event & add(const char * key, int value);
    event & add(const char * key, bool value);

private:
    std::string line;
};
