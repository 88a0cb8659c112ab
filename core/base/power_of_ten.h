// Powers of ten to 128 bits, and a double times one of them. This is how numbers are read from text
// and written as text without long arithmetic: the product is a little too small by a known
// amount, and nearly always both ends of that range round to the same number.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 Wide;

#define POWER_OF_TEN_MIN (-364)
#define POWER_OF_TEN_MAX 363

// 10^n is in [value, value + error] × 2^exponent; the highest bit of value is set. Where error is
// zero the power is exact; that is so from 10^0 to 10^54.
typedef struct PowerOfTen {
    Wide value;
    int32_t exponent;
    uint32_t error;
} PowerOfTen;

PowerOfTen power_of_ten(int32_t n);
// 10^n as a whole number, for n up to 19.
uint64_t power_of_ten_whole(uint32_t n);
// 5^n, for n up to 27.
uint64_t power_of_five_whole(uint32_t n);

// What power_multiply drops: products are in units of 2^POWER_DROPPED_BITS.
#define POWER_DROPPED_BITS 67

// The power times a factor is in [product, product + slack] × 2^(exponent + POWER_DROPPED_BITS).
// The product is less than 2^125, and at least 2^123 if the highest bit of the factor is set.
Wide power_multiply(const PowerOfTen *power, uint64_t factor, uint32_t *slack);

// value / 2^bits, rounded half to even; bits are 1 to 127.
Wide power_round(Wide value, uint32_t bits);

// The whole part of log10(2^n), for |n| <= 1100: 10^result <= 2^n < 10^(result + 1).
int32_t power_log10_of_two(int32_t n);

// value × 10^places, rounded half to even, for a finite value above zero. False if the result may
// be 10^18 or more, or if 128 bits do not decide how to round; then `scaled` is untouched.
bool power_scale(double value, int32_t places, uint64_t *scaled);

// value is mantissa × 2^exponent; not for negative or infinite values. Not normalised.
void power_split_double(double value, uint64_t *mantissa, int32_t *exponent);
