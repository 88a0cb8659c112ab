// The checks that all commands of players share, and the memory of all features.
#include "core/world/act/act_inside.h"

#include "core/sim/puppet.h"

const Entity *act_living_body(Acts *acts, Session *session, uint32_t seq)
{
    const Entity *body = session_plays(session) ? session_body(acts->config.sim, session) : NULL;
    if (body == NULL || body->removing || !(body->character.health > 0)) {
        session_deny(acts->config.sessions, session, seq, STATUS_DENIED,
                     "Only the living can do that; respawn first.");
        return NULL;
    }
    return body;
}

float act_distance(Vec3 point, Aabb box)
{
    const Vec3 nearest = vec3_min(vec3_max(point, box.min), box.max);
    return vec3_length(vec3_sub(point, nearest));
}

// --- memory -------------------------------------------------------------------------------------

Status act_create(const ActConfig *config, Acts **out)
{
    Acts *acts = heap_alloc(config->heap, sizeof *acts);
    if (acts == NULL) {
        return STATUS_LIMIT;
    }
    acts->config = *config;
    Status status = voxel_create(acts);
    if (status == STATUS_OK) {
        status = profile_create(acts);
    }
    if (status == STATUS_OK) {
        status = board_create(acts);
    }
    if (status == STATUS_OK) {
        status = chat_create(acts);
    }
    if (status != STATUS_OK) {
        act_destroy(acts);
        return status;
    }
    sim_set_hit_filter(config->sim, fire_may_hit, acts);
    authority_set_rewind(config->authority, fire_rewind, acts);
    *out = acts;
    return STATUS_OK;
}

void act_destroy(Acts *acts)
{
    if (acts != NULL) {
        chat_destroy(acts);
        board_destroy(acts);
        profile_destroy(acts);
        voxel_destroy(acts);
        heap_free(acts->config.heap, acts);
    }
}

void act_start(Acts *acts)
{
    voxel_start(acts);
}

void act_forget(Acts *acts, Session *session)
{
    preview_end(acts, session, false);
    preview_end(acts, session, true);
    voxel_forget(acts, session);
}

void act_hash(const Acts *acts, Hash64 *hash)
{
    voxel_hash(acts, hash);
    chat_hash(acts, hash);
}

// --- respawn ------------------------------------------------------------------------------------

void act_respawn(Acts *acts, Session *session, uint32_t seq)
{
    Sessions *sessions = acts->config.sessions;
    const Entity *body = session_plays(session) ? session_body(acts->config.sim, session) : NULL;
    if (body == NULL || body->character.health > 0) {
        session_deny(sessions, session, seq, STATUS_DENIED,
                     "You are alive; there is nothing to respawn.");
        return;
    }
    if (acts->config.clock->tick < session->respawn_tick) {
        session_deny(sessions, session, seq, STATUS_BLOCKED,
                     "Not yet; wait until the pause is over.");
        return;
    }
    const Status status = session_respawn(acts->config.authority, session);
    if (status != STATUS_OK) {
        session_deny(sessions, session, seq, status,
                     "There is no free place to respawn; try again.");
        return;
    }
    session_ack(sessions, session, seq, session->entity);
}
