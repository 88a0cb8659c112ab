// Zones that detect characters. A character stores the zones it is in; entering and leaving are
// detected along the whole path of a tick, so nothing is too fast or too thin to be detected.
#pragma once

#include "core/sim/collide.h"

// After a character's move: the way it took, and the zones around that way.
void trigger_update(Sim *sim, uint32_t slot, const MovePath *path, const Colliders *colliders);
// The character dies or is removed: it leaves every zone.
void trigger_leave_all(Sim *sim, uint32_t slot);
