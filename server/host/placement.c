// See placement.h.
#include "server/host/placement.h"

#include <string.h>

uint32_t placement_load(uint32_t memory, uint32_t tick, uint32_t worlds, uint32_t placed)
{
    const uint64_t most = memory > tick ? memory : tick;
    const uint64_t load = most + worlds + (uint64_t)placed * PLACEMENT_WORLD_LOAD;
    return load < PLACEMENT_LOAD_MAX ? (uint32_t)load : PLACEMENT_LOAD_MAX;
}

static uint32_t clamp(uint32_t load)
{
    return load < PLACEMENT_LOAD_MAX ? load : PLACEMENT_LOAD_MAX;
}

// The one that has `rank` others before it: by load, then by place in the list.
static uint32_t at_rank(const PlacementHost *hosts, uint32_t count, uint32_t rank)
{
    static _Thread_local uint16_t counts[PLACEMENT_LOAD_MAX + 1];
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < count; i++) {
        if (hosts[i].can_take && counts[clamp(hosts[i].load)] < UINT16_MAX) {
            counts[clamp(hosts[i].load)] += 1;
        }
    }
    uint32_t load = 0;
    while (load < PLACEMENT_LOAD_MAX && rank >= counts[load]) {
        rank -= counts[load++];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (hosts[i].can_take && clamp(hosts[i].load) == load && rank-- == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t placement_choose(const PlacementHost *hosts, uint32_t count, uint32_t random,
                          uint32_t tries)
{
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < count; i++) {
        candidates += hosts[i].can_take;
    }
    if (candidates == 0) {
        return UINT32_MAX;
    }
    const uint32_t part = candidates / PLACEMENT_PART >> (tries < 16 ? tries : 16);
    return at_rank(hosts, count, part > 1 ? random % part : 0);
}

bool placement_is_over(const PlacementHost *hosts, uint32_t count, uint32_t own, uint32_t world)
{
    uint64_t sum = own, candidates = 1;
    bool another_has_less = false;
    for (uint32_t i = 0; i < count; i++) {
        if (hosts[i].can_take) {
            sum += hosts[i].load;
            candidates += 1;
            another_has_less = another_has_less || hosts[i].load < own;
        }
    }
    const uint64_t mean = sum / candidates;
    const uint64_t tenth = mean + mean / 10, worlds = mean + world + world / 2;
    return another_has_less && (uint64_t)own + world > (tenth > worlds ? tenth : worlds);
}
