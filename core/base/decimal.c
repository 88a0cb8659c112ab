// Decimal digits by exact arithmetic on large integers. Both directions hold the number as a
// fraction of two of them: reading divides and rounds by the remainder; writing is the
// free-format algorithm of Steele and White, which produces digits until what is left lies within
// half the distance to the neighbours.
//
// How large: a text of 256 digits and an exponent down to -323 needs 10^579 below the fraction,
// 1,924 bits; alignment adds 64. Writing stays below 1,200 bits.
#include "core/base/decimal.h"

#include "core/base/check.h"

#include <string.h>

#define BIG_WORDS 72

// Little-endian words; words[count - 1] is not zero.
typedef struct Big {
    uint32_t words[BIG_WORDS];
    uint32_t count;
} Big;

static void big_set(Big *big, uint64_t value)
{
    big->words[0] = (uint32_t)value;
    big->words[1] = (uint32_t)(value >> 32);
    big->count = value >> 32 != 0 ? 2 : value != 0;
}

static void big_push(Big *big, uint32_t word)
{
    ASSERT(big->count < BIG_WORDS);
    big->words[big->count++] = word;
}

// big × factor + addend
static void big_multiply_add(Big *big, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (uint32_t i = 0; i < big->count; i++) {
        carry += (uint64_t)big->words[i] * factor;
        big->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        big_push(big, (uint32_t)carry);
    }
}

static void big_multiply_power_of_ten(Big *big, uint32_t exponent)
{
    for (; exponent >= 9; exponent -= 9) {
        big_multiply_add(big, 1000000000, 0);
    }
    for (; exponent > 0; exponent--) {
        big_multiply_add(big, 10, 0);
    }
}

static void big_shift_left(Big *big, uint32_t bits)
{
    if (big->count == 0) {
        return;
    }
    const uint32_t words = bits / 32;
    ASSERT(words <= BIG_WORDS - big->count);
    memmove(big->words + words, big->words, big->count * sizeof big->words[0]);
    memset(big->words, 0, words * sizeof big->words[0]);
    big->count += words;
    big_multiply_add(big, 1u << bits % 32, 0);
}

static int big_compare(const Big *a, const Big *b)
{
    if (a->count != b->count) {
        return a->count < b->count ? -1 : 1;
    }
    for (uint32_t i = a->count; i > 0; i--) {
        if (a->words[i - 1] != b->words[i - 1]) {
            return a->words[i - 1] < b->words[i - 1] ? -1 : 1;
        }
    }
    return 0;
}

static void big_add(Big *a, const Big *b)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < b->count || carry != 0; i++) {
        if (i == a->count) {
            big_push(a, 0);
        }
        carry += (uint64_t)a->words[i] + (i < b->count ? b->words[i] : 0);
        a->words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

// a must not be less than b.
static void big_subtract(Big *a, const Big *b)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const uint64_t taken = (i < b->count ? b->words[i] : 0) + borrow;
        borrow = a->words[i] < taken;
        a->words[i] = (uint32_t)(a->words[i] - taken);
    }
    ASSERT(borrow == 0);
    while (a->count > 0 && a->words[a->count - 1] == 0) {
        a->count -= 1;
    }
}

// a must not be less than b × factor.
static void big_subtract_multiple(Big *a, const Big *b, uint32_t factor)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        carry += i < b->count ? (uint64_t)b->words[i] * factor : 0;
        const uint32_t taken = (uint32_t)carry;
        carry = (carry >> 32) + (a->words[i] < taken);
        a->words[i] -= taken;
    }
    ASSERT(carry == 0);
    while (a->count > 0 && a->words[a->count - 1] == 0) {
        a->count -= 1;
    }
}

static int32_t big_bits(const Big *big)
{
    ASSERT(big->count > 0);
    return (int32_t)(32 * big->count) - __builtin_clz(big->words[big->count - 1]);
}

// Up to fifteen digits and a power of ten up to 10^22 are doubles, so one operation rounds once.
static bool to_double_quickly(const Decimal *decimal, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int32_t scale = decimal->exponent - (int32_t)decimal->digit_count;
    if (decimal->digit_count > 15 || scale < -22 || scale > 22) {
        return false;
    }
    int64_t whole = 0;
    for (uint32_t i = 0; i < decimal->digit_count; i++) {
        whole = whole * 10 + decimal->digits[i];
    }
    *value = scale < 0 ? (double)whole / powers[-scale] : (double)whole * powers[scale];
    return true;
}

#define STEP_BITS 24

// The next digit of above / below, which is less than 2^STEP_BITS; above becomes the rest. The
// first word of below has its highest bit set, so the estimate by first words is at most two too
// small.
static uint32_t divide_step(Big *above, const Big *below)
{
    const uint32_t last = below->count - 1;
    uint64_t first = 0;
    for (uint32_t i = above->count; i > last; i--) {
        first = first << 32 | above->words[i - 1];
    }
    uint32_t digit = (uint32_t)(first / ((uint64_t)below->words[last] + 1));
    big_subtract_multiple(above, below, digit);
    while (big_compare(above, below) >= 0) {
        big_subtract(above, below);
        digit += 1;
    }
    return digit;
}

// above / below = 1.f × 2^exponent, above and below brought to the same size: the quotient is in
// [1, 2).
static double divide_and_round(Big *above, Big *below, int32_t exponent)
{
    // A subnormal has fewer bits, down to none.
    const int32_t bit_count = exponent >= -1022 ? 53 : 53 + exponent + 1022;
    if (bit_count < 0) {
        return 0;
    }
    const uint32_t unused = (uint32_t)__builtin_clz(below->words[below->count - 1]);
    big_shift_left(above, unused);
    big_shift_left(below, unused);
    uint64_t quotient = 0;
    if (bit_count > 0) {
        quotient = divide_step(above, below);
        for (int32_t left = bit_count - 1; left > 0; left -= STEP_BITS) {
            const uint32_t bits = left < STEP_BITS ? (uint32_t)left : STEP_BITS;
            big_shift_left(above, bits);
            quotient = quotient << bits | divide_step(above, below);
        }
        big_shift_left(above, 1);
    }
    // What is left is above / (2 below) of the last bit.
    const int half = big_compare(above, below);
    if (half > 0 || (half == 0 && (quotient & 1) != 0)) {
        quotient += 1;
    }
    // The leading bit, or a carry out of the rounding, adds one to the exponent field.
    const uint64_t field = exponent >= -1022 ? (uint64_t)(exponent + 1022) : 0;
    const uint64_t bits = (field << 52) + quotient;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double decimal_to_double(const Decimal *decimal)
{
    ASSERT(decimal->digit_count <= DECIMAL_DIGITS_MAX);
    // The number is in [10^(exponent - 1), 10^exponent). Half the smallest double is 2.47e-324, and
    // the largest double is below 1.8e308.
    if (decimal->digit_count == 0 || decimal->exponent < -323) {
        return 0;
    }
    if (decimal->exponent > 309) {
        return __builtin_inf();
    }
    double value;
    if (to_double_quickly(decimal, &value)) {
        return value;
    }
    Big above = {.count = 0};
    Big below;
    big_set(&below, 1);
    for (uint32_t i = 0; i < decimal->digit_count; i++) {
        big_multiply_add(&above, 10, decimal->digits[i]);
    }
    const int32_t scale = decimal->exponent - (int32_t)decimal->digit_count;
    big_multiply_power_of_ten(scale < 0 ? &below : &above, (uint32_t)(scale < 0 ? -scale : scale));
    int32_t exponent = big_bits(&above) - big_bits(&below);
    big_shift_left(exponent < 0 ? &above : &below, (uint32_t)(exponent < 0 ? -exponent : exponent));
    if (big_compare(&above, &below) < 0) {
        big_shift_left(&above, 1);
        exponent -= 1;
    }
    return exponent > 1023 ? __builtin_inf() : divide_and_round(&above, &below, exponent);
}

// A number mantissa × 2^exponent and what reads back as it: `rest` / `scale` is the number, and the
// neighbours begin half_up / scale above and half_down / scale below it.
typedef struct Printer {
    Big rest;
    Big scale;
    Big half_up;
    Big half_down;
    bool takes_ends; // the ends of that range round to an even mantissa
} Printer;

static Printer printer_make(uint64_t mantissa, int32_t exponent, bool is_lower_closer)
{
    Printer printer;
    // All doubled, so that half a distance is a whole number; doubled again where the distance
    // downwards is half of that upwards.
    const uint32_t doubled = is_lower_closer ? 2 : 1;
    const uint32_t up = exponent > 0 ? (uint32_t)exponent : 0;
    const uint32_t down = exponent < 0 ? (uint32_t)-exponent : 0;
    big_set(&printer.rest, mantissa);
    big_shift_left(&printer.rest, up + doubled);
    big_set(&printer.scale, 1);
    big_shift_left(&printer.scale, down + doubled);
    big_set(&printer.half_up, 1);
    big_shift_left(&printer.half_up, up + doubled - 1);
    big_set(&printer.half_down, 1);
    big_shift_left(&printer.half_down, up);
    printer.takes_ends = mantissa % 2 == 0;
    return printer;
}

// rest + half_up against scale: would rounding up reach one?
static bool reaches_one(const Printer *printer)
{
    Big sum = printer->rest;
    big_add(&sum, &printer->half_up);
    const int order = big_compare(&sum, &printer->scale);
    return printer->takes_ends ? order >= 0 : order > 0;
}

static bool is_near_zero(const Printer *printer)
{
    const int order = big_compare(&printer->rest, &printer->half_down);
    return printer->takes_ends ? order <= 0 : order < 0;
}

static void printer_multiply(Printer *printer, uint32_t exponent)
{
    big_multiply_power_of_ten(&printer->rest, exponent);
    big_multiply_power_of_ten(&printer->half_up, exponent);
    big_multiply_power_of_ten(&printer->half_down, exponent);
}

// Brings the number into [0.1, 1) and gives the power of ten that was taken out.
static int32_t printer_normalise(Printer *printer)
{
    // log10(2) = 0.30103; the estimate is the right one or one too small.
    const int32_t bits = big_bits(&printer->rest) - big_bits(&printer->scale);
    int32_t exponent = (bits * 1233 - (bits < 0 ? 4095 : 0)) / 4096;
    if (exponent > 0) {
        big_multiply_power_of_ten(&printer->scale, (uint32_t)exponent);
    } else {
        printer_multiply(printer, (uint32_t)-exponent);
    }
    while (reaches_one(printer)) {
        big_multiply_add(&printer->scale, 10, 0);
        exponent += 1;
    }
    return exponent;
}

// The next digit; what is left stays in rest.
static uint8_t take_digit(Printer *printer)
{
    printer_multiply(printer, 1);
    uint8_t digit = 0;
    while (big_compare(&printer->rest, &printer->scale) >= 0) {
        big_subtract(&printer->rest, &printer->scale);
        digit += 1;
    }
    ASSERT(digit < 10);
    return digit;
}

// When both the last digit and the next one up would read back: the nearer, and even of a tie.
static bool rounds_up(Printer *printer, uint8_t digit)
{
    big_shift_left(&printer->rest, 1);
    const int order = big_compare(&printer->rest, &printer->scale);
    return order > 0 || (order == 0 && digit % 2 != 0);
}

static void print_shortest(Printer *printer, Decimal *decimal)
{
    decimal->exponent = printer_normalise(printer);
    decimal->digit_count = 0;
    for (;;) {
        const uint8_t digit = take_digit(printer);
        const bool is_low = is_near_zero(printer);
        const bool is_high = reaches_one(printer);
        ASSERT(decimal->digit_count < DECIMAL_SHORTEST_MAX);
        if (!is_low && !is_high) {
            decimal->digits[decimal->digit_count++] = digit;
            continue;
        }
        const bool up = is_high && (!is_low || rounds_up(printer, digit));
        // 9 + 1 cannot be: the digits before would have been rounded up already.
        decimal->digits[decimal->digit_count++] = (uint8_t)(digit + up);
        ASSERT(digit + up < 10);
        return;
    }
}

void decimal_from_double(double value, Decimal *decimal)
{
    ASSERT(value > 0 && value - value == 0);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t field = (int32_t)(bits >> 52);
    const uint64_t fraction = bits & 0xfffffffffffffull;
    const uint64_t mantissa = field == 0 ? fraction : fraction | 1ull << 52;
    Printer printer =
        printer_make(mantissa, (field == 0 ? 1 : field) - 1075, fraction == 0 && field > 1);
    print_shortest(&printer, decimal);
}

void decimal_from_float(float value, Decimal *decimal)
{
    ASSERT(value > 0 && value - value == 0);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t field = (int32_t)(bits >> 23);
    const uint32_t fraction = bits & 0x7fffffu;
    const uint32_t mantissa = field == 0 ? fraction : fraction | 1u << 23;
    Printer printer =
        printer_make(mantissa, (field == 0 ? 1 : field) - 150, fraction == 0 && field > 1);
    print_shortest(&printer, decimal);
}
