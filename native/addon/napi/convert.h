// Between JavaScript values and the structs of the engine, field by field (fields.h). Vectors of integers, bytes and floats are
// typed arrays, an empty std::optional is null. Values come from our own binding (electron/engine/native), which is typed: what is
// checked here is what could crash.
#pragma once

#include "fields.h"

#include <napi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace concertina {

template <typename T, typename = void> struct HasFields : std::false_type {};
template <typename T> struct HasFields<T, std::void_t<decltype(T::fieldNames())>> : std::true_type {};
template <typename T> struct IsOptional : std::false_type {};
template <typename T> struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T> struct IsVector : std::false_type {};
template <typename T> struct IsVector<std::vector<T>> : std::true_type {};
using Texts = std::map<std::string, std::string>;

template <typename T>
constexpr bool inTypedArray = std::is_same_v<T, int32_t> || std::is_same_v<T, uint8_t> || std::is_same_v<T, float>;

// "a, b" in order
std::vector<std::string> splitNames(const char * names);

template <typename T> const std::vector<std::string> & fieldNamesOf() {
    static const std::vector<std::string> names = splitNames(T::fieldNames());
    return names;
}

// visit(name, field) for each field
template <typename Struct, typename Visit> void eachField(Struct & value, Visit visit) {
    auto name = fieldNamesOf<std::remove_const_t<Struct>>().begin();
    std::apply([&](auto &... field) { (visit((name++)->c_str(), field), ...); }, value.fields());
}

template <typename T> Napi::Value toJs(Napi::Env env, const T & value) {
    if constexpr (HasFields<T>::value) {
        Napi::Object object = Napi::Object::New(env);
        eachField(value, [&](const char * name, const auto & field) { object.Set(name, toJs(env, field)); });
        return object;
    } else if constexpr (std::is_same_v<T, Texts>) {
        Napi::Object object = Napi::Object::New(env);
        for (const auto & [key, text] : value) object.Set(key, text);
        return object;
    } else if constexpr (IsOptional<T>::value) {
        return value ? toJs(env, *value) : env.Null();
    } else if constexpr (IsVector<T>::value) {
        using Item = typename T::value_type;
        if constexpr (inTypedArray<Item>) {
            auto array = Napi::TypedArrayOf<Item>::New(env, value.size());
            std::copy(value.begin(), value.end(), array.Data());
            return array;
        } else {
            Napi::Array array = Napi::Array::New(env, value.size());
            for (size_t i = 0; i < value.size(); i++) array.Set(static_cast<uint32_t>(i), toJs(env, value[i]));
            return array;
        }
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        return env.Undefined();
    } else if constexpr (std::is_same_v<T, bool>) {
        return Napi::Boolean::New(env, value);
    } else if constexpr (std::is_arithmetic_v<T>) {
        return Napi::Number::New(env, static_cast<double>(value));
    } else {
        return Napi::String::New(env, value);
    }
}

// CodedError `bad-request`: "`name` must be `wanted`"
[[noreturn]] void wrongType(const char * name, const std::string & wanted);

// A number that is no finite one is for the receiver to judge.
double readNumber(const Napi::Value & value, const char * name);
std::string readText(const Napi::Value & value, const char * name);

template <typename T> T readInteger(const Napi::Value & value, const char * name) {
    const double number = readNumber(value, name);
    if (number != std::floor(number)) wrongType(name, "a whole number");
    const auto lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
    // a 64-bit maximum rounds up to a number that is beyond it
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(number >= static_cast<double>(lowest) && number < beyond))
        wrongType(name, "between " + std::to_string(lowest) + " and " + std::to_string(highest));
    return static_cast<T>(number);
}

// What is undefined, a field or all of them, keeps the struct's own value.
template <typename T> T fromJs(const Napi::Value & value, const char * name) {
    if constexpr (HasFields<T>::value) {
        T result;
        if (value.IsUndefined()) return result;
        if (!value.IsObject()) wrongType(name, "an object");
        const Napi::Object object = value.As<Napi::Object>();
        eachField(result, [&](const char * key, auto & field) {
            const Napi::Value given = object.Get(key);
            if (!given.IsUndefined()) field = fromJs<std::decay_t<decltype(field)>>(given, key);
        });
        return result;
    } else if constexpr (IsVector<T>::value) {
        using Item = typename T::value_type;
        if constexpr (inTypedArray<Item>) {
            constexpr auto type = std::is_same_v<Item, int32_t> ? napi_int32_array : napi_uint8_array;
            static_assert(type == napi_int32_array || std::is_same_v<Item, uint8_t>, "floats are only returned");
            if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
                wrongType(name, type == napi_int32_array ? "an Int32Array" : "a Uint8Array");
            const auto array = value.As<Napi::TypedArrayOf<Item>>();
            return { array.Data(), array.Data() + array.ElementLength() };
        } else {
            if (!value.IsArray()) wrongType(name, "an array");
            const Napi::Array array = value.As<Napi::Array>();
            T items;
            for (uint32_t i = 0; i < array.Length(); i++) items.push_back(fromJs<Item>(array.Get(i), name));
            return items;
        }
    } else if constexpr (std::is_same_v<T, Texts>) {
        if (!value.IsObject()) wrongType(name, "an object");
        Texts texts;
        for (const auto & [key, text] : value.As<Napi::Object>())
            texts[readText(key, name)] = readText(Napi::Value(text), name);
        return texts;
    } else if constexpr (std::is_same_v<T, bool>) {
        return value.ToBoolean();
    } else if constexpr (std::is_same_v<T, double>) {
        return readNumber(value, name);
    } else if constexpr (std::is_same_v<T, float>) {
        const double number = readNumber(value, name);
        if (!std::isfinite(number)) wrongType(name, "a finite number");
        return static_cast<float>(number);
    } else if constexpr (std::is_integral_v<T>) {
        return readInteger<T>(value, name);
    } else {
        return readText(value, name);
    }
}

} // namespace concertina
