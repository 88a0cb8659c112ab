// Runs the registered tests; see test.h.
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef __wasm__
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static TestCase *first_case;
static TestCase **last_link = &first_case;
static const char *current_name;
static int current_failures;
static uint64_t seed = 20240229;

void test_register(TestCase *test)
{
    *last_link = test;
    last_link = &test->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    current_failures += 1;
    if (current_failures > 20) {
        return;
    }
    printf("%s:%d: %s: ", file, line, current_name);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void test_check_int(const char *file, int line, const char *what, long long got, long long want)
{
    if (got != want) {
        test_fail(file, line, "%s is %lld, want %lld", what, got, want);
    }
}

void test_check_near(const char *file, int line, const char *what, double got, double want,
                     double tolerance)
{
    const double error = got > want ? got - want : want - got;
    if (!(error <= tolerance)) {
        test_fail(file, line, "%s is %.9g, want %.9g within %g", what, got, want, tolerance);
    }
}

void test_check_bytes(const char *file, int line, const char *what, const void *got,
                      const void *want, size_t bytes)
{
    const unsigned char *g = got;
    const unsigned char *w = want;
    for (size_t i = 0; i < bytes; i++) {
        if (g[i] != w[i]) {
            test_fail(file, line, "%s differs at byte %zu: 0x%02x, want 0x%02x", what, i, g[i],
                      w[i]);
            return;
        }
    }
}

void test_check_text(const char *file, int line, const char *what, const char *got,
                     const char *want)
{
    if (strcmp(got, want) != 0) {
        test_fail(file, line, "%s is \"%s\", want \"%s\"", what, got, want);
    }
}

uint64_t test_seed(void)
{
    return seed;
}

bool test_is_passing(void)
{
    return current_failures == 0;
}

bool test_dies(void (*run)(void *), void *user)
{
#ifdef __wasm__
    (void)run;
    (void)user;
    return true;
#else
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(0);
        }
        run(user);
        _exit(0);
    }
    int state = 0;
    return child > 0 && waitpid(child, &state, 0) == child && WIFSIGNALED(state) &&
           WTERMSIG(state) == SIGABRT;
#endif
}

int main(int argc, char **argv)
{
    const char *filter = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 0);
        } else {
            filter = argv[i];
        }
    }
    int passed = 0;
    int failed = 0;
    for (TestCase *test = first_case; test != NULL; test = test->next) {
        if (filter != NULL && strstr(test->name, filter) == NULL) {
            continue;
        }
        current_name = test->name;
        current_failures = 0;
        test->run();
        passed += current_failures == 0;
        failed += current_failures != 0;
    }
    if (failed != 0) {
        printf("seed %llu\n", (unsigned long long)seed);
    }
    if (passed + failed == 0) {
        printf("no test matches\n");
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
