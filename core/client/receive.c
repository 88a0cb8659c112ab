// Messages from the server; each is checked as if it were hostile. Frames go through the merge,
// whose sink passes the changes to prediction, interpolation and scripts.
#include "core/client/client_inside.h"

#include <string.h>

// --- frames -------------------------------------------------------------------------------------

static void forget_slots(Client *client)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        client_line_give(client, slot);
    }
    memcpy(client->before, client->ids, sizeof client->before);
    memset(client->ids, 0, sizeof client->ids);
    client->paint_version += 1;
    if (client->early != NULL) {
        client->early->has_own = false;
        memset(client->early->has_shape, 0, sizeof client->early->has_shape);
        memset(client->early->attributes_bytes, 0, sizeof client->early->attributes_bytes);
    }
}

static void on_begin(void *user, const SnapshotHeader *header)
{
    Client *client = user;
    client->frame_before = header->full ? header->tick : client->frame_tick;
    client->frame_tick = header->tick;
    if (header->full) {
        forget_slots(client);
        if (client->predict != NULL) {
            predict_reset(client->predict, header->tick);
        }
    }
}

static void on_own(void *user, const NetOwn *own)
{
    Client *client = user;
    client->own_entity = own->net_id;
    if (client->predict != NULL) {
        predict_own(client->predict, own);
    } else if (client->early != NULL) {
        client->early->own = *own;
        client->early->has_own = true;
    }
}

static void on_leave(void *user, uint32_t slot, const MergeSlot *entity)
{
    Client *client = user;
    client_line_give(client, slot);
    client->ids[slot] = 0;
    client->paint_version += 1;
    client->script.bind_due[slot] = false;
    if (client->early != NULL) {
        client->early->has_shape[slot] = false;
        client->early->attributes_bytes[slot] = 0;
    }
    if (client->predict != NULL) {
        predict_leave(client->predict, entity);
    }
    client_script_leave(client, entity->net_id);
}

// Kept until the scene is there.
static void keep_early(Client *client, uint32_t slot, const NetShape *shape,
                       const uint8_t *attributes, size_t attributes_bytes)
{
    if (client->early == NULL) {
        return;
    }
    if (shape != NULL) {
        client->early->shapes[slot] = *shape;
        client->early->has_shape[slot] = true;
    }
    if (attributes != NULL && attributes_bytes <= NET_ATTRIBUTES_BYTES_MAX) {
        memcpy(client->early->attributes[slot], attributes, attributes_bytes);
        client->early->attributes_bytes[slot] = (uint16_t)attributes_bytes;
    }
}

static void on_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                     const uint8_t *attributes, size_t attributes_bytes)
{
    Client *client = user;
    client->ids[slot] = entity->net_id;
    client_painted_by_server(client, entity->net_id);
    if (net_kind_moves(entity->kind)) {
        InterpolateLine *line = client_line_take(client, slot);
        if (line != NULL) {
            interpolate_push(line, &entity->state, client->frame_tick, client->frame_before);
        }
    }
    keep_early(client, slot, shape, attributes, attributes_bytes);
    if (client->predict != NULL) {
        predict_enter(client->predict, entity, shape);
    }
    client_script_enter(client, slot, entity->net_id, attributes, attributes_bytes);
}

static void on_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                      uint32_t components, const NetShape *shape, const uint8_t *attributes,
                      size_t attributes_bytes)
{
    Client *client = user;
    if (!paint_equal(&before->paint, &entity->state.paint)) {
        client_painted_by_server(client, entity->net_id);
    }
    if (client->line_of[slot] != 0 && (components & (NET_MOTION | NET_LOOK | NET_STATUS)) != 0) {
        interpolate_push(&client->lines[client->line_of[slot] - 1], &entity->state,
                         client->frame_tick, client->frame_before);
    }
    keep_early(client, slot, shape, attributes, attributes_bytes);
    if (client->predict != NULL) {
        predict_update(client->predict, entity, components, shape);
    }
    if (attributes != NULL) {
        client_script_attributes(client, entity->net_id, attributes, attributes_bytes);
    }
}

static void on_event(void *user, uint64_t tick, const uint8_t *bytes, size_t count)
{
    Client *client = user;
    Message message;
    arena_reset(&client->scratch);
    const Status status = message_decode_event(bytes, count, &client->scratch, &message);
    if (status == STATUS_UNSUPPORTED) {
        return; // from a later version
    }
    if (status != STATUS_OK) {
        client_fail(client, "an event cannot be read: %s", status_text(status));
        return;
    }
    // Terrain changes at once, so that the own player stands on the same ground as on the server.
    if (message.number == MESSAGE_CHUNK_VERSIONS) {
        const MessageChunkVersions *versions = message.body;
        chunk_cache_versions(client, versions->chunks, versions->chunks_count);
        return;
    }
    if (message.number == MESSAGE_PATCH_VERSIONS) {
        const MessagePatchVersions *versions = message.body;
        patch_cache_versions(client, versions->cells, versions->cells_count);
        return;
    }
    if (message.number == MESSAGE_SCENE_FOLDED) {
        connect_scene_folded(client, message.body);
        return;
    }
    if (message.number == MESSAGE_TERRAFORM_APPLIED) {
        chunk_cache_edit(client, message.body);
    }
    client_event_push(client, tick, bytes, count);
}

// What was there before a full frame and is not in it has left.
static void tell_missing(Client *client)
{
    for (uint32_t i = 0; i < NET_SLOTS_MAX; i++) {
        if (client->before[i] != 0 && !client_has_entity(client, client->before[i])) {
            client_script_leave(client, client->before[i]);
        }
    }
    memset(client->before, 0, sizeof client->before);
}

static void on_end(void *user, const SnapshotHeader *header)
{
    Client *client = user;
    if (header->full) {
        tell_missing(client);
    }
    if (client->predict != NULL) {
        predict_acknowledge(client->predict, header->ack_seq);
    }
    client_turned(client);
    clock_snapshot(&client->clock, client->now_ms, header->tick, header->inputs_waiting);
}

MergeSink receive_sink(Client *client)
{
    return (MergeSink){.user = client,
                       .begin = on_begin,
                       .own = on_own,
                       .leave = on_leave,
                       .enter = on_enter,
                       .update = on_update,
                       .event = on_event,
                       .end = on_end};
}

void receive_early(Client *client)
{
    const EarlyState *early = client->early;
    predict_reset(client->predict, client->frame_tick);
    if (early == NULL) {
        return;
    }
    if (early->has_own) {
        predict_own(client->predict, &early->own);
    }
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &client->merge.slots[slot];
        if (entity->net_id != 0) {
            predict_enter(client->predict, entity,
                          early->has_shape[slot] ? &early->shapes[slot] : NULL);
            client_script_enter(client, slot, entity->net_id,
                                early->attributes_bytes[slot] > 0 ? early->attributes[slot] : NULL,
                                early->attributes_bytes[slot]);
        }
    }
    predict_acknowledge(client->predict, client->merge.last.ack_seq);
}

static void note_interval(Client *client)
{
    if (client->snapshot_ms > 0) {
        client->intervals_ms[client->interval_count % CLIENT_INTERVALS_MAX] =
            (float)(client->now_ms - client->snapshot_ms);
        client->interval_count += 1;
    }
    client->snapshot_ms = client->now_ms;
}

static void receive_frame(Client *client, const uint8_t *bytes, size_t count)
{
    note_interval(client);
    const Status status = merge_apply(&client->merge, bytes, count, &client->sink);
    if (status != STATUS_OK) {
        client_fail(client, "a frame cannot be read: %s", status_text(status));
        return;
    }
    client->stats.snapshots += 1;
}

// --- other messages -----------------------------------------------------------------------------

static void on_pong(Client *client, const MessagePong *pong)
{
    ClientPing *ping = &client->pings[pong->nonce % CLIENT_PINGS_MAX];
    if (ping->waiting && ping->nonce == pong->nonce) {
        ping->waiting = false;
        clock_pong(&client->clock, client->now_ms, ping->sent_ms, pong->tick);
    }
}

static void answer_keep(Client *client, const uint8_t *bytes, size_t count)
{
    while (!client_queue_push(&client->answers, 0, bytes, count)) {
        client->stats.events_dropped += 1;
        if (client->answers.begin == client->answers.end) {
            return;
        }
        client_queue_pop(&client->answers);
    }
}

static void on_error(Client *client, const MessageError *error)
{
    if (error->fatal) {
        // A world from before there was a schema number does not know our handshake.
        client->is_outdated = text_is(error->code, error_name(ERROR_UNSUPPORTED_VERSION)) ||
                              text_is(error->code, error_name(ERROR_HANDSHAKE_FIRST));
        client_close(client, "%.*s: %.*s", (int)error->code.bytes, error->code.data,
                     (int)error->message.bytes, error->message.data);
        return;
    }
    const uint32_t seq = (uint32_t)error->command_seq;
    if (seq != 0) {
        connect_refused(client, seq);
        rune_fetch_refused(client, seq);
        client_script_refused(client, seq, error->message);
    }
}

static bool is_answer(uint8_t number)
{
    return number == MESSAGE_WELCOME || number == MESSAGE_ACK || number == MESSAGE_ERROR ||
           number == MESSAGE_PROFILES || number == MESSAGE_DURABLE;
}

static bool is_of_scripts(uint8_t number)
{
    return number == MESSAGE_SCRIPT_MANIFEST || number == MESSAGE_SCRIPT_CHUNK ||
           number == MESSAGE_SCRIPT_EXECUTE || number == MESSAGE_SCRIPT_RELOAD ||
           number == MESSAGE_SCRIPT_PARAMETERS || number == MESSAGE_SCRIPT_BOUND;
}

static void dispatch(Client *client, const Message *message)
{
    switch (message->number) {
    case MESSAGE_WELCOME:
        connect_welcome(client, message->body);
        break;
    case MESSAGE_PONG:
        on_pong(client, message->body);
        break;
    case MESSAGE_ERROR:
        on_error(client, message->body);
        break;
    case MESSAGE_CHUNK_DATA:
        chunk_cache_data(client, message->body);
        break;
    case MESSAGE_PATCH_DATA:
        patch_cache_data(client, message->body);
        break;
    case MESSAGE_SCRIPT_MANIFEST:
        rune_cache_manifest(client, message->body);
        break;
    case MESSAGE_SCRIPT_CHUNK:
        rune_fetch_chunk(client, message->body);
        break;
    case MESSAGE_SCRIPT_EXECUTE:
        rune_cache_execute(client, message->body);
        break;
    case MESSAGE_SCRIPT_RELOAD:
        rune_cache_reload(client, message->body);
        break;
    case MESSAGE_TURNED:
        client->turned = *(const MessageTurned *)message->body;
        break;
    case MESSAGE_SCRIPT_PARAMETERS:
        client_parameters_take(client, message->body);
        break;
    case MESSAGE_SCRIPT_BOUND:
        client_bound_take(client, message->body);
        break;
    case MESSAGE_BLOB_CHUNK:
        connect_blob_chunk(client, message->body);
        break;
    default:
        break; // ack, profiles, durable: for the page alone
    }
}

// A welcome must come first, and only once.
static bool is_expected(const Client *client, uint8_t number)
{
    if (client->state == CLIENT_CONNECTING) {
        return number == MESSAGE_WELCOME || number == MESSAGE_ERROR;
    }
    return number != MESSAGE_WELCOME;
}

static void receive_message(Client *client, const uint8_t *bytes, size_t count)
{
    if (!client->config.scripts && is_of_scripts(bytes[0])) {
        return;
    }
    Message message;
    arena_reset(&client->scratch);
    const Status status = message_decode(bytes, count, MESSAGE_DOWN, &client->scratch, &message);
    if (status == STATUS_UNSUPPORTED && message_row(bytes[0]) == NULL) {
        return; // from a later version
    }
    if (status != STATUS_OK) {
        client_fail(client, "message %u cannot be read: %s", bytes[0], status_text(status));
        return;
    }
    dispatch(client, &message);
    if (is_answer(message.number)) {
        answer_keep(client, bytes, count);
    }
}

void client_receive(Client *client, double now_ms, const uint8_t *bytes, size_t count)
{
    if (client->state == CLIENT_IDLE || client->state == CLIENT_CLOSED) {
        return;
    }
    client->now_ms = now_ms > client->now_ms ? now_ms : client->now_ms;
    client->stats.bytes_down += count;
    client->stats.messages_down += 1;
    if (count == 0 || count > MESSAGE_BYTES_MAX) {
        client_fail(client, "a message of %zu bytes", count);
    } else if (client->state == CLIENT_CONNECTING &&
               (bytes[0] == MESSAGE_OLD_WELCOME || message_is_of_other_schema(bytes, count))) {
        connect_outdated(client);
    } else if (!is_expected(client, bytes[0])) {
        client_fail(client, "message %u does not belong here", bytes[0]);
    } else if (bytes[0] == MESSAGE_SNAPSHOT) {
        receive_frame(client, bytes, count);
    } else {
        receive_message(client, bytes, count);
    }
}
