// Any power is a multiple of 28, from a table of 128 bits, times one of 28 powers that 64 bits hold
// exactly (10^n = 5^n × 2^n, and 5^27 has 63 bits). The table is rounded down, and so is every
// product, so a product is never too large. tests/unit/test_power_of_ten.c computes all of it again
// with long integers.
#include "core/base/power_of_ten.h"

#include "core/base/check.h"

#include <string.h>

#define STRIDE 28

#define WIDE(high, low) ((Wide)(high) << 64 | (low))
static const Wide COARSE[] = {
    WIDE(0xe1afa13afbd14d6d, 0x82189c09a3a1ec21), // 10^-364
    WIDE(0xe3e27a444d8d98b7, 0xfd1b1b2308169b25), // 10^-336
    WIDE(0xe61acf033d1a45df, 0x6fb92487298e33bd), // 10^-308
    WIDE(0xe858ad248f5c22c9, 0xd1b3400f8f9cff68), // 10^-280
    WIDE(0xea9c227723ee8bcb, 0x465e15a979c1cadc), // 10^-252
    WIDE(0xece53cec4a314ebd, 0xa4f8bf5635246428), // 10^-224
    WIDE(0xef340a98172aace4, 0x86fb897116c87c34), // 10^-196
    WIDE(0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1), // 10^-168
    WIDE(0xf3e2f893dec3f126, 0x5a89dba3c3efccfa), // 10^-140
    WIDE(0xf64335bcf065d37d, 0x4d4617b5ff4a16d5), // 10^-112
    WIDE(0xf8a95fcf88747d94, 0x75a44c6397ce912a), // 10^-84
    WIDE(0xfb158592be068d2e, 0xeed6e2f0f0d56712), // 10^-56
    WIDE(0xfd87b5f28300ca0d, 0x8bca9d6e188853fc), // 10^-28
    WIDE(0x8000000000000000, 0x0000000000000000), // 10^0
    WIDE(0x813f3978f8940984, 0x4000000000000000), // 10^28
    WIDE(0x82818f1281ed449f, 0xbff8f10e7a8921a4), // 10^56
    WIDE(0x83c7088e1aab65db, 0x792667c6da79e0fa), // 10^84
    WIDE(0x850fadc09923329e, 0x03e2cf6bc604ddb0), // 10^112
    WIDE(0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2), // 10^140
    WIDE(0x87aa9aff79042286, 0x90fb44d2f05d0842), // 10^168
    WIDE(0x88fcf317f22241e2, 0x441fece3bdf81f03), // 10^196
    WIDE(0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f), // 10^224
    WIDE(0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e), // 10^252
    WIDE(0x8d07e33455637eb2, 0xdb0b487b6423e1e8), // 10^280
    WIDE(0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648), // 10^308
    WIDE(0x8fcac257558ee4e6, 0x213a4f0aa5e8a7b1), // 10^336
};
#define COARSE_EXACT_FIRST 13 // 10^0 and 10^28 fit into 128 bits
#define COARSE_EXACT_LAST  14
_Static_assert(sizeof COARSE / sizeof COARSE[0] * STRIDE == POWER_OF_TEN_MAX - POWER_OF_TEN_MIN + 1,
               "the table has every power of the range");

static const uint64_t POWERS_OF_5[STRIDE] = {
    1ull,
    5ull,
    25ull,
    125ull,
    625ull,
    3125ull,
    15625ull,
    78125ull,
    390625ull,
    1953125ull,
    9765625ull,
    48828125ull,
    244140625ull,
    1220703125ull,
    6103515625ull,
    30517578125ull,
    152587890625ull,
    762939453125ull,
    3814697265625ull,
    19073486328125ull,
    95367431640625ull,
    476837158203125ull,
    2384185791015625ull,
    11920928955078125ull,
    59604644775390625ull,
    298023223876953125ull,
    1490116119384765625ull,
    7450580596923828125ull,
};

// a × b / 2^64, rounded down; is_cut says that it was rounded.
static Wide multiply_high(Wide a, uint64_t b, bool *is_cut)
{
    const Wide low = (Wide)(uint64_t)a * b;
    *is_cut = (uint64_t)low != 0;
    return (Wide)(uint64_t)(a >> 64) * b + (low >> 64);
}

PowerOfTen power_of_ten(int32_t n)
{
    ASSERT(n >= POWER_OF_TEN_MIN && n <= POWER_OF_TEN_MAX);
    const uint32_t at = (uint32_t)(n - POWER_OF_TEN_MIN) / STRIDE;
    const uint64_t fine = POWERS_OF_5[(uint32_t)(n - POWER_OF_TEN_MIN) % STRIDE];
    bool is_cut;
    Wide value = multiply_high(COARSE[at], fine << __builtin_clzll(fine), &is_cut);
    const bool is_exact = at >= COARSE_EXACT_FIRST && at <= COARSE_EXACT_LAST && !is_cut;
    value <<= value >> 127 == 0;
    // Less than 1 is missing from the table and less than 1 was cut, both doubled at most. log2(10)
    // is 217706 / 2^16; 2^27 more and 2^11 less, because C rounds negative quotients up.
    const int32_t log2 = (n * 217706 + (1 << 27)) / (1 << 16) - (1 << 11);
    return (PowerOfTen){.value = value, .exponent = log2 - 127, .error = is_exact ? 0 : 4};
}

uint64_t power_of_ten_whole(uint32_t n)
{
    ASSERT(n <= 19);
    return POWERS_OF_5[n] << n;
}

uint64_t power_of_five_whole(uint32_t n)
{
    ASSERT(n < STRIDE);
    return POWERS_OF_5[n];
}

Wide power_multiply(const PowerOfTen *power, uint64_t factor, uint32_t *slack)
{
    bool is_cut;
    const Wide product = multiply_high(power->value, factor, &is_cut);
    *slack = power->error != 0 ? 2 : is_cut || (product & 7) != 0;
    return product >> (POWER_DROPPED_BITS - 64);
}

Wide power_round(Wide value, uint32_t bits)
{
    ASSERT(bits > 0 && bits < 128);
    const Wide half = (Wide)1 << (bits - 1);
    const Wide rest = value & (half - 1 + half);
    const Wide whole = value >> bits;
    return whole + (rest > half || (rest == half && (whole & 1) != 0));
}

int32_t power_log10_of_two(int32_t n)
{
    ASSERT(n >= -1100 && n <= 1100);
    // log10(2) is 78913 / 2^18; 2^30 more and 2^12 less, as above.
    return (n * 78913 + (1 << 30)) / (1 << 18) - (1 << 12);
}

void power_split_double(double value, uint64_t *mantissa, int32_t *exponent)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t field = (int32_t)(bits >> 52 & 0x7ff);
    *mantissa = (bits & 0xfffffffffffffull) | (field != 0 ? 1ull << 52 : 0);
    *exponent = (field != 0 ? field : 1) - 1075;
}

bool power_scale(double value, int32_t places, uint64_t *scaled)
{
    uint64_t mantissa;
    int32_t exponent;
    power_split_double(value, &mantissa, &exponent);
    ASSERT(mantissa != 0);
    if (places < POWER_OF_TEN_MIN || places > POWER_OF_TEN_MAX) {
        return false;
    }
    const PowerOfTen power = power_of_ten(places);
    const int32_t unused = __builtin_clzll(mantissa);
    uint32_t slack;
    const Wide product = power_multiply(&power, mantissa << unused, &slack);
    const int32_t bits = -(exponent - unused + power.exponent + POWER_DROPPED_BITS);
    if (bits < 64 || bits > 127) {
        return false;
    }
    const Wide whole = power_round(product, (uint32_t)bits);
    if (whole != power_round(product + slack, (uint32_t)bits) || whole >= 1000000000000000000ull) {
        return false;
    }
    *scaled = (uint64_t)whole;
    return true;
}
