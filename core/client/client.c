// Creation, time, input, and what can be seen; see client.h. Everything a session needs is in one
// block; only the scene, its prediction, scripts and transfers take more from the heap, when they
// come.
#include "core/client/client_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Without scripts there are no remotes: small queues are enough.
#define OUTPUT_BYTES         (16u << 10)
#define OUTPUT_SCRIPT_BYTES  (256u << 10)
#define EVENT_BYTES          (32u << 10)
#define EVENT_SCRIPT_BYTES   (256u << 10)
#define ANSWER_BYTES         (12u << 10)
#define SCRATCH_BYTES        (8u << 10)
#define SCRATCH_SCRIPT_BYTES (256u << 10) // a manifest with all its rows
#define CATCH_UP_TICKS_MAX   240

// --- creation -----------------------------------------------------------------------------------

ClientConfig client_config_default(void)
{
    ClientConfig config = {.visible_max = NET_SLOTS_MAX,
                           .input_rate = 30,
                           .script = script_config_default(),
                           .view = view_config_default()};
    config.script.script_max = MANIFEST_SCRIPTS_MAX;
    config.script.instance_max = 2048;
    return config;
}

static size_t block_bytes(const ClientConfig *config)
{
    const bool scripts = config->scripts;
    size_t bytes = arena_need(sizeof(Client));
    bytes += arena_need(config->visible_max * sizeof(InterpolateLine));
    bytes += arena_need(config->visible_max * sizeof(uint16_t));
    bytes += arena_need(scripts ? OUTPUT_SCRIPT_BYTES : OUTPUT_BYTES);
    bytes += arena_need(scripts ? EVENT_SCRIPT_BYTES : EVENT_BYTES);
    bytes += arena_need(ANSWER_BYTES);
    bytes += arena_need(scripts ? SCRATCH_SCRIPT_BYTES : SCRATCH_BYTES);
    bytes += arena_need(SCRATCH_BYTES);
    return bytes;
}

static void take_block(Arena *arena, void **out, size_t bytes)
{
    *out = arena_alloc(arena, bytes);
    ASSERT(*out != NULL); // block_bytes has counted it
}

static void queue_take(Arena *arena, ClientQueue *queue, size_t bytes)
{
    *queue = (ClientQueue){.capacity = bytes};
    take_block(arena, (void **)&queue->data, bytes);
}

static void scratch_take(Arena *arena, Arena *scratch, size_t bytes)
{
    void *block = NULL;
    take_block(arena, &block, bytes);
    arena_init(scratch, block, bytes);
}

static void fill_block(Client *client, Arena *arena)
{
    const ClientConfig *config = &client->config;
    const bool scripts = config->scripts;
    take_block(arena, (void **)&client->lines, config->visible_max * sizeof(InterpolateLine));
    take_block(arena, (void **)&client->lines_free, config->visible_max * sizeof(uint16_t));
    queue_take(arena, &client->output, scripts ? OUTPUT_SCRIPT_BYTES : OUTPUT_BYTES);
    queue_take(arena, &client->events, scripts ? EVENT_SCRIPT_BYTES : EVENT_BYTES);
    queue_take(arena, &client->answers, ANSWER_BYTES);
    scratch_take(arena, &client->scratch, scripts ? SCRATCH_SCRIPT_BYTES : SCRATCH_BYTES);
    scratch_take(arena, &client->event_scratch, SCRATCH_BYTES);
    // Lowest numbers first.
    for (uint32_t i = config->visible_max; i > 0; i--) {
        client->lines_free[client->lines_free_count++] = (uint16_t)i;
    }
}

Status client_create(Heap *heap, const ClientConfig *config, Client **out)
{
    if (config->visible_max < 1 || config->visible_max > NET_SLOTS_MAX || config->input_rate < 1 ||
        config->input_rate > TICK_RATE_DEFAULT) {
        return STATUS_RANGE;
    }
    const size_t bytes = block_bytes(config);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, block, bytes);
    Client *client = arena_alloc(&arena, sizeof *client);
    ASSERT(client != NULL);
    client->config = *config;
    client->heap = heap;
    client->sink = receive_sink(client);
    fill_block(client, &arena);
    ASSERT(arena.used == bytes);
    *out = client;
    return STATUS_OK;
}

void client_destroy(Heap *heap, Client *client)
{
    if (client != NULL) {
        connect_forget_scene(client);
        rune_cache_free(client);
        heap_free(heap, client); // the first thing in its block
    }
}

// --- ends ---------------------------------------------------------------------------------------

static void close_with(Client *client, const char *prefix, const char *format, va_list arguments)
{
    if (client->state == CLIENT_CLOSED) {
        return; // the first reason counts
    }
    client->state = CLIENT_CLOSED;
    const int length = snprintf(client->reason, sizeof client->reason, "%s", prefix);
    vsnprintf(client->reason + length, sizeof client->reason - (size_t)length, format, arguments);
    if (client->config.log != NULL) {
        log_write(client->config.log, client->merge.last.tick, LOG_INFO, "client", "closed: %s",
                  client->reason);
    }
}

void client_fail(Client *client, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    close_with(client, "protocol: ", format, arguments);
    va_end(arguments);
}

void client_close(Client *client, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    close_with(client, "", format, arguments);
    va_end(arguments);
}

ClientState client_state(const Client *client)
{
    return client->state;
}

const char *client_closed_reason(const Client *client)
{
    return client->reason;
}

const char *client_resume_token(const Client *client)
{
    return client->config.resume_token;
}

// --- lines --------------------------------------------------------------------------------------

void client_line_give(Client *client, uint32_t slot)
{
    if (client->line_of[slot] != 0) {
        client->lines_free[client->lines_free_count++] = client->line_of[slot];
        client->line_of[slot] = 0;
    }
}

InterpolateLine *client_line_take(Client *client, uint32_t slot)
{
    client_line_give(client, slot);
    if (client->lines_free_count == 0) {
        return NULL; // more than visible_max: not shown
    }
    client->lines_free_count -= 1;
    client->line_of[slot] = client->lines_free[client->lines_free_count];
    InterpolateLine *line = &client->lines[client->line_of[slot] - 1];
    line->count = 0;
    return line;
}

static const InterpolateLine *line_at(const Client *client, uint32_t slot)
{
    return client->line_of[slot] == 0 ? NULL : &client->lines[client->line_of[slot] - 1];
}

bool client_is_outdated(const Client *client)
{
    return client->is_outdated;
}

// --- output -------------------------------------------------------------------------------------

uint32_t client_send(Client *client, uint8_t number, const void *body)
{
    const MessageRow *row = message_row(number);
    ASSERT(row != NULL);
    ASSERT(row->direction == MESSAGE_UP);
    const bool is_first = number == MESSAGE_HANDSHAKE;
    if (is_first ? client->state != CLIENT_CONNECTING : !client_is_open(client)) {
        return 0;
    }
    const Message message = {.number = number,
                             .seq = client->seq + 1,
                             .client_time_ms = client->now_ms > 0 ? client->now_ms : 0,
                             .body = body};
    ByteWriter writer = client_queue_open(&client->output);
    if (writer.status == STATUS_OK) {
        message_encode(&message, &writer);
    }
    if (!client_queue_close(&client->output, &writer)) {
        client->stats.outputs_dropped += 1;
        return 0;
    }
    client->seq += 1;
    client->stats.messages_up += 1;
    client->stats.bytes_up += writer.at;
    return client->seq;
}

bool client_output(const Client *client, const uint8_t **bytes, size_t *count)
{
    ClientQueueItem item;
    if (!client_queue_at(&client->output, client->output.begin, &item)) {
        return false;
    }
    *bytes = item.bytes;
    *count = item.count;
    return true;
}

void client_output_take(Client *client)
{
    client_queue_pop(&client->output);
}

// --- what is fetched elsewhere ------------------------------------------------------------------

Status client_give_for(Client *client, const uint8_t hash[SHA256_BYTES], const uint8_t *bytes,
                       size_t count)
{
    if (!client_is_open(client)) {
        return STATUS_NOT_FOUND;
    }
    if (client->state == CLIENT_FETCHING && memcmp(hash, client->scene_hash, SHA256_BYTES) == 0) {
        uint8_t real[SHA256_BYTES];
        sha256_of(bytes, count, real);
        return count == client->scene_bytes && memcmp(real, hash, SHA256_BYTES) == 0
                   ? connect_give_scene(client, bytes, count)
                   : STATUS_MISMATCH;
    }
    return rune_fetch_give(client, hash, bytes, count);
}

Status client_give(Client *client, const uint8_t *bytes, size_t count)
{
    ClientWant want;
    if (!client_is_open(client) || client_wants(client, &want, 1) == 0) {
        return STATUS_NOT_FOUND;
    }
    uint8_t hash[SHA256_BYTES];
    sha256_of(bytes, count, hash);
    const Status status = client_give_for(client, hash, bytes, count);
    return status == STATUS_NOT_FOUND ? STATUS_MISMATCH : status;
}

Status client_give_packed(Client *client, const uint8_t hash[SHA256_BYTES], const uint8_t *packed,
                          size_t packed_bytes)
{
    return client_is_open(client) ? rune_fetch_give_packed(client, hash, packed, packed_bytes)
                                  : STATUS_NOT_FOUND;
}

void client_fetch_over_wire(Client *client)
{
    if (client->config.owner_fetches) {
        client->config.owner_fetches = false;
        connect_over_wire(client);
        rune_fetch_over_wire(client);
    }
}

bool client_rune(const Client *client, uint32_t index, ClientRuneBytes *out)
{
    const Manifest *current = &client->runes.current;
    if (index >= current->count) {
        return false;
    }
    const ClientRune *rune = &current->runes[index];
    *out = (ClientRuneBytes){.bytes = rune->here ? current->store + rune->offset : NULL,
                             .count = rune->bytes};
    memcpy(out->hash, rune->hash, sizeof out->hash);
    return true;
}

// --- input --------------------------------------------------------------------------------------

void client_set_input(Client *client, const ClientInput *input)
{
    // A button that is pressed and released between two ticks still counts in the next one.
    client->pressed |= input->buttons & ~client->input.buttons;
    client_script_buttons(client, client->input.buttons, input->buttons);
    client->input = *input;
}

double client_turn(const Client *client)
{
    return client->turn_total;
}

static float look_yaw(const Client *client)
{
    const double yaw = (double)client->input.yaw + client->turn_total - client->input.turn_seen;
    const bool is_sane = yaw > -1e6 && yaw < 1e6;
    return is_sane ? math_wrap_angle((float)yaw) : client->input.yaw;
}

void client_turned(Client *client)
{
    const MessageTurned turned = client->turned;
    client->turned.entity_id = 0;
    if (turned.entity_id == 0 || turned.entity_id != client->own_entity ||
        client->predict == NULL) {
        return;
    }
    const float yaw = predict_input(&(WireInputFrame){.yaw = turned.yaw}).yaw;
    client->turn_total += (double)math_wrap_angle(yaw - look_yaw(client));
    predict_turn(client->predict, turned.tick, turned.yaw);
    for (uint32_t i = 0; i < client->batch_count; i++) {
        if (client->batch[i].tick >= turned.tick) {
            client->batch[i].yaw = turned.yaw;
        }
    }
}

static WireInputFrame input_sample(Client *client)
{
    const SimInput input = {.move_x = client->input.move_x,
                            .move_z = client->input.move_z,
                            .yaw = look_yaw(client),
                            .pitch = client->input.pitch,
                            .buttons = client->input.buttons | client->pressed};
    client->pressed = 0;
    return predict_quantise(&input);
}

static uint64_t view_tick_whole(const Client *client)
{
    const double tick = clock_view_tick(&client->clock);
    return tick > 0 && tick < (double)SIM_NET_ID_MAX ? (uint64_t)tick : 0;
}

static void send_batch(Client *client)
{
    MessageInputBatch batch = {.last_snapshot = client->merge.last.seq,
                               .view_tick = view_tick_whole(client),
                               .inputs = client->batch,
                               .inputs_count = client->batch_count};
    if (client->batch_count > 0) {
        batch.state_seq = client->batch[client->batch_count - 1].seq;
        batch.state_hash = predict_hash(client->predict, (uint32_t)batch.state_seq);
    }
    (void)client_send(client, MESSAGE_INPUT_BATCH, &batch);
    client->batch_count = 0;
}

static void send_ping(Client *client)
{
    if (client->now_ms - client->ping_ms < CLIENT_PING_MS) {
        return;
    }
    client->ping_ms = client->now_ms;
    client->ping_nonce += 1;
    client->pings[client->ping_nonce % CLIENT_PINGS_MAX] =
        (ClientPing){.nonce = client->ping_nonce, .waiting = true, .sent_ms = client->now_ms};
    const MessagePing ping = {.nonce = client->ping_nonce};
    (void)client_send(client, MESSAGE_PING, &ping);
}

// --- time ---------------------------------------------------------------------------------------

static void place_puppets(Client *client)
{
    const double tick = clock_view_tick(&client->clock);
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const InterpolateLine *line = line_at(client, slot);
        const uint64_t net_id = client->ids[slot];
        if (line == NULL || line->count == 0 || net_id == client->own_entity) {
            continue;
        }
        const InterpolatePose pose =
            interpolate_at(line, tick, client->merge.last.tick, client->tick_rate);
        predict_pose(client->predict, net_id, pose.position, pose.velocity, pose.yaw, pose.pitch,
                     (float)pose.health);
    }
}

static void step_once(Client *client)
{
    WireInputFrame frame = input_sample(client);
    predict_step(client->predict, &frame);
    client->batch[client->batch_count++] = frame;
    if (client->batch_count >= client->batch_ticks) {
        send_batch(client);
    }
    client_script_step(client);
}

// After a pause the clock has advanced. The server has already used other inputs for those ticks:
// they are stepped here, but not sent.
static void catch_up(Client *client)
{
    const double owed = client->clock.act_tick - (double)predict_tick(client->predict);
    if (!client->clock.running || owed < (double)client->tick_rate) {
        return;
    }
    const uint32_t count = owed < CATCH_UP_TICKS_MAX ? (uint32_t)owed : CATCH_UP_TICKS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        WireInputFrame frame = predict_quantise(&(SimInput){.yaw = client->input.yaw});
        predict_step(client->predict, &frame);
    }
    client->batch_count = 0;
}

static void update_playing(Client *client)
{
    client_script_clear_effects(client);
    if (client->merge.last.seq == 0) {
        return; // time begins with the first frame, which has the tick
    }
    const uint32_t ticks =
        clock_advance(&client->clock, client->now_ms, predict_tick(client->predict));
    catch_up(client);
    if (!client->config.still_puppets) {
        place_puppets(client);
    }
    client_event_release(client, view_tick_whole(client));
    for (uint32_t i = 0; i < ticks && client->state == CLIENT_PLAYING; i++) {
        step_once(client);
    }
    client_script_effects(client);
    const double elapsed_s = (client->now_ms - client->update_ms) / 1000.0;
    predict_smooth(client->predict, (float)(elapsed_s < 1 ? elapsed_s : 1));
}

static void update_fetching(Client *client)
{
    // Frames are merged meanwhile; without this the server would consider us stuck.
    if (client->now_ms - client->batch_ms >= CLIENT_FETCH_ACK_MS && client->merge.last.seq != 0) {
        client->batch_ms = client->now_ms;
        send_batch(client);
    }
    connect_ask_scene(client);
}

void client_update(Client *client, double now_ms)
{
    client->now_ms = now_ms > client->now_ms ? now_ms : client->now_ms;
    if (!client_is_open(client)) {
        return;
    }
    if (client->state == CLIENT_PLAYING) {
        update_playing(client);
    } else {
        update_fetching(client);
    }
    client->update_ms = client->now_ms;
    chunk_cache_ask(client);
    patch_cache_ask(client);
    rune_fetch_update(client);
    send_ping(client);
}

// --- looking ------------------------------------------------------------------------------------

uint32_t client_next(const Client *client, uint32_t after)
{
    uint32_t slot = after == UINT32_MAX ? 0 : after + 1;
    while (slot < NET_SLOTS_MAX && client->merge.slots[slot].net_id == 0) {
        slot += 1;
    }
    return slot < NET_SLOTS_MAX ? slot : UINT32_MAX;
}

ClientEntity client_entity(const Client *client, uint32_t slot)
{
    ASSERT(slot < NET_SLOTS_MAX);
    const MergeSlot *entity = &client->merge.slots[slot];
    ClientEntity out = {.net_id = entity->net_id,
                        .owner_id = entity->owner_id,
                        .kind = entity->kind,
                        .state = entity->state,
                        .line = line_at(client, slot)};
    if (out.line != NULL && out.line->count > 0) {
        out.pose = interpolate_at(out.line, clock_view_tick(&client->clock),
                                  client->merge.last.tick, client->tick_rate);
    }
    return out;
}

PredictView client_own(const Client *client)
{
    return client->predict == NULL ? (PredictView){0}
                                   : predict_view(client->predict, clock_fraction(&client->clock));
}

const Sim *client_sim(const Client *client)
{
    return client->predict == NULL ? NULL : predict_sim(client->predict);
}

const Place *client_place(const Client *client)
{
    return client->predict == NULL ? NULL : client->place;
}

View *client_script_view(Client *client)
{
    return client->script.view;
}

ScriptSystem *client_scripts(Client *client)
{
    return client->script.system;
}

uint64_t client_view_tick(const Client *client)
{
    return view_tick_whole(client);
}

double client_view_time(const Client *client)
{
    return clock_view_tick(&client->clock);
}

uint64_t client_frame_tick(const Client *client)
{
    return client->merge.last.tick;
}

// The 99th percentile of a hundred is the second largest; 0 without any.
static double interval_p99(const Client *client)
{
    float sorted[CLIENT_INTERVALS_MAX];
    const uint32_t count = client->interval_count < CLIENT_INTERVALS_MAX ? client->interval_count
                                                                         : CLIENT_INTERVALS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        while (at > 0 && sorted[at - 1] > client->intervals_ms[i]) {
            sorted[at] = sorted[at - 1];
            at -= 1;
        }
        sorted[at] = client->intervals_ms[i];
    }
    return count == 0 ? 0 : (double)sorted[(count - 1) * 99 / 100];
}

ClientStats client_stats(const Client *client)
{
    ClientStats stats = client->stats;
    stats.state = client->state;
    stats.clock = clock_stats(&client->clock);
    stats.server_tick = client->merge.last.tick;
    if (client->predict != NULL) {
        stats.input_seq = (uint32_t)predict_tick(client->predict);
        stats.predict = *predict_stats(client->predict);
        stats.pending_inputs = predict_pending(client->predict, client->merge.last.ack_seq);
    }
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        stats.visible += client->merge.slots[slot].net_id != 0;
    }
    stats.snapshot_interval_p99_ms = interval_p99(client);
    const RuneCache *cache = &client->runes;
    const Manifest *newest = cache->staged.version != 0 ? &cache->staged : &cache->current;
    stats.manifest_version = cache->current.version;
    stats.manifest_is_proven = newest->is_proven;
    stats.script_count = newest->count;
    stats.rune_count = newest->here_count;
    return stats;
}

static void hash_state(Hash64 *hash, const NetState *state)
{
    hash_u32(hash, state->version);
    hash_u64(hash, state->motion.tick);
    for (uint32_t axis = 0; axis < 3; axis++) {
        hash_u32(hash, (uint32_t)state->motion.position[axis]);
        hash_u32(hash, (uint32_t)state->motion.velocity[axis]);
    }
    hash_u32(hash, state->motion.gravity);
    hash_u32(hash, state->yaw);
    hash_u32(hash, (uint8_t)state->pitch);
    hash_u32(hash, state->flags);
    hash_u32(hash, state->npc_state);
    hash_u32(hash, state->health);
    hash_u32(hash, state->projectile_kind);
    hash_u32(hash, state->projectile_radius);
    hash_u32(hash, state->shape_version);
    hash_u32(hash, state->attributes_version);
}

uint64_t client_hash(const Client *client)
{
    Hash64 hash = HASH64_INIT;
    const SnapshotHeader *last = &client->merge.last;
    hash_u64(&hash, client->predict == NULL ? 0 : sim_hash(predict_sim(client->predict)));
    hash_u32(&hash, last->seq);
    hash_u64(&hash, last->tick);
    hash_u32(&hash, last->ack_seq);
    hash_u32(&hash, last->inputs_waiting);
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &client->merge.slots[slot];
        if (entity->net_id != 0) {
            hash_u32(&hash, slot);
            hash_u64(&hash, entity->net_id);
            hash_u64(&hash, entity->owner_id);
            hash_u32(&hash, (uint32_t)entity->kind);
            hash_state(&hash, &entity->state);
        }
    }
    return hash.state;
}
