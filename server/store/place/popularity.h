// How popular a place is, as one number that never has to be rewritten while time passes: see
// docs/LISTING.md.
//
// The heat of a place is the sum over its players of 2^(t / H), where t is when a player came on a
// day for the first time and H the half-life. Divided by 2^(now / H) it would be the number of
// players, where one of a week ago counts half; as all places are divided by the same, their order
// is that of the sums. Kept is the logarithm to base 2 of the sum, in units of 2^-32.
#pragma once

#include <stdint.h>

#define POPULARITY_HALF_LIFE_MS (7ull * 24 * 3600 * 1000)
#define POPULARITY_ONE          (1ull << 32)

// Guests cost nothing to make, so they count less.
#define POPULARITY_ACCOUNT 1.0
#define POPULARITY_GUEST   0.25

// The heat with one more player, who counts so much; 0 is the heat of nobody.
uint64_t popularity_heat_add(uint64_t heat, uint64_t unix_ms, double weight);
// The heat, doubled by nothing but votes for it and lowered by those against it: what places are
// ordered by.
uint64_t popularity_score(uint64_t heat, uint64_t votes_up, uint64_t votes_down);
