// Things that fly: swept from tick to tick against terrain, parts, structures and characters as
// their shooter saw them.
#pragma once

#include "core/sim/sim.h"
#include "core/sim/state.h"

typedef struct ProjectileDesc {
    uint64_t net_id;
    uint64_t owner_id;
    Handle shooter; // never hit by it; may be HANDLE_NONE
    Vec3 position;
    Vec3 velocity;
    float radius;  // 0..1 m; 0 is a point
    float gravity; // m/s^2 downwards
    float damage;
    uint32_t lifetime_ticks;
    uint32_t rewind_ticks; // clamped to HISTORY_REWIND_MS
    uint32_t kind;
} ProjectileDesc;

MUST_USE Status projectile_fire(Sim *sim, const ProjectileDesc *desc, Handle *out);

// Phase 7 of the step.
void projectile_step(Sim *sim);
void projectile_visit(Sim *sim, Projectile *projectile, StateIo *io);
