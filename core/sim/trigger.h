// Zones that notice characters. A character remembers the zones it is in; entering and leaving are
// found along the whole way of a tick, so nothing is too fast or too thin to be noticed.
#pragma once

#include "core/sim/collide.h"

// After a character's move: the way it took, and the zones around that way.
void trigger_update(Sim *sim, uint32_t slot, const MovePath *path, const Colliders *colliders);
// The character dies or goes: it leaves every zone.
void trigger_leave_all(Sim *sim, uint32_t slot);
