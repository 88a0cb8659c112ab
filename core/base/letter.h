// Letters without what people leave out when they search or compare: cases and accents of Latin
// letters, the cases of Cyrillic ones, and the wide forms of ASCII.
#pragma once

#include <stdint.h>

// The letter in lower case and without marks; anything else as it is.
uint32_t letter_fold(uint32_t code_point);
