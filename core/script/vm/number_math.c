// Exponentials and logarithms by series in a pair of doubles; sine and cosine by reduction to an
// eighth of the circle, for large arguments with 1,216 bits of 2/π; arc tangents by a table of
// seventeen and a short series.
#include "core/script/vm/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// An unevaluated sum; |low| is at most half a unit of the last place of high.
typedef struct Pair {
    double high, low;
} Pair;

static Pair sum(double a, double b)
{
    const double s = a + b;
    const double part = s - a;
    return (Pair){s, (a - (s - part)) + (b - part)};
}

// For |a| >= |b|.
static Pair sum_ordered(double a, double b)
{
    const double s = a + b;
    return (Pair){s, b - (s - a)};
}

// Dekker's product, because not every machine has a fused multiply-add. |a|, |b| < 2^500.
static Pair product(double a, double b)
{
    const double split = 134217729.0;
    const double ca = split * a;
    const double a_high = ca - (ca - a);
    const double a_low = a - a_high;
    const double cb = split * b;
    const double b_high = cb - (cb - b);
    const double b_low = b - b_high;
    const double p = a * b;
    return (Pair){p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

static Pair pair_add(Pair a, Pair b)
{
    const Pair s = sum(a.high, b.high);
    return sum_ordered(s.high, s.low + (a.low + b.low));
}

static Pair pair_multiply(Pair a, Pair b)
{
    const Pair p = product(a.high, b.high);
    return sum_ordered(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool is_negative(double x)
{
    return bits_of(x) >> 63 != 0;
}

static double with_sign(double magnitude, bool negative)
{
    return negative ? -magnitude : magnitude;
}

static bool is_finite(double x)
{
    return x - x == 0;
}

// x × 2^power, rounded once; the factors are powers of two.
static double scale(double x, int power)
{
    return __builtin_ldexp(x, power);
}

static const Pair LN2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const Pair LN2_INVERSE = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const Pair LN10_INVERSE = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
static const Pair PI = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
static const Pair HALF_PI = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// --- exponential --------------------------------------------------------------------------------
// e^(x.high +
// x.low).
static double exp_pair(Pair x)
{
    if (x.high > 709.79) {
        return INFINITY;
    }
    if (x.high < -745.2) {
        return 0;
    }
    // ln 2 in two parts, the first short enough that its product with a whole number is exact.
    const double k = floor(x.high * LN2_INVERSE.high + 0.5);
    const Pair rest = sum(x.high - k * 0x1.62e42fee00000p-1, -(k * 0x1.a39ef35793c76p-33));
    const double r = rest.high;
    const double low = rest.low + x.low;
    // e^r - 1 - r for |r| <= 0.35; the first term left out is 1.2e-19.
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r * r;
    const Pair first = sum_ordered(1.0, r);
    return scale(first.high + (first.low + (p + (low + low * (r + p)))), (int)k);
}

double number_exp(double x)
{
    return x == x ? exp_pair((Pair){x, 0}) : x;
}

// --- logarithm ----------------------------------------------------------------------------------
// For finite x
// > 0: the exponent k and the logarithm of the rest, which lies in [√½, √2].
static Pair log_rest(double x, double *k)
{
    int exponent;
    double m = __builtin_frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent -= 1;
    }
    *k = exponent;
    // 2 artanh(s), s = (m - 1) / (m + 1), by the series in z = s².
    const double above = m - 1; // exact
    const Pair below = sum(m, 1);
    Pair s = {above / below.high, 0};
    const Pair back = product(s.high, below.high);
    s.low = (((above - back.high) - back.low) - s.high * below.low) / below.high;
    const Pair z = pair_multiply(s, s);
    double q = 1.0 / 27;
    for (int n = 25; n >= 5; n -= 2) {
        q = q * z.high + 1.0 / n;
    }
    const Pair third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
    const Pair inner = pair_add(third, (Pair){z.high * q, 0});
    const Pair series = pair_add((Pair){1, 0}, pair_multiply(z, inner));
    const Pair half = pair_multiply(s, series);
    return (Pair){2 * half.high, 2 * half.low};
}

static Pair log_pair(double x)
{
    double k;
    const Pair rest = log_rest(x, &k);
    const Pair whole = pair_multiply((Pair){k, 0}, LN2);
    return k == 0 ? rest : pair_add(whole, rest);
}

// The special cases: true when `result` is the answer.
static bool log_special(double x, double *result)
{
    if (x != x || x == INFINITY) {
        *result = x;
        return true;
    }
    if (x <= 0) {
        *result = x == 0 ? -INFINITY : NAN;
        return true;
    }
    return false;
}

double number_log(double x)
{
    double result;
    return log_special(x, &result) ? result : log_pair(x).high;
}

double number_log2(double x)
{
    double result;
    if (log_special(x, &result)) {
        return result;
    }
    double k;
    const Pair rest = pair_multiply(log_rest(x, &k), LN2_INVERSE);
    return pair_add((Pair){k, 0}, rest).high;
}

double number_log10(double x)
{
    double result;
    return log_special(x, &result) ? result : pair_multiply(log_pair(x), LN10_INVERSE).high;
}

// --- power --------------------------------------------------------------------------------------
// 0: not a
// whole number, 1: odd, 2: even.
static int parity(double y)
{
    if (floor(y) != y) {
        return 0;
    }
    const double half = y * 0.5;
    return floor(half) == half ? 2 : 1;
}

static double pow_special(double x, double y)
{
    const bool odd = is_finite(y) && parity(y) == 1;
    if (!is_finite(y)) {
        const double size = fabs(x);
        if (size == 1) {
            return 1;
        }
        return (size > 1) == (y > 0) ? INFINITY : 0;
    }
    // x is zero or infinite.
    const bool grows = (x == 0) == (y < 0);
    return with_sign(grows ? INFINITY : 0.0, odd && is_negative(x));
}

double number_pow(double x, double y)
{
    if (y == 0 || x == 1) {
        return 1;
    }
    if (x != x || y != y) {
        return NAN;
    }
    if (!is_finite(y) || !is_finite(x) || x == 0) {
        return pow_special(x, y);
    }
    const int y_parity = parity(y);
    if (x < 0 && y_parity == 0) {
        return NAN;
    }
    const Pair logarithm = log_pair(fabs(x));
    const double rough = y * logarithm.high;
    double result;
    if (fabs(x) == 1) {
        result = 1;
    } else if (rough > 710) {
        result = INFINITY;
    } else if (rough < -746) {
        result = 0;
    } else if (fabs(y) < 1e-300) {
        result = 1;
    } else {
        result = exp_pair(pair_multiply((Pair){y, 0}, logarithm));
    }
    return with_sign(result, x < 0 && y_parity == 1);
}

// --- reduction of angles ------------------------------------------------------------------------
// The bits of 2/π behind
// the point.
static const uint32_t TWO_OVER_PI[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0x00000000,
};
#define WINDOW_WORDS 6
#define TOTAL_WORDS  (WINDOW_WORDS + 2)

// 192 bits of 2/π from bit `start` on, the lowest word first.
static void two_over_pi_window(int start, uint32_t window[WINDOW_WORDS])
{
    const int word = start / 32;
    const int shift = start % 32;
    for (int i = 0; i < WINDOW_WORDS; i++) {
        const uint64_t two = (uint64_t)TWO_OVER_PI[word + i] << 32 | TWO_OVER_PI[word + i + 1];
        window[WINDOW_WORDS - 1 - i] = (uint32_t)(two >> (32 - shift));
    }
}

// The whole part of a fixed-point number, modulo 4; leaves the fraction, negated when it is above a
// half (then one more is whole).
static int take_whole(uint32_t total[TOTAL_WORDS], int point, bool *negated)
{
    const int word = point / 32;
    const int shift = point % 32;
    const uint64_t above =
        ((uint64_t)(word + 1 < TOTAL_WORDS ? total[word + 1] : 0) << 32 | total[word]) >> shift;
    int whole = (int)(above & 3);
    total[word] &= shift == 0 ? 0 : ~0u >> (32 - shift);
    for (int i = word + 1; i < TOTAL_WORDS; i++) {
        total[i] = 0;
    }
    const int top = point - 1;
    *negated = (total[top / 32] >> (top % 32) & 1) != 0;
    if (*negated) {
        whole += 1;
        uint64_t carry = 1;
        for (int i = 0; i < TOTAL_WORDS; i++) {
            carry += (uint32_t)~total[i];
            total[i] = (uint32_t)carry;
            carry >>= 32;
        }
        total[word] &= shift == 0 ? 0 : ~0u >> (32 - shift);
        for (int i = word + 1; i < TOTAL_WORDS; i++) {
            total[i] = 0;
        }
    }
    return whole;
}

// For |x| >= 2^20: multiplies with the bits of 2/π that matter.
static int reduce_large(double x, Pair *rest)
{
    int exponent;
    const double fraction = __builtin_frexp(fabs(x), &exponent);
    const uint64_t mantissa = (uint64_t)(fraction * 0x1p53);
    exponent -= 53;
    const int start = exponent > 2 ? exponent - 2 : 0;
    uint32_t window[WINDOW_WORDS];
    uint32_t total[TOTAL_WORDS] = {0};
    two_over_pi_window(start, window);
    const uint64_t low = mantissa & 0xffffffff;
    const uint64_t high = mantissa >> 32;
    uint64_t carry_low = 0;
    uint64_t carry_high = 0;
    for (int i = 0; i < WINDOW_WORDS; i++) {
        carry_low += low * window[i] + total[i];
        total[i] = (uint32_t)carry_low;
        carry_low >>= 32;
        carry_high += high * window[i] + total[i + 1];
        total[i + 1] = (uint32_t)carry_high;
        carry_high >>= 32;
        // What the low half carries belongs to the same word as the high half's next sum.
        const uint64_t joined = (uint64_t)total[i + 1] + carry_low;
        total[i + 1] = (uint32_t)joined;
        carry_high += joined >> 32;
        carry_low = 0;
    }
    total[WINDOW_WORDS + 1] = (uint32_t)carry_high;
    const int point = 192 + start - exponent;
    bool negated;
    const int whole = take_whole(total, point, &negated);
    Pair part = {0, 0};
    for (int i = TOTAL_WORDS - 1; i >= 0; i--) {
        part = pair_add(part, (Pair){scale((double)total[i], 32 * i - point), 0});
    }
    *rest = pair_multiply(part, HALF_PI);
    const bool flip = negated != (x < 0);
    if (flip) {
        *rest = (Pair){-rest->high, -rest->low};
    }
    return x < 0 ? -whole : whole;
}

// x = n π/2 + rest, |rest| <= π/4 and a little; gives n modulo 4.
static int reduce(double x, Pair *rest)
{
    const double size = fabs(x);
    if (size <= 0x1.921fb54442d18p-1) {
        *rest = (Pair){x, 0};
        return 0;
    }
    if (size >= 0x1p20) {
        return reduce_large(x, rest) & 3;
    }
    // π/2 in parts of 33 bits, so that the products with n are exact.
    const double n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    Pair r = sum(x - n * 0x1.921fb54400000p+0, -(n * 0x1.0b4611a600000p-34));
    const Pair third = sum(r.high, -(n * 0x1.3198a2e000000p-69));
    r = sum_ordered(third.high, third.low + (r.low - n * 0x1.b839a252049c1p-104));
    *rest = r;
    return (int)n & 3;
}

// --- sine and cosine ----------------------------------------------------------------------------
// For |r| <= π/4;
// the first terms left out are 8e-20 and 1e-18.
static double sin_near(Pair r)
{
    const double x = r.high;
    const double z = x * x;
    double p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    // sin(x + low) = sin x + low cos x.
    return x + (x * z * p + r.low * (1 - 0.5 * z));
}

static double cos_near(Pair r)
{
    const double x = r.high;
    const Pair square = product(x, x);
    const double z = square.high;
    double p = 1.0 / 6402373705728000.0;
    p = -p;
    p = p * z + 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    const Pair first = sum_ordered(1.0, -0.5 * z);
    return first.high + (first.low + (z * z * p - 0.5 * square.low - x * r.low));
}

double number_sin(double x)
{
    if (!is_finite(x)) {
        return NAN;
    }
    if (x == 0) {
        return x;
    }
    Pair r;
    const int n = reduce(x, &r);
    const double value = (n & 1) != 0 ? cos_near(r) : sin_near(r);
    return (n & 2) != 0 ? -value : value;
}

double number_cos(double x)
{
    if (!is_finite(x)) {
        return NAN;
    }
    Pair r;
    const int n = reduce(x, &r);
    const double value = (n & 1) != 0 ? sin_near(r) : cos_near(r);
    return ((n + 1) & 2) != 0 ? -value : value;
}

double number_tan(double x)
{
    if (!is_finite(x)) {
        return NAN;
    }
    if (x == 0) {
        return x;
    }
    Pair r;
    const int n = reduce(x, &r);
    const double s = sin_near(r);
    const double c = cos_near(r);
    return (n & 1) != 0 ? -c / s : s / c;
}

// --- arc functions ------------------------------------------------------------------------------
// arctan(k / 16).
static const Pair ARC[17] = {
    {0, 0},
    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

// arctan(y / x) for 0 <= y <= x, x > 0, neither far from 1: by the nearest k / 16, from which the
// tangent of what is left follows without a rounding that matters.
static Pair arc_of(double y, double x)
{
    const double quotient = y / x;
    const int k = (int)floor(quotient * 16 + 0.5);
    const double c = k * 0.0625;
    double t = quotient;
    double t_low = 0;
    if (k != 0) {
        const Pair cx = product(c, x);
        const Pair cy = product(c, y);
        const double above = ((y - cx.high) - cx.low);
        const double below = x + (cy.high + cy.low);
        t = above / below;
    } else {
        const Pair back = product(quotient, x);
        t_low = ((y - back.high) - back.low) / x;
    }
    const double z = t * t;
    double p = 1.0 / 13;
    p = p * z - 1.0 / 11;
    p = -p;
    p = 1.0 / 9 - p * z;
    p = 1.0 / 7 - p * z;
    p = 1.0 / 5 - p * z;
    p = 1.0 / 3 - p * z;
    const Pair head = sum_ordered(ARC[k].high, t);
    return sum_ordered(head.high, head.low + (ARC[k].low + t_low - t * z * p));
}

// For y, x >= 0, not both zero, neither infinite.
static Pair arc_quarter(double y, double x)
{
    // To the middle of the range, so that no product overflows or vanishes.
    int exponent;
    (void)__builtin_frexp(y > x ? y : x, &exponent);
    const double a = scale(y, -exponent);
    const double b = scale(x, -exponent);
    if (a <= b) {
        return a < 0x1p-900 ? (Pair){y / x, 0} : arc_of(a, b);
    }
    const Pair rest = b < 0x1p-900 ? (Pair){0, 0} : arc_of(b, a);
    return pair_add(HALF_PI, (Pair){-rest.high, -rest.low});
}

double number_atan2(double y, double x)
{
    if (x != x || y != y) {
        return NAN;
    }
    const bool y_negative = is_negative(y);
    const bool x_negative = is_negative(x);
    double y_size = fabs(y);
    double x_size = fabs(x);
    if (y_size == 0) {
        return with_sign(x_negative ? PI.high : 0.0, y_negative);
    }
    if (y_size == INFINITY || x_size == INFINITY) {
        y_size = y_size == INFINITY ? 1 : 0;
        x_size = x_size == INFINITY ? 1 : 0;
    }
    Pair arc = {0, 0};
    if (y_size != 0) {
        arc = arc_quarter(y_size, x_size);
    }
    if (x_negative) {
        arc = pair_add(PI, (Pair){-arc.high, -arc.low});
    }
    return with_sign(arc.high + arc.low, y_negative);
}

double number_asin(double x)
{
    if (!(fabs(x) <= 1)) {
        return NAN;
    }
    return x == 0 ? x : number_atan2(x, sqrt((1 - x) * (1 + x)));
}

double number_acos(double x)
{
    if (!(fabs(x) <= 1)) {
        return NAN;
    }
    return x == 1 ? 0.0 : number_atan2(sqrt((1 - x) * (1 + x)), x);
}
