// Sessions: slots and states. Every way out of a slot goes through session_free, and every end of a
// connection through session_detach. Who a session is and which body it has is decided at the top
// of core/world (join.c, life.c).
#include "core/world/session/session.h"

#include "core/base/arena.h"
#include "core/wire/merge.h"

#include <string.h>

#define MESSAGE_ROOM_BYTES (512u << 10)

// --- creation -----------------------------------------------------------------------------------

static Status create_maps(Sessions *sessions)
{
    const size_t bytes = 2 * id_map_bytes(sessions->count);
    sessions->map_block = heap_alloc(sessions->config.heap, bytes);
    if (sessions->map_block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, sessions->map_block, bytes);
    const Status status = id_map_init(&sessions->connections, &arena, sessions->count);
    return status != STATUS_OK ? status : id_map_init(&sessions->players, &arena, sessions->count);
}

static Status create_buffers(Sessions *sessions)
{
    Heap *heap = sessions->config.heap;
    const uint32_t count = sessions->count;
    const uint32_t json = sessions->config.json_session_max;
    sessions->frame_capacity = sessions->config.frame_bytes;
    sessions->message_capacity = MESSAGE_ROOM_BYTES;
    sessions->merge_count = json;
    sessions->all = heap_alloc(heap, heap_array_bytes(count, sizeof(Session)));
    sessions->frame = heap_alloc(heap, sessions->frame_capacity);
    sessions->message = heap_alloc(heap, sessions->message_capacity);
    sessions->outs =
        heap_alloc(heap, (size_t)count * OUTPUT_BYTES_MAX + (size_t)json * OUTPUT_JSON_BYTES_MAX);
    sessions->merges = heap_alloc(heap, heap_array_bytes((size_t)json + 1, sizeof(Merge)));
    sessions->merge_used = heap_alloc(heap, heap_array_bytes((size_t)json + 1, sizeof(bool)));
    sessions->closed = heap_alloc(heap, heap_array_bytes(count, sizeof(uint64_t)));
    const bool all = sessions->all != NULL && sessions->frame != NULL &&
                     sessions->message != NULL && sessions->outs != NULL &&
                     sessions->merges != NULL && sessions->merge_used != NULL &&
                     sessions->closed != NULL;
    return all ? STATUS_OK : STATUS_LIMIT;
}

Status session_create(const SessionsConfig *config, Sessions **out)
{
    ASSERT(config->session_count > 0 && config->client_gone != NULL);
    Sessions *sessions = heap_alloc(config->heap, sizeof *sessions);
    if (sessions == NULL) {
        return STATUS_LIMIT;
    }
    sessions->config = *config;
    sessions->count = config->session_count;
    Status status = create_maps(sessions);
    if (status == STATUS_OK) {
        status = create_buffers(sessions);
    }
    if (status == STATUS_OK) {
        status = inbox_create(sessions);
    }
    if (status != STATUS_OK) {
        session_destroy(sessions);
        return status;
    }
    *out = sessions;
    return STATUS_OK;
}

void session_destroy(Sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    Heap *heap = sessions->config.heap;
    inbox_destroy(sessions);
    heap_free(heap, sessions->closed);
    heap_free(heap, sessions->merge_used);
    heap_free(heap, sessions->merges);
    heap_free(heap, sessions->outs);
    heap_free(heap, sessions->message);
    heap_free(heap, sessions->frame);
    heap_free(heap, sessions->all);
    heap_free(heap, sessions->map_block);
    heap_free(heap, sessions);
}

// --- finding ------------------------------------------------------------------------------------

Session *session_at(Sessions *sessions, uint32_t number)
{
    ASSERT(number < sessions->count);
    return &sessions->all[number];
}

static Session *of_slot(Sessions *sessions, uint32_t slot)
{
    return slot != 0 ? &sessions->all[slot - 1] : NULL;
}

Session *session_of_connection(Sessions *sessions, uint64_t connection)
{
    return of_slot(sessions, id_map_find(&sessions->connections, connection));
}

Session *session_of_player(Sessions *sessions, uint64_t player)
{
    return player != 0 ? of_slot(sessions, id_map_find(&sessions->players, player)) : NULL;
}

Session *session_of_entity(Sessions *sessions, uint64_t entity)
{
    const Entity *body = sim_entity(sessions->config.sim, sim_find(sessions->config.sim, entity));
    Session *session = body != NULL && body->type == ENTITY_PLAYER
                           ? session_of_player(sessions, body->owner_id)
                           : NULL;
    return session != NULL && session->entity == entity ? session : NULL;
}

Session *session_of_account(Sessions *sessions, uint64_t account)
{
    for (uint32_t i = 0; i < sessions->high && account != 0; i++) {
        Session *session = &sessions->all[i];
        if (session->player != 0 && session->account == account) {
            return session;
        }
    }
    return NULL;
}

Session *session_of_token(Sessions *sessions, const uint8_t token_hash[32])
{
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (session->player != 0 && memcmp(session->resume_hash, token_hash, 32) == 0) {
            return session;
        }
    }
    return NULL;
}

// Called several times a tick for each session: the last slot is nearly always right, and a net id
// is never reused.
Handle session_handle(const Sim *sim, const Session *session)
{
    const Entity *known = sim_entity(sim, session->body);
    if (known != NULL && known->net_id == session->entity) {
        return session->body;
    }
    return session->entity != 0 ? sim_find(sim, session->entity) : HANDLE_NONE;
}

const Entity *session_body(const Sim *sim, const Session *session)
{
    const Entity *body = sim_entity(sim, session_handle(sim, session));
    return body != NULL && body->type == ENTITY_PLAYER ? body : NULL;
}

uint32_t session_player_count(const Sessions *sessions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sessions->high; i++) {
        count += sessions->all[i].player != 0;
    }
    return count;
}

// --- slots --------------------------------------------------------------------------------------

void session_detach(Sessions *sessions, Session *session)
{
    if (session->connection == 0) {
        return;
    }
    output_close(sessions, session);
    inbox_clear(sessions, session);
    id_map_remove(&sessions->connections, session->connection);
    if (session->merge != NULL) {
        sessions->merge_used[session->merge - sessions->merges] = false;
        session->merge = NULL;
    }
    session->connection = 0;
    session->out = NULL;
    session->out_lost = false;
}

void session_free(Sessions *sessions, Session *session)
{
    ASSERT(session->player == 0);
    session_detach(sessions, session);
    memset(session, 0, sizeof *session);
    while (sessions->high > 0 && sessions->all[sessions->high - 1].state == SESSION_FREE) {
        sessions->high -= 1;
    }
}

static Session *slot_find(Sessions *sessions)
{
    for (uint32_t i = 0; i < sessions->count; i++) {
        if (sessions->all[i].state == SESSION_FREE) {
            return &sessions->all[i];
        }
    }
    return NULL;
}

// A JSON session needs a merge and a larger ring. If all are taken it gets an ordinary ring, which
// is enough for the error that join_handshake sends.
static bool open_json(Sessions *sessions, Session *session)
{
    for (uint32_t i = 0; i < sessions->merge_count; i++) {
        if (!sessions->merge_used[i]) {
            sessions->merge_used[i] = true;
            session->merge = &sessions->merges[i];
            merge_reset(session->merge, sessions->config.clock->tick_rate);
            uint8_t *rings = sessions->outs + (size_t)sessions->count * OUTPUT_BYTES_MAX;
            output_open(session, rings + (size_t)i * OUTPUT_JSON_BYTES_MAX, OUTPUT_JSON_BYTES_MAX);
            return true;
        }
    }
    return false;
}

Status session_connect(Sessions *sessions, const Entry *entry)
{
    if (entry->connection == 0) {
        return STATUS_RANGE;
    }
    if (session_of_connection(sessions, entry->connection) != NULL) {
        return STATUS_EXISTS;
    }
    Session *session = slot_find(sessions);
    if (session == NULL || sessions->config.run->stopping) {
        return STATUS_LIMIT;
    }
    const uint32_t number = session_number(sessions, session);
    session->json = (entry->flags & ENTRY_JSON) != 0;
    if (!session->json || !open_json(sessions, session)) {
        output_open(session, sessions->outs + (size_t)number * OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX);
    }
    session->state = SESSION_CONNECTED;
    session->state_tick = sessions->config.clock->tick;
    session->connection = entry->connection;
    session->address = entry->number;
    rate_fill(session);
    id_map_put(&sessions->connections, entry->connection, number + 1);
    if (number >= sessions->high) {
        sessions->high = number + 1;
    }
    return STATUS_OK;
}

void session_close(Sessions *sessions, Session *session)
{
    ASSERT(session->connection != 0);
    if (session->state == SESSION_CLOSING) {
        return;
    }
    if (session->state == SESSION_PLAYING) {
        sessions->config.client_gone(sessions->config.user, session);
    }
    if (!session->out_lost) {
        sessions->closing_count += 1;
    }
    session->state = SESSION_CLOSING;
    session->state_tick = sessions->config.clock->tick;
    inbox_clear(sessions, session);
}

void session_abort(Sessions *sessions, Session *session)
{
    ASSERT(session->state == SESSION_CLOSING && session->connection != 0);
    if (!session->closing_told) {
        ASSERT(sessions->closed_count <= sessions->count);
        if (sessions->closed_count < sessions->count) {
            sessions->closed[sessions->closed_count++] = session->connection;
        }
    }
    session_detach(sessions, session);
}

Status session_respawn(Authority *authority, Session *session)
{
    const Status status = authority_player_spawn(authority, session->player,
                                                 authority_spawn_point(authority, session->player));
    if (status == STATUS_OK) {
        session->respawn_tick = 0;
    }
    return status;
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

static void hash_turn(const SessionTurn *turn, Hash64 *hash)
{
    if (turn->is_on) {
        hash_u64(hash, turn->yaw << 32 | turn->frame);
        hash_u64(hash, turn->until_tick);
        hash_u64(hash, turn->end_tick);
    }
}

static void hash_flow(const Session *session, Hash64 *hash)
{
    const SnapshotFlow *flow = &session->flow;
    hash_u64(hash, (uint64_t)flow->sent << 32 | flow->acked);
    hash_u64(hash, flow->rtt_eighths);
    hash_u64(hash, flow->behind_since);
    hash_u64(hash, flow->written);
    hash_u64(hash, flow->backlog);
    const Prediction *own = &session->prediction;
    hash_u64(hash, (uint64_t)own->hash << 2 | (uint64_t)own->wanted << 1 | own->alive);
    hash_u64(hash, own->sent_tick);
    hash_u64(hash, own->match_tick);
    hash_u64(hash, own->match_known);
    for (uint32_t i = 0; i < 8; i++) {
        hash_u64(hash, own->cause_tick[i]);
    }
}

void session_hash(const Sessions *sessions, Hash64 *hash)
{
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = &sessions->all[i];
        hash_u64(hash, (uint64_t)session->state << 8 | (uint64_t)session->fixed_name << 6 |
                           (uint64_t)session->debug << 5 | (uint64_t)session->json << 4 |
                           (uint64_t)session->guest << 3 | (uint64_t)session->operator_role << 2 |
                           (uint64_t)session->joining << 1 | session->resumed);
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
        if (session->muted_until_ms != 0) {
            hash_u64(hash, session->muted_until_ms);
            hash_bytes(hash, session->mute_reason, strlen(session->mute_reason));
        }
        if (session->chat_rule != CHAT_FREE || session->chat_waits) {
            hash_u64(hash, (uint64_t)session->chat_rule << 1 | session->chat_waits);
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
        hash_turn(&session->turn, hash);
        hash_flow(session, hash);
    }
}
