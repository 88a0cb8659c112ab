// The cost of a whole world per client and second, and the bytes it sends, for the walk of
// bench_plain.h. Each client sends 30 input messages per second with two inputs each, sends the
// hash of its true state as its prediction, and acknowledges every frame; no sockets, scripts or
// JSON. Only the time in which messages and ticks enter the world and its output is taken is
// measured.
//
// Ticks are grouped by three, one group for each snapshot; the cost is that of the middle half of
// all groups.
#include "bench/bench_outside.h"
#include "bench/bench_plain.h"
#include "bench/bench_report.h"
#include "bench/bench_saves.h"
#include "core/base/check.h"
#include "core/sim/character_state.h"
#include "core/wire/input_frame.h"
#include "core/world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES_MAX   (6ull << 30)
#define JOINS_PER_TICK   20
#define WARM_UP          240 // ticks, after everybody is in
#define MEASURED         120 // snapshots: six seconds
#define SAMPLES          8
#define INPUTS_A_MESSAGE 2
#define INPUTS_AHEAD     4 // ticks
#define COUNT_CLIENTS    500
#define COUNT_TICKS      "60"
#define START_UNIX_MS    1700000000000u
#define MESSAGE_ROOM     256        // bytes of one message up
#define KEPT_BYTES       (1u << 20) // frames of the samples in one tick

typedef struct Player {
    PlainWalker walker;
    uint64_t entity;
    uint32_t frames;     // received
    uint64_t input_tick; // of the last input made
    WireInputFrame inputs[INPUTS_A_MESSAGE];
    uint32_t input_count;
    uint32_t seq;
} Player;

typedef struct Room {
    Heap heap;
    Scene *scene;
    Place place;
    PlaceSpawn spawns[PLAIN_WALKERS_MAX];
    uint8_t stripped[16];
    World *world;
    uint32_t count;
    float edge;
    Rng rng;
    uint64_t unix_ms;
    Player players[PLAIN_WALKERS_MAX];
    PlainWalker walkers[PLAIN_WALKERS_MAX]; // by number of the player: its owner id
    uint32_t sampled[SAMPLES];
    PlainViewer samples[SAMPLES];
    PlainErrors errors;
    uint64_t bytes_down;
    double seconds; // inside the world
    // One tick: what is going in, and the frames for those who are judged.
    uint8_t up[PLAIN_WALKERS_MAX][MESSAGE_ROOM];
    size_t up_bytes[PLAIN_WALKERS_MAX]; // 0: nothing
    uint8_t kept[KEPT_BYTES];
    size_t kept_at[SAMPLES], kept_bytes[SAMPLES];
    size_t kept_end;
} Room;

typedef struct Result {
    double ms_per_client_second, bytes_per_client_second, appends_per_encode, error_p99_m, visible;
} Result;

// --- the door -----------------------------------------------------------------------------------

static void write_up(Room *room, uint32_t index, uint8_t number, const void *body)
{
    ByteWriter writer = byte_writer(room->up[index], MESSAGE_ROOM);
    Player *player = &room->players[index];
    player->seq += 1;
    message_encode(&(Message){.number = number, .seq = player->seq, .body = body}, &writer);
    plain_require(writer.status, "message");
    room->up_bytes[index] = writer.at;
}

static void join(Room *room, uint32_t index)
{
    char name[32];
    const int bytes = snprintf(name, sizeof name, "player_%u", index);
    const Text text = {name, (uint32_t)bytes};
    const Entry entry = {.type = ENTRY_CONNECT, .connection = index + 1};
    plain_require(world_enter(room->world, &entry), "connect");
    const MessageHandshake hello = {
        .version = PROTOCOL_VERSION, .schema = PROTOCOL_SCHEMA, .player_id = text, .name = text};
    write_up(room, index, MESSAGE_HANDSHAKE, &hello);
}

static void enter_messages(Room *room)
{
    for (uint32_t i = 0; i < room->count; i++) {
        if (room->up_bytes[i] != 0) {
            const Entry entry = {.type = ENTRY_MESSAGE,
                                 .connection = i + 1,
                                 .bytes = room->up[i],
                                 .byte_count = room->up_bytes[i]};
            plain_require(world_enter(room->world, &entry), "message");
            room->up_bytes[i] = 0;
        }
    }
}

static void keep_frame(Room *room, uint32_t index, const uint8_t *bytes, size_t count)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (room->sampled[i] == index) {
            plain_require(count <= KEPT_BYTES - room->kept_end ? STATUS_OK : STATUS_LIMIT, "frame");
            memcpy(room->kept + room->kept_end, bytes, count);
            room->kept_at[i] = room->kept_end;
            room->kept_bytes[i] = count;
            room->kept_end += count;
        }
    }
}

static void take_output(Room *room, uint32_t index)
{
    const uint8_t *bytes;
    size_t count;
    while (world_output(room->world, index + 1, &bytes, &count)) {
        room->bytes_down += count;
        if (bytes[0] == MESSAGE_SNAPSHOT) {
            room->players[index].frames += 1;
            keep_frame(room, index, bytes, count);
        }
        world_output_take(room->world, index + 1);
    }
}

static void merge_kept(Room *room)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        if (room->kept_bytes[i] != 0) {
            plain_viewer_merge(&room->samples[i], room->kept + room->kept_at[i],
                               room->kept_bytes[i]);
            room->kept_bytes[i] = 0;
        }
    }
    room->kept_end = 0;
}

// --- players ------------------------------------------------------------------------------------

static void send_inputs(Room *room, uint32_t index)
{
    Player *player = &room->players[index];
    const Sim *sim = world_sim(room->world);
    const Handle body = sim_find(sim, player->entity);
    const CharacterState state = character_state(sim, body);
    const uint64_t tick = sim_tick(sim);
    const MessageInputBatch batch = {.last_snapshot = player->frames,
                                     .view_tick = tick > 6 ? tick - 6 : 0,
                                     .state_seq = (uint32_t)tick,
                                     .state_hash = character_state_hash(&state),
                                     .inputs = player->inputs,
                                     .inputs_count = player->input_count};
    write_up(room, index, MESSAGE_INPUT_BATCH, &batch);
    player->input_count = 0;
}

static void play(Room *room, uint32_t index)
{
    Player *player = &room->players[index];
    const Sim *sim = world_sim(room->world);
    uint64_t number = 0;
    if (player->entity == 0 &&
        (!world_player(room->world, index + 1, &number, &player->entity) || player->entity == 0)) {
        player->entity = 0;
        return;
    }
    const Entity *body = sim_entity(sim, sim_find(sim, player->entity));
    if (body == NULL) {
        return;
    }
    plain_walker_drive(&player->walker, body->position, room->edge, &room->rng);
    const uint64_t wanted = sim_tick(sim) + INPUTS_AHEAD;
    player->input_tick = player->input_tick == 0 ? wanted : player->input_tick + 1;
    WireInputFrame frame = input_frame_quantise(&player->walker.input);
    frame.tick = player->input_tick;
    frame.seq = (uint32_t)player->input_tick;
    player->inputs[player->input_count++] = frame;
    if (player->input_count == INPUTS_A_MESSAGE) {
        send_inputs(room, index);
    }
}

static void remember(Room *room)
{
    const Sim *sim = world_sim(room->world);
    const uint64_t tick = sim_tick(sim);
    for (uint32_t i = 0; i < room->count; i++) {
        const Entity *body = sim_entity(sim, sim_find(sim, room->players[i].entity));
        if (body != NULL && body->owner_id >= 1 && body->owner_id <= PLAIN_WALKERS_MAX) {
            room->walkers[body->owner_id - 1].history[tick % PLAIN_HISTORY] = body->position;
        }
    }
}

// What is measured: messages and a tick go in, what comes out is taken.
static void run_world(Room *room)
{
    enter_messages(room);
    const Entry entry = {.type = ENTRY_TICK, .number = room->unix_ms};
    plain_require(world_enter(room->world, &entry), "tick");
    for (uint32_t i = 0; i < room->count; i++) {
        take_output(room, i);
    }
    bench_answer_saves(room->world);
}

// The same by a name that a tool finds which counts instructions once everybody is in.
void counted_world(void *room);
__attribute__((noinline)) void counted_world(void *room)
{
    run_world(room);
}

static void tick(Room *room, bool is_counted)
{
    for (uint32_t i = 0; i < room->count; i++) {
        play(room, i);
    }
    room->unix_ms += 1000 / PLAIN_TICK_RATE;
    const double start = bench_processor_seconds();
    if (is_counted) {
        counted_world(room);
    } else {
        run_world(room);
    }
    room->seconds += bench_processor_seconds() - start;
    remember(room);
    merge_kept(room);
}

// --- a run --------------------------------------------------------------------------------------

static void make_place(Room *room)
{
    const PartDesc floor = plain_floor();
    const SceneDesc desc = {.parts = &floor, .part_count = 1};
    uint32_t bad = 0;
    plain_require(scene_create(&room->heap, &desc, &room->scene, &bad), "scene");
    for (uint32_t i = 0; i < room->count; i++) {
        room->spawns[i] = (PlaceSpawn){.position = plain_place(&room->rng, room->edge)};
    }
    room->place = (Place){.name = {"Plain", 5},
                          .tick_rate = PLAIN_TICK_RATE,
                          .snapshot_rate = PLAIN_TICK_RATE / PLAIN_SNAPSHOT_TICKS,
                          .player_max = room->count,
                          .view_radius = PLAIN_RADIUS_M,
                          .reach_m = 8,
                          .respawn_ms = 1000,
                          .character = sim_config_default().character,
                          .scene = room->scene,
                          .spawns = room->spawns,
                          .spawn_count = room->count};
}

static void open_room(Room *room, uint32_t count, float edge, uint32_t visible_max)
{
    memset(room, 0, sizeof *room);
    room->heap = heap_make(HEAP_BYTES_MAX);
    room->count = count;
    room->edge = edge;
    room->rng = rng_make(7, 7);
    room->unix_ms = START_UNIX_MS;
    make_place(room);
    WorldConfig config = world_config_default();
    config.place = &room->place;
    config.stripped = room->stripped;
    config.stripped_bytes = sizeof room->stripped;
    memcpy(config.world_id, "world_bench", sizeof "world_bench");
    config.development = true;
    config.player_max = count;
    config.entity_max = 4096;
    config.visible_max = visible_max;
    config.json_session_max = 0;
    config.scripts = false;
    plain_require(world_create(&room->heap, &config, &room->world), "world");
    for (uint32_t i = 0; i < SAMPLES; i++) {
        room->sampled[i] = i * (count / SAMPLES);
        plain_viewer_reset(&room->samples[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        plain_walker_start(&room->players[i].walker, &room->rng);
        join(room, i);
        if (i % JOINS_PER_TICK == JOINS_PER_TICK - 1) {
            tick(room, false);
        }
    }
}

static void close_room(Room *room)
{
    world_destroy(&room->heap, room->world);
    scene_destroy(&room->heap, room->scene);
    ASSERT(room->heap.bytes_now == 0);
}

static Result measure(Room *room)
{
    static double all[MEASURED];
    for (uint32_t i = 0; i < WARM_UP; i++) {
        tick(room, false);
    }
    const ReplicatorStats before = world_stats(room->world).replication;
    Result result = {0};
    room->bytes_down = 0;
    for (uint32_t i = 0; i < MEASURED; i++) {
        room->seconds = 0;
        for (uint32_t k = 0; k < PLAIN_SNAPSHOT_TICKS; k++) {
            tick(room, true);
        }
        all[i] = room->seconds;
        for (uint32_t k = 0; k < SAMPLES; k++) {
            plain_viewer_measure(&room->samples[k], room->walkers, &room->errors);
            result.visible +=
                (double)plain_viewer_visible(&room->samples[k]) / (SAMPLES * MEASURED);
        }
    }
    const ReplicatorStats after = world_stats(room->world).replication;
    const double per_second = (double)PLAIN_TICK_RATE / PLAIN_SNAPSHOT_TICKS;
    const double client_seconds = MEASURED / per_second * room->count;
    result.ms_per_client_second = bench_middle_mean(all, MEASURED) * 1e3 * per_second / room->count;
    result.bytes_per_client_second = (double)room->bytes_down / client_seconds;
    result.appends_per_encode = (double)(after.records_appended - before.records_appended) /
                                (double)(after.records_encoded - before.records_encoded);
    result.error_p99_m = plain_errors_p99(&room->errors);
    return result;
}

static void note_run(const Room *room, const char *name, const Result *result)
{
    const WorldStats stats = world_stats(room->world);
    bench_note("%s: edge %.0f m, %.1f visible, %u playing, %llu corrections, %llu inputs late, "
               "%llu repeated, %llu frames held back",
               name, (double)room->edge, result->visible, stats.players,
               (unsigned long long)stats.corrections, (unsigned long long)stats.inputs_late,
               (unsigned long long)stats.inputs_repeated,
               (unsigned long long)stats.snapshots_skipped);
}

static const uint32_t counts[] = {100, 500, 1000, 2000};

static const char *row_name(const char *what, uint32_t count)
{
    static char name[64];
    snprintf(name, sizeof name, "world.%s.%u", what, count);
    return name;
}

static bool wants_count(const BenchReport *report, uint32_t count)
{
    return bench_wants(report, row_name("cpu_per_client", count)) ||
           bench_wants(report, row_name("bytes_down", count)) ||
           bench_wants(report, row_name("error_p99", count)) ||
           bench_wants(report, row_name("appends", count));
}

static void bench_walk(BenchReport *report, Room *room)
{
    double first = 0;
    double last = 0;
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const uint32_t count = counts[i];
        if (!wants_count(report, count)) {
            continue;
        }
        open_room(room, count, plain_edge(count), PLAIN_VISIBLE);
        const Result result = measure(room);
        note_run(room, row_name("cpu_per_client", count), &result);
        close_room(room);
        bench_row(report, row_name("cpu_per_client", count), result.ms_per_client_second,
                  "ms/client-second", 0.12);
        bench_row(report, row_name("bytes_down", count), result.bytes_per_client_second,
                  "B/client-second", 1800);
        bench_row(report, row_name("error_p99", count), result.error_p99_m * 100, "cm", 5);
        bench_row(report, row_name("appends", count), result.appends_per_encode, "appends/encode",
                  BENCH_NO_GOAL);
        first = count == counts[0] ? result.ms_per_client_second : first;
        last = result.ms_per_client_second;
    }
    if (first > 0 && last > first) {
        bench_row(report, "world.cpu_per_client.flat", last / first, "2000 to 100 clients", 1.2);
    }
}

static void bench_one_spot(BenchReport *report, Room *room)
{
    if (!bench_wants(report, "world.all_in_sight")) {
        return;
    }
    open_room(room, 500, 60, NET_SLOTS_MAX);
    const Result result = measure(room);
    note_run(room, "world.all_in_sight", &result);
    close_room(room);
    bench_row(report, "world.all_in_sight", result.ms_per_client_second, "ms/client-second",
              BENCH_NO_GOAL);
    bench_row(report, "world.all_in_sight.bytes", result.bytes_per_client_second, "B/client-second",
              BENCH_NO_GOAL);
    bench_row(report, "world.all_in_sight.error", result.error_p99_m * 100, "cm", BENCH_NO_GOAL);
}

// --- the program --------------------------------------------------------------------------------

// For a counting tool: everybody comes in, settles, and then so many ticks are counted.
static void run_count(Room *room, uint32_t ticks, uint32_t clients)
{
    open_room(room, clients, plain_edge(clients), PLAIN_VISIBLE);
    // Everybody is announced to everybody; in a large crowd that takes some seconds.
    const uint32_t settle = PLAIN_TICK_RATE * (1 + clients / 500);
    for (uint32_t i = 0; i < settle; i++) {
        tick(room, false);
    }
    for (uint32_t i = 0; i < ticks; i++) {
        tick(room, true);
    }
    printf("units %.1f\n", (double)clients * ticks / PLAIN_TICK_RATE);
    printf("hash %016llx\n", (unsigned long long)world_hash(room->world));
    close_room(room);
}

static void bench_counts(BenchReport *report, const char *program)
{
    static const uint32_t crowds[] = {100, 500, 1000, 2000};
    for (uint32_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
        char name[64], argument[64];
        snprintf(name, sizeof name, "world.instructions.%u", crowds[i]);
        snprintf(argument, sizeof argument, COUNT_TICKS " %u", crowds[i]);
        const double instructions =
            bench_wants(report, name) ? bench_count(program, argument, "counted_world") : 0;
        if (instructions > 0) {
            bench_row(report, name, instructions, "instructions/client-second", BENCH_NO_GOAL);
        }
    }
}

static void print_usage(FILE *stream)
{
    fputs("usage: bench_netcode [--json] [--only NAME] [--count TICKS [CLIENTS]]\n"
          "  --json         one object a line: bench, value, unit and, where there is one, goal\n"
          "  --only NAME    only the rows whose name starts with NAME\n"
          "  --count TICKS  run 500 clients, or as many as given, for valgrind\n"
          "                 --toggle-collect=counted_world\n",
          stream);
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
        } else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc) {
            const long ticks = strtol(argv[i + 1], NULL, 10);
            const long clients = i + 2 < argc ? strtol(argv[i + 2], NULL, 10) : COUNT_CLIENTS;
            if (ticks < 1 || ticks > 100000 || clients < SAMPLES || clients > PLAIN_WALKERS_MAX) {
                print_usage(stderr);
                return 2;
            }
            run_count(&room, (uint32_t)ticks, (uint32_t)clients);
            return 0;
        } else {
            print_usage(stderr);
            return 2;
        }
    }
    bench_walk(&report, &room);
    bench_one_spot(&report, &room);
    bench_counts(&report, argv[0]);
    return 0;
}
