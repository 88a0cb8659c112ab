// The whole test harness: each test file is a separate program. TEST registers a function, CHECK
// reports file, line and values and lets the test continue, REQUIRE ends it. Every program takes a
// filter (`test_pool acquire`) and a seed (`--seed N`), prints the seed when something fails, and
// closes with "N passed, N failed".
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TestCase {
    const char *name;
    void (*run)(void);
    struct TestCase *next;
} TestCase;

void test_register(TestCase *test);
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void test_check_int(const char *file, int line, const char *what, long long got, long long want);
void test_check_near(const char *file, int line, const char *what, double got, double want,
                     double tolerance);
void test_check_bytes(const char *file, int line, const char *what, const void *got,
                      const void *want, size_t bytes);
void test_check_text(const char *file, int line, const char *what, const char *got,
                     const char *want);
// The seed of this run: fixed unless --seed was given. Tests with random content start from it.
uint64_t test_seed(void);
// False once the current test has failed: lets a long loop stop at the first failure.
bool test_is_passing(void);

// True if the function dies by ASSERT; natively only (skips with true where there is no fork).
bool test_dies(void (*run)(void *), void *user);

#define TEST(test_name)                                                      \
    static void test_##test_name(void);                                      \
    static TestCase case_##test_name = {#test_name, test_##test_name, NULL}; \
    __attribute__((constructor)) static void register_##test_name(void)      \
    {                                                                        \
        test_register(&case_##test_name);                                    \
    }                                                                        \
    static void test_##test_name(void)

#define CHECK(condition) ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "%s", #condition))
#define CHECK_INT(got, want) \
    test_check_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
#define CHECK_NEAR(got, want, tolerance) \
    test_check_near(__FILE__, __LINE__, #got, (double)(got), (double)(want), (double)(tolerance))
#define CHECK_BYTES(got, want, bytes) test_check_bytes(__FILE__, __LINE__, #got, got, want, bytes)
#define CHECK_TEXT(got, want)         test_check_text(__FILE__, __LINE__, #got, got, want)
#define CHECK_OK(status)              CHECK_INT(status, 0)
#define REQUIRE(condition)                                   \
    do {                                                     \
        if (!(condition)) {                                  \
            test_fail(__FILE__, __LINE__, "%s", #condition); \
            return;                                          \
        }                                                    \
    } while (0)
