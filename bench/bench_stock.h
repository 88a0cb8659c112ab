// Lua as Debian's source has it, to compare with: the same programs, without steps, caps and
// charges.
#pragma once

#include <stddef.h>

// Runs the text once in a fresh state and gives the seconds it took, or a negative number.
double stock_run(const char *text, size_t bytes, double (*seconds)(void));
