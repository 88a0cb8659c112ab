// Letters as people see them: what looks alike is equal. For names, of which no two may look the
// same, and for the operator's list of words.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Without case and accents (letter.h), and as the Latin letter that it looks like, if it does: 0 is
// o; 1, i, | and ! are l. Anything else is itself.
uint32_t letter_look(uint32_t code_point);
// Styled forms of ASCII characters are the plain ones: wide, circled, squared, mathematical.
// Anything else is itself.
uint32_t letter_plain(uint32_t code_point);
// A mark on the letter before, or a variation of it.
bool letter_is_mark(uint32_t code_point);
