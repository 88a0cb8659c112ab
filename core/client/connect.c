// Connecting: the handshake, the welcome, and the scene that it names. A session that resumes finds
// everything as it was, including half-fetched scene and runes.
#include "core/client/client_inside.h"

#include <stdio.h>
#include <string.h>

// --- chunks of something larger -----------------------------------------------------------------

TransferStep transfer_append(Transfer *transfer, uint64_t index, uint64_t total, WireBytes data)
{
    if (total == 0 || index >= total || total > UINT32_MAX || data.bytes == 0) {
        return TRANSFER_BAD;
    }
    const bool goes_on = !transfer->again && total == transfer->total_chunks;
    if (goes_on && index < transfer->next_chunk) {
        return TRANSFER_SKIP; // requested twice
    }
    if (index == 0) {
        transfer->again = false;
        transfer->bytes = 0;
        transfer->next_chunk = 0;
        transfer->total_chunks = (uint32_t)total;
        transfer->chunk_bytes = data.bytes;
    } else if (!goes_on) {
        // After a reconnect the server uses another chunk size: what is here is useless.
        transfer->again = true;
        transfer->next_chunk = 0;
        transfer->bytes = 0;
        return TRANSFER_SKIP;
    }
    const bool last = index + 1 == total;
    if (index != transfer->next_chunk || data.bytes > transfer->chunk_bytes ||
        (!last && data.bytes != transfer->chunk_bytes) ||
        data.bytes > transfer->capacity - transfer->bytes) {
        return TRANSFER_BAD;
    }
    memcpy(transfer->data + transfer->bytes, data.data, data.bytes);
    transfer->bytes += data.bytes;
    transfer->next_chunk += 1;
    return last ? TRANSFER_DONE : TRANSFER_MORE;
}

void transfer_restart(Transfer *transfer, double now_ms)
{
    transfer->again = true;
    transfer->next_chunk = 0;
    transfer->bytes = 0;
    transfer->asked_ms = now_ms - CLIENT_RETRY_MS + CLIENT_REFUSED_MS;
}

void transfer_free(Heap *heap, Transfer *transfer)
{
    heap_free(heap, transfer->data);
    *transfer = (Transfer){0};
}

// --- up -----------------------------------------------------------------------------------------

void client_connect(Client *client, double now_ms)
{
    ASSERT(client->state == CLIENT_IDLE || client->state == CLIENT_CLOSED);
    client->state = CLIENT_CONNECTING;
    client->reason[0] = 0;
    client->is_outdated = false;
    client->now_ms = now_ms;
    client->seq = 0;
    client_queue_clear(&client->output);
    const ClientConfig *config = &client->config;
    const Manifest *staged = &client->runes.staged;
    const uint32_t manifest_version =
        staged->version != 0 ? staged->version : client->runes.current.version;
    const MessageHandshake handshake = {.version = PROTOCOL_VERSION,
                                        .schema = PROTOCOL_SCHEMA,
                                        .session_token = text_from(config->session_token),
                                        .ticket = text_from(config->ticket),
                                        .player_id = text_from(config->player_id),
                                        .resume_token = text_from(config->resume_token),
                                        .name = text_from(config->name),
                                        .manifest_version = manifest_version};
    (void)client_send(client, MESSAGE_HANDSHAKE, &handshake);
}

bool client_set_ticket(Client *client, const char *ticket)
{
    const size_t bytes = strlen(ticket);
    if (bytes >= sizeof client->config.ticket) {
        return false;
    }
    memcpy(client->config.ticket, ticket, bytes + 1);
    return true;
}

void client_disconnected(Client *client)
{
    client_queue_clear(&client->output);
    if (client->state != CLIENT_CLOSED) {
        client->state = CLIENT_IDLE;
    }
}

static bool hash_equal(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, SHA256_BYTES) == 0;
}

// --- the scene ----------------------------------------------------------------------------------

void connect_forget_scene(Client *client)
{
    client_script_close(client);
    if (client->predict != NULL) {
        predict_destroy(client->heap, client->predict);
        client->predict = NULL;
    }
    patch_cache_close(client);
    place_unload(client->heap, client->fetched);
    client->fetched = NULL;
    client->place = NULL;
    heap_free(client->heap, client->early);
    client->early = NULL;
    transfer_free(client->heap, &client->scene);
}

// The scene is loaded: creates everything that depends on it, and applies earlier frames.
static void scene_enter(Client *client)
{
    if (client->place->tick_rate != client->tick_rate) {
        client_fail(client, "the scene has %u ticks a second, the world %u",
                    client->place->tick_rate, client->tick_rate);
        return;
    }
    Status status =
        predict_create(client->heap, client->place, client->config.visible_max, &client->predict);
    if (status == STATUS_OK) {
        status = patch_cache_open(client);
    }
    if (status == STATUS_OK && client->config.scripts) {
        status = client_script_open(client);
    }
    if (status != STATUS_OK) {
        client_close(client, "scene: %s", status_text(status));
        return;
    }
    client->state = CLIENT_PLAYING;
    receive_early(client);
    heap_free(client->heap, client->early);
    client->early = NULL;
}

Status connect_give_scene(Client *client, const uint8_t *bytes, size_t count)
{
    const Status status = place_load(client->heap, bytes, count, &client->fetched);
    if (status != STATUS_OK) {
        client_fail(client, "the scene cannot be read: %s", status_text(status));
        return status;
    }
    client->place = client->fetched;
    transfer_free(client->heap, &client->scene);
    scene_enter(client);
    return STATUS_OK;
}

static void send_blob_request(Client *client)
{
    MessageBlobRequest request = {.from_chunk = client->scene.next_chunk};
    memcpy(request.hash.bytes, client->scene_hash, SHA256_BYTES);
    client->scene.asked_ms = client->now_ms;
    client->scene.seq = client_send(client, MESSAGE_BLOB_REQUEST, &request);
}

void connect_refused(Client *client, uint32_t seq)
{
    if (client->scene.data != NULL && seq == client->scene.seq) {
        transfer_restart(&client->scene, client->now_ms);
    }
}

void connect_blob_chunk(Client *client, const MessageBlobChunk *chunk)
{
    if (rune_fetch_text_chunk(client, chunk)) {
        return;
    }
    if (client->state != CLIENT_FETCHING || client->scene.data == NULL ||
        !hash_equal(chunk->hash.bytes, client->scene_hash)) {
        return; // no longer needed
    }
    const bool was_again = client->scene.again;
    const TransferStep step =
        transfer_append(&client->scene, chunk->chunk_index, chunk->total_chunks, chunk->data);
    if (step == TRANSFER_BAD) {
        client_fail(client, "chunk %llu of the scene does not fit",
                    (unsigned long long)chunk->chunk_index);
        return;
    }
    if (step != TRANSFER_SKIP) {
        client->scene.asked_ms = client->now_ms;
    } else if (client->scene.again && !was_again) {
        send_blob_request(client);
    }
    if (step != TRANSFER_DONE) {
        return;
    }
    uint8_t hash[SHA256_BYTES];
    sha256_of(client->scene.data, client->scene.bytes, hash);
    if (client->scene.bytes != client->scene_bytes || !hash_equal(hash, client->scene_hash)) {
        client_fail(client, "the scene is not what its hash says");
        return;
    }
    // connect_give_scene frees the block after reading it.
    (void)!connect_give_scene(client, client->scene.data, client->scene.bytes);
}

void connect_ask_scene(Client *client)
{
    if (client->state == CLIENT_FETCHING && client->scene.data != NULL &&
        client->now_ms - client->scene.asked_ms >= CLIENT_RETRY_MS) {
        send_blob_request(client);
    }
}

// Meanwhile frames are merged, and their content is kept until the scene is here.
static void scene_fetch(Client *client)
{
    client->state = CLIENT_FETCHING;
    if (client->early == NULL) {
        client->early = heap_alloc(client->heap, sizeof *client->early);
    }
    if (!client->config.owner_fetches && client->scene.data == NULL) {
        client->scene.data = heap_alloc(client->heap, client->scene_bytes);
        client->scene.capacity = client->scene_bytes;
    }
    if (client->early == NULL || (!client->config.owner_fetches && client->scene.data == NULL)) {
        client_close(client, "scene: %s", status_text(STATUS_LIMIT));
        return;
    }
    if (client->scene.data != NULL) {
        send_blob_request(client);
    }
}

bool connect_scene_over_wire(Client *client, const uint8_t hash[SHA256_BYTES])
{
    if (client->state != CLIENT_FETCHING || client->scene.data != NULL ||
        !hash_equal(hash, client->scene_hash)) {
        return false;
    }
    client->scene.data = heap_alloc(client->heap, client->scene_bytes);
    client->scene.capacity = client->scene_bytes;
    if (client->scene.data != NULL) {
        send_blob_request(client);
    }
    return client->scene.data != NULL;
}

void connect_over_wire(Client *client)
{
    if (client->state == CLIENT_FETCHING) {
        scene_fetch(client);
    }
}

void connect_scene_folded(Client *client, const MessageSceneFolded *folded)
{
    if (client->state != CLIENT_FETCHING || folded->scene_bytes == 0 ||
        hash_equal(client->scene_hash, folded->scene_hash.bytes)) {
        return; // who has a scene of this life keeps it
    }
    transfer_free(client->heap, &client->scene);
    memcpy(client->scene_hash, folded->scene_hash.bytes, SHA256_BYTES);
    client->scene_bytes = (uint32_t)folded->scene_bytes;
    client->runes.change += 1;
    scene_fetch(client);
}

// --- the welcome --------------------------------------------------------------------------------

static const char *welcome_refuse(const MessageWelcome *welcome)
{
    if (welcome->tick_rate != TICK_RATE_DEFAULT && welcome->tick_rate != TICK_RATE_LOW) {
        return "a world has 30 or 60 ticks a second";
    }
    if (welcome->snapshot_rate < 1 || welcome->snapshot_rate > welcome->tick_rate) {
        return "the snapshot rate makes no sense";
    }
    if (welcome->player == 0) {
        return "the welcome names no player";
    }
    return welcome->scene_bytes == 0 ? "the welcome names no scene" : NULL;
}

static void session_begin(Client *client, const MessageWelcome *welcome)
{
    client->config.ticket[0] = '\0'; // valid once: the next use would be rejected
    snprintf(client->config.resume_token, sizeof client->config.resume_token, "%.*s",
             (int)welcome->resume_token.bytes, welcome->resume_token.data);
    client->player = welcome->player;
    client->own_entity = welcome->entity_id;
    client->tick_rate = (uint32_t)welcome->tick_rate;
    client->snapshot_rate = (uint32_t)welcome->snapshot_rate;
    client->frame_tick = welcome->tick;
    client->batch_count = 0;
    client->pressed = 0;
    const uint32_t ticks = client->tick_rate / client->config.input_rate;
    client->batch_ticks = ticks < 1 ? 1 : ticks > CLIENT_BATCH_MAX ? CLIENT_BATCH_MAX : ticks;
    client->ping_ms = client->now_ms - CLIENT_PING_MS;
    client->snapshot_ms = 0;
    client->update_ms = client->now_ms;
    memset(client->pings, 0, sizeof client->pings);
    client_event_restart(client);
    merge_reset(&client->merge, client->tick_rate);
    clock_init(&client->clock, client->tick_rate, client->snapshot_rate);
    clock_snapshot(&client->clock, client->now_ms, welcome->tick, 0);
    chunk_cache_restart(client);
    patch_cache_restart(client);
    rune_fetch_restart(client);
}

void connect_outdated(Client *client)
{
    client->is_outdated = true;
    client_close(client, "%s: this client and the world were built from different versions",
                 error_name(ERROR_UNSUPPORTED_VERSION));
}

void connect_welcome(Client *client, const MessageWelcome *welcome)
{
    const char *refused = welcome_refuse(welcome);
    if (refused != NULL) {
        client_fail(client, "%s", refused);
        return;
    }
    const bool same_rates = client->tick_rate == welcome->tick_rate;
    const bool same_life = client->epoch == welcome->epoch;
    // In one life of a world each of its scenes is as good as the others: patches say the rest.
    const bool same_scene = (welcome->resumed && same_life && client->predict != NULL) ||
                            (hash_equal(client->scene_hash, welcome->scene_hash.bytes) &&
                             client->scene_bytes == welcome->scene_bytes);
    if (!same_scene || !same_rates) {
        connect_forget_scene(client);
        memcpy(client->scene_hash, welcome->scene_hash.bytes, SHA256_BYTES);
        client->scene_bytes = (uint32_t)welcome->scene_bytes;
    }
    client->epoch = welcome->epoch;
    session_begin(client, welcome);
    if (!same_life) {
        client_bound_clear(client);
    }
    client_parameters_restart(client);
    if (client->predict != NULL) {
        client->state = CLIENT_PLAYING;
        if (welcome->resumed) {
            if (!same_life) {
                // Edits that were not stored are gone; the server sends the valid versions again.
                terrain_clear(sim_terrain(predict_sim(client->predict)));
                patch_cache_clear(client);
                client_bind_shown(client);
            }
            client_script_welcome(client);
            return;
        }
        // Another body, or another run of the world: nothing from before is valid.
        terrain_clear(sim_terrain(predict_sim(client->predict)));
        patch_cache_clear(client);
        memset(client->ids, 0, sizeof client->ids);
        client_script_close(client);
        if (client->config.scripts && client_script_open(client) != STATUS_OK) {
            client_close(client, "scripts: %s", status_text(STATUS_LIMIT));
        }
        return;
    }
    if (client->config.place != NULL &&
        hash_equal(client->config.place->hash, client->scene_hash)) {
        client->place = client->config.place;
        scene_enter(client);
        return;
    }
    scene_fetch(client);
}
