// Lua's mathematics compared with the C library in long double, and numbers as text with printf and
// strtod. In WASM a long double is as wide, but its functions come from yet another library, so
// this is a native test; tests/script/same compares the two builds.
#include "core/script/number.h"

#include "core/base/rng.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Rng rng;

static double uniform(double low, double high)
{
    return low + (high - low) * ((double)(rng_u64(&rng) >> 11) * 0x1p-53);
}

static double any_finite(void)
{
    for (;;) {
        const uint64_t bits = rng_u64(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (value - value == 0) {
            return value;
        }
    }
}

// The distance in units of the last place.
static double error_of(double got, long double want)
{
    const double rounded = (double)want;
    if (got == rounded || (got != got && rounded != rounded)) {
        return 0;
    }
    const double unit = nextafter(fabs(rounded), INFINITY) - fabs(rounded);
    return (double)(fabsl((long double)got - want) / (long double)unit);
}

#define WORST(function, reference, argument, bound)                                           \
    do {                                                                                      \
        rng = rng_make(test_seed(), 7);                                                       \
        double worst = 0;                                                                     \
        for (int i = 0; i < 100000; i++) {                                                    \
            const double x = (argument);                                                      \
            const double error = error_of(function(x), reference((long double)x));            \
            worst = error > worst ? error : worst;                                            \
        }                                                                                     \
        if (worst > (bound)) {                                                                \
            test_fail(__FILE__, __LINE__, #function ": %.3f units of the last place", worst); \
        }                                                                                     \
    } while (0)

TEST(error_bounds)
{
    WORST(number_exp, expl, uniform(-700, 700), 0.65);
    WORST(number_exp, expl, uniform(-745, -700), 1.0);
    WORST(number_log, logl, fabs(any_finite()), 0.51);
    WORST(number_log, logl, uniform(0.9, 1.1), 0.51);
    WORST(number_log2, log2l, fabs(any_finite()), 0.51);
    WORST(number_log10, log10l, fabs(any_finite()), 0.51);
    WORST(number_sin, sinl, uniform(-20, 20), 0.8);
    WORST(number_sin, sinl, any_finite(), 0.8);
    WORST(number_sin, sinl, uniform(1e6, 1.1e6), 0.8);
    WORST(number_cos, cosl, uniform(-20, 20), 0.8);
    WORST(number_cos, cosl, any_finite(), 0.8);
    WORST(number_tan, tanl, uniform(-20, 20), 2.5);
    WORST(number_asin, asinl, uniform(-1, 1), 2.5);
    WORST(number_acos, acosl, uniform(-1, 1), 2.5);
}

TEST(power_and_angle)
{
    rng = rng_make(test_seed(), 8);
    for (int i = 0; i < 100000; i++) {
        const double base = uniform(0, 50);
        const double power = uniform(-150, 150);
        const long double want = powl((long double)base, (long double)power);
        if (want > 3e-308L && want < 1e308L) {
            CHECK(error_of(number_pow(base, power), want) <= 0.65);
        }
        const double y = uniform(-3, 3);
        const double x = uniform(-3, 3);
        CHECK(error_of(number_atan2(y, x), atan2l((long double)y, (long double)x)) <= 1.3);
    }
}

TEST(exact_results)
{
    double ten = 1;
    for (int i = 0; i <= 22; i++) {
        CHECK(number_pow(10, i) == ten);
        CHECK(number_log10(ten) == i);
        ten *= 10;
    }
    for (int i = -1074; i <= 1023; i++) {
        CHECK(number_pow(2, i) == ldexp(1, i));
        CHECK(number_log2(ldexp(1, i)) == i);
    }
    CHECK(number_pow(3, 20) == 3486784401.0 && number_pow(-2, 63) == -0x1p63);
    CHECK(number_exp(0) == 1 && number_log(1) == 0 && number_cos(0) == 1);
}

TEST(special_values)
{
    static const double VALUES[] = {0.0, -0.0, 1,   -1,   INFINITY, -INFINITY, NAN,   2,
                                    -2,  3,    0.5, -0.5, 1e308,    -1e308,    1e-308};
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        for (size_t j = 0; j < sizeof VALUES / sizeof VALUES[0]; j++) {
            const double a = VALUES[i];
            const double b = VALUES[j];
            CHECK(error_of(number_pow(a, b), (long double)pow(a, b)) <= 1);
            CHECK(signbit(number_pow(a, b)) == signbit(pow(a, b)) || isnan(pow(a, b)));
            CHECK(error_of(number_atan2(a, b), (long double)atan2(a, b)) <= 1);
            CHECK(signbit(number_atan2(a, b)) == signbit(atan2(a, b)) || isnan(atan2(a, b)));
        }
    }
    CHECK(isnan(number_sin(INFINITY)) && isnan(number_asin(1.5)) && isnan(number_log(-1)));
    CHECK(number_log(0) == -INFINITY && number_exp(1000) == INFINITY && number_exp(-1000) == 0);
    CHECK(signbit(number_sin(-0.0)) && signbit(number_tan(-0.0)) && signbit(number_asin(-0.0)));
}

static double text_value(int kind)
{
    switch (kind % 6) {
    case 0:
        return any_finite();
    case 1:
        return (double)rng_u32(&rng) / 1000;
    case 2:
        return (double)rng_u32(&rng);
    case 3:
        return uniform(-1, 1) * pow(10, (int)rng_below(&rng, 40) - 20);
    case 4:
        return (double)rng_below(&rng, 1000) / 8;
    default:
        return pow(10, (int)rng_below(&rng, 40) - 20);
    }
}

// The conversion, with '#' never at g: some C libraries leave out zeros there after rounding up.
static void make_conversion(char out[32])
{
    static const char *const FLAGS[] = {"", "-", "+", " ", "0", "+0"};
    const uint32_t flag = rng_below(&rng, 6);
    const uint32_t width = rng_below(&rng, 40);
    const uint32_t precision = rng_below(&rng, rng_below(&rng, 4) == 0 ? 99 : 18);
    const char letter = "aefgAEG"[rng_below(&rng, 7)];
    if (rng_below(&rng, 2) == 0) {
        (void)snprintf(out, 32, "%%%s%u.%u%c", FLAGS[flag], width + 1, precision, letter);
    } else {
        (void)snprintf(out, 32, "%%%s.%u%c", FLAGS[flag], precision, letter);
    }
}

TEST(text_as_printf_and_strtod)
{
    rng = rng_make(test_seed(), 9);
    for (int i = 0; i < 100000 && test_is_passing(); i++) {
        const double value = text_value(i);
        char conversion[32] = "%.14g";
        if (i % 2 == 0) {
            make_conversion(conversion);
        }
        char want[1024];
        char got[NUMBER_TEXT_BYTES];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(want, sizeof want, conversion, value);
#pragma GCC diagnostic pop
        const size_t length = number_format(value, conversion, got);
        const bool is_hexadecimal = strpbrk(conversion, "aA") != NULL;
        if (!(is_hexadecimal && fpclassify(value) == FP_SUBNORMAL)) {
            CHECK_TEXT(got, want);
        }
        CHECK_INT(length, strlen(got));
        char *end_got;
        char *end_want;
        const double back_got = number_parse(want, &end_got);
        const double back_want = strtod(want, &end_want);
        CHECK(back_got == back_want && end_got == end_want);
    }
}

TEST(text_of_odd_numerals)
{
    static const char *const TEXTS[] = {
        "0x.8p1",
        "0x",
        "0x1p",
        "1e",
        "1e+",
        ".",
        " .5",
        "-0x1.8p-1075",
        "0x1p-1074",
        "0x1.8p-1074",
        "0x0.8p-1074",
        "0x1.000001p-1074",
        "0x1.fffffffffffff8p0",
        "0x123456789abcdef01p0",
        "1e400",
        "-1e-400",
        "1e99999999999",
        "0x1p99999999",
        "0xffffffffffffffffffffff",
        "2.2250738585072011e-308",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "",
        "-",
        "+",
        "e5",
        "0x.p1",
        "00012.5e-1x",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        char *end_got;
        char *end_want;
        const double got = number_parse(TEXTS[i], &end_got);
        const double want = strtod(TEXTS[i], &end_want);
        CHECK(got == want && signbit(got) == signbit(want));
        CHECK_INT(end_got - TEXTS[i], end_want - TEXTS[i]);
    }
    char text[NUMBER_TEXT_BYTES];
    (void)number_format(-NAN, "%g", text);
    CHECK_TEXT(text, "nan");
    (void)number_format(-INFINITY, "%08G", text);
    CHECK_TEXT(text, "    -INF");
}
