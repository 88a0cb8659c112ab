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

// --- memory -------------------------------------------------------------------------------------

int32_t act_view_chunks(const Acts *acts)
{
    const float radius = math_clamp(acts->config.place->view_radius, 0, (float)WORLD_EXTENT_M);
    return math_floor_i32(radius / CHUNK_EDGE) + 1;
}

Status act_create(const ActConfig *config, Acts **out)
{
    Acts *acts = heap_alloc(config->heap, sizeof *acts);
    if (acts == NULL) {
        return STATUS_LIMIT;
    }
    acts->config = *config;
    Status status = voxel_create(acts);
    if (status == STATUS_OK) {
        status = patch_create(acts);
    }
    if (status == STATUS_OK) {
        status = profile_create(acts);
    }
    if (status == STATUS_OK) {
        status = board_create(acts);
    }
    if (status == STATUS_OK) {
        status = chat_create(acts);
    }
    if (status == STATUS_OK) {
        status = sky_create(acts);
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
        sky_destroy(acts);
        chat_destroy(acts);
        board_destroy(acts);
        profile_destroy(acts);
        patch_destroy(acts);
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
    sky_forget(acts, session);
    patch_forget(acts, session);
}

void act_hash(const Acts *acts, Hash64 *hash)
{
    voxel_hash(acts, hash);
    patch_hash(acts, hash);
    chat_hash(acts, hash);
    sky_hash(acts, hash);
}

// --- respawn ------------------------------------------------------------------------------------

// After the step, so that it is an event of that tick like any other death.
void act_step(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (!session->gives_up) {
            continue;
        }
        session->gives_up = false;
        const Entity *body =
            session_plays(session) ? session_body(acts->config.sim, session) : NULL;
        if (body != NULL && body->character.health > 0) {
            (void)sim_damage(acts->config.sim, sim_find(acts->config.sim, session->entity),
                             body->character.health, 0);
        }
    }
}

// Who is alive gives the body up, as somebody does who is stuck: it dies, scripts and others see
// that, and the next one comes after the place's pause.
void act_respawn(Acts *acts, Session *session, uint32_t seq)
{
    Sessions *sessions = acts->config.sessions;
    const Entity *body = session_plays(session) ? session_body(acts->config.sim, session) : NULL;
    if (body == NULL || body->removing) {
        session_deny(sessions, session, seq, STATUS_DENIED, "You have no body yet; wait for it.");
        return;
    }
    if (body->character.health > 0) {
        session->gives_up = true;
        session_ack(sessions, session, seq, session->entity);
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
