// Fair shares of a resource that many use and that is not divided beforehand: pages of terrain,
// attributes, room in a queue. One user may have at most half of it, and when three quarters are
// taken, the rest is for users who have little (less than a sixty-fourth): so a few who take much
// do not block the others.
#pragma once

#include "core/base/limits.h"

#include <stdbool.h>
#include <stdint.h>

// How many more a user may take that has `own` of the `used`, out of `max` in all.
static inline uint64_t fair_share_room(uint64_t own, uint64_t used, uint64_t max)
{
    const uint64_t most = max / SCRIPT_PART_MOST;
    const uint64_t late = max - max / SCRIPT_PART_LATE;
    const uint64_t little = max / SCRIPT_PART_LITTLE + 1;
    const uint64_t early_room =
        own < most && used < late ? (most - own < late - used ? most - own : late - used) : 0;
    const uint64_t late_room = own < little ? little - own : 0;
    return early_room > late_room ? early_room : late_room;
}

static inline bool fair_share_allows(uint64_t own, uint64_t used, uint64_t max)
{
    return fair_share_room(own, used, max) > 0;
}
