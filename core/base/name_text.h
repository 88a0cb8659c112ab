// What a shown name may be: of a person or of a character. One rule for every way in, so that
// nobody is called one thing here and another there, and nobody looks like somebody else by
// characters that cannot be seen.
//
// A name has 1 to 32 characters and at most 64 bytes of UTF-8. It has nothing that is invisible or
// changes how its neighbours are shown: no control, format or bidirectional characters, no fillers,
// no variation selectors, nothing private or never assigned. Its only space is U+0020, not at
// either end and never two in a row. At most two combining marks follow one character, and a name
// begins with none.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_TEXT_BYTES      64
#define NAME_TEXT_CHARACTERS 32
// For whoever is refused.
#define NAME_TEXT_RULE                                                        \
    "a name has 1 to 32 visible characters (at most 64 bytes), single spaces" \
    " only between them, and nothing invisible"

bool name_text_is_valid(const char *text, size_t bytes); // of any bytes
