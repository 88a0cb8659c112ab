// UTF-8 (RFC 3629): shortest forms only, no surrogates, nothing past U+10FFFF.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The length in bytes (1..4) of the character at the start of text, or 0 if there is no valid one.
size_t utf8_length(const uint8_t *text, size_t bytes);
bool utf8_is_valid(const void *text, size_t bytes);
// A control character (C0, DEL, C1) in valid text? Names have none: they are shown on terminals.
bool utf8_has_control(const void *text, size_t bytes);
// The code point of a valid character of that length.
uint32_t utf8_code_point(const uint8_t *text, size_t length);
// Does it show nothing, or change how others are shown? Controls (ends of lines and tabs too),
// zero-width and bidirectional characters, fillers, tags. What a person reviews has none of them.
bool utf8_is_hidden(uint32_t code_point);
// Any of these in the text, or anything that is no UTF-8?
bool utf8_has_hidden(const void *text, size_t bytes);
// What strangers wrote, made fit for a terminal or a log: what could speak to it or hide in it
// (hidden characters, broken UTF-8) becomes "?", ends of lines and tabs a space. Never longer.
void utf8_clean(char *text);
// Writes a character; the code point must be valid. Gives the length.
size_t utf8_encode(uint32_t code_point, uint8_t out[4]);
// How many of the first bytes_max bytes of valid text can be kept without splitting a character.
size_t utf8_cut(const char *text, size_t bytes, size_t bytes_max);
