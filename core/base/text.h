// Texts: words and names that scripts, messages and stored rows exchange. There is one definition,
// so that what one of them accepts all others accept: UTF-8 (utf8.h) without U+0000. Control
// characters are allowed; shown names and chat have additional rules.
// A text from outside is checked with text_is_valid where it enters, or cleaned; encoders assert
// it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Text {
    const char *data; // not terminated
    size_t bytes;
} Text;

Text text_from(const char *terminated); // keeps the pointer
bool text_equal(Text a, Text b);
bool text_is(Text text, const char *terminated);
int text_compare(Text a, Text b); // by bytes, as strcmp
// Copies a text to a place with room for it; returns it there.
Text text_copy(char *to, Text from);

bool text_is_valid(const void *text, size_t bytes);
// What is wrong, to be written after the name of the thing: "must not contain a zero byte". NULL:
// it is valid.
const char *text_error(const void *text, size_t bytes);

// Any bytes as one line of chat: invalid bytes become "?", line ends and tabs a space; other
// control characters, those that show nothing (utf8_is_hidden, without joiners), and spaces at
// either end, are removed. Text that does not fit is cut between
// two characters. Returns the length, at most `capacity`; 0 if nothing is left.
size_t text_clean(const void *from, size_t bytes, char *out, size_t capacity);
// Makes any bytes a valid text of the same length: invalid bytes and zeros become "?".
void text_repair(char *text, size_t bytes);
