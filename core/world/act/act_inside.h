// What the act_*.c files share: who may do what, and the memory of the features.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "core/world/act/act.h"

struct Acts {
    ActConfig config;
    struct Voxels *voxels;                // act_voxel.c
    struct Patches *patches;              // act_patch.c
    struct SessionProfiles *all_profiles; // act_profile.c, by session
    struct Board *board;                  // board.c
    uint64_t *sky_sent;                   // sky.c, by session: the version it was sent; 0: none
    struct Chat *chat;                    // act_chat.c
};

// The living body of a player, or NULL after an error was sent.
const Entity *act_living_body(Acts *acts, Session *session, uint32_t seq);
// How many chunks a player sees in each direction.
int32_t act_view_chunks(const Acts *acts);
static inline bool act_coord_ok(WireCoord at)
{
    return at.x >= -WORLD_EXTENT_M && at.x < WORLD_EXTENT_M && at.y >= -WORLD_EXTENT_M &&
           at.y < WORLD_EXTENT_M && at.z >= -WORLD_EXTENT_M && at.z < WORLD_EXTENT_M;
}

// act_voxel.c
MUST_USE Status voxel_create(Acts *acts);
void voxel_destroy(Acts *acts);
void voxel_start(Acts *acts);
void voxel_forget(Acts *acts, const Session *session);
void voxel_hash(const Acts *acts, Hash64 *hash);
// act_patch.c
MUST_USE Status patch_create(Acts *acts);
void patch_destroy(Acts *acts);
void patch_forget(Acts *acts, const Session *session);
void patch_hash(const Acts *acts, Hash64 *hash);
// act_build.c: a preview begins, or ends.
void preview_begin(const Acts *acts, Session *session, bool terraform);
void preview_end(Acts *acts, Session *session, bool terraform);
// act_profile.c
MUST_USE Status profile_create(Acts *acts);
void profile_destroy(Acts *acts);
// act_fire.c
bool fire_may_hit(void *user, uint64_t shooter_net_id, uint64_t target_net_id); // SimHitFilter
uint32_t fire_rewind(void *user, uint64_t player_id);                           // AuthorityRewind
// act_chat.c
MUST_USE Status chat_create(Acts *acts);
void chat_destroy(Acts *acts);
void chat_hash(const Acts *acts, Hash64 *hash);
// board.c
MUST_USE Status board_create(Acts *acts);
void board_destroy(Acts *acts);
void board_send(Acts *acts, const Session *about,
                const Session *to);                                // all numbers, to who comes in
void board_team_sent(Acts *acts, const Session *about, Text team); // everybody was told this one
// sky.c
MUST_USE Status sky_create(Acts *acts);
void sky_destroy(Acts *acts);
void sky_forget(Acts *acts, const Session *session); // it is sent the sky when it is back
void sky_hash(const Acts *acts, Hash64 *hash);
