// The unchanged Lua of Debian's source, for comparison: the same programs, without step counting
// and limits.
#pragma once

#include <stddef.h>

// Runs the text once in a fresh state and gives the seconds it took, or a negative number.
double stock_run(const char *text, size_t bytes, double (*seconds)(void));
