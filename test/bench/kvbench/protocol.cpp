#include "protocol.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

std::vector<std::string> split(const std::string & text) {
    std::vector<std::string> parts;
    for (size_t from = 0; from < text.size();) {
        const size_t to = std::min(text.find(',', from), text.size());
        parts.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

std::vector<int> numbers(const std::string & text) {
    std::vector<int> list;
    for (const std::string & part : split(text)) { list.push_back(atoi(part.c_str())); }
    return list;
}

std::string quoted(const std::string & text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if ((unsigned char) c < 0x20) {
            char code[8];
            snprintf(code, sizeof(code), "\\u%04x", c);
            out += code;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

} // namespace

bool bench_options::has(const std::string & part) const {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bench_options parse_options(int argc, char ** argv) {
    bench_options options;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        const size_t equal = arg.find('=');
        const std::string key = arg.substr(0, equal);
        const std::string value = equal == std::string::npos ? "" : arg.substr(equal + 1);
        if (key == "--model") {
            options.model = value;
        } else if (key == "--shape") {
            options.shape = value;
        } else if (key == "--layers") {
            options.n_layer = atoi(value.c_str());
        } else if (key == "--dir") {
            options.dir = value;
        } else if (key == "--variants") {
            options.variants = split(value);
        } else if (key == "--depths") {
            options.depths = numbers(value);
        } else if (key == "--prompts") {
            options.prompts = numbers(value);
        } else if (key == "--threads") {
            options.n_threads = atoi(value.c_str());
        } else if (key == "--gpu-layers") {
            options.n_gpu_layers = atoi(value.c_str());
        } else if (key == "--rounds") {
            options.n_rounds = atoi(value.c_str());
        } else if (key == "--batch") {
            options.n_batch = atoi(value.c_str());
        } else if (key == "--budget") {
            options.budget = atoi(value.c_str());
        } else if (key == "--parts") {
            options.parts = split(value);
        } else {
            fprintf(stderr, "kvbench: unknown argument %s; it is started by npm run bench\n", arg.c_str());
            exit(2);
        }
    }
    if (options.model.empty() == options.shape.empty() || options.variants.empty()) {
        fprintf(stderr, "kvbench: needs --variants and either --model or --shape\n");
        exit(2);
    }
    return options;
}

event::event(const std::string & name) : line("{\"event\":" + quoted(name)) {}

event::~event() {
    printf("%s}\n", line.c_str());
    fflush(stdout);
}

event & event::add(const char * key, const std::string & value) {
    line += "," + quoted(key) + ":" + quoted(value);
    return *this;
}

event & event::add(const char * key, const char * value) { return add(key, std::string(value)); }

event & event::add(const char * key, double value) {
    char text[32];
    snprintf(text, sizeof(text), "%.9g", value);
    line += "," + quoted(key) + ":" + text;
    return *this;
}

event & event::add(const char * key, int64_t value) {
    line += "," + quoted(key) + ":" + std::to_string(value);
    return *this;
}

event & event::add(const char * key, int value) { return add(key, int64_t(value)); }

event & event::add(const char * key, bool value) {
    line += "," + quoted(key) + (value ? ":true" : ":false");
    return *this;
}
