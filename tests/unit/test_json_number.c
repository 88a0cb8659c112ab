// Numbers as text: the format of JavaScript, hard cases of reading, round trips, and one expected
// hash for each direction, which is the same in every build.
#include "core/base/hash.h"
#include "core/base/json_number.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_FORMAT 0x9830d973e10eea1dull
#define GOLDEN_PARSE  0x28739b30fd82fa19ull

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void check_format(double value, const char *want)
{
    char text[JSON_NUMBER_TEXT_BYTES];
    const size_t length = json_number_format(value, text);
    CHECK_TEXT(text, want);
    CHECK_INT(length, strlen(text));
}

TEST(json_number_prints_like_javascript)
{
    check_format(0, "0");
    check_format(-0.0, "-0");
    check_format(1, "1");
    check_format(-42, "-42");
    check_format(0.1, "0.1");
    check_format(-1.25, "-1.25");
    check_format(0.1 + 0.2, "0.30000000000000004");
    check_format(1.0 / 3, "0.3333333333333333");
    check_format(100.001, "100.001");
    check_format(123456.789, "123456.789");
    check_format(1e20, "100000000000000000000");
    check_format(1e21, "1e+21");
    check_format(123456789012345680000.0, "123456789012345680000");
    check_format(9007199254740991.0, "9007199254740991");
    check_format(9007199254740992.0, "9007199254740992");
    check_format(9007199254740994.0, "9007199254740994");
    check_format(1e-6, "0.000001");
    check_format(1.5e-6, "0.0000015");
    check_format(1e-7, "1e-7");
    check_format(1.234e-7, "1.234e-7");
    check_format(-1.5e300, "-1.5e+300");
    check_format(1.7976931348623157e308, "1.7976931348623157e+308");
    check_format(2.2250738585072014e-308, "2.2250738585072014e-308");
    check_format(2.225073858507201e-308, "2.225073858507201e-308");
    check_format(5e-324, "5e-324");
    // A power of two, where the nearest sixteen digits do not read back but their neighbour does.
    check_format(0x1p-44, "5.684341886080802e-14");
    check_format(9.5367431640625e-07, "9.5367431640625e-7");
    check_format(5e22, "5e+22");
    check_format(1.0e23, "1e+23");
}

static void check_format_f32(float value, const char *want)
{
    char text[JSON_NUMBER_TEXT_BYTES];
    const size_t length = json_number_format_f32(value, text);
    CHECK_TEXT(text, want);
    CHECK_INT(length, strlen(text));
}

TEST(json_number_prints_floats_shortly)
{
    check_format_f32(0.1f, "0.1");
    check_format_f32(-0.0f, "-0");
    check_format_f32(3.4028234663852886e38f, "3.4028234663852886e+38");
    check_format_f32(1e-45f, "1e-45");
    check_format_f32(16777216.0f, "16777216");
    check_format_f32(1.17549435e-38f, "1.1754944e-38");
    check_format_f32(1e20f, "100000000000000000000");
    check_format_f32(0.33333334f, "0.33333334");
    check_format_f32(-1234.5678f, "-1234.5677");
    check_format_f32(3.14159274f, "3.1415927");
}

static bool parses(const char *text, double *value)
{
    return json_number_parse(text, strlen(text), value);
}

static bool parses_integer(const char *text, int64_t *value)
{
    return json_number_parse_integer(text, strlen(text), value);
}

static void check_parse(const char *text, uint64_t want)
{
    double value = 0;
    CHECK(parses(text, &value));
    if (to_bits(value) != want) {
        test_fail(__FILE__, __LINE__, "%s gives 0x%016llx, want 0x%016llx", text,
                  (unsigned long long)to_bits(value), (unsigned long long)want);
    }
}

// Decimals that lie exactly between two doubles, or a hair beside it.
TEST(json_number_reading_rounds_correctly)
{
    check_parse("1", 0x3ff0000000000000);
    check_parse("0.1", 0x3fb999999999999a);
    check_parse("1.00000000000000011102230246251565404236316680908203125", 0x3ff0000000000000);
    check_parse("1.00000000000000011102230246251565404236316680908203124", 0x3ff0000000000000);
    check_parse("1.00000000000000011102230246251565404236316680908203126", 0x3ff0000000000001);
    check_parse("9007199254740993", 0x4340000000000000);
    check_parse("9007199254740993.00000000000000000000000000000001", 0x4340000000000001);
    check_parse("9007199254740995", 0x4340000000000002);
    check_parse("2.2250738585072011e-308", 0x000fffffffffffff);
    check_parse("2.2250738585072012e-308", 0x0010000000000000);
    check_parse("2.2250738585072014e-308", 0x0010000000000000);
    check_parse("4.9406564584124654e-324", 1);
    check_parse("2.4703282292062327e-324", 0);
    check_parse("2.4703282292062328e-324", 1);
    check_parse("-2.4703282292062327e-324", 0x8000000000000000);
    check_parse("1.7976931348623157e308", 0x7fefffffffffffff);
    check_parse("1.7976931348623158e308", 0x7fefffffffffffff);
    check_parse("6.9294956446009195e15", 0x43389e56ee5e7a58);
    check_parse("3.2378839133029012895883524125015321748630094095e-15", 0x3ced2a0d4ef69d8e);
    check_parse("8.98846567431158e307", 0x7fe0000000000000);
    check_parse("1e23", 0x44b52d02c7e14af6);
    check_parse("0.000000000000000000000000000000000000000000001e45", 0x3ff0000000000000);
    check_parse("1000000000000000000000000000000000000000000e-42", 0x3ff0000000000000);
    check_parse("0e99999999999999999999", 0);
    check_parse("1e-99999999999999999999", 0);
    check_parse("8.5e22", 0x44b1ffdbf6b2b2eb);
    double value = 7;
    CHECK(!parses("1.7976931348623159e308", &value));
    CHECK(!parses("-1e309", &value));
    CHECK(value == 7);
}

TEST(json_number_integers)
{
    int64_t value = 0;
    CHECK(parses_integer("-9223372036854775808", &value) && value == INT64_MIN);
    CHECK(parses_integer("9223372036854775807", &value) && value == INT64_MAX);
    CHECK(parses_integer("-0", &value) && value == 0);
    value = 5;
    CHECK(!parses_integer("9223372036854775808", &value));
    CHECK(!parses_integer("-9223372036854775809", &value));
    CHECK(!parses_integer("99999999999999999999999", &value));
    CHECK_INT(value, 5);
    CHECK(json_number_is_integer(9007199254740991.0) && json_number_is_integer(-0x1p63));
    CHECK(!json_number_is_integer(0x1p63) && !json_number_is_integer(-0x1.0000000000001p63));
    CHECK(!json_number_is_integer(0.5) && !json_number_is_integer(1e300));
    CHECK(json_number_is_integer(-3));
    char text[JSON_NUMBER_TEXT_BYTES];
    CHECK_INT(json_number_format_integer(INT64_MIN, text), 20);
    CHECK_TEXT(text, "-9223372036854775808");
}

// Doubles of every kind: any bits, powers of two, short decimals, subnormals.
static double random_double(Rng *rng)
{
    const uint32_t kind = rng_below(rng, 5);
    const uint64_t bits = rng_u64(rng);
    switch (kind) {
    case 0:
        return from_bits(bits & 0xfff0000000000000ull);
    case 1:
        return (double)(int64_t)(bits >> 24) / (double)(1ull << (bits & 31));
    case 2:
        return (double)(int64_t)(bits >> 30) / 1000.0;
    case 3:
        return from_bits(bits & 0x800fffffffffffffull);
    default:
        return from_bits(bits);
    }
}

TEST(json_number_written_and_read_is_the_same_double)
{
    Rng rng = rng_make(20240229, 1);
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; i < 40000 && test_is_passing(); i++) {
        const double value = random_double(&rng);
        if (value - value != 0) {
            continue;
        }
        char text[JSON_NUMBER_TEXT_BYTES];
        const size_t length = json_number_format(value, text);
        double back = 0;
        CHECK(parses(text, &back));
        CHECK(to_bits(back) == to_bits(value));
        hash_bytes(&hash, text, length);
    }
    if (hash.state != GOLDEN_FORMAT) {
        test_fail(__FILE__, __LINE__, "the hash is 0x%016llx", (unsigned long long)hash.state);
    }
}

static int significant_digits(const char *text)
{
    int count = 0;
    int zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') {
            count += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && count > 0) {
            zeros += 1;
        }
    }
    return count;
}

TEST(json_number_floats_read_back_and_could_not_be_shorter)
{
    Rng rng = rng_make(20240229, 2);
    for (uint32_t i = 0; i < 20000 && test_is_passing(); i++) {
        const float value =
            i % 2 == 0 ? float_from_bits(rng_u32(&rng)) : rng_range(&rng, -1000, 1000);
        if (value - value != 0) {
            continue;
        }
        char text[JSON_NUMBER_TEXT_BYTES];
        (void)json_number_format_f32(value, text);
        double back = 0;
        CHECK(parses(text, &back));
        CHECK((float)back == value);
        const int digits = significant_digits(text);
        if (digits > 1 && digits <= 9) {
            char shorter[40];
            (void)snprintf(shorter, sizeof shorter, "%.*e", digits - 2, (double)value);
            const double other = strtod(shorter, NULL);
            CHECK(other > 3.4e38 || other < -3.4e38 || (float)other != value);
        }
    }
}

TEST(json_number_reading_gives_the_same_bits_in_every_build)
{
    Rng rng = rng_make(20240229, 3);
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; i < 40000; i++) {
        char text[64];
        size_t at = 0;
        const uint32_t digits = 1 + rng_below(&rng, 30);
        for (uint32_t d = 0; d < digits; d++) {
            text[at++] = (char)('0' + rng_below(&rng, 10));
            if (d == 0) {
                text[at++] = '.';
            }
        }
        const int exponent = (int)rng_below(&rng, 660) - 340;
        (void)snprintf(text + at, sizeof text - at, "0e%d", exponent);
        double value = -1;
        hash_u32(&hash, parses(text, &value));
        hash_u64(&hash, to_bits(value));
    }
    if (hash.state != GOLDEN_PARSE) {
        test_fail(__FILE__, __LINE__, "the hash is 0x%016llx", (unsigned long long)hash.state);
    }
}
