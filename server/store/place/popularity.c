// See popularity.h.
#include "server/store/place/popularity.h"

#include <math.h>

// Votes that every place has from the start, half of them for it: a single one decides little.
#define VOTES_GIVEN 10

static uint64_t fixed(double logarithm)
{
    return logarithm > 0 ? (uint64_t)llround(logarithm * (double)POPULARITY_ONE) : 0;
}

uint64_t popularity_heat_add(uint64_t heat, uint64_t unix_ms, double weight)
{
    const double added = (double)unix_ms / (double)POPULARITY_HALF_LIFE_MS + log2(weight);
    if (heat == 0) {
        return fixed(added);
    }
    const double old = (double)heat / (double)POPULARITY_ONE;
    const double high = old > added ? old : added, low = old > added ? added : old;
    return fixed(high + log2(1 + exp2(low - high)));
}

uint64_t popularity_score(uint64_t heat, uint64_t votes_up, uint64_t votes_down)
{
    const double share = ((double)votes_up + VOTES_GIVEN / 2.0) /
                         ((double)votes_up + (double)votes_down + VOTES_GIVEN);
    return fixed((double)heat / (double)POPULARITY_ONE + 1 + log2(share));
}
