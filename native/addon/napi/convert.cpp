#include "napi/convert.h"

#include "errors.h"

#include <sstream>

namespace concertina {

std::vector<std::string> splitNames(const char * names) {
    std::istringstream stream(names);
    std::vector<std::string> found;
    for (std::string name; std::getline(stream >> std::ws, name, ',');) found.push_back(name);
    return found;
}

void wrongType(const char * name, const std::string & wanted) {
    throw CodedError("bad-request", std::string(name) + " must be " + wanted);
}

double readNumber(const Napi::Value & value, const char * name) {
    if (!value.IsNumber()) wrongType(name, "a number");
    return value.As<Napi::Number>().DoubleValue();
}

std::string readText(const Napi::Value & value, const char * name) {
    if (!value.IsString()) wrongType(name, "a text");
    return value.As<Napi::String>().Utf8Value();
}

} // namespace concertina
