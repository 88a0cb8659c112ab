// The bodies of players: they are kept for a while after a connection is cut, removed with their
// player, or taken over by another session. A session ends in one of three ways: its connection is
// cut (the body is kept), we close it (the same, after its last messages are sent), or the player
// leaves (the body is removed at once). Every end of a player goes through player_end.
#include "core/world/world_inside.h"

#include <string.h>

#define CLOSING_MS 10000 // for the last messages and the owner's DISCONNECT

// --- the end of a player ------------------------------------------------------------------------

// Ends previews, and drops transfers and unanswered calls. Calling it twice is harmless.
// `session->player` must still be set.
static void forget_requests(World *world, Session *session)
{
    act_forget(world->acts, session);
    script_host_forget(world->script_host, session);
}

// Removes the player and its body; scripts are informed in their next phase.
static void player_end(World *world, Session *session)
{
    if (session->player == 0) {
        return;
    }
    save_player(world->saves, session, false);
    chat_note(world->acts, session, HEARD_LEFT, (Text){"", 0});
    forget_requests(world, session);
    const Status left = authority_player_leave(world->authority, session->player);
    ASSERT(left == STATUS_OK || left == STATUS_NOT_FOUND);
    const MessagePlayerLeft event = {.player = session->player};
    event_broadcast(world->sessions, MESSAGE_PLAYER_LEFT, &event, NULL);
    id_map_remove(&world->sessions->players, session->player);
    session->player = 0;
    session->entity = 0;
    session->joining = false;
}

static void stand_still(Sim *sim, Session *session)
{
    const Entity *body = session_body(sim, session);
    if (body != NULL) {
        const SimInput input = {.yaw = body->character.input.yaw,
                                .pitch = body->character.input.pitch};
        sim_set_input(sim, session_handle(sim, session), &input);
    }
    input_reset(&session->input);
}

// The client is gone; the body stays.
void life_client_gone(void *user, Session *session)
{
    World *world = user;
    replicator_close(world->replicator, session_number(world->sessions, session));
    if (session->player != 0) {
        forget_requests(world, session);
        stand_still(world->sim, session);
        save_player(world->saves, session, false);
        join_keep_token(world, session);
    }
}

void life_leave(World *world, Session *session)
{
    player_end(world, session);
    if (session->connection != 0) {
        session_close(world->sessions, session);
    } else {
        session_free(world->sessions, session);
    }
}

// As an operator's kick: the token is valid no more, so nobody comes back without asking.
void life_kicks(World *world)
{
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        Session *session = &world->sessions->all[i];
        if (!session->is_kicked || session->player == 0) {
            continue;
        }
        const uint64_t account = session->account;
        session->is_kicked = false;
        if (session->connection != 0) {
            session_error(world->sessions, session, 0, ERROR_KICKED,
                          "the place ended this session%s%s",
                          session->kick_reason[0] != '\0' ? ": " : "", session->kick_reason);
        }
        memset(session->resume_hash, 0, sizeof session->resume_hash);
        life_leave(world, session);
        if (account != 0) {
            save_forget_resumes(world->saves, account); // last: a session that ends keeps its token
        }
    }
}

Status life_disconnect(World *world, uint64_t connection)
{
    Session *session = session_of_connection(world->sessions, connection);
    if (session == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (session->state == SESSION_PLAYING) {
        life_client_gone(world, session);
    }
    session_detach(world->sessions, session);
    if (session->player == 0) {
        session_free(world->sessions, session);
        return STATUS_OK;
    }
    session->state = SESSION_DROPPED;
    session->state_tick = world->clock.tick;
    return STATUS_OK;
}

// --- one body, another session ------------------------------------------------------------------

void life_take_over(World *world, Session *from, Session *to)
{
    ASSERT(from != to && from->player != 0 && to->player == 0);
    if (from->state == SESSION_PLAYING) {
        forget_requests(world, from);
        stand_still(world->sim, from);
    }
    if (to->account == 0) { // the owner gave nothing newer
        to->account = from->account;
        to->guest = from->guest;
        to->fixed_name = from->fixed_name;
        to->operator_role = from->operator_role;
    }
    to->debug = to->debug || from->debug;
    chat_take_over(world->acts, from, to);
    to->player = from->player;
    to->entity = from->entity;
    to->joining = from->joining;
    to->respawn_tick = from->respawn_tick;
    to->fire_tick = from->fire_tick;
    to->geometry_tick = from->geometry_tick;
    memcpy(to->player_id, from->player_id, sizeof to->player_id);
    memcpy(to->name, from->name, sizeof to->name);
    id_map_put(&world->sessions->players, to->player, session_number(world->sessions, to) + 1);
    from->player = 0;
    from->entity = 0;
    from->joining = false;
    memset(from->resume_hash, 0, sizeof from->resume_hash);
    if (from->connection == 0) {
        session_free(world->sessions, from);
        return;
    }
    session_error(world->sessions, from, 0, ERROR_REPLACED, "you came in from somewhere else");
}

// --- time ---------------------------------------------------------------------------------------

static void tick_body(World *world, Session *session)
{
    // A script may have given the player another body.
    const RosterPlayer *player = roster_find(authority_roster(world->authority), session->player);
    if (player != NULL && !session->joining && player->entity != session->entity) {
        session->entity = player->entity;
        prediction_reset(world->sessions, session);
        profile_announce(world->acts, session, NULL);
    }
    session->body = session_handle(world->sim, session);
    const Entity *body = session_body(world->sim, session);
    const bool alive = body != NULL && body->character.health > 0;
    if (alive || session->joining) {
        session->respawn_tick = 0;
    } else if (session->respawn_tick == 0) {
        const uint32_t pause = world_ticks(&world->clock, world->config.place->respawn_ms);
        session->respawn_tick = world->clock.tick + (pause > 0 ? pause : 1);
    } else if (world->clock.tick >= session->respawn_tick) {
        if (session_respawn(world->authority, session) != STATUS_OK) {
            session->respawn_tick =
                world->clock.tick + world->clock.tick_rate; // no room; try again
        }
    }
}

static void tick_closing(World *world, Session *session)
{
    if (world->clock.tick - session->state_tick <= world_ticks(&world->clock, CLOSING_MS)) {
        return;
    }
    session_abort(world->sessions, session);
    if (session->player == 0) {
        session_free(world->sessions, session);
    } else {
        session->state = SESSION_DROPPED; // it counts from when it was closed
    }
}

static void tick_one(World *world, Session *session)
{
    const uint64_t age = world->clock.tick - session->state_tick;
    switch (session->state) {
    case SESSION_FREE:
        break;
    case SESSION_CONNECTED:
    case SESSION_VERIFYING:
        if (age > world_ticks(&world->clock, HANDSHAKE_MS)) {
            session_error(world->sessions, session, 0, ERROR_HANDSHAKE_TIMEOUT,
                          "nobody said who this is within 10 s");
        }
        break;
    case SESSION_PLAYING:
        join_tick(world, session);
        break;
    case SESSION_DROPPED:
        if (age > world_ticks(&world->clock, world->config.body_kept_ms)) {
            player_end(world, session);
            session_free(world->sessions, session);
        }
        break;
    case SESSION_CLOSING:
        tick_closing(world, session);
        break;
    }
}

void life_tick(World *world)
{
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        Session *session = &world->sessions->all[i];
        tick_one(world, session);
        if (session->player != 0) {
            tick_body(world, session);
        }
    }
}
