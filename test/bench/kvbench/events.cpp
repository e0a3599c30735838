#include "events.h"

#include <cstdio>

namespace {

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
