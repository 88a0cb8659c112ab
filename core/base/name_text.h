// The rules for names that are shown: of a person or of a character. One rule everywhere, so that a
// name is either valid in all places or in none, and nobody can imitate another name with invisible
// characters.
// A name has 1 to 32 characters and at most 64 bytes of UTF-8. It contains nothing that is
// invisible or changes how its neighbours are shown: no control, format or bidirectional
// characters, no fillers, no variation selectors, nothing private or unassigned. Its only space is
// U+0020, not at either end and never two in a row. At most two combining marks follow one
// character, and a name does not begin with one.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_TEXT_BYTES      64
#define NAME_TEXT_CHARACTERS 32
// The rule for people whose name was rejected.
#define NAME_TEXT_RULE                                                        \
    "a name has 1 to 32 visible characters (at most 64 bytes), single spaces" \
    " only between them, and nothing invisible"

bool name_text_is_valid(const char *text, size_t bytes); // of any bytes
