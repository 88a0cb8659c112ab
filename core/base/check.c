// The end of a process that found one of its own bugs: one line on stderr, then abort. The line is
// put together first and written in one piece, so that lines of several processes do not mix.
#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void check_fail(const char *file, int line, const char *condition)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s:%d: assertion failed: %s\n", file, line, condition);
    (void)fputs(text, stderr);
    (void)fflush(stderr);
#ifdef __wasm__
    __builtin_trap();
#else
    abort();
#endif
}
