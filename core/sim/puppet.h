// What a client's sim has beyond a server's: bodies that are moved from outside, and a tick that
// can be set. All of it is refused (STATUS_DENIED) or asserted against in a sim with authority.
//
// A puppet is a player, an NPC or a projectile whose place the network says: it is found by queries
// and rays, is drawn, and sim_step leaves it alone.
#pragma once

#include "core/sim/sim.h"

typedef struct PuppetDesc {
    EntityType type; // ENTITY_PLAYER, ENTITY_NPC or ENTITY_PROJECTILE
    uint64_t net_id, owner_id;
    Vec3 position, velocity;
    float yaw;
    float radius;  // of a projectile
    uint32_t kind; // of a projectile
} PuppetDesc;
MUST_USE Status puppet_spawn(Sim *sim, const PuppetDesc *desc, Handle *out);
// Ignored if it is not a puppet. Numbers that are not finite are ignored.
void puppet_pose(Sim *sim, Handle puppet, Vec3 position, Vec3 velocity, float yaw, float pitch);
// Also of a structure.
void puppet_set_health(Sim *sim, Handle puppet, float health);

// Sets the tick, forwards or back: moving parts take the pose of that tick, and for what they
// carried in it the pose of the tick before. Segments that ended less than MOTION_KEEP_TICKS before
// the latest tick a sim without authority has reached are kept for this. Nothing else changes.
#define MOTION_KEEP_TICKS 64
void sim_set_tick(Sim *sim, uint64_t tick);
// Replaces the motion of a part by the server's: segments with their exact numbers, including past
// ones. The current segment is kept, cut where the new one begins, as far as there is room.
// STATUS_RANGE as motion_append.
MUST_USE Status sim_replace_motion(Sim *sim, Handle part, Pose rest, const Motion *motion);
// Frees the slot at once, so that its net id can be used again. Ignored if stale.
void sim_remove_now(Sim *sim, Handle entity);
// Undoes sim_hide_part. Harmless when it is not hidden; an entity with that net id must be gone.
void sim_show_part(Sim *sim, uint64_t net_id);

// --- for servers --------------------------------------------------------------------------------
// The net id of the next entity. A restarted world continues above all it ever used.
uint64_t sim_next_net_id(const Sim *sim);
void sim_raise_next_net_id(Sim *sim, uint64_t next);
// Whether this shooter's projectiles may hit that character. (0: the shooter is gone.) Called only
// for actual hits; must depend only on state that a replay has too. NULL: everybody.
typedef bool (*SimHitFilter)(void *user, uint64_t shooter_net_id, uint64_t target_net_id);
void sim_set_hit_filter(Sim *sim, SimHitFilter filter, void *user);
