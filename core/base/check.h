// Assertions for our own bugs; never for a stranger's byte. ASSERT stays in release: the process
// dies with file and line, and whoever owns it restarts it. CHECK_SLOW guards whole-structure walks
// and exists in builds with SANDLOT_SLOW_CHECKS (the dev preset) only.
#pragma once

_Noreturn void check_fail(const char *file, int line, const char *condition);

#define ASSERT(condition) \
    (__builtin_expect(!(condition), 0) ? check_fail(__FILE__, __LINE__, #condition) : (void)0)

#ifdef SANDLOT_SLOW_CHECKS
#define CHECK_SLOW(condition) ASSERT(condition)
#else
#define CHECK_SLOW(condition) ((void)sizeof(condition))
#endif
