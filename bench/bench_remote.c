// Remotes: how long one takes from a client's script to the server's and back, beside an input
// until it is acknowledged by a snapshot, and what 200 players cost who send 30 remotes a second
// each, beside the same players without remotes. Everything in one process and in simulated time,
// without delay between the two; only processor time is measured.
#include "bench/bench_plain.h"
#include "bench/bench_report.h"
#include "bench/bench_saves.h"
#include "core/base/check.h"
#include "core/client/client.h"
#include "core/wire/input_frame.h"
#include "core/wire/merge.h"
#include "core/world/world_inside.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAYERS       200
#define EDGE_M        52.0f // of the ground that they walk on
#define WARM_UP       240   // ticks
#define MEASURED      600   // ticks
#define SENT_EVERY    2     // ticks: 30 a second
#define TRIP_TICKS    6     // between two round trips, as in ECHO_CLIENT
#define INPUTS_AHEAD  4
#define START_UNIX_MS 1700000000000u
#define MESSAGE_ROOM  512
#define SENT_MAX      1024

typedef struct Player {
    PlainWalker walker;
    uint64_t entity, input_tick;
    uint32_t frames, seq, input_count;
    WireInputFrame inputs[SENT_EVERY];
} Player;

typedef struct Room {
    Heap heap;
    TestPlaceBytes whole_bytes, stripped_bytes;
    Place *whole;
    World *world;
    Client *client; // of the round trip
    LogSink log;
    Rng rng;
    Player players[PLAYERS];
    uint32_t player_count;
    bool sends; // remotes
    uint64_t ticks;
    double seconds; // inside the world and the client
    uint64_t heard; // remotes, by the server
    // The round trip: of inputs, as the frames say, and of remotes, as the script says.
    Merge merge;
    uint64_t input_sent[SENT_MAX];
    uint32_t acked;
    double floor_sum, floor_count;
    double trip_sum, trip_count;
} Room;

static const char BULLET[] =
    "{\"format\": 1, \"kind\": \"projectile\",\n"
    " \"projectile\": {\"radius\": 0.1, \"damage\": 0, \"lifetimeMs\": 100}}";

static const char PLAIN_HANDLER[] = "Network.OnClientEvent('FireGun', function(player, dir) end)\n";
static const char DECLARED_HANDLER[] =
    "Network.Declare('FireGun', {types = {'Vector3'}, rate = 60})\n"
    "Network.OnClientEvent('FireGun', function(player, dir) end)\n";
static const char GUN_HANDLER[] = "Network.OnClientEvent('FireGun', function(player, dir)\n"
                                  "  World.Spawn('Bullet').SetVelocity(dir * 100)\n"
                                  "end)\n";
static const char ECHO_SERVER[] =
    "Network.On('ping', function(player, n) Network.FireClient(player, 'pong', n) end)\n";
static const char ECHO_CLIENT[] = "local n = 0\n"
                                  "Network.On('pong', function(sent) print(n - sent) end)\n"
                                  "function onUpdate()\n"
                                  "  n = n + 1\n"
                                  "  if n % 6 == 0 then Network.FireServer('ping', n) end\n"
                                  "end\n";

// --- the world ----------------------------------------------------------------------------------

// The script of the client prints how many ticks a round trip took.
static void on_log(void *user, const LogEvent *event)
{
    Room *room = user;
    const char *number = strstr(event->text, "StarterGui/Echo: ");
    if (number != NULL) {
        room->trip_sum += strtod(number + sizeof "StarterGui/Echo: " - 1, NULL);
        room->trip_count += 1;
    } else {
        bench_note("%s", event->text);
    }
}

static void add_script(Room *room, const char *path, const char *source)
{
    const bool secret = strncmp(path, "ServerScriptService", 19) == 0;
    const Entry entry = {.type = ENTRY_SCRIPT,
                         .flags = ENTRY_SOURCE | (secret ? 0 : ENTRY_REPLICATE),
                         .name = path,
                         .name_bytes = (uint32_t)strlen(path),
                         .bytes = (const uint8_t *)source,
                         .byte_count = strlen(source)};
    plain_require(world_enter(room->world, &entry), "script");
}

static void open_room(Room *room, uint32_t player_count)
{
    memset(room, 0, sizeof *room);
    room->heap = heap_make(2ull << 30);
    room->rng = rng_make(11, 3);
    room->player_count = player_count;
    room->log = (LogSink){.write = on_log, .user = room, .level_min = LOG_INFO};
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)TEST_PLACE_FLAT, strlen(TEST_PLACE_FLAT)},
        {"scene.json", (const uint8_t *)TEST_PLACE_FLAT_SCENE, strlen(TEST_PLACE_FLAT_SCENE)},
        {"prefabs/Bullet.json", (const uint8_t *)BULLET, sizeof BULLET - 1},
    };
    room->whole_bytes = test_place_whole_files(&room->heap, files, 3);
    room->stripped_bytes = test_place_strip(&room->heap, room->whole_bytes);
    plain_require(
        place_load(&room->heap, room->whole_bytes.data, room->whole_bytes.bytes, &room->whole),
        "place");
    room->whole->player_max = PLAYERS + 1;
    WorldConfig config = world_config_default();
    config.place = room->whole;
    config.stripped = room->stripped_bytes.data;
    config.stripped_bytes = room->stripped_bytes.bytes;
    memcpy(config.world_id, "world_bench", sizeof "world_bench");
    config.development = true;
    config.player_max = PLAYERS + 1;
    config.entity_max = 4096;
    config.json_session_max = 0;
    config.script.log = &room->log;
    plain_require(world_create(&room->heap, &config, &room->world), "world");
}

static void close_room(Room *room)
{
    if (room->client != NULL) {
        client_destroy(&room->heap, room->client);
    }
    world_destroy(&room->heap, room->world);
    place_unload(&room->heap, room->whole);
    test_place_free(&room->heap, room->stripped_bytes);
    test_place_free(&room->heap, room->whole_bytes);
    ASSERT(room->heap.bytes_now == 0);
}

static void enter_tick(Room *room)
{
    room->ticks += 1;
    const Entry entry = {.type = ENTRY_TICK,
                         .number = START_UNIX_MS + room->ticks * 1000 / PLAIN_TICK_RATE};
    plain_require(world_enter(room->world, &entry), "tick");
    bench_answer_saves(room->world);
}

// --- many players -------------------------------------------------------------------------------

static void send_up(Room *room, uint32_t index, uint8_t number, const void *body)
{
    uint8_t bytes[MESSAGE_ROOM];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    room->players[index].seq += 1;
    message_encode(&(Message){.number = number, .seq = room->players[index].seq, .body = body},
                   &writer);
    plain_require(writer.status, "message");
    const Entry entry = {
        .type = ENTRY_MESSAGE, .connection = index + 1, .bytes = bytes, .byte_count = writer.at};
    plain_require(world_enter(room->world, &entry), "message");
}

static void join(Room *room, uint32_t index)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "player_%u", index);
    const Text text = {name, (uint32_t)length};
    plain_require(
        world_enter(room->world, &(Entry){.type = ENTRY_CONNECT, .connection = index + 1}),
        "connect");
    send_up(room, index, MESSAGE_HANDSHAKE,
            &(MessageHandshake){.version = PROTOCOL_VERSION,
                                .schema = PROTOCOL_SCHEMA,
                                .player_id = text,
                                .name = text});
    plain_walker_start(&room->players[index].walker, &room->rng);
}

static void send_remote(Room *room, uint32_t index)
{
    // A list of one vector: (0, 0, 1).
    static const uint8_t payload[] = {6, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f};
    const MessageRemoteUp remote = {.name = {"FireGun", 7},
                                    .payload = {payload, sizeof payload},
                                    .generation = room->world->run.manifest_version};
    send_up(room, index, MESSAGE_REMOTE_UP, &remote);
}

static void play(Room *room, uint32_t index)
{
    Player *player = &room->players[index];
    const Sim *sim = world_sim(room->world);
    uint64_t number = 0;
    if (player->entity == 0 && !world_player(room->world, index + 1, &number, &player->entity)) {
        return;
    }
    const Entity *body = sim_entity(sim, sim_find(sim, player->entity));
    if (body == NULL) {
        return;
    }
    plain_walker_drive(&player->walker, body->position, EDGE_M, &room->rng);
    player->input_tick =
        player->input_tick == 0 ? sim_tick(sim) + INPUTS_AHEAD : player->input_tick + 1;
    WireInputFrame frame = input_frame_quantise(&player->walker.input);
    frame.tick = player->input_tick;
    frame.seq = (uint32_t)player->input_tick;
    player->inputs[player->input_count++] = frame;
    if (player->input_count == SENT_EVERY) {
        const MessageInputBatch batch = {.last_snapshot = player->frames,
                                         .view_tick = sim_tick(sim) > 6 ? sim_tick(sim) - 6 : 0,
                                         .inputs = player->inputs,
                                         .inputs_count = player->input_count};
        send_up(room, index, MESSAGE_INPUT_BATCH, &batch);
        player->input_count = 0;
        if (room->sends) {
            send_remote(room, index);
        }
    }
}

static void tick_players(Room *room)
{
    const double start = bench_processor_seconds();
    for (uint32_t i = 0; i < room->player_count; i++) {
        play(room, i);
    }
    enter_tick(room);
    for (uint32_t i = 0; i < room->player_count; i++) {
        const uint8_t *bytes;
        size_t count;
        while (world_output(room->world, i + 1, &bytes, &count)) {
            room->players[i].frames += bytes[0] == MESSAGE_SNAPSHOT;
            world_output_take(room->world, i + 1);
        }
    }
    room->seconds = bench_processor_seconds() - start;
}

// Milliseconds of a tick, with the players' own part of it.
static double run_storm(Room *room, const char *handler, bool sends)
{
    static double all[MEASURED];
    open_room(room, PLAYERS);
    add_script(room, "ServerScriptService/Game", handler);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        join(room, i);
        if (i % 8 == 7) {
            tick_players(room);
        }
    }
    room->sends = sends;
    for (uint32_t i = 0; i < WARM_UP; i++) {
        tick_players(room);
    }
    const RemoteCosts *costs = script_remotes(world_scripts(room->world));
    const RemoteCost *cost = &costs->rows[remote_cost_find(costs, (Text){"FireGun", 7})];
    const uint64_t before = cost->up_count;
    for (uint32_t i = 0; i < MEASURED; i++) {
        tick_players(room);
        all[i] = room->seconds * 1e3;
    }
    room->heard = cost->up_count - before;
    bench_note("remote.storm: %u playing, %llu remotes, %llu refused or dropped, %u in the air",
               world_stats(room->world).players, (unsigned long long)room->heard,
               (unsigned long long)cost->dropped_count,
               sim_count(world_sim(room->world), ENTITY_PROJECTILE));
    close_room(room);
    return bench_middle_mean(all, MEASURED);
}

static void bench_storm(BenchReport *report, Room *room)
{
    static const struct {
        const char *name, *handler;
    } storms[] = {{"remote.storm", PLAIN_HANDLER},
                  {"remote.storm_declared", DECLARED_HANDLER},
                  {"remote.storm_gun", GUN_HANDLER}};
    if (!bench_wants(report, "remote.storm")) {
        return;
    }
    const double without = run_storm(room, PLAIN_HANDLER, false);
    bench_row(report, "remote.storm_floor", without, "ms/tick", BENCH_NO_GOAL);
    for (size_t i = 0; i < sizeof storms / sizeof storms[0]; i++) {
        const double with = run_storm(room, storms[i].handler, true);
        const double each_us = (with - without) * 1e3 * MEASURED / (double)room->heard;
        bench_row(report, storms[i].name, with / without, "times the floor", BENCH_NO_GOAL);
        bench_note("%s: %.3f ms a tick, %.2f us a remote", storms[i].name, with, each_us);
    }
}

// --- one round trip -----------------------------------------------------------------------------

static void on_begin(void *user, const SnapshotHeader *header)
{
    Room *room = user;
    if (header->ack_seq > room->acked && room->input_sent[header->ack_seq % SENT_MAX] != 0) {
        room->floor_sum += (double)(room->ticks - room->input_sent[header->ack_seq % SENT_MAX]);
        room->floor_count += 1;
    }
    room->acked = header->ack_seq;
}

static void note_inputs(Room *room, const uint8_t *bytes, size_t count)
{
    static uint8_t block[64 << 10];
    Arena arena;
    Message message;
    arena_init(&arena, block, sizeof block);
    plain_require(message_decode(bytes, count, MESSAGE_UP, &arena, &message), "input");
    const MessageInputBatch *batch = message.body;
    if (message.number == MESSAGE_INPUT_BATCH && batch->inputs_count > 0) {
        // The oldest of the batch has waited longest already.
        room->input_sent[batch->inputs[batch->inputs_count - 1].seq % SENT_MAX] = room->ticks;
    }
}

static void tick_client(Room *room)
{
    const double now_ms = (double)room->ticks * 1000.0 / PLAIN_TICK_RATE;
    const MergeSink sink = {.user = room, .begin = on_begin};
    const uint8_t *bytes;
    size_t count;
    double start = bench_processor_seconds();
    client_update(room->client, now_ms);
    while (client_event(room->client) != NULL) {
    }
    room->seconds += bench_processor_seconds() - start;
    while (client_output(room->client, &bytes, &count)) {
        note_inputs(room, bytes, count);
        plain_require(world_enter(room->world, &(Entry){.type = ENTRY_MESSAGE,
                                                        .connection = 1,
                                                        .bytes = bytes,
                                                        .byte_count = count}),
                      "client");
        client_output_take(room->client);
    }
    start = bench_processor_seconds();
    enter_tick(room);
    room->seconds += bench_processor_seconds() - start;
    while (world_output(room->world, 1, &bytes, &count)) {
        if (bytes[0] == MESSAGE_SNAPSHOT) {
            plain_require(merge_apply(&room->merge, bytes, count, &sink), "merge");
        }
        start = bench_processor_seconds();
        client_receive(room->client, now_ms, bytes, count);
        room->seconds += bench_processor_seconds() - start;
        world_output_take(room->world, 1);
    }
}

// Microseconds of world and client from one remote to the next.
static double run_trip(Room *room, const char *client_script)
{
    static double all[MEASURED / TRIP_TICKS];
    open_room(room, 0);
    merge_reset(&room->merge, PLAIN_TICK_RATE);
    add_script(room, "ServerScriptService/Echo", ECHO_SERVER);
    add_script(room, "StarterGui/Echo", client_script);
    ClientConfig config = client_config_default();
    config.script.log = &room->log;
    config.scripts = true;
    memcpy(config.player_id, "own", sizeof "own");
    plain_require(client_create(&room->heap, &config, &room->client), "client");
    plain_require(world_enter(room->world, &(Entry){.type = ENTRY_CONNECT, .connection = 1}),
                  "connect");
    client_connect(room->client, 0);
    for (uint32_t i = 0; i < WARM_UP; i++) {
        tick_client(room);
    }
    room->trip_sum = room->trip_count = room->floor_sum = room->floor_count = 0;
    for (uint32_t i = 0; i < MEASURED / TRIP_TICKS; i++) {
        room->seconds = 0;
        for (uint32_t k = 0; k < TRIP_TICKS; k++) {
            tick_client(room);
        }
        all[i] = room->seconds * 1e6;
    }
    plain_require(client_state(room->client) == CLIENT_PLAYING ? STATUS_OK : STATUS_DENIED, "play");
    close_room(room);
    return bench_middle_mean(all, MEASURED / TRIP_TICKS);
}

static void bench_trip(BenchReport *report, Room *room)
{
    if (!bench_wants(report, "remote.round_trip")) {
        return;
    }
    const double without = run_trip(room, "function onUpdate() end\n");
    const double with = run_trip(room, ECHO_CLIENT);
    plain_require(room->trip_count > 0 && room->floor_count > 0 ? STATUS_OK : STATUS_DENIED,
                  "round trips");
    const double trip = room->trip_sum / room->trip_count;
    const double floor = room->floor_sum / room->floor_count;
    bench_row(report, "remote.round_trip_floor", floor, "ticks", BENCH_NO_GOAL);
    bench_row(report, "remote.round_trip", trip / floor, "times the floor", BENCH_NO_GOAL);
    bench_row(report, "remote.round_trip_cpu", with / without, "times the floor", BENCH_NO_GOAL);
    bench_note("remote.round_trip: %.1f ticks, of %.0f remotes; %d ticks of world and client take "
               "%.1f us, without a remote %.1f us",
               trip, room->trip_count, TRIP_TICKS, with, without);
}

int main(int argc, char **argv)
{
    static Room room;
    BenchReport report = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            report.json = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            report.only = argv[++i];
        } else {
            fputs("usage: bench_remote [--json] [--only NAME]\n"
                  "  --json       one object a line: bench, value and unit\n"
                  "  --only NAME  only the rows whose name starts with NAME\n",
                  stderr);
            return 2;
        }
    }
    bench_trip(&report, &room);
    bench_storm(&report, &room);
    return 0;
}
