// Decimal digits. Both directions first multiply by a power of ten in 128 bits (power_of_ten.h),
// which gives a result and how far it can be from the true one; that decides nearly always. The
// rest is decided by exact arithmetic on large integers: reading compares with the number half way
// between two doubles; writing is the free-format algorithm of Steele and White, which produces
// digits until what is left lies within half the distance to the neighbours.
//
// How large: a text of 256 digits and an exponent down to -323 is compared with 5^579 times a
// double, 1,399 bits. Writing stays below 1,200 bits.
#include "core/base/decimal.h"

#include "core/base/check.h"
#include "core/base/power_of_ten.h"

#include <string.h>

#define BIG_WORDS 23

// Little-endian words; words[count - 1] is not zero.
typedef struct Big {
    uint64_t words[BIG_WORDS];
    uint32_t count;
} Big;

static void big_set(Big *big, uint64_t value)
{
    big->words[0] = value;
    big->count = value != 0;
}

static void big_push(Big *big, uint64_t word)
{
    ASSERT(big->count < BIG_WORDS);
    big->words[big->count++] = word;
}

// big × factor + addend
static void big_multiply_add(Big *big, uint64_t factor, uint64_t addend)
{
    uint64_t carry = addend;
    for (uint32_t i = 0; i < big->count; i++) {
        const Wide product = (Wide)big->words[i] * factor + carry;
        big->words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry != 0) {
        big_push(big, carry);
    }
}

static void big_multiply_power_of_ten(Big *big, uint32_t exponent)
{
    for (; exponent >= 19; exponent -= 19) {
        big_multiply_add(big, power_of_ten_whole(19), 0);
    }
    big_multiply_add(big, power_of_ten_whole(exponent), 0);
}

static void big_multiply_power_of_five(Big *big, uint32_t exponent)
{
    for (; exponent >= 27; exponent -= 27) {
        big_multiply_add(big, power_of_five_whole(27), 0);
    }
    big_multiply_add(big, power_of_five_whole(exponent), 0);
}

static void big_shift_left(Big *big, uint32_t bits)
{
    if (big->count == 0) {
        return;
    }
    const uint32_t words = bits / 64;
    ASSERT(words <= BIG_WORDS - big->count);
    memmove(big->words + words, big->words, big->count * sizeof big->words[0]);
    memset(big->words, 0, words * sizeof big->words[0]);
    big->count += words;
    big_multiply_add(big, 1ull << bits % 64, 0);
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
        const Wide sum = (Wide)a->words[i] + (i < b->count ? b->words[i] : 0) + carry;
        a->words[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

// a must not be less than b.
static void big_subtract(Big *a, const Big *b)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const Wide left = (Wide)a->words[i] - (i < b->count ? b->words[i] : 0) - borrow;
        a->words[i] = (uint64_t)left;
        borrow = left >> 64 != 0;
    }
    ASSERT(borrow == 0);
    while (a->count > 0 && a->words[a->count - 1] == 0) {
        a->count -= 1;
    }
}

static int32_t big_bits(const Big *big)
{
    ASSERT(big->count > 0);
    return (int32_t)(64 * big->count) - __builtin_clzll(big->words[big->count - 1]);
}

// --- reading ------------------------------------------------------------------------------------

#define WHOLE_DIGITS 19 // 10^19 is below 2^64

// What decimal_to_double works with: up to nineteen digits × 10^scale.
typedef struct Whole {
    uint64_t digits;
    int32_t scale;
    bool is_cut; // there are more digits
} Whole;

static Whole take_whole(const Decimal *decimal)
{
    const bool is_cut = decimal->digit_count > WHOLE_DIGITS;
    const uint32_t count = is_cut ? WHOLE_DIGITS : decimal->digit_count;
    uint64_t digits = 0;
    for (uint32_t i = 0; i < count; i++) {
        digits = digits * 10 + decimal->digits[i];
    }
    return (Whole){digits, decimal->exponent - (int32_t)count, is_cut};
}

// Whole numbers up to 2^53 and powers of ten up to 10^22 are doubles, so one operation rounds once.
static bool to_double_quickly(const Whole *whole, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (whole->is_cut || whole->digits > 1ull << 53 || whole->scale < -22 || whole->scale > 22) {
        return false;
    }
    const double digits = (double)(int64_t)whole->digits;
    *value = whole->scale < 0 ? digits / powers[-whole->scale] : digits * powers[whole->scale];
    return true;
}

// The decimal against (quotient + 1/2) × 2^exponent.
static int compare_with_half(const Decimal *decimal, uint64_t quotient, int32_t exponent)
{
    Big number;
    Big half;
    big_set(&number, 0);
    for (uint32_t i = 0; i < decimal->digit_count;) {
        uint64_t digits = 0;
        uint32_t count = 0;
        for (; i < decimal->digit_count && count < WHOLE_DIGITS; i++, count++) {
            digits = digits * 10 + decimal->digits[i];
        }
        big_multiply_add(&number, power_of_ten_whole(count), digits);
    }
    big_set(&half, 2 * quotient + 1);
    // 10^scale is 5^scale × 2^scale, and half has a bit more than the quotient.
    const int32_t scale = decimal->exponent - (int32_t)decimal->digit_count;
    const int32_t shift = scale - (exponent - 1);
    big_multiply_power_of_five(scale < 0 ? &half : &number, (uint32_t)(scale < 0 ? -scale : scale));
    big_shift_left(shift < 0 ? &half : &number, (uint32_t)(shift < 0 ? -shift : shift));
    return big_compare(&number, &half);
}

// Infinity if the quotient is too large.
static double make_double(uint64_t quotient, int32_t power)
{
    // The leading bit, or a carry out of the rounding, adds one to the exponent field.
    const uint64_t field = power >= -1022 ? (uint64_t)(power + 1022) : 0;
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
    const Whole whole = take_whole(decimal);
    double value;
    if (to_double_quickly(&whole, &value)) {
        return value;
    }
    const PowerOfTen ten = power_of_ten(whole.scale);
    const int32_t unused = __builtin_clzll(whole.digits);
    uint32_t slack;
    const Wide least = power_multiply(&ten, whole.digits << unused, &slack);
    // Digits that were cut are less than 1 in the last that was not.
    const Wide most = least + slack + (whole.is_cut ? (Wide)1 << (unused + 62) : 0);
    const int32_t exponent = ten.exponent + POWER_DROPPED_BITS - unused;
    const int32_t bits = 128 - __builtin_clzll((uint64_t)(least >> 64));
    const int32_t power = exponent + bits - 1; // of the highest bit
    if (power > 1023) {
        return __builtin_inf();
    }
    // A subnormal has fewer bits, down to none, and below that less than half of the lowest.
    const int32_t kept = power >= -1022 ? 53 : 53 + power + 1022;
    const uint32_t dropped = (uint32_t)(bits - kept);
    uint64_t quotient = (uint64_t)power_round(least, dropped);
    if (quotient != (uint64_t)power_round(most, dropped)) {
        const int order = compare_with_half(decimal, quotient, exponent + (int32_t)dropped);
        quotient += order > 0 || (order == 0 && quotient % 2 != 0);
    }
    return make_double(quotient, power);
}

// --- writing ------------------------------------------------------------------------------------

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

// The number and the ends of what reads back as it, × 10^places in units of 2^-bits; the true
// values are up to `slack` larger.
typedef struct Range {
    Wide low, middle, high;
    uint32_t slack;
    uint32_t bits;
    bool takes_ends;
} Range;

typedef enum Side { SIDE_IN, SIDE_OUT, SIDE_UNKNOWN } Side;

static Side range_side(const Range *range, uint64_t whole)
{
    const Wide value = (Wide)whole << range->bits;
    if (value > range->low + range->slack && value < range->high) {
        return SIDE_IN;
    }
    if (value < range->low || value > range->high + range->slack) {
        return SIDE_OUT;
    }
    // At an end, or too near to it to tell.
    return range->slack != 0 ? SIDE_UNKNOWN : range->takes_ends ? SIDE_IN : SIDE_OUT;
}

// The multiple of a step that is in the range and nearest to the middle (the even one of a tie).
static Side range_multiple(const Range *range, uint64_t step, uint64_t *multiple)
{
    const uint64_t whole = (uint64_t)((range->middle + range->slack) >> range->bits);
    const uint64_t down = whole / step;
    const Side low = range_side(range, down * step);
    const Side high = range_side(range, (down + 1) * step);
    *multiple = high == SIDE_IN ? down + 1 : down;
    if (low != SIDE_IN || high != SIDE_IN) {
        return low == SIDE_UNKNOWN || high == SIDE_UNKNOWN ? SIDE_UNKNOWN
               : low == SIDE_IN || high == SIDE_IN         ? SIDE_IN
                                                           : SIDE_OUT;
    }
    const Wide half_way = (Wide)((2 * down + 1) * step) << range->bits;
    const Wide middle = 2 * range->middle;
    if (range->slack != 0 && middle <= half_way && middle + 2 * range->slack >= half_way) {
        return SIDE_UNKNOWN;
    }
    *multiple = down + (middle > half_way || (middle == half_way && down % 2 != 0));
    return SIDE_IN;
}

static void put_whole(uint64_t whole, Decimal *decimal)
{
    uint8_t reversed[20];
    uint32_t count = 0;
    for (; whole != 0; whole /= 10) {
        reversed[count++] = (uint8_t)(whole % 10);
    }
    for (uint32_t i = 0; i < count; i++) {
        decimal->digits[i] = reversed[count - 1 - i];
    }
    decimal->digit_count = count;
}

// The shortest digits by 128 bits, if they are enough to decide: the largest power of ten of which
// a multiple lies in the range.
static bool print_quickly(uint64_t mantissa, int32_t exponent, bool is_lower_closer,
                          Decimal *decimal)
{
    // Seventeen or eighteen digits before the point.
    const int32_t log2 = exponent + 63 - __builtin_clzll(mantissa);
    const int32_t places = DECIMAL_SHORTEST_MAX - 1 - power_log10_of_two(log2);
    const PowerOfTen ten = power_of_ten(places);
    const uint64_t middle = 4 * mantissa;
    const int32_t unused = __builtin_clzll(middle + 2);
    uint32_t slack[3];
    Range range;
    range.low = power_multiply(&ten, (middle - (is_lower_closer ? 1 : 2)) << unused, &slack[0]);
    range.middle = power_multiply(&ten, middle << unused, &slack[1]);
    range.high = power_multiply(&ten, (middle + 2) << unused, &slack[2]);
    range.slack = slack[0] | slack[1] | slack[2];
    range.bits = (uint32_t) - (exponent - 2 - unused + ten.exponent + POWER_DROPPED_BITS);
    range.takes_ends = mantissa % 2 == 0;
    // A multiple of a larger power is one of the smaller ones too.
    uint64_t found = 0;
    int32_t zeros = -1, too_many = DECIMAL_SHORTEST_MAX + 1;
    while (zeros + 1 < too_many) {
        const int32_t tried = (zeros + too_many) / 2;
        uint64_t multiple;
        const Side side = range_multiple(&range, power_of_ten_whole((uint32_t)tried), &multiple);
        if (side == SIDE_UNKNOWN) {
            return false;
        }
        found = side == SIDE_IN ? multiple : found;
        zeros = side == SIDE_IN ? tried : zeros;
        too_many = side == SIDE_IN ? too_many : tried;
    }
    ASSERT(found != 0);
    put_whole(found, decimal);
    decimal->exponent = (int32_t)decimal->digit_count + zeros - places;
    return true;
}

static void print_binary(uint64_t mantissa, int32_t exponent, bool is_lower_closer,
                         Decimal *decimal)
{
    if (!print_quickly(mantissa, exponent, is_lower_closer, decimal)) {
        Printer printer = printer_make(mantissa, exponent, is_lower_closer);
        print_shortest(&printer, decimal);
    }
}

void decimal_from_double(double value, Decimal *decimal)
{
    ASSERT(value > 0 && value - value == 0);
    uint64_t mantissa;
    int32_t exponent;
    power_split_double(value, &mantissa, &exponent);
    // Below a power of two the doubles are twice as close, but not below the smallest normal one.
    print_binary(mantissa, exponent, mantissa == 1ull << 52 && exponent > -1074, decimal);
}

void decimal_from_float(float value, Decimal *decimal)
{
    ASSERT(value > 0 && value - value == 0);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t field = (int32_t)(bits >> 23);
    const uint32_t fraction = bits & 0x7fffffu;
    const uint32_t mantissa = field == 0 ? fraction : fraction | 1u << 23;
    print_binary(mantissa, (field == 0 ? 1 : field) - 150, fraction == 0 && field > 1, decimal);
}
