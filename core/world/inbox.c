// Messages of clients: kept as they came, decoded and answered once per tick, in the order of the
// sessions. Nothing that a client sends does anything before its turn, so the work of a tick is
// bounded by sessions × INBOX_PER_TICK, and one session's flood ends that session alone.
#include "core/world/world_inside.h"

#include <string.h>

_Static_assert(INBOX_BYTES_MAX >= MESSAGE_BYTES_MAX + sizeof(uint32_t), "the largest message fits");

typedef struct Inbox {
    size_t used; // u32 length, message, one after the other
    uint32_t count;
} Inbox;

struct Inboxes {
    Inbox *boxes;
    uint8_t *bytes; // INBOX_BYTES_MAX each
};

Status inbox_create(World *world)
{
    struct Inboxes *inboxes = heap_alloc(world->heap, sizeof *inboxes);
    if (inboxes == NULL) {
        return STATUS_LIMIT;
    }
    world->inboxes = inboxes;
    inboxes->boxes = heap_alloc(world->heap, heap_array_bytes(world->session_count, sizeof(Inbox)));
    inboxes->bytes =
        heap_alloc(world->heap, heap_array_bytes(world->session_count, INBOX_BYTES_MAX));
    return inboxes->boxes != NULL && inboxes->bytes != NULL ? STATUS_OK : STATUS_LIMIT;
}

void inbox_destroy(World *world)
{
    if (world->inboxes != NULL) {
        heap_free(world->heap, world->inboxes->boxes);
        heap_free(world->heap, world->inboxes->bytes);
        heap_free(world->heap, world->inboxes);
        world->inboxes = NULL;
    }
}

static Inbox *box_of(const World *world, const Session *session)
{
    return &world->inboxes->boxes[session_number(world, session)];
}

static uint8_t *bytes_of(const World *world, const Session *session)
{
    return world->inboxes->bytes + (size_t)session_number(world, session) * INBOX_BYTES_MAX;
}

void inbox_clear(World *world, const Session *session)
{
    *box_of(world, session) = (Inbox){0};
}

Status inbox_put(World *world, Session *session, const Entry *entry)
{
    if (session->state == SESSION_CLOSING) {
        return STATUS_NOT_FOUND;
    }
    ASSERT(session->connection != 0);
    world->stats.bytes_up += entry->byte_count;
    if (entry->byte_count < 1 || entry->byte_count > MESSAGE_BYTES_MAX) {
        world->stats.messages_malformed += 1;
        session_malformed(world, session, 0, true, "a message is empty or too large");
        return STATUS_MALFORMED;
    }
    Inbox *box = box_of(world, session);
    const uint32_t length = (uint32_t)entry->byte_count;
    if (box->count == INBOX_MESSAGES_MAX || box->used + sizeof length + length > INBOX_BYTES_MAX) {
        world->stats.messages_refused += 1;
        session_error(world, session, 0, ERROR_FLOOD, "too many messages at once");
        return STATUS_LIMIT;
    }
    uint8_t *at = bytes_of(world, session) + box->used;
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, entry->bytes, length);
    box->used += sizeof length + length;
    box->count += 1;
    return STATUS_OK;
}

// --- rates --------------------------------------------------------------------------------------

// Tokens at once, and refilled in a second.
static const struct {
    uint32_t most, per_second;
} rates[RATE_COUNT] = {
#define RATE_ROW(NAME, most, per_second, text) [RATE_##NAME] = {most, per_second},
    RATE_LIST(RATE_ROW)
#undef RATE_ROW
};

void rate_fill(Session *session)
{
    for (uint32_t kind = 0; kind < RATE_COUNT; kind++) {
        session->rates[kind].milli = rates[kind].most * 1000;
    }
}

static void rate_refill(const World *world, Session *session)
{
    for (uint32_t kind = 0; kind < RATE_COUNT; kind++) {
        const uint32_t most = rates[kind].most * 1000;
        const uint32_t more = rates[kind].per_second * 1000 / world->tick_rate;
        RateBucket *bucket = &session->rates[kind];
        bucket->milli = bucket->milli + more < most ? bucket->milli + more : most;
    }
}

bool rate_take(World *world, Session *session, RateKind kind, uint32_t count)
{
    RateBucket *bucket = &session->rates[kind];
    if (count > rates[kind].most || bucket->milli < count * 1000) {
        world->stats.rate_limited += 1;
        return false;
    }
    bucket->milli -= count * 1000;
    return true;
}

// --- messages -----------------------------------------------------------------------------------

static void strike(World *world, Session *session, uint32_t seq, const char *why)
{
    world->stats.messages_malformed += 1;
    session->strikes += 1;
    const bool fatal = session->strikes >= MALFORMED_MAX || session->state == SESSION_CONNECTED;
    session_malformed(world, session, seq, fatal, why);
}

static void take_inputs(World *world, Session *session, const MessageInputBatch *batch)
{
    // Also of a batch too many, as they come in a bunch after a stall: it lets frames flow again.
    flow_ack(world, session, batch->last_snapshot);
    if (!rate_take(world, session, RATE_INPUT, 1)) {
        return;
    }
    session->input.view_tick = batch->view_tick < world->tick ? batch->view_tick : world->tick;
    for (uint32_t i = 0; i < batch->inputs_count; i++) {
        input_put(world, &session->input, &batch->inputs[i], world->tick);
    }
    own_predicted(world, session, batch);
}

static void pong(World *world, Session *session, const MessagePing *ping)
{
    const MessagePong answer = {.nonce = ping->nonce, .tick = world->tick};
    session_send(world, session, MESSAGE_PONG, &answer);
}

static void handle(World *world, Session *session, const Message *message)
{
    const void *body = message->body;
    const uint32_t seq = message->seq;
    switch (message->number) {
    case MESSAGE_HANDSHAKE:
        strike(world, session, seq, "the handshake is over");
        break;
    case MESSAGE_PING:
        pong(world, session, body);
        break;
    case MESSAGE_INPUT_BATCH:
        take_inputs(world, session, body);
        break;
    case MESSAGE_TERRAFORM:
        act_terraform(world, session, seq, body);
        break;
    case MESSAGE_BUILD_PLACE:
        act_build_place(world, session, seq, body);
        break;
    case MESSAGE_BUILD_REMOVE:
        act_build_remove(world, session, seq, body);
        break;
    case MESSAGE_BUILD_PREVIEW:
        act_build_preview(world, session, seq, body);
        break;
    case MESSAGE_CHUNK_REQUEST:
        act_chunk_request(world, session, seq, body);
        break;
    case MESSAGE_PROFILE_LIST:
        act_profile_list(world, session, seq);
        break;
    case MESSAGE_PROFILE_SELECT:
        act_profile_select(world, session, seq, body);
        break;
    case MESSAGE_PROFILE_SAVE:
        act_profile_save(world, session, seq, body);
        break;
    case MESSAGE_PROFILE_DELETE:
        act_profile_delete(world, session, seq, body);
        break;
    case MESSAGE_REMOTE_UP:
        act_remote(world, session, seq, body);
        break;
    case MESSAGE_SCRIPT_REQUEST:
        act_script_request(world, session, seq, body);
        break;
    case MESSAGE_SCRIPT_VERIFY:
        act_script_verify(world, session, seq, body);
        break;
    case MESSAGE_CHAT_SAY:
        act_chat(world, session, seq, body);
        break;
    case MESSAGE_RESPAWN:
        act_respawn(world, session, seq);
        break;
    case MESSAGE_LEAVE:
        session_leave(world, session);
        break;
    case MESSAGE_BLOB_REQUEST:
        act_blob_request(world, session, seq, body);
        break;
    default:
        ASSERT(false && "every UP row has a handler");
    }
}

static void refuse_json(World *world, Session *session, const MessageJsonError *error)
{
    char text[JSON_ERROR_TEXT_BYTES];
    json_error_text(&error->where, text);
    if (error->code == ERROR_MALFORMED) {
        strike(world, session, 0, text);
        return;
    }
    world->stats.messages_refused += 1;
    if (error->code == ERROR_UNSUPPORTED_VERSION) {
        session_error(world, session, 0, error->code, "this world speaks version %d",
                      PROTOCOL_VERSION);
    } else if (session->state == SESSION_CONNECTED) {
        session_error(world, session, 0, ERROR_HANDSHAKE_FIRST, "say first who you are");
    } else {
        session_error(world, session, 0, error->code, "%s", text);
    }
}

// False when there is nothing to handle: it has been answered, or is to be skipped.
static bool decode(World *world, Session *session, const uint8_t *bytes, size_t count, Message *out)
{
    arena_reset(&world->scratch);
    if (session->json) {
        MessageJsonError error = {0};
        const Status status =
            message_from_json((const char *)bytes, count, MESSAGE_UP, &world->scratch, out, &error);
        if (status != STATUS_OK) {
            refuse_json(world, session, &error);
        }
        return status == STATUS_OK;
    }
    const Status status = message_decode(bytes, count, MESSAGE_UP, &world->scratch, out);
    if (status == STATUS_UNSUPPORTED && session->state != SESSION_CONNECTED) {
        world->stats.messages_refused += 1; // of a later version than ours
        return false;
    }
    if (status == STATUS_UNSUPPORTED) {
        session_error(world, session, 0, ERROR_HANDSHAKE_FIRST, "say first who you are");
        return false;
    }
    if (status != STATUS_OK) {
        strike(world, session, 0, status_text(status));
    }
    return status == STATUS_OK;
}

static void take_message(World *world, Session *session, const uint8_t *bytes, size_t count)
{
    world->stats.messages += 1;
    if (!rate_take(world, session, RATE_MESSAGE, 1)) {
        world->stats.messages_refused += 1;
        if (session->rated_tick + world->tick_rate <= world->tick) {
            session->rated_tick = world->tick;
            session_error(world, session, 0, ERROR_RATE_LIMITED, "too many messages");
        }
        return;
    }
    Message message;
    if (!decode(world, session, bytes, count, &message)) {
        return;
    }
    if (session->state == SESSION_PLAYING) {
        handle(world, session, &message);
    } else if (message.number == MESSAGE_HANDSHAKE) {
        join_handshake(world, session, message.seq, message.body);
    } else {
        session_error(world, session, message.seq, ERROR_HANDSHAKE_FIRST, "say first who you are");
    }
}

static bool is_read(const Session *session)
{
    return session->state == SESSION_CONNECTED ||
           (session->state == SESSION_PLAYING && !session->joining);
}

static void read_box(World *world, Session *session)
{
    Inbox *box = box_of(world, session);
    uint8_t *bytes = bytes_of(world, session);
    size_t at = 0;
    for (uint32_t i = 0; i < INBOX_PER_TICK && box->count > 0 && is_read(session); i++) {
        uint32_t length = 0;
        memcpy(&length, bytes + at, sizeof length);
        at += sizeof length;
        box->count -= 1;
        take_message(world, session, bytes + at, length);
        at += length;
    }
    if (box->count == 0) { // or it was cleared, because the session ended
        box->used = 0;
        return;
    }
    memmove(bytes, bytes + at, box->used - at);
    box->used -= at;
}

void inbox_tick(World *world)
{
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        if (session->connection != 0) {
            rate_refill(world, session);
            read_box(world, session);
        }
    }
}

void inbox_hash(const World *world, Hash64 *hash)
{
    for (uint32_t i = 0; i < world->session_high; i++) {
        const Session *session = &world->sessions[i];
        const Inbox *box = box_of(world, session);
        hash_u64(hash, box->used);
        hash_bytes(hash, bytes_of(world, session), box->used);
    }
}
