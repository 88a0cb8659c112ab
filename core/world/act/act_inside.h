// What the act_*.c files share: who may do what, and how one is told that one may not.
#pragma once

#include "core/world/world_inside.h"

// Says no: counted, and answered with the status as code and the sentence.
void act_deny(World *world, Session *session, uint32_t seq, Status status, const char *sentence);
// Takes from the bucket, or denies.
bool act_rate(World *world, Session *session, uint32_t seq, RateKind kind);
// The living body of a player, or NULL after a denial.
const Entity *act_living(World *world, Session *session, uint32_t seq);
Vec3 act_eye(const World *world, const Entity *body);
float act_distance(Vec3 point, Aabb box); // 0 inside
static inline bool act_coord_ok(WireCoord at)
{
    return at.x >= -WORLD_EXTENT_M && at.x < WORLD_EXTENT_M && at.y >= -WORLD_EXTENT_M &&
           at.y < WORLD_EXTENT_M && at.z >= -WORLD_EXTENT_M && at.z < WORLD_EXTENT_M;
}

// act_voxel.c
MUST_USE Status voxel_create(World *world);
void voxel_destroy(World *world);
void voxel_start(World *world); // the terrain that was stored is no news
void voxel_forget(World *world, Session *session);
void voxel_hash(const World *world, Hash64 *hash);
// act_build.c: a preview is shown now, or over.
void preview_begin(World *world, Session *session, bool terraform);
void preview_end(World *world, Session *session, bool terraform);
// act_remote.c
MUST_USE Status remote_create(World *world);
void remote_destroy(World *world);
void remote_forget(World *world, Session *session);
void remote_hash(const World *world, Hash64 *hash);
// A script's message to its players: an event, or the answer to a call.
void remote_down(World *world, const ScriptMessage *message);
// act_fire.c
bool fire_may_hit(void *user, uint64_t shooter_net_id, uint64_t target_net_id); // SimHitFilter
// transfer.c
MUST_USE Status transfer_create(World *world);
void transfer_destroy(World *world);
void transfer_forget(World *world, Session *session);
void transfer_forget_scripts(World *world); // they changed
void transfer_hash(const World *world, Hash64 *hash);

// script_host.c: a replicated script by path or number. NULL: there is none that clients may have.
typedef struct HostRune {
    const char *path;
    const uint8_t *bytes;
    size_t byte_count;
    const uint8_t *packed; // the same in fewer bytes
    size_t packed_count;   // 0: there is none
    uint32_t packing;
    uint8_t hash[32];
    uint32_t number;
} HostRune;
bool script_host_find(const World *world, NetText path, HostRune *out);
bool script_host_at(const World *world, uint32_t number, HostRune *out);
