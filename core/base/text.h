// Texts: words and names that scripts, messages and stored rows hand to each other. There is one
// definition, so that what one of them accepts all others can take: UTF-8 (utf8.h) without U+0000.
// Control characters are allowed; names that people see and chat have rules of their own on top.
//
// Whoever takes a text from outside checks it there with text_is_valid, or cleans it; encoders
// assert it.
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

bool text_is_valid(const void *text, size_t bytes);
// What is wrong, to stand after the name of the thing: "must not contain a zero byte". NULL: it is
// valid.
const char *text_error(const void *text, size_t bytes);

// Any bytes as one line of chat: bytes that are no character become "?", ends of lines and tabs a
// space, other control characters and spaces at either end go. What does not fit is cut off between
// two characters. Returns the length, at most `capacity`; 0 when nothing is left to say.
size_t text_clean(const void *from, size_t bytes, char *out, size_t capacity);
// Makes a text of any bytes without changing its length: what is no character, or zero, becomes
// "?".
void text_repair(char *text, size_t bytes);
