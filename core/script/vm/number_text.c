// A finite double is a whole number times a power of two, so its decimal digits are finite. If up
// to 17 are wanted, it is scaled into 128 bits and rounded there; otherwise, and if that does not
// decide the last digit, it is written out in full as digits in base 10^9 and rounded by what is
// left out.
#include "core/script/vm/number.h"

#include "core/base/check.h"
#include "core/base/decimal.h"
#include "core/base/power_of_ten.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct Conversion {
    bool left, plus, space, alternate, zero, upper;
    int width;
    int precision; // -1: none given
    char letter;   // a, e, f, g
} Conversion;

static int read_two_digits(const char **text)
{
    int value = 0;
    for (int i = 0; i < 2 && **text >= '0' && **text <= '9'; i++) {
        value = value * 10 + (*(*text)++ - '0');
    }
    return value;
}

static Conversion read_conversion(const char *text)
{
    Conversion c = {.precision = -1};
    ASSERT(*text == '%');
    for (text++; *text != '\0' && strchr("-+ #0", *text) != NULL; text++) {
        c.left |= *text == '-';
        c.plus |= *text == '+';
        c.space |= *text == ' ';
        c.alternate |= *text == '#';
        c.zero |= *text == '0';
    }
    c.width = read_two_digits(&text);
    if (*text == '.') {
        text++;
        c.precision = read_two_digits(&text);
    }
    c.upper = *text >= 'A' && *text <= 'Z';
    c.letter = (char)(c.upper ? *text + ('a' - 'A') : *text);
    ASSERT(c.letter == 'a' || (c.letter >= 'e' && c.letter <= 'g'));
    return c;
}

// --- digits -------------------------------------------------------------------------------------
// A number
// as 0.d1d2d3… × 10^point, rounded; digits are '0' and up.
typedef struct Digits {
    char text[1200];
    int count;
    int point;
} Digits;

// Cuts the digits to `count` (which may be zero or less) and rounds half to even. Digits past the
// end are zeros; `more` says that something not zero follows the digits there are.
static void round_digits(Digits *d, int count, bool more)
{
    if (count >= d->count) {
        return;
    }
    if (count < 0) {
        d->count = 0;
        return;
    }
    bool rest = more;
    for (int i = count + 1; i < d->count; i++) {
        rest |= d->text[i] != '0';
    }
    const char next = d->text[count];
    const bool odd = count > 0 && ((d->text[count - 1] - '0') & 1) != 0;
    const bool up = next > '5' || (next == '5' && (rest || odd));
    d->count = count;
    if (!up) {
        return;
    }
    int i = count - 1;
    for (; i >= 0 && d->text[i] == '9'; i--) {
        d->text[i] = '0';
    }
    if (i >= 0) {
        d->text[i]++;
        return;
    }
    // 999 → 1000
    memmove(d->text + 1, d->text, (size_t)d->count);
    d->text[0] = '1';
    d->count += 1;
    d->point += 1;
}

// Writes a whole number below 10^width with leading zeros.
static void put_padded(char *out, uint64_t value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

static int put_number(char *out, uint64_t value)
{
    char reversed[24];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (int i = 0; i < count; i++) {
        out[i] = reversed[count - 1 - i];
    }
    return count;
}

// The digits of mantissa × 2^exponent in full: the whole part by division, the fraction by
// multiplication, nine digits at a time.
#define LIMBS 40 // 1,100 bits in base 10^9 is 37

static int whole_digits(uint64_t mantissa, int shift, char *out)
{
    uint32_t limbs[LIMBS] = {0};
    int count = 0;
    for (uint64_t rest = mantissa; rest != 0; rest /= 1000000000) {
        limbs[count++] = (uint32_t)(rest % 1000000000);
    }
    while (shift > 0) {
        const int by = shift < 29 ? shift : 29;
        uint64_t carry = 0;
        for (int i = 0; i < count; i++) {
            carry += (uint64_t)limbs[i] << by;
            limbs[i] = (uint32_t)(carry % 1000000000);
            carry /= 1000000000;
        }
        if (carry != 0) {
            ASSERT(count < LIMBS);
            limbs[count++] = (uint32_t)carry;
        }
        shift -= by;
    }
    if (count == 0) {
        return 0;
    }
    int length = put_number(out, limbs[count - 1]);
    for (int i = count - 2; i >= 0; i--) {
        put_padded(out + length, limbs[i], 9);
        length += 9;
    }
    return length;
}

// The fraction mantissa / 2^shift < 1, which has exactly `shift` decimal places.
static int fraction_digits(uint64_t mantissa, int shift, int places_max, char *out, bool *more)
{
    uint32_t words[36] = {0}; // little-endian, the point above word `top`
    const int top = (shift + 31) / 32;
    const int up = top * 32 - shift;
    const Wide aligned = (Wide)mantissa << up;
    for (int i = 0; i < 4 && i < top; i++) {
        words[i] = (uint32_t)(aligned >> (32 * i));
    }
    int length = 0;
    int low = 0;
    while (low < top && length < places_max) {
        uint64_t carry = 0;
        for (int i = low; i < top; i++) {
            carry += (uint64_t)words[i] * 1000000000;
            words[i] = (uint32_t)carry;
            carry >>= 32;
        }
        put_padded(out + length, carry, 9);
        length += 9;
        while (low < top && words[low] == 0) {
            low++;
        }
    }
    *more = low < top;
    return length;
}

// All digits down to `places` behind the point, or to `significant` of them when places < 0.
static void exact_digits(double value, int significant, int places, Digits *d)
{
    uint64_t mantissa;
    int exponent;
    power_split_double(value, &mantissa, &exponent);
    bool more = false;
    uint64_t fraction = 0;
    int shift = 0;
    if (exponent >= 0) {
        d->count = whole_digits(mantissa, exponent, d->text);
    } else {
        shift = -exponent;
        const uint64_t whole = shift < 64 ? mantissa >> shift : 0;
        fraction = shift < 64 ? mantissa & ((1ull << shift) - 1) : mantissa;
        d->count = whole != 0 ? put_number(d->text, whole) : 0;
    }
    d->point = d->count;
    if (fraction != 0) {
        // Leading zeros are not significant: at most 323 of them.
        const int wanted = places >= 0 ? places + 1 : significant + 330;
        d->count += fraction_digits(fraction, shift, wanted, d->text + d->count, &more);
    }
    int zeros = 0;
    while (zeros < d->count && d->text[zeros] == '0') {
        zeros++;
    }
    memmove(d->text, d->text + zeros, (size_t)(d->count - zeros));
    d->count -= zeros;
    d->point -= zeros;
    round_digits(d, places >= 0 ? d->point + places : significant, more);
}

// Up to 17 significant digits.
static bool quick_digits(double value, int significant, Digits *d)
{
    uint64_t mantissa;
    int exponent;
    power_split_double(value, &mantissa, &exponent);
    // 10^(point - 1) <= value < 10^point, or point is one too low.
    int point = power_log10_of_two(exponent + 63 - __builtin_clzll(mantissa)) + 1;
    const uint64_t end = power_of_ten_whole((uint32_t)significant);
    uint64_t scaled;
    if (!power_scale(value, significant - point, &scaled)) {
        return false;
    }
    // Or it rounded up to the next power.
    if (scaled >= end) {
        point++;
        if (!power_scale(value, significant - point, &scaled)) {
            return false;
        }
    }
    put_padded(d->text, scaled, significant);
    d->count = significant;
    d->point = point;
    return true;
}

// Like exact_digits, and usually much faster.
static void make_digits(double value, int significant, int places, Digits *d)
{
    uint64_t scaled;
    if (places < 0 && significant <= 17 && quick_digits(value, significant, d)) {
        return;
    }
    if (places >= 0 && power_scale(value, places, &scaled)) {
        d->count = scaled == 0 ? 0 : put_number(d->text, scaled);
        d->point = d->count - places;
        return;
    }
    exact_digits(value, significant, places, d);
}

// --- layouts ------------------------------------------------------------------------------------
typedef struct NumberText {
    char body[NUMBER_TEXT_BYTES];
    int length;
} NumberText;

static void append_char(NumberText *t, char c)
{
    ASSERT(t->length < NUMBER_TEXT_BYTES - 1);
    t->body[t->length++] = c;
}

static char digit_at(const Digits *d, int index)
{
    return index >= 0 && index < d->count ? d->text[index] : '0';
}

static void put_exponent(NumberText *t, char letter, int exponent, int digits_min)
{
    char digits[8];
    append_char(t, letter);
    append_char(t, exponent < 0 ? '-' : '+');
    const int count = put_number(digits, (uint64_t)(exponent < 0 ? -exponent : exponent));
    for (int i = count; i < digits_min; i++) {
        append_char(t, '0');
    }
    for (int i = 0; i < count; i++) {
        append_char(t, digits[i]);
    }
}

static void put_fixed(NumberText *t, const Digits *d, int places, bool point)
{
    if (d->point <= 0) {
        append_char(t, '0');
    }
    for (int i = 0; i < d->point; i++) {
        append_char(t, digit_at(d, i));
    }
    if (places > 0 || point) {
        append_char(t, '.');
    }
    for (int i = 0; i < places; i++) {
        append_char(t, digit_at(d, d->point + i));
    }
}

static void put_scientific(NumberText *t, const Digits *d, int places, bool point, char letter)
{
    append_char(t, digit_at(d, 0));
    if (places > 0 || point) {
        append_char(t, '.');
    }
    for (int i = 0; i < places; i++) {
        append_char(t, digit_at(d, 1 + i));
    }
    put_exponent(t, letter, d->count == 0 ? 0 : d->point - 1, 2);
}

// g: the shorter of the two, without trailing zeros unless '#'.
static void put_general(NumberText *t, Digits *d, int significant, const Conversion *c)
{
    const int exponent = d->count == 0 ? 0 : d->point - 1;
    if (!c->alternate) {
        while (d->count > 0 && d->text[d->count - 1] == '0') {
            d->count--;
        }
    }
    if (exponent < -4 || exponent >= significant) {
        int places = c->alternate ? significant - 1 : d->count - 1;
        places = places > 0 ? places : 0;
        put_scientific(t, d, places, c->alternate, c->upper ? 'E' : 'e');
    } else {
        int places = c->alternate ? significant - 1 - exponent : d->count - d->point;
        places = places > 0 ? places : 0;
        put_fixed(t, d, places, c->alternate);
    }
}

static void put_hexadecimal(NumberText *t, double value, const Conversion *c)
{
    const char *digits = c->upper ? "0123456789ABCDEF" : "0123456789abcdef";
    uint64_t mantissa;
    int exponent;
    power_split_double(value, &mantissa, &exponent);
    exponent += 52;
    if (mantissa == 0) {
        exponent = 0;
    }
    int places = 13;
    if (c->precision >= 0 && c->precision < 13) {
        const int drop = 4 * (13 - c->precision);
        const uint64_t half = 1ull << (drop - 1);
        const uint64_t rest = mantissa & ((1ull << drop) - 1);
        mantissa >>= drop;
        mantissa += rest > half || (rest == half && (mantissa & 1) != 0);
        mantissa <<= drop;
        places = c->precision;
    } else if (c->precision < 0) {
        while (places > 0 && (mantissa >> (4 * (13 - places)) & 15) == 0) {
            places--;
        }
    }
    append_char(t, digits[mantissa >> 52 & 15]);
    if (places > 0 || c->precision > 0 || c->alternate) {
        append_char(t, '.');
    }
    for (int i = 0; i < places; i++) {
        append_char(t, digits[mantissa >> (48 - 4 * i) & 15]);
    }
    for (int i = 13; i < c->precision; i++) {
        append_char(t, '0');
    }
    put_exponent(t, c->upper ? 'P' : 'p', exponent, 1);
}

static void put_value(NumberText *t, double value, const Conversion *c)
{
    Digits d = {.count = 0, .point = 0};
    const int precision = c->precision < 0 ? 6 : c->precision;
    switch (c->letter) {
    case 'a':
        put_hexadecimal(t, value, c);
        break;
    case 'e':
        if (value != 0) {
            make_digits(value, precision + 1, -1, &d);
        }
        put_scientific(t, &d, precision, c->alternate, c->upper ? 'E' : 'e');
        break;
    case 'f':
        if (value != 0) {
            make_digits(value, 0, precision, &d);
        }
        put_fixed(t, &d, precision, c->alternate);
        break;
    default: {
        const int significant = precision == 0 ? 1 : precision;
        if (value != 0) {
            make_digits(value, significant, -1, &d);
        }
        put_general(t, &d, significant, c);
        break;
    }
    }
}

size_t number_format(double value, const char *conversion, char out[NUMBER_TEXT_BYTES])
{
    Conversion c = read_conversion(conversion);
    NumberText t;
    t.length = 0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const bool is_nan = value != value;
    const bool negative = bits >> 63 != 0 && !is_nan;
    char head[4];
    int head_length = 0;
    if (negative || c.plus || c.space) {
        head[head_length++] = negative ? '-' : c.plus ? '+' : ' ';
    }
    if (is_nan || value - value != 0) {
        const char *word = is_nan ? (c.upper ? "NAN" : "nan") : (c.upper ? "INF" : "inf");
        for (int i = 0; i < 3; i++) {
            append_char(&t, word[i]);
        }
        c.zero = false;
    } else {
        if (c.letter == 'a') {
            head[head_length++] = '0';
            head[head_length++] = c.upper ? 'X' : 'x';
        }
        put_value(&t, fabs(value), &c);
    }
    int padding = c.width - head_length - t.length;
    padding = padding > 0 ? padding : 0;
    size_t at = 0;
    if (!c.left && !c.zero) {
        memset(out, ' ', (size_t)padding);
        at += (size_t)padding;
    }
    memcpy(out + at, head, (size_t)head_length);
    at += (size_t)head_length;
    if (!c.left && c.zero) {
        memset(out + at, '0', (size_t)padding);
        at += (size_t)padding;
    }
    memcpy(out + at, t.body, (size_t)t.length);
    at += (size_t)t.length;
    if (c.left) {
        memset(out + at, ' ', (size_t)padding);
        at += (size_t)padding;
    }
    ASSERT(at < NUMBER_TEXT_BYTES);
    out[at] = '\0';
    return at;
}

// --- reading ------------------------------------------------------------------------------------
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// An exponent after its letter, clamped; leaves `text` alone when there are no digits.
static int read_exponent(const char **text)
{
    const char *s = *text + 1;
    const bool negative = *s == '-';
    if (*s == '+' || *s == '-') {
        s++;
    }
    if (*s < '0' || *s > '9') {
        return 0;
    }
    int value = 0;
    for (; *s >= '0' && *s <= '9'; s++) {
        if (value < 100000000) {
            value = value * 10 + (*s - '0');
        }
    }
    *text = s;
    return negative ? -value : value;
}

static int clamp(int64_t value, int limit)
{
    return value > limit ? limit : value < -limit ? -limit : (int)value;
}

// mantissa × 2^exponent, rounded once, half to even. Below the smallest normal number a double
// holds fewer bits. The lowest bit of the mantissa may stand for others that were left out.
static double round_binary(uint64_t mantissa, int exponent)
{
    const int bits = 64 - __builtin_clzll(mantissa);
    const int power = exponent + bits - 1; // of the highest bit
    if (power > 1100) {
        return INFINITY;
    }
    if (power < -1075) {
        return 0; // less than half of the smallest
    }
    const int keep = power >= -1022 ? 53 : power + 1075;
    const int drop = bits - keep;
    if (drop > 0) {
        const uint64_t half = 1ull << (drop - 1);
        const uint64_t rest = drop < 64 ? mantissa & ((half << 1) - 1) : mantissa;
        mantissa = drop < 64 ? mantissa >> drop : 0;
        mantissa += rest > half || (rest == half && (mantissa & 1) != 0);
        exponent += drop;
    }
    return __builtin_ldexp((double)mantissa, exponent);
}

static double parse_hexadecimal(const char *s, const char **end)
{
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    bool any = false;
    bool point = false;
    for (;; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        const int digit = hex_value(*s);
        if (digit < 0) {
            break;
        }
        any = true;
        if (mantissa >> 59 == 0) {
            mantissa = mantissa << 4 | (uint64_t)digit;
            exponent -= point ? 4 : 0;
        } else {
            mantissa |= digit != 0; // only whether it is zero
            exponent += point ? 0 : 4;
        }
    }
    if (!any) {
        return 0;
    }
    if (*s == 'p' || *s == 'P') {
        exponent += read_exponent(&s);
    }
    *end = s;
    return mantissa == 0 ? 0 : round_binary(mantissa, clamp(exponent, 1 << 20));
}

typedef struct Numeral {
    Decimal decimal;
    int64_t point; // 0.digits × 10^point
    bool any, seen_point, sticky;
} Numeral;

static void take_digit(Numeral *n, char c)
{
    n->any = true;
    Decimal *d = &n->decimal;
    if (d->digit_count == 0 && c == '0') {
        n->point -= n->seen_point;
        return;
    }
    n->point += !n->seen_point;
    if (d->digit_count < DECIMAL_DIGITS_MAX - 1) {
        d->digits[d->digit_count++] = (uint8_t)(c - '0');
    } else {
        n->sticky |= c != '0';
    }
}

static double parse_decimal(const char *s, const char **end)
{
    Numeral n;
    n.decimal.digit_count = 0;
    n.point = 0;
    n.any = n.seen_point = n.sticky = false;
    for (;; s++) {
        if (*s == '.' && !n.seen_point) {
            n.seen_point = true;
        } else if (*s >= '0' && *s <= '9') {
            take_digit(&n, *s);
        } else {
            break;
        }
    }
    if (!n.any) {
        return 0;
    }
    int exponent = 0;
    if (*s == 'e' || *s == 'E') {
        exponent = read_exponent(&s);
    }
    *end = s;
    Decimal *d = &n.decimal;
    if (n.sticky) {
        d->digits[d->digit_count++] = 1;
    }
    while (d->digit_count > 0 && d->digits[d->digit_count - 1] == 0) {
        d->digit_count--;
    }
    d->exponent = clamp(n.point + exponent, 100000);
    return decimal_to_double(d);
}

double number_parse(const char *text, char **end)
{
    const char *s = text;
    const char *stop = NULL;
    while (is_space(*s)) {
        s++;
    }
    const bool negative = *s == '-';
    if (*s == '-' || *s == '+') {
        s++;
    }
    double value = 0;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        value = parse_hexadecimal(s + 2, &stop);
    }
    if (stop == NULL) {
        value = parse_decimal(s, &stop);
    }
    *end = (char *)(uintptr_t)(stop != NULL ? stop : text);
    return negative && stop != NULL ? -value : value;
}
