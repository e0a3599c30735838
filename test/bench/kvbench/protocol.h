// How bench.mjs speaks to the program and hears from it: arguments on the command line, of which a wrong one is a mistake of
// ours, for bench.mjs has checked what people write; and events, one JSON object a line on stdout. Everything else (progress
// of loading, llama.cpp's errors) goes to stderr.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct bench_options {
    std::string model; // a GGUF file, or
    std::string shape; // the name of a shape (model.h)
    int n_layer = 0; // of the shape; 0: as many as it names
    std::string dir; // folder for the file of the shape; the caller removes it

    std::vector<std::string> variants; // NAME:TYPE_K:TYPE_V:stock|ours
    std::vector<int> depths;
    std::vector<int> prompts; // tokens of whole prompts to prefill from an empty cache

    int n_threads = 2;
    int n_gpu_layers = 0; // llama.cpp's count; the GPU's memory speed is not measured
    int n_rounds = 5; // after one round of warm-up
    int n_batch = 512; // tokens of a timed prefill
    int budget = 0; // seconds after which rounds that are not needed are left out; 0: none

    // of decode, attention-decode, prefill, attention-prefill; run in this order
    std::vector<std::string> parts;

    bool has(const std::string & part) const;
};

// Ends the process with a message and status 2 when an argument is not known.
bench_options parse_options(int argc, char ** argv);

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
