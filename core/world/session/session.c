// Sessions: slots, states, and the bodies they keep. A session ends in one of three ways: its
// connection is cut (the body stays for a while), it is closed by us (the same, once its last
// messages are out), or the player leaves (the body goes at once). Every way out of a slot goes
// through slot_free, and every end of a player through player_end.
//
// States change with entries and ticks only, never because output was taken.
#include "core/world/world_inside.h"

#include "core/wire/merge.h"

#include <string.h>

#define CLOSING_MS 10000 // for the last messages and the owner's DISCONNECT

uint32_t world_ticks(const World *world, uint64_t ms)
{
    const uint64_t ticks = (ms * world->tick_rate + 999) / 1000;
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

// --- finding ------------------------------------------------------------------------------------

Session *world_session_at(World *world, uint32_t number)
{
    ASSERT(number < world->session_count);
    return &world->sessions[number];
}

static Session *of_slot(World *world, uint32_t slot)
{
    return slot != 0 ? &world->sessions[slot - 1] : NULL;
}

Session *session_of_connection(World *world, uint64_t connection)
{
    return of_slot(world, id_map_find(&world->connections, connection));
}

Session *world_session_of_player(World *world, uint64_t player)
{
    return player != 0 ? of_slot(world, id_map_find(&world->players, player)) : NULL;
}

Session *world_session_of_entity(World *world, uint64_t entity)
{
    const Entity *body = sim_entity(world->sim, sim_find(world->sim, entity));
    Session *session = body != NULL && body->type == ENTITY_PLAYER
                           ? world_session_of_player(world, body->owner_id)
                           : NULL;
    return session != NULL && session->entity == entity ? session : NULL;
}

Session *session_of_account(World *world, uint64_t account)
{
    for (uint32_t i = 0; i < world->session_high && account != 0; i++) {
        Session *session = &world->sessions[i];
        if (session->player != 0 && session->account == account) {
            return session;
        }
    }
    return NULL;
}

Session *session_of_token(World *world, const uint8_t token_hash[32])
{
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        if (session->player != 0 && memcmp(session->resume_hash, token_hash, 32) == 0) {
            return session;
        }
    }
    return NULL;
}

// Several times a tick for each session: the place where it last was is right nearly always, and a
// net id is never given twice.
Handle session_handle(const World *world, const Session *session)
{
    const Entity *known = sim_entity(world->sim, session->body);
    if (known != NULL && known->net_id == session->entity) {
        return session->body;
    }
    return session->entity != 0 ? sim_find(world->sim, session->entity) : HANDLE_NONE;
}

const Entity *session_body(const World *world, const Session *session)
{
    const Entity *body = sim_entity(world->sim, session_handle(world, session));
    return body != NULL && body->type == ENTITY_PLAYER ? body : NULL;
}

uint32_t session_player_count(const World *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->session_high; i++) {
        count += world->sessions[i].player != 0;
    }
    return count;
}

// --- slots --------------------------------------------------------------------------------------

static void let_go_of_connection(World *world, Session *session)
{
    if (session->connection == 0) {
        return;
    }
    output_close(world, session);
    inbox_clear(world, session);
    id_map_remove(&world->connections, session->connection);
    if (session->merge != NULL) {
        world->merge_used[session->merge - world->merges] = false;
        session->merge = NULL;
    }
    session->connection = 0;
    session->out = NULL;
    session->out_lost = false;
}

static void slot_free(World *world, Session *session)
{
    ASSERT(session->player == 0);
    let_go_of_connection(world, session);
    memset(session, 0, sizeof *session);
    while (world->session_high > 0 &&
           world->sessions[world->session_high - 1].state == SESSION_FREE) {
        world->session_high -= 1;
    }
}

static Session *slot_find(World *world)
{
    for (uint32_t i = 0; i < world->session_count; i++) {
        if (world->sessions[i].state == SESSION_FREE) {
            return &world->sessions[i];
        }
    }
    return NULL;
}

// A JSON session needs a merge and a larger ring. When all are taken it gets the ring of any
// session, which is enough to be told so: join_handshake does.
static bool open_json(World *world, Session *session)
{
    for (uint32_t i = 0; i < world->merge_count; i++) {
        if (!world->merge_used[i]) {
            world->merge_used[i] = true;
            session->merge = &world->merges[i];
            merge_reset(session->merge, world->tick_rate);
            uint8_t *rings = world->outs + (size_t)world->session_count * OUTPUT_BYTES_MAX;
            output_open(world, session, rings + (size_t)i * OUTPUT_JSON_BYTES_MAX,
                        OUTPUT_JSON_BYTES_MAX);
            return true;
        }
    }
    return false;
}

Status session_connect(World *world, const Entry *entry)
{
    if (entry->connection == 0) {
        return STATUS_RANGE;
    }
    if (session_of_connection(world, entry->connection) != NULL) {
        return STATUS_EXISTS;
    }
    Session *session = slot_find(world);
    if (session == NULL || world->stopping) {
        return STATUS_LIMIT;
    }
    const uint32_t number = session_number(world, session);
    session->json = (entry->flags & ENTRY_JSON) != 0;
    if (!session->json || !open_json(world, session)) {
        output_open(world, session, world->outs + (size_t)number * OUTPUT_BYTES_MAX,
                    OUTPUT_BYTES_MAX);
    }
    session->state = SESSION_CONNECTED;
    session->state_tick = world->tick;
    session->connection = entry->connection;
    session->address = entry->number;
    rate_fill(session);
    id_map_put(&world->connections, entry->connection, number + 1);
    if (number >= world->session_high) {
        world->session_high = number + 1;
    }
    return STATUS_OK;
}

// --- the end of a player ------------------------------------------------------------------------

// Player and body go; scripts hear of it in their next phase.
static void player_end(World *world, Session *session)
{
    if (session->player == 0) {
        return;
    }
    save_player(world, session, false);
    act_forget(world, session);
    const Status left = authority_player_leave(world->authority, session->player);
    ASSERT(left == STATUS_OK || left == STATUS_NOT_FOUND);
    const MessagePlayerLeft event = {.player = session->player};
    event_broadcast(world, MESSAGE_PLAYER_LEFT, &event, NULL);
    id_map_remove(&world->players, session->player);
    session->player = 0;
    session->entity = 0;
    session->joining = false;
}

static void stand_still(World *world, Session *session)
{
    const Entity *body = session_body(world, session);
    if (body != NULL) {
        const SimInput input = {.yaw = body->character.input.yaw,
                                .pitch = body->character.input.pitch};
        sim_set_input(world->sim, session_handle(world, session), &input);
    }
    input_reset(&session->input);
}

// The client is gone and the body is not.
static void keep_body(World *world, Session *session)
{
    replicator_close(world->replicator, session_number(world, session));
    if (session->player != 0) {
        act_forget(world, session);
        stand_still(world, session);
        save_player(world, session, false);
        join_keep_token(world, session);
    }
}

void session_close(World *world, Session *session)
{
    ASSERT(session->connection != 0);
    if (session->state == SESSION_CLOSING) {
        return;
    }
    if (session->state == SESSION_PLAYING) {
        keep_body(world, session);
    }
    if (!session->out_lost) {
        world->closing_count += 1;
    }
    session->state = SESSION_CLOSING;
    session->state_tick = world->tick;
    inbox_clear(world, session);
}

void session_leave(World *world, Session *session)
{
    player_end(world, session);
    if (session->connection != 0) {
        session_close(world, session);
    } else {
        slot_free(world, session);
    }
}

Status session_disconnect(World *world, uint64_t connection)
{
    Session *session = session_of_connection(world, connection);
    if (session == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (session->state == SESSION_PLAYING) {
        keep_body(world, session);
    }
    let_go_of_connection(world, session);
    if (session->player == 0) {
        slot_free(world, session);
        return STATUS_OK;
    }
    session->state = SESSION_DROPPED;
    session->state_tick = world->tick;
    return STATUS_OK;
}

// --- one body, another session ------------------------------------------------------------------

void session_take_over(World *world, Session *from, Session *to)
{
    ASSERT(from != to && from->player != 0 && to->player == 0);
    if (from->state == SESSION_PLAYING) {
        act_forget(world, from);
        stand_still(world, from);
    }
    if (to->account == 0) { // the owner said nothing newer
        to->account = from->account;
        to->guest = from->guest;
        to->operator_role = from->operator_role;
    }
    to->debug = to->debug || from->debug;
    to->player = from->player;
    to->entity = from->entity;
    to->joining = from->joining;
    to->respawn_tick = from->respawn_tick;
    to->fire_tick = from->fire_tick;
    to->geometry_tick = from->geometry_tick;
    memcpy(to->player_id, from->player_id, sizeof to->player_id);
    memcpy(to->name, from->name, sizeof to->name);
    id_map_put(&world->players, to->player, session_number(world, to) + 1);
    from->player = 0;
    from->entity = 0;
    from->joining = false;
    memset(from->resume_hash, 0, sizeof from->resume_hash);
    if (from->connection == 0) {
        slot_free(world, from);
        return;
    }
    session_error(world, from, 0, ERROR_REPLACED, "you came in from somewhere else");
}

// --- time ---------------------------------------------------------------------------------------

Status session_respawn(World *world, Session *session)
{
    const Status status =
        authority_player_spawn(world->authority, session->player,
                               authority_spawn_point(world->authority, session->player));
    if (status == STATUS_OK) {
        session->respawn_tick = 0;
    }
    return status;
}

static void tick_body(World *world, Session *session)
{
    // A script may have given the player another body.
    const RosterPlayer *player = roster_find(authority_roster(world->authority), session->player);
    if (player != NULL && !session->joining && player->entity != session->entity) {
        session->entity = player->entity;
        own_reset(world, session);
        profile_announce(world, session, NULL);
    }
    session->body = session_handle(world, session);
    const Entity *body = session_body(world, session);
    const bool alive = body != NULL && body->character.health > 0;
    if (alive || session->joining) {
        session->respawn_tick = 0;
    } else if (session->respawn_tick == 0) {
        const uint32_t pause = world_ticks(world, world->config.place->respawn_ms);
        session->respawn_tick = world->tick + (pause > 0 ? pause : 1);
    } else if (world->tick >= session->respawn_tick) {
        if (session_respawn(world, session) != STATUS_OK) {
            session->respawn_tick = world->tick + world->tick_rate; // no room; asks again
        }
    }
}

static void tick_closing(World *world, Session *session)
{
    if (world->tick - session->state_tick <= world_ticks(world, CLOSING_MS)) {
        return;
    }
    if (!session->closing_told) {
        ASSERT(world->closed_count <= world->session_count);
        if (world->closed_count < world->session_count) {
            world->closed[world->closed_count++] = session->connection;
        }
    }
    let_go_of_connection(world, session);
    if (session->player == 0) {
        slot_free(world, session);
    } else {
        session->state = SESSION_DROPPED; // since it was closed
    }
}

static void tick_one(World *world, Session *session)
{
    const uint64_t age = world->tick - session->state_tick;
    switch (session->state) {
    case SESSION_FREE:
        break;
    case SESSION_CONNECTED:
    case SESSION_VERIFYING:
        if (age > world_ticks(world, HANDSHAKE_MS)) {
            session_error(world, session, 0, ERROR_HANDSHAKE_TIMEOUT,
                          "nobody said who this is within 10 s");
        }
        break;
    case SESSION_PLAYING:
        join_tick(world, session);
        break;
    case SESSION_DROPPED:
        if (age > world_ticks(world, world->config.body_kept_ms)) {
            player_end(world, session);
            slot_free(world, session);
        }
        break;
    case SESSION_CLOSING:
        tick_closing(world, session);
        break;
    }
}

void session_tick(World *world)
{
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        tick_one(world, session);
        if (session->player != 0) {
            tick_body(world, session);
        }
    }
}

// --- hash ---------------------------------------------------------------------------------------

static void hash_input(const InputBuffer *input, Hash64 *hash)
{
    for (uint32_t i = 0; i < INPUT_BUFFER; i++) {
        if (input->present[i]) {
            const WireInputFrame *frame = &input->frames[i];
            hash_u64(hash, frame->tick);
            hash_u64(hash, frame->seq);
            hash_u64(hash, (uint64_t)(int64_t)frame->move_x << 32 ^ (uint32_t)frame->move_z);
            hash_u64(hash, frame->yaw << 32 ^ frame->buttons);
            hash_u64(hash, (uint64_t)(int64_t)frame->pitch);
        }
    }
    hash_u64(hash, (uint64_t)input->waiting << 32 | input->repeated);
    hash_u64(hash, (uint64_t)input->ack_seq << 1 | input->started);
    hash_u64(hash, input->view_tick);
    hash_u64(hash, input->early_tick);
}

static void hash_flow(const Session *session, Hash64 *hash)
{
    const Flow *flow = &session->flow;
    hash_u64(hash, (uint64_t)flow->sent << 32 | flow->acked);
    hash_u64(hash, flow->rtt_eighths);
    hash_u64(hash, flow->behind_since);
    hash_u64(hash, flow->written);
    hash_u64(hash, flow->backlog);
    const Own *own = &session->own;
    hash_u64(hash, (uint64_t)own->hash << 2 | (uint64_t)own->wanted << 1 | own->alive);
    hash_u64(hash, own->sent_tick);
    hash_u64(hash, own->match_tick);
    hash_u64(hash, own->match_known);
    for (uint32_t i = 0; i < 8; i++) {
        hash_u64(hash, own->cause_tick[i]);
    }
}

void session_hash(const World *world, Hash64 *hash)
{
    for (uint32_t i = 0; i < world->session_high; i++) {
        const Session *session = &world->sessions[i];
        hash_u64(hash, (uint64_t)session->state << 8 | (uint64_t)session->debug << 5 |
                           (uint64_t)session->json << 4 | (uint64_t)session->guest << 3 |
                           (uint64_t)session->operator_role << 2 | (uint64_t)session->joining << 1 |
                           session->resumed);
        if (session->state == SESSION_FREE) {
            continue;
        }
        hash_u64(hash, session->connection);
        hash_u64(hash, session->state_tick);
        hash_u64(hash, session->account);
        hash_u64(hash, session->player);
        hash_u64(hash, session->entity);
        hash_bytes(hash, session->player_id, strlen(session->player_id));
        hash_bytes(hash, session->name, strlen(session->name));
        hash_bytes(hash, session->resume_hash, sizeof session->resume_hash);
        if (session->address != 0) {
            hash_u64(hash, session->address);
        }
        if (session->state == SESSION_VERIFYING && session->has_token) {
            hash_bytes(hash, session->token_hash, sizeof session->token_hash);
        }
        hash_u64(hash, session->resume_tick);
        hash_u64(hash, (uint64_t)session->presence_end << 32 | session->presence_at);
        for (uint32_t kind = 0; kind < RATE_COUNT; kind++) {
            hash_u32(hash, session->rates[kind].milli);
        }
        hash_u64(hash, (uint64_t)session->strikes << 32 | session->seq);
        hash_u64(hash, session->geometry_tick);
        hash_u64(hash, session->fire_tick);
        hash_u64(hash, session->respawn_tick);
        hash_u64(hash, session->preview_until[0]);
        hash_u64(hash, session->preview_until[1]);
        hash_input(&session->input, hash);
        hash_flow(session, hash);
    }
}
