// The fields of a struct that JavaScript is given or gives: one list in the struct, which napi/convert.h goes through both ways.
// A field has the same name there; electron/engine/native/types.ts describes the object.
#pragma once

#include <tuple>

#define CONCERTINA_FIELDS(...) \
    static const char * fieldNames() { return #__VA_ARGS__; } \
    auto fields() { return std::tie(__VA_ARGS__); } \
    auto fields() const { return std::tie(__VA_ARGS__); }
