// A tiny test harness: named cases, checks that go on after a failure, skips with a reason.
#pragma once

#include <functional>
#include <string>

// Registers a case; each runs once, in order of registration within its file.
struct test_case {
    test_case(const char * name, std::function<void()> body, bool of_model);
};

// Defined for the files that run a model (CMakeLists.txt).
#ifdef TESTS_OF_MODELS
constexpr bool tests_of_models = true;
#else
constexpr bool tests_of_models = false;
#endif

// Records a failure of the running case unless ok.
void check(bool ok, const char * file, int line, const std::string & what);

// Ends the running case as skipped.
[[noreturn]] void skip(const std::string & reason);

#define CHECK(cond) check((cond), __FILE__, __LINE__, #cond)
#define CHECK_LE(a, b) \
    check((a) <= (b), __FILE__, __LINE__, \
        std::string(#a " <= " #b ": ") + std::to_string(a) + " against " + std::to_string(b))
#define CHECK_STR(a, b) \
    check(std::string(a) == (b), __FILE__, __LINE__, std::string(#a " is \"") + (a) + "\", not \"" + (b) + "\"")

#define TEST_JOIN2(a, b) a##b
#define TEST_JOIN(a, b)  TEST_JOIN2(a, b)
#define TEST(name) \
    static void TEST_JOIN(test_body_, __LINE__)(); \
    static test_case TEST_JOIN(test_case_, __LINE__)(name, TEST_JOIN(test_body_, __LINE__), tests_of_models); \
    static void TEST_JOIN(test_body_, __LINE__)()
