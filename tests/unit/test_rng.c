// The random numbers: those of the PCG32 reference, uniform, inside their ranges.
#include "core/base/rng.h"
#include "tests/support/test.h"

TEST(rng_gives_the_reference_numbers)
{
    // The demo of the PCG reference: seed 42, stream 54.
    static const uint32_t want[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                    0x83d2f293, 0xbfa4784b, 0xcbed606e};
    Rng rng = rng_make(42, 54);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        CHECK_INT(rng_u32(&rng), want[i]);
    }
    rng = rng_make(42, 54);
    CHECK(rng_u64(&rng) == 0xa15c02b77b47f409ull);
    CHECK_INT(rng.stream % 2, 1);
}

TEST(rng_state_is_the_whole_state)
{
    Rng a = rng_make(test_seed(), 7);
    for (uint32_t i = 0; i < 100; i++) {
        (void)rng_u32(&a);
    }
    Rng b = {.state = a.state, .stream = a.stream};
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_INT(rng_u32(&a), rng_u32(&b));
    }
}

TEST(rng_streams_and_seeds_differ)
{
    Rng a = rng_make(1, 1);
    Rng b = rng_make(1, 2);
    Rng c = rng_make(2, 1);
    uint32_t same = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t x = rng_u32(&a);
        same += x == rng_u32(&b);
        same += x == rng_u32(&c);
    }
    CHECK(same <= 2);
}

// Chi-square over the buckets; with 48 or fewer degrees of freedom a value past 100 has a chance
// far below one in a hundred thousand, and the seed is fixed.
static double chi_square(Rng *rng, uint32_t bound, uint32_t draws)
{
    uint32_t counts[49] = {0};
    for (uint32_t i = 0; i < draws; i++) {
        const uint32_t value = rng_below(rng, bound);
        if (value >= bound) {
            return 1e9;
        }
        counts[value] += 1;
    }
    double sum = 0;
    const double want = (double)draws / bound;
    for (uint32_t i = 0; i < bound; i++) {
        const double d = counts[i] - want;
        sum += d * d / want;
    }
    return sum;
}

TEST(rng_below_is_uniform)
{
    Rng rng = rng_make(20240229, 1);
    static const uint32_t bounds[] = {2, 3, 5, 6, 7, 10, 16, 31, 49};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        CHECK(chi_square(&rng, bounds[i], 100000) < 100.0);
    }
    CHECK_INT(rng_below(&rng, 1), 0);
}

TEST(rng_below_has_no_bias_for_large_bounds)
{
    // With 3·2^30 the plain remainder or product would give one third of the values twice as often.
    const uint32_t bound = 3u << 30;
    Rng rng = rng_make(20240229, 2);
    uint32_t thirds[3] = {0};
    uint32_t by_remainder[3] = {0};
    for (uint32_t i = 0; i < 300000; i++) {
        const uint32_t value = rng_below(&rng, bound);
        CHECK(value < bound);
        thirds[value / (1u << 30)] += 1;
        by_remainder[value % 3] += 1;
    }
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_NEAR(thirds[i], 100000, 1500);
        CHECK_NEAR(by_remainder[i], 100000, 1500);
    }
}

TEST(rng_unit_and_range_stay_inside)
{
    Rng rng = rng_make(20240229, 3);
    double sum = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        const float unit = rng_unit(&rng);
        CHECK(unit >= 0 && unit < 1);
        sum += unit;
        const float value = rng_range(&rng, -3.0f, 5.0f);
        CHECK(value >= -3.0f && value < 5.0f);
        // One step of the float wide: only low is inside, whatever is drawn.
        CHECK(rng_range(&rng, 16777214.0f, 16777215.0f) == 16777214.0f);
    }
    CHECK_NEAR(sum / 100000, 0.5, 0.005);
    CHECK(rng_range(&rng, 2.0f, 2.0f) == 2.0f);
}

static void below_zero(void *user)
{
    (void)rng_below(user, 0);
}

static void range_backwards(void *user)
{
    (void)rng_range(user, 1, 0);
}

TEST(rng_empty_ranges_die)
{
    Rng rng = rng_make(1, 1);
    CHECK(test_dies(below_zero, &rng));
    CHECK(test_dies(range_backwards, &rng));
}
