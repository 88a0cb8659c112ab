// Things that fly: swept from tick to tick against terrain, parts, structures and characters as
// their shooter saw them.
//
// A tick of a projectile: gravity changes the velocity, the velocity moves it, and what it meets
// first along that straight way is hit: terrain, anchored parts that are not hidden, parts and
// structures at their pose of this tick, and living characters where they were rewind_ticks ago. Of
// things met at the same distance terrain is hit before anchored parts, those before entities, and
// each by index. The shooter, ghosts, props, projectiles and what is being removed are never hit.
//
// A projectile without radius that starts inside something hits it at once; one with a radius hits
// a shape it overlaps only when it moves deeper, so that it can leave the wall it was fired at.
// Characters it overlaps are hit at once either way.
#pragma once

#include "core/sim/sim.h"
#include "core/sim/state.h"

#define PROJECTILE_RADIUS_MAX         1.0f
#define PROJECTILE_SPEED_MAX          1000.0f // m/s; gravity does not accelerate beyond it
#define PROJECTILE_GRAVITY_MAX        1000.0f // m/s^2, either way
#define PROJECTILE_DAMAGE_MAX         1e6f    // either way: below zero heals
#define PROJECTILE_LIFETIME_TICKS_MAX 36000u  // ten minutes at 60 Hz

typedef struct ProjectileDesc {
    uint64_t net_id;
    uint64_t owner_id;
    Handle shooter; // never hit by it; may be HANDLE_NONE
    Vec3 position;
    Vec3 velocity;
    float radius;  // 0..1 m; 0 is a point
    float gravity; // m/s^2 downwards
    float damage;
    uint32_t lifetime_ticks; // 1..PROJECTILE_LIFETIME_TICKS_MAX
    uint32_t rewind_ticks;   // clamped to HISTORY_REWIND_MS
    uint32_t kind;
} ProjectileDesc;

// STATUS_RANGE for a number outside its limits, or a position outside the scene's bounds;
// STATUS_EXISTS and STATUS_LIMIT as for every entity.
MUST_USE Status projectile_fire(Sim *sim, const ProjectileDesc *desc, Handle *out);

// Phase 7 of the step.
void projectile_step(Sim *sim);
void projectile_visit(Sim *sim, Projectile *projectile, StateIo *io);
