// Doubles and floats as decimal digits, exactly and alike in every build: no C library, no locale.
// Reading rounds to the nearest double, ties to even. Writing gives the shortest digits that read
// back as the same number, and of several the nearest: the digits that JavaScript prints.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Digits of one number that is read.
#define DECIMAL_DIGITS_MAX 256
// Digits of one number that is written.
#define DECIMAL_SHORTEST_MAX 17

// 0.d1d2d3… × 10^exponent, with d1 and the last digit not zero; no digits are zero.
typedef struct Decimal {
    uint8_t digits[DECIMAL_DIGITS_MAX]; // 0..9
    uint32_t digit_count;
    int32_t exponent;
} Decimal;

// Infinity if it is past the largest double.
double decimal_to_double(const Decimal *decimal);
// The value must be finite and greater than zero.
void decimal_from_double(double value, Decimal *decimal);
void decimal_from_float(float value, Decimal *decimal);
