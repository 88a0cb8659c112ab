// Which host runs a world that nobody runs. Every host decides by the list it read a few seconds
// ago (host_peer.h), so many decide at once by the same numbers: they take one of the least loaded
// sixth by chance, and not all of them the very least loaded. The host that is chosen knows its
// own load as it is now, and declines if it would have much more than the others.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PLACEMENT_PART     6    // one of that part of all
#define PLACEMENT_LOAD_MAX 4095 // thousandths; more counts as this
// What a world adds to a host's load until the host says what it really is.
#define PLACEMENT_WORLD_LOAD 2

typedef struct PlacementHost {
    uint32_t load; // thousandths of what the machine has, see placement_load
    bool can_take;
} PlacementHost;

// The larger of memory and ticks, a little more for each world, so that hosts that have nothing to
// do take turns.
uint32_t placement_load(uint32_t memory, uint32_t tick, uint32_t worlds, uint32_t placed);
// UINT32_MAX: none can take it. `random` is any number; `tries` is how many have declined before,
// after which fewer and less loaded ones are asked.
uint32_t placement_choose(const PlacementHost *hosts, uint32_t count, uint32_t random,
                          uint32_t tries);
// Whether a host with the load `own` is to leave a world of the load `world` to others: with it, it
// would have more than a tenth, and more than one and a half worlds, above the mean of all that can
// take worlds, and another of them has less than it. `hosts` is what it knows of the others.
bool placement_is_over(const PlacementHost *hosts, uint32_t count, uint32_t own, uint32_t world);
