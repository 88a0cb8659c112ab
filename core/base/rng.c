// PCG32: a 64-bit linear congruence whose state is permuted on output (XSH-RR).
#include "core/base/rng.h"

#include "core/base/check.h"

#define PCG_MULTIPLIER 6364136223846793005ull

Rng rng_make(uint64_t seed, uint64_t stream)
{
    Rng rng = {.state = 0, .stream = stream << 1 | 1};
    (void)rng_u32(&rng);
    rng.state += seed;
    (void)rng_u32(&rng);
    return rng;
}

uint32_t rng_u32(Rng *rng)
{
    const uint64_t old = rng->state;
    rng->state = old * PCG_MULTIPLIER + rng->stream;
    const uint32_t folded = (uint32_t)((old >> 18 ^ old) >> 27);
    const uint32_t turn = (uint32_t)(old >> 59);
    return folded >> turn | folded << (-turn & 31);
}

uint64_t rng_u64(Rng *rng)
{
    const uint64_t high = rng_u32(rng);
    return high << 32 | rng_u32(rng);
}

// The high half of a 32 × 32 product is uniform once the low halves that would come up one time
// too often (the first 2^32 mod bound of them) are thrown away. At most every second draw is.
uint32_t rng_below(Rng *rng, uint32_t bound)
{
    ASSERT(bound > 0);
    uint64_t product = (uint64_t)rng_u32(rng) * bound;
    if ((uint32_t)product < bound) {
        const uint32_t surplus = -bound % bound;
        while ((uint32_t)product < surplus) {
            product = (uint64_t)rng_u32(rng) * bound;
        }
    }
    return (uint32_t)(product >> 32);
}

float rng_unit(Rng *rng)
{
    return (float)(rng_u32(rng) >> 8) * (1.0f / 16777216.0f);
}

float rng_range(Rng *rng, float low, float high)
{
    ASSERT(low <= high);
    const float value = low + (high - low) * rng_unit(rng);
    // Rounding can reach high, which is outside.
    return value < high ? value : low;
}
