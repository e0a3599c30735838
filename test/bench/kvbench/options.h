// Command line of the program. bench.mjs has checked what people write; here a wrong argument is a mistake of ours.
#pragma once

#include <string>
#include <vector>

struct bench_options {
    std::string model;     // a GGUF file, or
    std::string shape;     // the name of a shape (shapes.h)
    int n_layer = 0; // of the shape; 0: as many as it names
    std::string dir;       // folder for the file of the shape; the caller removes it

    std::vector<std::string> variants; // NAME:TYPE_K:TYPE_V:stock|ours
    std::vector<int> depths;
    std::vector<int> prompts;   // tokens of whole prompts to prefill from an empty cache

    int n_threads = 2;
    int n_gpu_layers = 0; // llama.cpp's count; the GPU's memory speed is not measured
    int n_rounds = 5;   // after one round of warm-up
    int n_batch = 512; // tokens of a timed prefill
    int budget = 0;   // seconds after which rounds that are not needed are left out; 0: none

    // of decode, attention-decode, prefill, attention-prefill; run in this order
    std::vector<std::string> parts;

    bool has(const std::string & part) const;
};

// Ends the process with a message and status 2 when an argument is not known.
bench_options parse_options(int argc, char ** argv);
