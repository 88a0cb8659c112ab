// Lua's numbers, the same in every build: functions whose last bits differ between C libraries, and
// numbers as text. Only + - * /, sqrt, floor and exact scaling by powers of two are used, in a
// fixed order; where a double is not enough the work goes on in a pair of doubles.
//
// Error bounds in units of the last place (tests/unit/test_number.c measures them against a C
// library in long double):
//   number_exp, number_pow                     0.65, and 1 where the result is subnormal
//   number_log, number_log2, number_log10      0.51
//   number_sin, number_cos                     0.8, for every finite argument
//   number_tan, number_asin, number_acos       2.5
//   number_atan2                               1.3
// Results that a double can hold exactly, such as 10^22 and log10(1000), are exact.
// Special values are those of C99's Annex F.
#pragma once

#include <stddef.h>

double number_exp(double x);
double number_log(double x);
double number_log2(double x);
double number_log10(double x);
double number_pow(double x, double y);
double number_sin(double x);
double number_cos(double x);
double number_tan(double x);
double number_asin(double x);
double number_acos(double x);
double number_atan2(double y, double x);

// Characters of the longest text: "%+#099.99f" of the largest double.
#define NUMBER_TEXT_BYTES 512

// Like C's snprintf with one conversion a, e, f or g (either case): flags "-+ #0", a width and a
// precision of at most two digits each. Exact, rounded half to even, without a locale; a NaN is
// "nan" whatever its sign. Returns the length.
size_t number_format(double value, const char *conversion, char out[NUMBER_TEXT_BYTES]);
// Parses a numeral, decimal or hexadecimal, after white space and a sign. `end` points behind it,
// or to `text` if there is none. Rounds half to even; of more than 255 digits the rest only counts
// as zero or not zero.
double number_parse(const char *text, char **end);
