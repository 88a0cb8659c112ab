// Assertions for our own bugs; never for bytes from strangers. ASSERT stays in release: the process
// aborts with file and line, and its owner restarts it. CHECK_SLOW is for walks over whole
// structures and exists only in builds with SANDLOT_SLOW_CHECKS (the dev preset).
#pragma once

_Noreturn void check_fail(const char *file, int line, const char *condition);

#define ASSERT(condition) \
    (__builtin_expect(!(condition), 0) ? check_fail(__FILE__, __LINE__, #condition) : (void)0)

#ifdef SANDLOT_SLOW_CHECKS
#define CHECK_SLOW(condition) ASSERT(condition)
#else
#define CHECK_SLOW(condition) ((void)sizeof(condition))
#endif
