// Every power of ten and its error bound, computed again with long integers; products, rounding and
// estimates against their definitions.
#include "core/base/power_of_ten.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#define WORDS 48 // 10^364 has 1,210 bits; 128 more and an alignment of 32

typedef struct Long {
    uint32_t words[WORDS]; // little-endian
} Long;

static void long_multiply(Long *a, uint32_t factor)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
        carry += (uint64_t)a->words[i] * factor;
        a->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    CHECK_INT(carry, 0);
}

static Long long_power_of_ten(uint32_t n)
{
    Long result = {.words = {1}};
    for (uint32_t i = 0; i < n; i++) {
        long_multiply(&result, 10);
    }
    return result;
}

static Long long_shift(const Long *a, uint32_t bits)
{
    Long result = {.words = {0}};
    for (uint32_t i = bits / 32; i < WORDS; i++) {
        result.words[i] = a->words[i - bits / 32];
    }
    long_multiply(&result, 1u << bits % 32);
    return result;
}

static Long long_wide(Wide value)
{
    Long result = {.words = {0}};
    for (uint32_t i = 0; i < 4; i++) {
        result.words[i] = (uint32_t)(value >> 32 * i);
    }
    return result;
}

static Long long_times_wide(const Long *a, Wide value)
{
    Long result = {.words = {0}};
    for (uint32_t i = 0; i < 4; i++) {
        Long part = long_shift(a, 32 * i);
        long_multiply(&part, (uint32_t)(value >> 32 * i));
        uint64_t carry = 0;
        for (uint32_t j = 0; j < WORDS; j++) {
            carry += (uint64_t)result.words[j] + part.words[j];
            result.words[j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return result;
}

static int long_compare(const Long *a, const Long *b)
{
    for (uint32_t i = WORDS; i > 0; i--) {
        if (a->words[i - 1] != b->words[i - 1]) {
            return a->words[i - 1] < b->words[i - 1] ? -1 : 1;
        }
    }
    return 0;
}

// value × 2^exponent against 10^n: both sides times what makes them whole.
static int compare_with_power(Wide value, int32_t exponent, int32_t n)
{
    const Long ten = long_power_of_ten((uint32_t)(n < 0 ? -n : n));
    const Long one = {.words = {1}};
    Long left = n < 0 ? long_times_wide(&ten, value) : long_wide(value);
    Long right = n < 0 ? one : ten;
    if (exponent < 0) {
        right = long_shift(&right, (uint32_t)-exponent);
    } else {
        left = long_shift(&left, (uint32_t)exponent);
    }
    return long_compare(&left, &right);
}

TEST(every_power_is_within_its_error)
{
    for (int32_t n = POWER_OF_TEN_MIN; n <= POWER_OF_TEN_MAX && test_is_passing(); n++) {
        const PowerOfTen power = power_of_ten(n);
        CHECK(power.value >> 127 == 1);
        CHECK(compare_with_power(power.value, power.exponent, n) <= 0);
        if (power.error == 0) {
            CHECK_INT(compare_with_power(power.value, power.exponent, n), 0);
        } else if (power.value + power.error > power.value) {
            CHECK(compare_with_power(power.value + power.error, power.exponent, n) > 0);
        }
        CHECK((power.error == 0) == (n >= 0 && n <= 54));
    }
    for (uint32_t n = 0; n <= 19; n++) {
        const Long ten = long_power_of_ten(n);
        CHECK_INT(power_of_ten_whole(n), (uint64_t)ten.words[1] << 32 | ten.words[0]);
    }
}

TEST(a_product_is_within_its_slack)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; i < 20000 && test_is_passing(); i++) {
        const PowerOfTen power = power_of_ten((int32_t)rng_below(&rng, 728) - 364);
        const uint64_t factor = i % 2 == 0 ? rng_u64(&rng) : rng_u64(&rng) >> rng_below(&rng, 64);
        uint32_t slack;
        const Wide product = power_multiply(&power, factor, &slack);
        // product × 2^67 <= value × factor, and (value + error) × factor <= (product + slack) ×
        // 2^67
        const Long base = {.words = {(uint32_t)factor, (uint32_t)(factor >> 32)}};
        const Long least = long_times_wide(&base, power.value);
        Long most = least;
        if (power.value + power.error > power.value) {
            most = long_times_wide(&base, power.value + power.error);
        }
        const Long low = long_wide(product), high = long_wide(product + slack);
        const Long low_end = long_shift(&low, POWER_DROPPED_BITS);
        const Long high_end = long_shift(&high, POWER_DROPPED_BITS);
        CHECK(long_compare(&low_end, &least) <= 0 && long_compare(&most, &high_end) <= 0);
        CHECK(slack != 0 || long_compare(&low_end, &least) == 0);
    }
}

TEST(rounding_is_half_to_even)
{
    CHECK_INT((uint64_t)power_round(5, 1), 2);
    CHECK_INT((uint64_t)power_round(7, 1), 4);
    CHECK_INT((uint64_t)power_round(10, 2), 2);
    CHECK_INT((uint64_t)power_round(11, 2), 3);
    const Wide half = (Wide)1 << 126;
    CHECK(power_round(half, 127) == 0 && power_round(half + 1, 127) == 1);
    CHECK(power_round(3 * half, 127) == 2 && power_round(3 * half - 1, 127) == 1);
}

TEST(logarithms_round_down)
{
    for (int32_t n = -1100; n <= 1100; n++) {
        CHECK_INT(power_log10_of_two(n), (int32_t)floor(n * 0.30102999566398119521));
    }
}

TEST(scaling_says_when_it_cannot)
{
    uint64_t scaled = 7;
    CHECK(power_scale(2.5, 0, &scaled));
    CHECK_INT(scaled, 2);
    CHECK(power_scale(1e300, -286, &scaled));
    CHECK_INT(scaled, 100000000000000);
    CHECK(power_scale(5e-324, 340, &scaled));
    CHECK_INT(scaled, 49406564584124654);
    CHECK(!power_scale(1e18, 0, &scaled));
    CHECK(!power_scale(1e300, 0, &scaled) && !power_scale(1, 400, &scaled));
    CHECK(!power_scale(123456789012345.0, -1, &scaled)); // a tie, and no exact power
    CHECK_INT(scaled, 49406564584124654);
}
