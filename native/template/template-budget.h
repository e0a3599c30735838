// What a chat template may take. A template is a program that came with a model file, and upstream's Jinja interpreter runs
// it without any limit: these are the hooks that native/patches/template-common.patch calls from it. A thread without a
// Budget, as in llama.cpp's own tools, has no limits.
//
// | hook                       | called from                                                    | counts                |
// |----------------------------|----------------------------------------------------------------|-----------------------|
// | Level                      | statement::execute, gathering of the output, JSON, repr, stats | a step, and the depth |
// | made                       | mk_val                                                         | a step, and bytes     |
// | grown                      | value_array_t::push_back                                       | a step                |
// | written                    | string::append, join, replace, indent, JSON                    | bytes, beforehand     |
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace template_budget {

struct Limits {
    uint64_t steps; // values made, statements and expressions executed
    uint64_t bytes; // of strings, all that were made: also those that are gone
    int depth; // of statements and expressions inside each other, and of values
};

// Thrown by every hook from the moment that a limit is passed: upstream swallows exceptions of a template here and there.
class Exceeded : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Budget;
inline thread_local Budget * current = nullptr;

// Limits for what this thread renders while the object lives; inside another one, that one's limits rest.
class Budget {
public:
    Budget(const Limits & limits, const std::atomic<bool> * cancel) : limits(limits), cancel(cancel), outer(current) {
        current = this;
    }
    ~Budget() { current = outer; }
    Budget(const Budget &) = delete;
    Budget & operator=(const Budget &) = delete;

    // why the template was ended; empty: it was not
    const std::string & reason() const { return exceeded; }

    void spend(uint64_t moreSteps, uint64_t moreBytes) {
        if (cancel && cancel->load(std::memory_order_relaxed)) end("it was canceled");
        if (moreSteps > limits.steps - steps) end("it takes more than " + std::to_string(limits.steps) + " steps");
        if (moreBytes > limits.bytes - bytes)
            end("it writes more than " + std::to_string(limits.bytes >> 20) + " MB of text");
        steps += moreSteps;
        bytes += moreBytes;
        if (!exceeded.empty()) throw Exceeded(exceeded);
    }

    void enter(uint64_t moreBytes) {
        if (depth >= limits.depth) end("it is nested deeper than " + std::to_string(limits.depth) + " levels");
        spend(1, moreBytes);
        depth++;
    }
    void leave() { depth--; }

private:
    [[noreturn]] void end(const std::string & why) {
        if (exceeded.empty()) exceeded = why;
        throw Exceeded(exceeded);
    }

    const Limits limits;
    const std::atomic<bool> * const cancel;
    Budget * const outer;
    uint64_t steps = 0, bytes = 0;
    int depth = 0;
    std::string exceeded;
};

class Level {
public:
    explicit Level(uint64_t bytes = 0) : budget(current) {
        if (budget) budget->enter(bytes);
    }
    ~Level() {
        if (budget) budget->leave();
    }
    Level(const Level &) = delete;
    Level & operator=(const Level &) = delete;

private:
    Budget * const budget;
};

inline void grown() {
    if (current) current->spend(1, 0);
}

// `count` times `bytes` are about to be written; a negative number is none
inline void written(int64_t bytes, uint64_t count = 1) {
    if (!current || bytes <= 0 || count == 0) return;
    const auto each = static_cast<uint64_t>(bytes);
    current->spend(0, each > UINT64_MAX / count ? UINT64_MAX : each * count);
}

namespace detail {
template <typename T> auto bytesOf(const T & text, int) -> decltype(uint64_t(text.length())) { return text.length(); }
template <typename T> uint64_t bytesOf(const std::vector<T> & items, int) { return items.size() * sizeof(T); }
template <typename T> uint64_t bytesOf(const T &, ...) { return 0; }
} // namespace detail

template <typename... Parts> void made(const Parts &... parts) {
    if (current) current->spend(1, (uint64_t(0) + ... + detail::bytesOf(parts, 0)));
}

} // namespace template_budget
