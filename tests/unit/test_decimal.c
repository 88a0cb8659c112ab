// Decimal digits: exact in both directions, compared with the C library and with the definition of
// shortest and nearest.
#include "core/base/decimal.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// "0.ddde<exponent>"
static void to_text(const Decimal *decimal, char text[DECIMAL_DIGITS_MAX + 16])
{
    size_t at = 0;
    text[at++] = '0';
    text[at++] = '.';
    for (uint32_t i = 0; i < decimal->digit_count; i++) {
        text[at++] = (char)('0' + decimal->digits[i]);
    }
    (void)snprintf(text + at, 14, "e%d", (int)decimal->exponent);
}

static void check_from_double(double value, const char *want)
{
    Decimal decimal;
    char text[DECIMAL_DIGITS_MAX + 16];
    decimal_from_double(value, &decimal);
    to_text(&decimal, text);
    CHECK_TEXT(text, want);
}

TEST(decimal_shortest_digits_of_known_numbers)
{
    check_from_double(1, "0.1e1");
    check_from_double(0.1, "0.1e0");
    check_from_double(123.456, "0.123456e3");
    check_from_double(0.1 + 0.2, "0.30000000000000004e0");
    check_from_double(DBL_MAX, "0.17976931348623157e309");
    check_from_double(DBL_MIN, "0.22250738585072014e-307");
    check_from_double(5e-324, "0.5e-323");
    check_from_double(1e23, "0.1e24");
    check_from_double(9007199254740993.0, "0.9007199254740992e16");
    check_from_double(0x1p-44, "0.5684341886080802e-13");
    check_from_double(9.5, "0.95e1");
    check_from_double(99999999999999990.0, "0.9999999999999998e17");
}

static void check_from_float(float value, const char *want)
{
    Decimal decimal;
    char text[DECIMAL_DIGITS_MAX + 16];
    decimal_from_float(value, &decimal);
    to_text(&decimal, text);
    CHECK_TEXT(text, want);
}

TEST(decimal_shortest_digits_of_known_floats)
{
    check_from_float(0.1f, "0.1e0");
    check_from_float(16777216.0f, "0.16777216e8");
    check_from_float(33554432.0f, "0.33554432e8");
    check_from_float(FLT_MAX, "0.34028235e39");
    check_from_float(FLT_MIN, "0.11754944e-37");
    check_from_float(1e-45f, "0.1e-44");
    check_from_float(8388609.0f, "0.8388609e7");
}

// Doubles of every kind, finite and greater than zero.
static double random_double(Rng *rng)
{
    for (;;) {
        const uint32_t kind = rng_below(rng, 4);
        uint64_t bits = rng_u64(rng) & 0x7fffffffffffffffull;
        bits = kind == 0 ? bits & 0xfff0000000000000ull : bits;
        bits = kind == 1 ? bits & 0x000fffffffffffffull : bits;
        const double value = kind == 2 ? (double)(bits >> 30) / 1000.0 : from_bits(bits);
        if (value > 0 && isfinite(value)) {
            return value;
        }
    }
}

TEST(decimal_shortest_reads_back_and_could_not_be_shorter_or_nearer)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; i < 20000 && test_is_passing(); i++) {
        const double value = random_double(&rng);
        Decimal decimal;
        decimal_from_double(value, &decimal);
        char text[DECIMAL_DIGITS_MAX + 16];
        to_text(&decimal, text);
        CHECK(decimal_to_double(&decimal) == value);
        CHECK(strtod(text, NULL) == value);
        CHECK(decimal.digits[0] != 0 && decimal.digits[decimal.digit_count - 1] != 0);
        // The C library rounds to a number of digits: fewer must not read back, and where as many
        // do, they are these.
        char other[64];
        (void)snprintf(other, sizeof other, "%.*e", (int)decimal.digit_count - 1, value);
        if (strtod(other, NULL) == value) {
            CHECK_NEAR(strtod(other, NULL), strtod(text, NULL), 0);
            CHECK_INT(other[0], text[2]);
        }
        if (decimal.digit_count > 1) {
            (void)snprintf(other, sizeof other, "%.*e", (int)decimal.digit_count - 2, value);
            CHECK(strtod(other, NULL) != value);
        }
    }
}

TEST(decimal_float_digits_read_back)
{
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t i = 0; i < 20000 && test_is_passing(); i++) {
        const uint32_t bits = rng_below(&rng, 0x7f7fffffu) + 1;
        float value;
        memcpy(&value, &bits, sizeof value);
        Decimal decimal;
        decimal_from_float(value, &decimal);
        char text[DECIMAL_DIGITS_MAX + 16];
        to_text(&decimal, text);
        CHECK(strtof(text, NULL) == value);
        CHECK(decimal.digit_count <= 9);
        if (decimal.digit_count > 1) {
            char other[64];
            (void)snprintf(other, sizeof other, "%.*e", (int)decimal.digit_count - 2,
                           (double)value);
            CHECK(strtof(other, NULL) != value);
        }
    }
}

static void check_reading(const Decimal *decimal)
{
    char text[DECIMAL_DIGITS_MAX + 16];
    to_text(decimal, text);
    const double want = strtod(text, NULL);
    const double got = decimal_to_double(decimal);
    if (memcmp(&got, &want, sizeof got) != 0) {
        test_fail(__FILE__, __LINE__, "%s gives %a, the C library %a", text, got, want);
    }
}

TEST(decimal_reading_equals_the_c_library)
{
    Rng rng = rng_make(test_seed(), 3);
    for (uint32_t i = 0; i < 30000 && test_is_passing(); i++) {
        Decimal decimal = {.exponent = (int32_t)rng_below(&rng, 660) - 340};
        decimal.digit_count = 1 + rng_below(&rng, i % 10 == 0 ? DECIMAL_DIGITS_MAX : 25);
        for (uint32_t d = 0; d < decimal.digit_count; d++) {
            decimal.digits[d] = (uint8_t)(1 + rng_below(&rng, 9));
        }
        check_reading(&decimal);
    }
}

// The decimal of a number exactly between two doubles, and of its neighbours on both sides.
static void check_half_way(uint64_t mantissa, int32_t exponent)
{
    // (2 mantissa + 1) × 2^(exponent - 1), by repeated doubling or halving of decimal digits.
    Decimal decimal = {.exponent = 0};
    char text[64];
    const int length = snprintf(text, sizeof text, "%llu", (unsigned long long)(2 * mantissa + 1));
    decimal.exponent = length;
    decimal.digit_count = (uint32_t)length;
    for (int i = 0; i < length; i++) {
        decimal.digits[i] = (uint8_t)(text[i] - '0');
    }
    for (int32_t e = exponent - 1; e < 0; e++) {
        uint32_t carry = 0;
        for (uint32_t i = 0; i < decimal.digit_count; i++) {
            const uint32_t digit = carry * 10 + decimal.digits[i];
            decimal.digits[i] = (uint8_t)(digit / 2);
            carry = digit % 2;
        }
        if (carry != 0) {
            decimal.digits[decimal.digit_count++] = 5;
        }
        if (decimal.digits[0] == 0) {
            memmove(decimal.digits, decimal.digits + 1, decimal.digit_count - 1);
            decimal.digit_count -= 1;
            decimal.exponent -= 1;
        }
    }
    check_reading(&decimal);
    const double even = ldexp((double)(mantissa + mantissa % 2), exponent);
    CHECK(decimal_to_double(&decimal) == even);
    decimal.digits[decimal.digit_count++] = 1;
    CHECK(decimal_to_double(&decimal) == ldexp((double)(mantissa + 1), exponent));
    decimal.digit_count -= 1;
    decimal.digits[decimal.digit_count - 1] = 4; // was 5
    CHECK(decimal_to_double(&decimal) == ldexp((double)mantissa, exponent));
}

TEST(decimal_ties_go_to_the_even_neighbour)
{
    Rng rng = rng_make(test_seed(), 4);
    for (uint32_t i = 0; i < 2000 && test_is_passing(); i++) {
        const uint64_t mantissa = 1ull << 52 | rng_u64(&rng) >> 12;
        check_half_way(mantissa, -(int32_t)rng_below(&rng, 190));
    }
}

// The decimal digits of mantissa × 2^exponent in full, by doubling or halving them.
#define FULL_DIGITS 1200

typedef struct Full {
    uint8_t digits[FULL_DIGITS]; // after the point
    uint32_t count;
    int32_t exponent;
} Full;

static void make_full(uint64_t mantissa, int32_t exponent, Full *full)
{
    char text[32];
    full->count = (uint32_t)snprintf(text, sizeof text, "%llu", (unsigned long long)mantissa);
    full->exponent = (int32_t)full->count;
    for (uint32_t i = 0; i < full->count; i++) {
        full->digits[i] = (uint8_t)(text[i] - '0');
    }
    for (; exponent > 0; exponent--) {
        uint32_t carry = 0;
        for (uint32_t i = full->count; i > 0; i--) {
            carry += full->digits[i - 1] * 2u;
            full->digits[i - 1] = (uint8_t)(carry % 10);
            carry /= 10;
        }
        if (carry != 0) {
            memmove(full->digits + 1, full->digits, full->count++);
            full->digits[0] = (uint8_t)carry;
            full->exponent += 1;
        }
    }
    for (; exponent < 0; exponent++) {
        uint32_t carry = 0;
        for (uint32_t i = 0; i < full->count; i++) {
            carry = carry % 2 * 10 + full->digits[i];
            full->digits[i] = (uint8_t)(carry / 2);
        }
        if (carry % 2 != 0) {
            full->digits[full->count++] = 5;
        }
        if (full->digits[0] == 0) {
            memmove(full->digits, full->digits + 1, --full->count);
            full->exponent -= 1;
        }
    }
}

// Numbers of every size that lie so near to half way that 128 bits, or nineteen digits, do not
// decide.
TEST(decimal_reading_near_half_ways_of_every_size)
{
    Rng rng = rng_make(test_seed(), 5);
    for (uint32_t i = 0; i < 200 && test_is_passing(); i++) {
        const uint64_t mantissa = 1ull << 53 | rng_u64(&rng) >> 11 | 1;
        const bool is_subnormal = i % 8 == 0;
        const int32_t exponent = is_subnormal ? -1075 : (int32_t)rng_below(&rng, 2046) - 1075;
        Full full;
        make_full(is_subnormal ? mantissa >> rng_below(&rng, 53) | 1 : mantissa, exponent, &full);
        for (uint32_t count = 17; count < DECIMAL_DIGITS_MAX; count += 1 + rng_below(&rng, 9)) {
            Decimal decimal = {.exponent = full.exponent};
            decimal.digit_count = count < full.count ? count : full.count;
            memcpy(decimal.digits, full.digits, decimal.digit_count);
            uint8_t *last = &decimal.digits[decimal.digit_count - 1];
            *last = *last == 0 ? 1 : *last;
            check_reading(&decimal);
            *last = *last == 9 ? 8 : (uint8_t)(*last + 1);
            check_reading(&decimal);
        }
    }
}

// The ends of what reads back as these are short decimals too, and no exact powers of ten.
TEST(decimal_shortest_digits_where_a_short_one_is_half_way)
{
    check_from_double(9007199254740992.0 * 1e6, "0.9007199254740992e22");
    check_from_double(0x1p70, "0.11805916207174113e22");
    check_from_double(1e22, "0.1e23");
    check_from_double(2e23, "0.2e24");
    check_from_double(1125899906842624.25, "0.11258999068426242e16");
    check_from_double(1125899906842624.75, "0.11258999068426248e16");
}

TEST(decimal_edges_of_the_range)
{
    Decimal decimal = {.digits = {1}, .digit_count = 1, .exponent = 310};
    CHECK(isinf(decimal_to_double(&decimal)));
    decimal.exponent = INT32_MAX;
    CHECK(isinf(decimal_to_double(&decimal)));
    decimal.exponent = INT32_MIN;
    CHECK(decimal_to_double(&decimal) == 0);
    decimal.exponent = -323;
    CHECK(decimal_to_double(&decimal) == 0); // 1e-324
    decimal.digits[0] = 3;
    CHECK(decimal_to_double(&decimal) == 5e-324);
    decimal.exponent = -324;
    decimal.digits[0] = 9;
    CHECK(decimal_to_double(&decimal) == 0);
    decimal.digit_count = 0;
    CHECK(decimal_to_double(&decimal) == 0);
    // As long and as small as it can be.
    memset(decimal.digits, 9, sizeof decimal.digits);
    decimal.digit_count = DECIMAL_DIGITS_MAX;
    decimal.exponent = -323;
    CHECK(decimal_to_double(&decimal) == 1e-323);
    decimal.exponent = 309;
    CHECK(isinf(decimal_to_double(&decimal)));
    decimal.exponent = 308;
    CHECK(decimal_to_double(&decimal) == 1e308);
}

static void from_zero(void *user)
{
    decimal_from_double(0, user);
}

static void from_infinity(void *user)
{
    decimal_from_double(INFINITY, user);
}

TEST(decimal_of_no_positive_number_dies)
{
    Decimal decimal;
    CHECK(test_dies(from_zero, &decimal));
    CHECK(test_dies(from_infinity, &decimal));
}
