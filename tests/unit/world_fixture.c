#include "tests/unit/world_fixture.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#define HASHES_MAX 20000

static Text text_of(const char *text)
{
    return (Text){text, strlen(text)};
}

static Text net_text(const char *text)
{
    return (Text){text, (uint32_t)strlen(text)};
}

// --- the place ----------------------------------------------------------------------------------

static PartDesc box(Vec3 at, Vec3 half)
{
    return (PartDesc){.shape = {.kind = SHAPE_BOX, .half = half},
                      .pose = {.position = at, .rotation = QUAT_IDENTITY}};
}

static void fill_entities(FixturePlace *fixture, uint32_t tick_rate)
{
    const uint64_t second = tick_rate;
    PlaceEntity *platform = &fixture->entities[0];
    *platform = (PlaceEntity){.name = text_of("Lift"),
                              .kind = PREFAB_PART,
                              .part = box(vec3(20, 0.5f, 0), vec3(2, 0.25f, 2)),
                              .segment_count = 2,
                              .loop_ticks = (uint32_t)(4 * second)};
    platform->segments[0] = (MotionSegment){
        .pose = platform->part.pose, .velocity = {0, 1, 0}, .tick_from = 0, .tick_to = 2 * second};
    platform->segments[1] =
        (MotionSegment){.pose = {.position = {20, 2.5f, 0}, .rotation = QUAT_IDENTITY},
                        .velocity = {0, -1, 0},
                        .tick_from = 2 * second,
                        .tick_to = 4 * second};
    fixture->entities[1] = (PlaceEntity){.name = text_of("Coin"),
                                         .kind = PREFAB_PROP,
                                         .part = box(vec3(3, 1, 3), vec3(0.2f, 0.2f, 0.2f)),
                                         .attributes = &fixture->attribute,
                                         .attribute_count = 1,
                                         .tags = &fixture->tag,
                                         .tag_count = 1};
    fixture->entities[2] =
        (PlaceEntity){.name = text_of("Guard"), .kind = PREFAB_NPC, .npc = npc_desc_default()};
    fixture->entities[2].npc.position = vec3(-30, 0, -30);
}

void fixture_place_open(FixturePlace *fixture, uint32_t tick_rate, uint32_t snapshot_rate)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->heap = heap_make(64u << 20);
    const PartDesc parts[2] = {box(vec3(0, -1, 0), vec3(100, 1, 100)),
                               box(vec3(0, 2, 10), vec3(10, 2, 0.5f))};
    const PieceDesc piece = {.cells_x = 1, .cells_y = 1, .cells_z = 1, .health = 100};
    const SceneDesc scene = {.parts = parts, .part_count = 2, .pieces = &piece, .piece_count = 1};
    uint32_t bad = 0;
    CHECK_OK(scene_create(&fixture->heap, &scene, &fixture->scene, &bad));
    fixture->spawns[0] = (PlaceSpawn){.position = {0, 0, 0}};
    fixture->spawns[1] = (PlaceSpawn){.position = {5, 0, 0}};
    fixture->attribute =
        (PrefabAttribute){.name = text_of("value"), .value = {.type = SCRIPT_NUMBER, .number = 5}};
    fixture->tag = text_of("pickup");
    fixture->extra = (PlaceExtra){.net_id = 2, .tags = &fixture->tag, .tag_count = 1};
    fixture->scene_names[0] = text_of("Floor");
    fixture->scene_names[1] = text_of("Wall");
    fixture->weapon = (PlaceWeapon){.name = text_of("Bow"),
                                    .interval_ms = 200,
                                    .speed = 40,
                                    .damage = 30,
                                    .radius = 0.1f,
                                    .lifetime_ms = 2000,
                                    .kind = 7};
    memset(fixture->stripped, 7, sizeof fixture->stripped);
    fill_entities(fixture, tick_rate);
    fixture->place = (Place){.name = text_of("Fixture"),
                             .tick_rate = tick_rate,
                             .snapshot_rate = snapshot_rate,
                             .player_max = 100,
                             .view_radius = 100,
                             .reach_m = 8,
                             .players_build = true,
                             .players_terraform = true,
                             .respawn_ms = 1000,
                             .character = sim_config_default().character,
                             .scene = fixture->scene,
                             .scene_names = fixture->scene_names,
                             .spawns = fixture->spawns,
                             .spawn_count = 2,
                             .weapons = &fixture->weapon,
                             .weapon_count = 1,
                             .entities = fixture->entities,
                             .entity_count = 3,
                             .extras = &fixture->extra,
                             .extra_count = 1};
}

void fixture_place_close(FixturePlace *fixture)
{
    scene_destroy(&fixture->heap, fixture->scene);
    CHECK_INT(fixture->heap.bytes_now, 0);
}

// --- the world ----------------------------------------------------------------------------------

WorldConfig fixture_config(const FixturePlace *place)
{
    WorldConfig config = world_config_default();
    config.place = &place->place;
    config.stripped = place->stripped;
    config.stripped_bytes = sizeof place->stripped;
    memcpy(config.world_id, "world_test", sizeof "world_test");
    memcpy(config.room_code, "K7QX2M", sizeof "K7QX2M");
    memset(config.secret, 42, sizeof config.secret);
    config.development = true;
    config.player_max = 8;
    config.entity_max = 512;
    config.json_session_max = 2;
    config.scripts = false;
    return config;
}

static void open_world(Fixture *fixture)
{
    fixture->heap = heap_make(512u << 20);
    fixture->journal = malloc(FIXTURE_JOURNAL_BYTES);
    fixture->hashes = malloc(HASHES_MAX * sizeof *fixture->hashes);
    fixture->writer = byte_writer(fixture->journal, FIXTURE_JOURNAL_BYTES);
    fixture->unix_ms = 1700000000000u;
    CHECK_OK(world_create(&fixture->heap, &fixture->config, &fixture->world));
    journal_write_header(&fixture->config, &fixture->writer);
    heap_freeze(&fixture->heap);
}

void fixture_open_with(Fixture *fixture, uint32_t tick_rate, uint32_t snapshot_rate,
                       uint32_t player_max)
{
    memset(fixture, 0, sizeof *fixture);
    fixture_place_open(&fixture->place, tick_rate, snapshot_rate);
    fixture->config = fixture_config(&fixture->place);
    fixture->config.player_max = player_max;
    open_world(fixture);
}

void fixture_open(Fixture *fixture)
{
    fixture_open_with(fixture, 60, 20, 8);
}

void fixture_close(Fixture *fixture)
{
    heap_thaw(&fixture->heap);
    world_destroy(&fixture->heap, fixture->world);
    CHECK_INT(fixture->heap.bytes_now, 0);
    free(fixture->journal);
    free(fixture->hashes);
    fixture_place_close(&fixture->place);
}

Status fixture_enter(Fixture *fixture, const Entry *entry)
{
    entry_write(entry, &fixture->writer);
    const Status status = world_enter(fixture->world, entry);
    if (entry->type == ENTRY_TICK && fixture->tick_count < HASHES_MAX) {
        fixture->hashes[fixture->tick_count++] = world_hash(fixture->world);
    }
    return status;
}

static void keep_rows(Fixture *fixture, const Command *command)
{
    ByteReader reader = byte_reader(command->bytes, command->byte_count);
    while (byte_reader_left(&reader) > 0) {
        const size_t from = reader.at;
        Row row;
        CHECK_OK(row_read(&reader, &row));
        const uint32_t length = (uint32_t)(reader.at - from);
        CHECK(fixture->row_bytes + length + 4 < FIXTURE_ROW_BYTES);
        memcpy(fixture->rows + fixture->row_bytes, &length, 4);
        memcpy(fixture->rows + fixture->row_bytes + 4, command->bytes + from, length);
        fixture->row_bytes += 4 + length;
    }
}

static void answer_saves(Fixture *fixture)
{
    uint32_t count = 0;
    const Command *commands = world_commands(fixture->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].type == COMMAND_SAVE) {
            if (fixture->rows != NULL) {
                keep_rows(fixture, &commands[i]);
            }
            const Entry stored = {
                .type = ENTRY_STORED, .flags = ENTRY_OK, .number = commands[i].request};
            CHECK_OK(fixture_enter(fixture, &stored));
        }
    }
    world_commands_clear(fixture->world);
}

void fixture_tick(Fixture *fixture, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fixture->unix_ms += 1000 / fixture->place.place.tick_rate;
        CHECK_OK(fixture_enter(fixture, &(Entry){.type = ENTRY_TICK, .number = fixture->unix_ms}));
        answer_saves(fixture);
    }
}

// --- clients ------------------------------------------------------------------------------------

Status fixture_connect(Fixture *fixture, uint64_t connection, bool json)
{
    return fixture_enter(
        fixture,
        &(Entry){.type = ENTRY_CONNECT, .connection = connection, .flags = json ? ENTRY_JSON : 0});
}

Status fixture_disconnect(Fixture *fixture, uint64_t connection)
{
    return fixture_enter(fixture, &(Entry){.type = ENTRY_DISCONNECT, .connection = connection});
}

Status fixture_send_bytes(Fixture *fixture, uint64_t connection, const void *bytes, size_t count)
{
    return fixture_enter(fixture, &(Entry){.type = ENTRY_MESSAGE,
                                           .connection = connection,
                                           .bytes = bytes,
                                           .byte_count = count});
}

Status fixture_send(Fixture *fixture, uint64_t connection, uint8_t number, const void *body)
{
    static uint8_t bytes[MESSAGE_BYTES_MAX];
    static uint32_t seq;
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    seq += 1;
    message_encode(&(Message){.number = number, .seq = seq, .body = body}, &writer);
    CHECK_OK(writer.status);
    return fixture_send_bytes(fixture, connection, bytes, writer.at);
}

Status fixture_handshake(Fixture *fixture, uint64_t connection, const char *player_id,
                         const char *resume_token)
{
    const MessageHandshake hello = {.version = 2,
                                    .schema = PROTOCOL_SCHEMA,
                                    .player_id = net_text(player_id),
                                    .name = net_text(player_id),
                                    .resume_token = net_text(resume_token)};
    return fixture_send(fixture, connection, MESSAGE_HANDSHAKE, &hello);
}

void fixture_join(Fixture *fixture, uint64_t connection, const char *player_id)
{
    CHECK_OK(fixture_connect(fixture, connection, false));
    CHECK_OK(fixture_handshake(fixture, connection, player_id, ""));
    fixture_tick(fixture, 1);
}

// --- hearing ------------------------------------------------------------------------------------

static void hear_begin(void *user, const SnapshotHeader *header)
{
    ((Heard *)user)->frame = *header;
}

static void hear_own(void *user, const NetOwn *own)
{
    Heard *heard = user;
    heard->has_own = true;
    heard->own = *own;
    heard->own_count += 1;
    heard->own_causes |= own->causes;
}

static void hear_event(void *user, uint64_t tick, const uint8_t *message, size_t bytes)
{
    (void)tick;
    Heard *heard = user;
    heard->events += 1;
    if (bytes > 0) {
        heard->event_counts[message[0]] += 1;
    }
}

static void keep_text(char *out, size_t capacity, Text text)
{
    const size_t bytes = text.bytes < capacity ? text.bytes : capacity - 1;
    memcpy(out, text.data, bytes);
    out[bytes] = '\0';
}

static void hear_message(Heard *heard, const Message *message)
{
    switch (message->number) {
    case MESSAGE_WELCOME:
        heard->welcomes += 1;
        heard->welcome = *(const MessageWelcome *)message->body;
        keep_text(heard->token, sizeof heard->token, heard->welcome.resume_token);
        break;
    case MESSAGE_ERROR: {
        const MessageError *error = message->body;
        heard->errors += 1;
        heard->fatal = error->fatal;
        keep_text(heard->code, sizeof heard->code, error->code);
        keep_text(heard->text, sizeof heard->text, error->message);
        break;
    }
    case MESSAGE_ACK:
        heard->acks += 1;
        break;
    case MESSAGE_PONG:
        heard->pongs += 1;
        break;
    default:
        break;
    }
}

void fixture_hear(Fixture *fixture, uint64_t connection, Merge *merge, Heard *heard)
{
    static uint8_t block[1 << 20];
    const MergeSink sink = {
        .user = heard, .begin = hear_begin, .own = hear_own, .event = hear_event};
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (world_output(fixture->world, connection, &bytes, &count)) {
        heard->messages += 1;
        if (bytes[0] == MESSAGE_SNAPSHOT) {
            heard->frames += 1;
            if (merge != NULL) {
                CHECK_OK(merge_apply(merge, bytes, count, &sink));
            }
        } else {
            Arena arena;
            Message message;
            arena_init(&arena, block, sizeof block);
            const Status status = message_decode(bytes, count, MESSAGE_DOWN, &arena, &message);
            CHECK_OK(status);
            if (status == STATUS_OK) {
                hear_message(heard, &message);
            }
        }
        world_output_take(fixture->world, connection);
    }
}

bool fixture_is_closing(Fixture *fixture, uint64_t connection)
{
    bool found = false;
    for (uint64_t closing = world_closing(fixture->world); closing != 0;
         closing = world_closing(fixture->world)) {
        found = found || closing == connection;
    }
    return found;
}
