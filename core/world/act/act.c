// What every command of a player is checked for, and the memory of all features in one place.
#include "core/world/act/act_inside.h"

#include "core/sim/npc.h"

void act_deny(World *world, Session *session, uint32_t seq, Status status, const char *sentence)
{
    ASSERT(status != STATUS_OK);
    world->stats.commands_denied += 1;
    session_error(world, session, seq, error_of_status(status), "%s", sentence);
}

bool act_rate(World *world, Session *session, uint32_t seq, RateKind kind)
{
    if (rate_take(world, session, kind, 1)) {
        return true;
    }
    act_deny(world, session, seq, STATUS_LIMIT, "That was too often; wait a moment and try again.");
    return false;
}

const Entity *act_living(World *world, Session *session, uint32_t seq)
{
    const Entity *body = session_plays(session) ? session_body(world, session) : NULL;
    if (body == NULL || body->removing || !(body->character.health > 0)) {
        act_deny(world, session, seq, STATUS_DENIED, "Only the living can do that; respawn first.");
        return NULL;
    }
    return body;
}

Vec3 act_eye(const World *world, const Entity *body)
{
    const float height = sim_config(world->sim)->character.height;
    return vec3_add(body->position, vec3(0, height * NPC_EYE_FRACTION, 0));
}

float act_distance(Vec3 point, Aabb box)
{
    const Vec3 nearest = vec3_min(vec3_max(point, box.min), box.max);
    return vec3_length(vec3_sub(point, nearest));
}

// --- memory -------------------------------------------------------------------------------------

Status act_create(World *world)
{
    Status status = voxel_create(world);
    if (status == STATUS_OK) {
        status = remote_create(world);
    }
    if (status == STATUS_OK) {
        status = transfer_create(world);
    }
    if (status == STATUS_OK) {
        sim_set_hit_filter(world->sim, fire_may_hit, world);
    }
    return status;
}

void act_destroy(World *world)
{
    transfer_destroy(world);
    remote_destroy(world);
    voxel_destroy(world);
}

void act_forget(World *world, Session *session)
{
    preview_end(world, session, false);
    preview_end(world, session, true);
    voxel_forget(world, session);
    remote_forget(world, session);
    transfer_forget(world, session);
}

void act_hash(const World *world, Hash64 *hash)
{
    voxel_hash(world, hash);
    remote_hash(world, hash);
    transfer_hash(world, hash);
}

void act_respawn(World *world, Session *session, uint32_t seq)
{
    const Entity *body = session_plays(session) ? session_body(world, session) : NULL;
    if (body == NULL || body->character.health > 0) {
        act_deny(world, session, seq, STATUS_DENIED, "You are alive; there is nothing to respawn.");
        return;
    }
    if (world->tick < session->respawn_tick) {
        act_deny(world, session, seq, STATUS_BLOCKED, "Not yet; wait until the pause is over.");
        return;
    }
    const Status status = session_respawn(world, session);
    if (status != STATUS_OK) {
        act_deny(world, session, seq, status, "There is no free place to respawn; try again.");
        return;
    }
    session_ack(world, session, seq, session->entity);
}
