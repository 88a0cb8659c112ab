// Messages of clients: decoded and given to their handlers once per tick, in the order of the
// sessions (session/inbox.c).
#include "core/world/world_inside.h"

#define OTHER_SCHEMA_TEXT \
    "this client was built for another version of the server; reload the page or update it"

static void strike(Sessions *sessions, Session *session, uint32_t seq, const char *why)
{
    sessions->config.stats->messages_malformed += 1;
    session->strikes += 1;
    const bool fatal = session->strikes >= MALFORMED_MAX || session->state == SESSION_CONNECTED;
    session_malformed(sessions, session, seq, fatal, why);
}

static void take_inputs(Sessions *sessions, Session *session, const MessageInputBatch *batch)
{
    // Also of a batch that is over the limit, as after a stall: the acknowledgement lets frames
    // flow again.
    snapshot_ack(sessions, session, batch->last_snapshot);
    turn_confirm(session, sessions->config.clock->tick);
    if (!rate_take(sessions->config.stats, session, RATE_INPUT, 1)) {
        return;
    }
    session->input.view_tick = batch->view_tick < sessions->config.clock->tick
                                   ? batch->view_tick
                                   : sessions->config.clock->tick;
    for (uint32_t i = 0; i < batch->inputs_count; i++) {
        input_put(sessions->config.stats, &session->input, &batch->inputs[i],
                  sessions->config.clock->tick);
    }
    prediction_reported(sessions, session, batch);
}

static void pong(Sessions *sessions, Session *session, const MessagePing *ping)
{
    const MessagePong answer = {.nonce = ping->nonce, .tick = sessions->config.clock->tick};
    session_send(sessions, session, MESSAGE_PONG, &answer);
}

static void handle(World *world, Session *session, const Message *message)
{
    const void *body = message->body;
    const uint32_t seq = message->seq;
    switch (message->number) {
    case MESSAGE_HANDSHAKE:
        strike(world->sessions, session, seq, "the handshake is over");
        break;
    case MESSAGE_PING:
        pong(world->sessions, session, body);
        break;
    case MESSAGE_INPUT_BATCH:
        take_inputs(world->sessions, session, body);
        break;
    case MESSAGE_TERRAFORM:
        act_terraform(world->acts, session, seq, body);
        break;
    case MESSAGE_BUILD_PLACE:
        act_build_place(world->acts, session, seq, body);
        break;
    case MESSAGE_BUILD_REMOVE:
        act_build_remove(world->acts, session, seq, body);
        break;
    case MESSAGE_BUILD_PREVIEW:
        act_build_preview(world->acts, session, seq, body);
        break;
    case MESSAGE_CHUNK_REQUEST:
        act_chunk_request(world->acts, session, seq, body);
        break;
    case MESSAGE_PATCH_REQUEST:
        act_patch_request(world->acts, session, seq, body);
        break;
    case MESSAGE_PROFILE_LIST:
        act_profile_list(world->acts, session, seq);
        break;
    case MESSAGE_PROFILE_SELECT:
        act_profile_select(world->acts, session, seq, body);
        break;
    case MESSAGE_PROFILE_SAVE:
        act_profile_save(world->acts, session, seq, body);
        break;
    case MESSAGE_PROFILE_DELETE:
        act_profile_delete(world->acts, session, seq, body);
        break;
    case MESSAGE_REMOTE_UP:
        remote_up(world->script_host, session, body);
        break;
    case MESSAGE_SCRIPT_COSTS:
        client_cost_take(world->script_host, session, body);
        break;
    case MESSAGE_SCRIPT_REQUEST:
        transfer_script_request(world->script_host, session, seq, body);
        break;
    case MESSAGE_SCRIPT_VERIFY:
        script_host_verify(world->script_host, session, seq, body);
        break;
    case MESSAGE_SCRIPT_VERIFY_LIST:
        script_host_verify_list(world->script_host, session, seq, body);
        break;
    case MESSAGE_CHAT_SAY:
        act_chat(world->acts, session, seq, body);
        break;
    case MESSAGE_REPORT:
        act_report(world->acts, session, seq, body);
        break;
    case MESSAGE_RESPAWN:
        act_respawn(world->acts, session, seq);
        break;
    case MESSAGE_LEAVE:
        life_leave(world, session);
        break;
    case MESSAGE_BLOB_REQUEST:
        transfer_blob_request(world->script_host, session, seq, body);
        break;
    default:
        ASSERT(false && "every UP row has a handler");
    }
}

static void refuse_json(Sessions *sessions, Session *session, const MessageJsonError *error)
{
    char text[JSON_ERROR_TEXT_BYTES];
    json_error_text(&error->where, text);
    if (error->code == ERROR_MALFORMED) {
        strike(sessions, session, 0, text);
        return;
    }
    sessions->config.stats->messages_refused += 1;
    if (error->code == ERROR_UNSUPPORTED_VERSION) {
        session_error(sessions, session, 0, error->code, "this world speaks version %d",
                      PROTOCOL_VERSION);
    } else if (session->state == SESSION_CONNECTED) {
        session_error(sessions, session, 0, ERROR_HANDSHAKE_FIRST, "say first who you are");
    } else {
        session_error(sessions, session, 0, error->code, "%s", text);
    }
}

// False if there is nothing to handle: it was answered already, or is to be skipped.
static bool decode(World *world, Session *session, const uint8_t *bytes, size_t count, Message *out)
{
    arena_reset(&world->scratch);
    if (session->json) {
        MessageJsonError error = {0};
        const Status status =
            message_from_json((const char *)bytes, count, MESSAGE_UP, &world->scratch, out, &error);
        if (status != STATUS_OK) {
            refuse_json(world->sessions, session, &error);
        }
        return status == STATUS_OK;
    }
    if (session->state == SESSION_CONNECTED && count > 0 &&
        (bytes[0] == MESSAGE_OLD_HANDSHAKE || message_is_of_other_schema(bytes, count))) {
        session_error(world->sessions, session, 0, ERROR_UNSUPPORTED_VERSION, OTHER_SCHEMA_TEXT);
        return false;
    }
    const Status status = message_decode(bytes, count, MESSAGE_UP, &world->scratch, out);
    if (status == STATUS_UNSUPPORTED && session->state != SESSION_CONNECTED) {
        world->stats.messages_refused += 1; // from a later protocol version
        return false;
    }
    if (status == STATUS_UNSUPPORTED) {
        session_error(world->sessions, session, 0, ERROR_HANDSHAKE_FIRST, "say first who you are");
        return false;
    }
    if (status != STATUS_OK) {
        strike(world->sessions, session, 0, status_text(status));
    }
    return status == STATUS_OK;
}

// InboxHandler.
static void take_message(void *user, Session *session, const uint8_t *bytes, size_t count)
{
    World *world = user;
    world->stats.messages += 1;
    if (!rate_take(&world->stats, session, RATE_MESSAGE, 1)) {
        world->stats.messages_refused += 1;
        if (session->rated_tick + world->clock.tick_rate <= world->clock.tick) {
            session->rated_tick = world->clock.tick;
            session_error(world->sessions, session, 0, ERROR_RATE_LIMITED, "too many messages");
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
        session_error(world->sessions, session, message.seq, ERROR_HANDSHAKE_FIRST,
                      "say first who you are");
    }
}

void dispatch_tick(World *world)
{
    inbox_tick(world->sessions, take_message, world);
}
