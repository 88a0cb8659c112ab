// See act_world.h.
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

static ActRow *row_find(ActStore *store, const Row *row)
{
    for (uint32_t i = 0; i < store->count; i++) {
        const Row *kept = &store->rows[i].row;
        if (kept->type == row->type && kept->key_bytes == row->key_bytes &&
            memcmp(kept->key, row->key, row->key_bytes) == 0) {
            return &store->rows[i];
        }
    }
    return NULL;
}

static void row_drop(ActStore *store, ActRow *kept)
{
    free(kept->value);
    store->count -= 1;
    *kept = store->rows[store->count];
}

static void row_keep(ActStore *store, const Row *row)
{
    ActRow *kept = row_find(store, row);
    if (kept != NULL) {
        row_drop(store, kept);
    }
    if (row->value_bytes == 0) {
        return;
    }
    CHECK(store->count < ACT_ROWS_MAX);
    kept = &store->rows[store->count++];
    kept->row = *row;
    kept->value = malloc(row->value_bytes);
    memcpy(kept->value, row->value, row->value_bytes);
    kept->row.value = kept->value;
}

void act_store_keep(ActStore *store, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    CHECK_OK(row_read(&reader, &row));
    row_keep(store, &row);
}

static void save_keep(ActWorld *act, const Command *command)
{
    ActStore *store = act->store;
    CHECK_INT(command->epoch, act->config.epoch);
    CHECK_INT(command->seq, store->seq + 1);
    store->seq = command->seq;
    ByteReader reader = byte_reader(command->bytes, command->byte_count);
    while (byte_reader_left(&reader) > 0) {
        Row row;
        const Status status = row_read(&reader, &row);
        CHECK_OK(status);
        if (status != STATUS_OK) {
            return;
        }
        row_keep(store, &row);
    }
}

void act_store_free(ActStore *store)
{
    while (store->count > 0) {
        row_drop(store, &store->rows[0]);
    }
}

// --- the owner ----------------------------------------------------------------------------------

Status act_world_enter(ActWorld *act, const Entry *entry)
{
    if (act->journal != NULL) {
        entry_write(entry, &act->entries);
    }
    return world_enter(act->world, entry);
}

static void answer_auth(ActWorld *act, uint64_t connection, const uint8_t *ticket, size_t bytes)
{
    char text[32] = {0};
    memcpy(text, ticket, bytes < 31 ? bytes : 31);
    const uint64_t account = (uint64_t)strtoull(text, NULL, 10);
    const char *name = strchr(text, ' ');
    name = name != NULL ? name + 1 : "somebody";
    CHECK_OK(
        act_world_enter(act, &(Entry){.type = ENTRY_AUTH,
                                      .flags = ENTRY_OK | (account >= 1000 ? ENTRY_OPERATOR : 0) |
                                               (account == ACT_PUPIL ? ENTRY_FIXED_NAME : 0),
                                      .connection = connection,
                                      .number = account,
                                      .name = name,
                                      .name_bytes = (uint32_t)strlen(name)}));
}

static void note_store(ActWorld *act, const Command *command)
{
    act->store_count += 1;
    act->last_store = command->store;
    const size_t bytes = command->store.key.bytes < 128 ? command->store.key.bytes : 128;
    memcpy(act->store_key, command->store.key.data, bytes);
    act->store_key[bytes] = 0;
    act->store_request = command->request;
}

void act_world_answer(ActWorld *act)
{
    uint32_t count = 0;
    const Command *commands = world_commands(act->world, &count);
    uint64_t stored[32];
    uint32_t stored_count = 0;
    uint64_t auth[ACT_CLIENTS];
    char tickets[ACT_CLIENTS][32] = {{0}};
    uint32_t auth_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Command *command = &commands[i];
        if (command->type == COMMAND_SAVE && act->hold) {
            act->held += 1;
        } else if (command->type == COMMAND_SAVE) {
            save_keep(act, command);
            stored[stored_count++ % 32] = command->request;
        } else if (command->type == COMMAND_AUTH && auth_count < ACT_CLIENTS) {
            memcpy(tickets[auth_count], command->bytes,
                   command->byte_count < 31 ? command->byte_count : 31);
            auth[auth_count++] = command->connection;
        } else if (command->type == COMMAND_STORE) {
            note_store(act, command);
        } else if (command->type == COMMAND_STOP) {
            act->stops += 1;
        } else if (command->type == COMMAND_RELOAD) {
            act->reload_counts[command->reload] += 1;
            act->reload_version = command->version;
            act->reload_tick = command->tick;
            snprintf(act->reload_reason, sizeof act->reload_reason, "%.*s",
                     (int)command->byte_count, (const char *)command->bytes);
        } else if (command->type == COMMAND_LEFT) {
            act->left_count += 1;
            act->left_account = command->account;
            act->stores_before_left = act->store_count;
        }
    }
    world_commands_clear(act->world);
    for (uint32_t i = 0; i < stored_count; i++) {
        CHECK_OK(act_world_enter(
            act, &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = stored[i]}));
    }
    for (uint32_t i = 0; i < auth_count; i++) {
        answer_auth(act, auth[i], (const uint8_t *)tickets[i], strlen(tickets[i]));
    }
}

void act_world_open(ActWorld *act, ActStore *store, const char *place_json, const char *scene_json,
                    bool scripts)
{
    act_world_open_options(act, store, place_json, scene_json, &(ActOptions){.scripts = scripts});
}

void act_world_open_options(ActWorld *act, ActStore *store, const char *place_json,
                            const char *scene_json, const ActOptions *options)
{
    memset(act, 0, sizeof *act);
    act->place_heap = heap_make(512u << 20);
    act->heap = heap_make(1u << 30);
    act->place = test_place_load(&act->place_heap, place_json, scene_json);
    act->stripped = test_place_stripped(&act->place_heap, place_json, scene_json);
    act->store = store;
    act->unix_ms = 1700000000000u;
    WorldConfig config = world_config_default();
    config.place = act->place;
    config.stripped = act->stripped.data;
    config.stripped_bytes = act->stripped.bytes;
    memcpy(config.world_id, "world_act", sizeof "world_act");
    memcpy(config.room_code, "ACT", sizeof "ACT");
    memset(config.secret, 9, sizeof config.secret);
    config.epoch = 3;
    config.player_max = ACT_CLIENTS;
    config.entity_max = 2048;
    config.json_session_max = 1;
    config.scripts = options->scripts;
    config.script = script_config_default();
    config.script.call_ms = options->call_ms != 0 ? options->call_ms : config.script.call_ms;
    config.script.tick_ms = options->tick_ms != 0 ? options->tick_ms : config.script.tick_ms;
    config.log = options->log;
    act->config = config;
    store->seq = 0;
    CHECK_OK(world_create(&act->heap, &config, &act->world));
}

void act_world_rows(ActWorld *act)
{
    static uint8_t bytes[ROW_VALUE_BYTES + 256];
    for (uint32_t i = 0; i < act->store->count; i++) {
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        row_write(&act->store->rows[i].row, &writer);
        CHECK_OK(writer.status);
        const Entry entry = {.type = ENTRY_ROW,
                             .flags = act->same_place ? ENTRY_OK : 0,
                             .bytes = bytes,
                             .byte_count = writer.at};
        act->store->refused += act_world_enter(act, &entry) != STATUS_OK;
    }
}

void act_world_close(ActWorld *act)
{
    heap_thaw(&act->heap);
    for (uint32_t i = 0; i < ACT_CLIENTS; i++) {
        for (uint32_t n = 0; n < 256; n++) {
            free(act->clients[i].last[n]);
        }
    }
    free(act->journal);
    world_destroy(&act->heap, act->world);
    CHECK_INT(act->heap.bytes_now, 0);
    test_place_free(&act->place_heap, act->stripped);
    place_unload(&act->place_heap, act->place);
    CHECK_INT(act->place_heap.bytes_now, 0);
}

Status act_world_script(ActWorld *act, const char *path, const char *source)
{
    return act_world_enter(act, &(Entry){.type = ENTRY_SCRIPT,
                                         .flags = ENTRY_SOURCE,
                                         .name = path,
                                         .name_bytes = (uint32_t)strlen(path),
                                         .bytes = (const uint8_t *)source,
                                         .byte_count = strlen(source)});
}

// --- clients ------------------------------------------------------------------------------------

static void remember(ActClient *client, const uint8_t *bytes, size_t count)
{
    const uint8_t number = bytes[0];
    client->counts[number] += 1;
    free(client->last[number]);
    client->last[number] = malloc(count);
    memcpy(client->last[number], bytes, count);
    client->last_bytes[number] = count;
}

static void on_event(void *user, uint64_t tick, const uint8_t *message, size_t bytes)
{
    (void)tick;
    remember(user, message, bytes);
}

static void on_begin(void *user, const SnapshotHeader *header)
{
    ((ActClient *)user)->frame = header->seq;
}

static void hear(ActWorld *act, ActClient *client)
{
    const MergeSink sink = {.user = client, .begin = on_begin, .event = on_event};
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (world_output(act->world, client->connection, &bytes, &count)) {
        if (act->shown != NULL) {
            act->shown(client, bytes, count);
        }
        if (bytes[0] == MESSAGE_SNAPSHOT) {
            CHECK_OK(merge_apply(&client->merge, bytes, count, &sink));
        } else {
            remember(client, bytes, count);
        }
        world_output_take(act->world, client->connection);
    }
}

void act_world_send(ActWorld *act, ActClient *client, uint8_t number, const void *body)
{
    static uint8_t bytes[MESSAGE_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    client->seq += 1;
    message_encode(&(Message){.number = number, .seq = client->seq, .body = body}, &writer);
    CHECK_OK(writer.status);
    CHECK_OK(act_world_enter(act, &(Entry){.type = ENTRY_MESSAGE,
                                           .connection = client->connection,
                                           .bytes = bytes,
                                           .byte_count = writer.at}));
}

// Every client confirms what it has, so that it does not fall behind.
static void confirm(ActWorld *act, ActClient *client)
{
    if (client->connection == 0 || client->silent || client->frame == 0 ||
        act->world->clock.tick % 2 != 0) {
        return;
    }
    const uint32_t seq = client->seq;
    const MessageInputBatch batch = {.last_snapshot = client->frame,
                                     .view_tick = act->world->clock.tick};
    act_world_send(act, client, MESSAGE_INPUT_BATCH, &batch);
    client->seq = seq;
}

void act_world_tick(ActWorld *act, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < ACT_CLIENTS; c++) {
            confirm(act, &act->clients[c]);
        }
        act->unix_ms += 16;
        CHECK_OK(act_world_enter(act, &(Entry){.type = ENTRY_TICK, .number = act->unix_ms}));
        if (!act->heap.frozen) {
            heap_freeze(&act->heap); // the scripts are in, and all that the world will ever need
        }
        act_world_answer(act);
        for (uint32_t c = 0; c < ACT_CLIENTS; c++) {
            if (act->clients[c].connection != 0) {
                hear(act, &act->clients[c]);
            }
        }
    }
}

ActClient *act_world_join(ActWorld *act, uint64_t account, const char *name)
{
    static uint64_t connections;
    ActClient *client = NULL;
    for (uint32_t i = 0; i < ACT_CLIENTS && client == NULL; i++) {
        client = act->clients[i].connection == 0 ? &act->clients[i] : NULL;
    }
    for (uint32_t n = 0; n < 256; n++) {
        free(client->last[n]);
    }
    memset(client, 0, sizeof *client);
    client->connection = ++connections;
    merge_reset(&client->merge, act->place->tick_rate);
    CHECK_OK(
        act_world_enter(act, &(Entry){.type = ENTRY_CONNECT, .connection = client->connection}));
    char ticket[32];
    snprintf(ticket, sizeof ticket, "%llu %s", (unsigned long long)account, name);
    const MessageHandshake hello = {
        .version = 2, .schema = PROTOCOL_SCHEMA, .ticket = act_text(ticket)};
    act_world_send(act, client, MESSAGE_HANDSHAKE, &hello);
    act_world_tick(act, 8);
    CHECK_INT(client->counts[MESSAGE_WELCOME], 1);
    return client;
}

void act_world_cut(ActWorld *act, ActClient *client)
{
    CHECK_OK(
        act_world_enter(act, &(Entry){.type = ENTRY_DISCONNECT, .connection = client->connection}));
    client->connection = 0;
}

Session *act_world_session(ActWorld *act, const ActClient *client)
{
    return session_of_connection(act->world->sessions, client->connection);
}

bool act_world_ask(ActWorld *act, ActClient *client, uint8_t number, const void *body)
{
    act_world_send(act, client, number, body);
    for (uint32_t i = 0; i < 6; i++) {
        act_world_tick(act, 1);
        const MessageAck *ack = act_client_last(client, MESSAGE_ACK);
        if (ack != NULL && ack->command_seq == client->seq) {
            return true;
        }
        const MessageError *error = act_client_last(client, MESSAGE_ERROR);
        if (error != NULL && error->command_seq == client->seq) {
            return false;
        }
    }
    test_fail(__FILE__, __LINE__, "command %u of kind %u was not answered", client->seq, number);
    return false;
}

const void *act_client_last(const ActClient *client, uint8_t number)
{
    static uint8_t blocks[4][256 << 10];
    static uint32_t at;
    if (client->last[number] == NULL) {
        return NULL;
    }
    Arena arena;
    at = (at + 1) % 4;
    arena_init(&arena, blocks[at], sizeof blocks[at]);
    Message message;
    const Status status = number >= 96
                              ? message_decode_event(client->last[number],
                                                     client->last_bytes[number], &arena, &message)
                              : message_decode(client->last[number], client->last_bytes[number],
                                               MESSAGE_DOWN, &arena, &message);
    CHECK_OK(status);
    return status == STATUS_OK ? message.body : NULL;
}

const char *act_client_code(const ActClient *client)
{
    static char code[65];
    const MessageError *error = act_client_last(client, MESSAGE_ERROR);
    if (error == NULL) {
        return "";
    }
    memcpy(code, error->code.data, error->code.bytes);
    code[error->code.bytes] = 0;
    return code;
}

void act_world_place(ActWorld *act, const ActClient *client, Vec3 position)
{
    const Session *session = act_world_session(act, client);
    CHECK_OK(
        sim_set_position(act->world->sim, sim_find(act->world->sim, session->entity), position));
}
