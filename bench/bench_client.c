// The cost of a client per second: one real client sees 32 others who walk on flat ground, straight
// for one to three seconds and then in another direction. 60 pictures, 60 steps, 30 messages up and
// 20 snapshots down per second; no scripts. Only the time in which the client gets messages and
// updates is measured, not the work of the world.
//
// The same program runs natively and as WebAssembly under Node.
#include "bench/bench_plain.h"
#include "bench/bench_report.h"
#include "bench/bench_saves.h"
#include "core/client/client.h"
#include "core/wire/input_frame.h"
#include "core/world/world.h"
#include "tests/support/test_place.h"

#ifndef __wasm__
#include "bench/bench_outside.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS           32
#define EDGE_M           52.0f // of the ground that they walk on
#define INPUTS_A_MESSAGE 2
#define INPUTS_AHEAD     4
#define WARM_UP          240 // ticks
#define SECONDS          12
#define COUNT_TICKS      "120"
#define START_UNIX_MS    1700000000000u
#define MESSAGE_ROOM     512
#define CLIENT_LINK      (OTHERS + 1)

typedef struct Other {
    PlainWalker walker;
    uint64_t entity;
    uint32_t frames;
    uint64_t input_tick;
    WireInputFrame inputs[INPUTS_A_MESSAGE];
    uint32_t input_count;
    uint32_t seq;
} Other;

typedef struct Room {
    Heap heap;
    TestPlaceBytes stripped_bytes;
    Place *whole, *stripped;
    World *world;
    Client *client;
    PlainWalker own;
    Rng rng;
    Other others[OTHERS];
    uint64_t ticks;
    double seconds; // inside the client
} Room;

// --- the others ---------------------------------------------------------------------------------

static void send_up(Room *room, uint32_t index, uint8_t number, const void *body)
{
    uint8_t bytes[MESSAGE_ROOM];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    Other *other = &room->others[index];
    other->seq += 1;
    message_encode(&(Message){.number = number, .seq = other->seq, .body = body}, &writer);
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
    const Entry entry = {.type = ENTRY_CONNECT, .connection = index + 1};
    plain_require(world_enter(room->world, &entry), "connect");
    const MessageHandshake hello = {
        .version = PROTOCOL_VERSION, .schema = PROTOCOL_SCHEMA, .player_id = text, .name = text};
    send_up(room, index, MESSAGE_HANDSHAKE, &hello);
}

static void play_other(Room *room, uint32_t index)
{
    Other *other = &room->others[index];
    const Sim *sim = world_sim(room->world);
    uint64_t number = 0;
    if (other->entity == 0 && !world_player(room->world, index + 1, &number, &other->entity)) {
        return;
    }
    const Entity *body = sim_entity(sim, sim_find(sim, other->entity));
    if (body == NULL) {
        return;
    }
    plain_walker_drive(&other->walker, body->position, EDGE_M, &room->rng);
    other->input_tick =
        other->input_tick == 0 ? sim_tick(sim) + INPUTS_AHEAD : other->input_tick + 1;
    WireInputFrame frame = input_frame_quantise(&other->walker.input);
    frame.tick = other->input_tick;
    frame.seq = (uint32_t)other->input_tick;
    other->inputs[other->input_count++] = frame;
    if (other->input_count == INPUTS_A_MESSAGE) {
        const MessageInputBatch batch = {.last_snapshot = other->frames,
                                         .inputs = other->inputs,
                                         .inputs_count = other->input_count};
        send_up(room, index, MESSAGE_INPUT_BATCH, &batch);
        other->input_count = 0;
    }
}

static void take_output(Room *room, uint32_t index)
{
    const uint8_t *bytes;
    size_t count;
    while (world_output(room->world, index + 1, &bytes, &count)) {
        room->others[index].frames += bytes[0] == MESSAGE_SNAPSHOT;
        world_output_take(room->world, index + 1);
    }
}

// --- the client ---------------------------------------------------------------------------------

static double now_ms(const Room *room)
{
    return (double)room->ticks * 1000.0 / PLAIN_TICK_RATE;
}

// By a name that a tool finds which counts instructions.
void counted_client(void *user);
__attribute__((noinline)) void counted_client(void *user)
{
    Room *room = user;
    const uint8_t *bytes;
    size_t count;
    while (world_output(room->world, CLIENT_LINK, &bytes, &count)) {
        client_receive(room->client, now_ms(room), bytes, count);
        world_output_take(room->world, CLIENT_LINK);
    }
    const ClientInput input = {.move_x = room->own.input.move_x,
                               .move_z = room->own.input.move_z,
                               .yaw = room->own.input.yaw};
    client_set_input(room->client, &input);
    client_update(room->client, now_ms(room));
    while (client_event(room->client) != NULL) {
    }
}

static void play_client(Room *room)
{
    const PredictView own = client_own(room->client);
    if (own.present) {
        plain_walker_drive(&room->own, own.position, EDGE_M, &room->rng);
    }
    const double start = bench_processor_seconds();
    counted_client(room);
    room->seconds += bench_processor_seconds() - start;
    const uint8_t *bytes;
    size_t count;
    while (client_output(room->client, &bytes, &count)) {
        const Entry entry = {
            .type = ENTRY_MESSAGE, .connection = CLIENT_LINK, .bytes = bytes, .byte_count = count};
        plain_require(world_enter(room->world, &entry), "client");
        client_output_take(room->client);
    }
}

static void tick(Room *room)
{
    for (uint32_t i = 0; i < OTHERS; i++) {
        play_other(room, i);
    }
    room->ticks += 1;
    const Entry entry = {.type = ENTRY_TICK, .number = START_UNIX_MS + (uint64_t)now_ms(room)};
    plain_require(world_enter(room->world, &entry), "tick");
    for (uint32_t i = 0; i < OTHERS; i++) {
        take_output(room, i);
    }
    bench_answer_saves(room->world);
    play_client(room);
}

// --- a run --------------------------------------------------------------------------------------

static void open_room(Room *room)
{
    memset(room, 0, sizeof *room);
    room->heap = heap_make(1ull << 30);
    room->rng = rng_make(11, 3);
    room->whole = test_place_load(&room->heap, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE);
    room->stripped_bytes = test_place_stripped(&room->heap, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE);
    plain_require(place_load(&room->heap, room->stripped_bytes.data, room->stripped_bytes.bytes,
                             &room->stripped),
                  "place");
    WorldConfig config = world_config_default();
    config.place = room->whole;
    config.stripped = room->stripped_bytes.data;
    config.stripped_bytes = room->stripped_bytes.bytes;
    memcpy(config.world_id, "world_bench", sizeof "world_bench");
    config.development = true;
    config.player_max = OTHERS + 2;
    config.entity_max = 256;
    config.visible_max = 64;
    config.json_session_max = 0;
    config.scripts = false;
    plain_require(world_create(&room->heap, &config, &room->world), "world");
    ClientConfig client = client_config_default();
    client.place = room->stripped;
    client.scripts = false;
    memcpy(client.player_id, "own", sizeof "own");
    plain_require(client_create(&room->heap, &client, &room->client), "client");
    plain_walker_start(&room->own, &room->rng);
    for (uint32_t i = 0; i < OTHERS; i++) {
        plain_walker_start(&room->others[i].walker, &room->rng);
        join(room, i);
    }
    const Entry entry = {.type = ENTRY_CONNECT, .connection = CLIENT_LINK};
    plain_require(world_enter(room->world, &entry), "connect");
    client_connect(room->client, 0);
    for (uint32_t i = 0; i < WARM_UP; i++) {
        tick(room);
    }
}

static void close_room(Room *room)
{
    client_destroy(&room->heap, room->client);
    world_destroy(&room->heap, room->world);
    place_unload(&room->heap, room->stripped);
    place_unload(&room->heap, room->whole);
    test_place_free(&room->heap, room->stripped_bytes);
}

static void bench_cpu(BenchReport *report, Room *room)
{
    static double all[SECONDS];
    open_room(room);
    const ClientStats before = client_stats(room->client);
    for (uint32_t i = 0; i < SECONDS; i++) {
        room->seconds = 0;
        for (uint32_t k = 0; k < PLAIN_TICK_RATE; k++) {
            tick(room);
        }
        all[i] = room->seconds * 1e3;
    }
    const ClientStats after = client_stats(room->client);
    bench_note("client.cpu: %u visible, %llu snapshots, %llu corrections, %llu ticks replayed",
               after.visible, (unsigned long long)(after.snapshots - before.snapshots),
               (unsigned long long)(after.predict.corrections - before.predict.corrections),
               (unsigned long long)(after.predict.replayed_ticks - before.predict.replayed_ticks));
    close_room(room);
    bench_row(report, "client.cpu", bench_middle_mean(all, SECONDS), "ms/second", BENCH_NO_GOAL);
}

// For a counting tool.
static void run_count(Room *room, uint32_t ticks)
{
    open_room(room);
    for (uint32_t i = 0; i < ticks; i++) {
        tick(room);
    }
    // Coming in and settling is counted too.
    printf("units %.2f\n", (double)(ticks + WARM_UP) / PLAIN_TICK_RATE);
    close_room(room);
}

#ifdef __wasm__
static void bench_elsewhere(BenchReport *report, const char *program)
{
    (void)report, (void)program;
}
#else
static void bench_elsewhere(BenchReport *report, const char *program)
{
    if (bench_wants(report, "client.cpu.wasm")) {
        const double wasm =
            bench_in_wasm(SANDLOT_ROOT "/build/wasm/bench_client.wasm", "--json --only client.cpu");
        if (wasm > 0) {
            bench_row(report, "client.cpu.wasm", wasm, "ms/second", BENCH_NO_GOAL);
        }
    }
    if (bench_wants(report, "client.instructions")) {
        const double instructions = bench_count(program, COUNT_TICKS, "counted_client");
        if (instructions > 0) {
            bench_row(report, "client.instructions", instructions, "instructions/second",
                      BENCH_NO_GOAL);
        }
    }
}
#endif

int main(int argc, char **argv)
{
    static Room room;
    BenchReport report = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            report.json = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            report.only = argv[++i];
        } else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc) {
            run_count(&room, (uint32_t)strtoul(argv[i + 1], NULL, 10));
            return 0;
        } else {
            fputs("usage: bench_client [--json] [--only NAME] [--count TICKS]\n", stderr);
            return 2;
        }
    }
    if (bench_wants(&report, "client.cpu")) {
        bench_cpu(&report, &room);
    }
    bench_elsewhere(&report, argv[0]);
    return 0;
}
