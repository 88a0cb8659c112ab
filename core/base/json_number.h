// Numbers as JSON text, and back, by way of decimal.h. The layout is that of JavaScript's
// JSON.stringify, so that C and TypeScript print the same bytes. The one difference: minus zero is
// "-0", because a tree that is written and read again stays the same.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Characters of one number that is read; 25 are enough for every double.
#define JSON_NUMBER_BYTES_MAX 256
// Of one that is written, with its terminator.
#define JSON_NUMBER_TEXT_BYTES 32

// The text must follow the grammar of JSON and have at most JSON_NUMBER_BYTES_MAX characters. False
// if it is past the largest double.
bool json_number_parse(const char *text, size_t bytes, double *value);
// For a text of digits with an optional minus: false if an int64_t cannot hold it.
bool json_number_parse_integer(const char *text, size_t bytes, int64_t *value);
// Whether a double is a whole number that an int64_t can hold.
bool json_number_is_integer(double value);

// These write a terminated text and give its length. The value must be finite.
size_t json_number_format(double value, char text[JSON_NUMBER_TEXT_BYTES]);
// The shortest that gives the same float when it is read as a double and rounded: 0.1f is 0.1.
size_t json_number_format_f32(float value, char text[JSON_NUMBER_TEXT_BYTES]);
size_t json_number_format_integer(int64_t value, char text[JSON_NUMBER_TEXT_BYTES]);
