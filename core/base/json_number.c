// The text of numbers: which characters stand where. The digits themselves come from decimal.c.
#include "core/base/json_number.h"

#include "core/base/check.h"
#include "core/base/decimal.h"

#include <stdio.h>
#include <string.h>

_Static_assert(JSON_NUMBER_BYTES_MAX <= DECIMAL_DIGITS_MAX, "every text is read to its last digit");

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The number after e or E, held where it cannot overflow: past that nothing changes any more.
static int32_t parse_exponent(const char *text, size_t bytes)
{
    const bool is_negative = text[0] == '-';
    int32_t value = 0;
    for (size_t i = text[0] == '-' || text[0] == '+'; i < bytes; i++) {
        ASSERT(is_digit(text[i]));
        value = value < 100000 ? value * 10 + (text[i] - '0') : value;
    }
    return is_negative ? -value : value;
}

// Digits without leading and trailing zeros, and where the point is among them.
static void parse_decimal(const char *text, size_t bytes, Decimal *decimal)
{
    decimal->digit_count = 0;
    decimal->exponent = 0;
    bool is_after_point = false;
    size_t at = 0;
    for (; at < bytes && text[at] != 'e' && text[at] != 'E'; at++) {
        if (text[at] == '.') {
            is_after_point = true;
            continue;
        }
        ASSERT(is_digit(text[at]));
        const bool is_leading_zero = decimal->digit_count == 0 && text[at] == '0';
        if (!is_leading_zero) {
            decimal->digits[decimal->digit_count++] = (uint8_t)(text[at] - '0');
        }
        decimal->exponent += is_after_point ? -is_leading_zero : !is_leading_zero;
    }
    if (at < bytes) {
        decimal->exponent += parse_exponent(text + at + 1, bytes - at - 1);
    }
    while (decimal->digit_count > 0 && decimal->digits[decimal->digit_count - 1] == 0) {
        decimal->digit_count -= 1;
    }
}

bool json_number_parse(const char *text, size_t bytes, double *value)
{
    ASSERT(bytes > 0 && bytes <= JSON_NUMBER_BYTES_MAX);
    const bool is_negative = text[0] == '-';
    Decimal decimal;
    parse_decimal(text + is_negative, bytes - is_negative, &decimal);
    const double size = decimal_to_double(&decimal);
    if (size - size != 0) {
        return false;
    }
    *value = is_negative ? -size : size;
    return true;
}

bool json_number_parse_integer(const char *text, size_t bytes, int64_t *value)
{
    ASSERT(bytes > 0);
    const bool is_negative = text[0] == '-';
    int64_t result = 0;
    for (size_t i = is_negative; i < bytes; i++) {
        ASSERT(is_digit(text[i]));
        // Counted downwards, because there is one more negative number than positive.
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_sub_overflow(result, text[i] - '0', &result)) {
            return false;
        }
    }
    if (!is_negative && result == INT64_MIN) {
        return false;
    }
    *value = is_negative ? result : -result;
    return true;
}

bool json_number_is_integer(double value)
{
    return value >= -0x1p63 && value < 0x1p63 && value == (double)(int64_t)value;
}

static size_t put_zeros(char *text, int32_t count)
{
    memset(text, '0', (size_t)count);
    return (size_t)count;
}

static size_t put_digits(char *text, const Decimal *decimal, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        text[i - from] = (char)('0' + decimal->digits[i]);
    }
    return (size_t)(to - from);
}

// ECMA-262, Number::toString: plain up to 21 digits before and 6 zeros after the point.
static size_t lay_out(const Decimal *decimal, char *text)
{
    const int32_t count = (int32_t)decimal->digit_count;
    const int32_t point = decimal->exponent;
    size_t at = 0;
    if (point > 0 && point <= 21) {
        const int32_t before = count < point ? count : point;
        at += put_digits(text, decimal, 0, before);
        at += put_zeros(text + at, point - before);
        if (before < count) {
            text[at++] = '.';
            at += put_digits(text + at, decimal, before, count);
        }
    } else if (point > -6 && point <= 0) {
        at += put_zeros(text, 1);
        text[at++] = '.';
        at += put_zeros(text + at, -point);
        at += put_digits(text + at, decimal, 0, count);
    } else {
        at += put_digits(text, decimal, 0, 1);
        if (count > 1) {
            text[at++] = '.';
            at += put_digits(text + at, decimal, 1, count);
        }
        at += (size_t)snprintf(text + at, 8, "e%+d", (int)(point - 1));
    }
    text[at] = '\0';
    return at;
}

// A sign and at most 21 digits, or 17 with "0.000000", or 17 with a point and "e-324".
_Static_assert(1 + 8 + DECIMAL_SHORTEST_MAX + 1 <= JSON_NUMBER_TEXT_BYTES, "every number fits");

static size_t format_zero(bool is_negative, char *text)
{
    memcpy(text, is_negative ? "-0" : "0", is_negative ? 3 : 2);
    return is_negative ? 2 : 1;
}

size_t json_number_format(double value, char text[JSON_NUMBER_TEXT_BYTES])
{
    ASSERT(value - value == 0);
    const bool is_negative = __builtin_signbit(value) != 0;
    if (value == 0) {
        return format_zero(is_negative, text);
    }
    Decimal decimal;
    decimal_from_double(is_negative ? -value : value, &decimal);
    text[0] = '-';
    return lay_out(&decimal, text + is_negative) + is_negative;
}

size_t json_number_format_f32(float value, char text[JSON_NUMBER_TEXT_BYTES])
{
    ASSERT(value - value == 0);
    const bool is_negative = __builtin_signbit(value) != 0;
    if (value == 0) {
        return format_zero(is_negative, text);
    }
    const float size = is_negative ? -value : value;
    Decimal decimal;
    decimal_from_float(size, &decimal);
    // Readers take a double first. Rounding twice could go wrong at the middle between two floats,
    // and the digits of the largest float lie past it.
    const double back = decimal_to_double(&decimal);
    if (back > 0x1.fffffep127 || (float)back != size) {
        decimal_from_double(size, &decimal);
    }
    text[0] = '-';
    return lay_out(&decimal, text + is_negative) + is_negative;
}

size_t json_number_format_integer(int64_t value, char text[JSON_NUMBER_TEXT_BYTES])
{
    return (size_t)snprintf(text, JSON_NUMBER_TEXT_BYTES, "%lld", (long long)value);
}
