// The cost of replication, and the bytes it sends: only captures, interest and frames, without
// messages and sockets, for the walk of bench_plain.h. Each walker has one session, which sees the
// world from its position. The cost is that of the middle half of all snapshots.
#include "bench/bench_plain.h"
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/world/replicate/replicate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES_MAX (2ull << 30)
#define WARM_UP        80  // snapshots
#define MEASURED       120 // snapshots: six seconds
#define SAMPLES        8

typedef struct Plain {
    Heap heap;
    Scene *scene;
    Sim *sim;
    Replicator *replicator;
    uint32_t count;
    float edge;
    Rng rng;
    Handle handles[PLAIN_WALKERS_MAX];
    PlainWalker walkers[PLAIN_WALKERS_MAX];
    uint32_t sampled[SAMPLES]; // sessions
    PlainViewer samples[SAMPLES];
    PlainErrors errors;
    uint8_t *buffer;
    size_t buffer_bytes;
} Plain;

typedef struct Result {
    double us_per_client_second, capture_us;
    double bytes_per_client_second;
    double appends_per_encode;
    double error_p99_m;
    double visible;
    double versions_per_entity_second;
} Result;

// --- the plain ----------------------------------------------------------------------------------

static void make_sim(Plain *plain)
{
    const PartDesc floor = plain_floor();
    const SceneDesc desc = {.parts = &floor, .part_count = 1};
    uint32_t bad = 0;
    plain_require(scene_create(&plain->heap, &desc, &plain->scene, &bad), "scene");
    SimConfig config = sim_config_default();
    config.entity_max = 4096;
    config.character_max = 2048;
    config.npc_max = 1;
    config.structures_max = 64;
    config.terrain = (TerrainConfig){.chunk_max = 64, .page_max = 64};
    plain_require(sim_create(&plain->heap, &config, plain->scene, &plain->sim), "sim");
}

static void open_session(Plain *plain, uint32_t index)
{
    const CharacterDesc desc = {.owner_id = index + 1,
                                .position = plain_place(&plain->rng, plain->edge)};
    plain_require(sim_spawn_player(plain->sim, &desc, &plain->handles[index]), "player");
    plain_walker_start(&plain->walkers[index], &plain->rng);
    replicator_open(plain->replicator, index, 0);
    replicator_set_eye(plain->replicator, index,
                       sim_entity(plain->sim, plain->handles[index])->net_id, VEC3_ZERO);
}

static void open_plain(Plain *plain, uint32_t count, float edge, uint32_t visible_max)
{
    memset(plain, 0, sizeof *plain);
    plain->heap = heap_make(HEAP_BYTES_MAX);
    plain->count = count;
    plain->edge = edge;
    plain->rng = rng_make(7, 7);
    make_sim(plain);
    ReplicatorConfig config = replicator_config_default();
    config.sim = plain->sim;
    config.session_max = count;
    config.tick_rate = PLAIN_TICK_RATE;
    config.snapshot_ticks = PLAIN_SNAPSHOT_TICKS;
    config.visible_max = visible_max;
    config.radius = PLAIN_RADIUS_M;
    config.event_bytes_max = 4096;
    plain_require(replicator_create(&plain->heap, &config, &plain->replicator), "replicator");
    plain->buffer_bytes = config.budget_bytes + SNAPSHOT_SLACK;
    plain->buffer = heap_alloc(&plain->heap, plain->buffer_bytes);
    plain_require(plain->buffer == NULL ? STATUS_LIMIT : STATUS_OK, "buffer");
    for (uint32_t i = 0; i < count; i++) {
        open_session(plain, i);
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        plain->sampled[i] = i * (count / SAMPLES);
        plain_viewer_reset(&plain->samples[i]);
    }
}

static void close_plain(Plain *plain)
{
    heap_free(&plain->heap, plain->buffer);
    replicator_destroy(&plain->heap, plain->replicator);
    sim_destroy(&plain->heap, plain->sim);
    scene_destroy(&plain->heap, plain->scene);
    ASSERT(plain->heap.bytes_now == 0);
}

static void drive(Plain *plain)
{
    for (uint32_t i = 0; i < plain->count; i++) {
        const Vec3 at = sim_entity(plain->sim, plain->handles[i])->position;
        plain_walker_drive(&plain->walkers[i], at, plain->edge, &plain->rng);
        sim_set_input(plain->sim, plain->handles[i], &plain->walkers[i].input);
    }
    sim_step(plain->sim);
    const uint64_t tick = sim_tick(plain->sim);
    for (uint32_t i = 0; i < plain->count; i++) {
        plain->walkers[i].history[tick % PLAIN_HISTORY] =
            sim_entity(plain->sim, plain->handles[i])->position;
    }
}

// --- running ------------------------------------------------------------------------------------

// One snapshot for everybody; seconds of the captures and of the frames.
static void snapshot(Plain *plain, bool samples, double *capture_s, double *frames_s)
{
    for (uint32_t i = 0; i < PLAIN_SNAPSHOT_TICKS; i++) {
        drive(plain);
    }
    const double start = bench_processor_seconds();
    replicator_capture(plain->replicator);
    *capture_s = bench_processor_seconds() - start;
    *frames_s = 0;
    const FrameRequest request = {.ack_seq = (uint32_t)sim_tick(plain->sim), .inputs_waiting = 2};
    uint32_t sample = 0;
    uint32_t seq = 0;
    size_t bytes = 0;
    double from = bench_processor_seconds();
    for (uint32_t i = 0; i < plain->count; i++) {
        plain_require(replicator_build(plain->replicator, i, &request, plain->buffer,
                                       plain->buffer_bytes, &bytes, &seq),
                      "frame");
        if (samples && sample < SAMPLES && plain->sampled[sample] == i) {
            *frames_s += bench_processor_seconds() - from;
            plain_viewer_merge(&plain->samples[sample], plain->buffer, bytes);
            sample += 1;
            from = bench_processor_seconds();
        }
    }
    *frames_s += bench_processor_seconds() - from;
}

static double mean_visible(const Plain *plain)
{
    double sum = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        sum += plain_viewer_visible(&plain->samples[i]);
    }
    return sum / SAMPLES;
}

static Result measure(Plain *plain)
{
    static double captures[MEASURED];
    static double all[MEASURED];
    double capture_s;
    double frames_s;
    for (uint32_t i = 0; i < WARM_UP; i++) {
        snapshot(plain, true, &capture_s, &frames_s);
    }
    const ReplicatorStats before = replicator_stats(plain->replicator);
    Result result = {0};
    for (uint32_t i = 0; i < MEASURED; i++) {
        snapshot(plain, true, &capture_s, &frames_s);
        captures[i] = capture_s;
        all[i] = capture_s + frames_s;
        for (uint32_t k = 0; k < SAMPLES; k++) {
            plain_viewer_measure(&plain->samples[k], plain->walkers, &plain->errors);
        }
        result.visible += mean_visible(plain) / MEASURED;
    }
    const ReplicatorStats after = replicator_stats(plain->replicator);
    const double per_second = (double)PLAIN_TICK_RATE / PLAIN_SNAPSHOT_TICKS;
    const double client_seconds = MEASURED / per_second * plain->count;
    result.us_per_client_second =
        bench_middle_mean(all, MEASURED) * 1e6 * per_second / plain->count;
    result.capture_us = bench_middle_mean(captures, MEASURED) * 1e6 * per_second / plain->count;
    result.bytes_per_client_second =
        (double)(after.frame_bytes - before.frame_bytes) / client_seconds;
    result.appends_per_encode = (double)(after.records_appended - before.records_appended) /
                                (double)(after.records_encoded - before.records_encoded);
    result.error_p99_m = plain_errors_p99(&plain->errors);
    result.versions_per_entity_second =
        (double)(after.versions_made - before.versions_made) / client_seconds;
    return result;
}

static const uint32_t counts[] = {100, 500, 1000, 2000};

static void bench_crowds(BenchReport *report, Plain *plain)
{
    double first = 0;
    double last = 0;
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "replicate.clients_%u", counts[i]);
        if (!bench_wants(report, name)) {
            continue;
        }
        const float edge = plain_edge(counts[i]);
        open_plain(plain, counts[i], edge, PLAIN_VISIBLE);
        const Result result = measure(plain);
        close_plain(plain);
        bench_note("%u clients: edge %.0f m, %.1f visible, capture %.1f us, %.2f versions a second",
                   counts[i], (double)edge, result.visible, result.capture_us,
                   result.versions_per_entity_second);
        bench_row(report, name, result.us_per_client_second, "us/client-second", 40);
        snprintf(name, sizeof name, "replicate.bytes_%u", counts[i]);
        bench_row(report, name, result.bytes_per_client_second, "B/client-second", 1800);
        snprintf(name, sizeof name, "replicate.appends_%u", counts[i]);
        bench_row(report, name, result.appends_per_encode, "appends/encode", BENCH_NO_GOAL);
        snprintf(name, sizeof name, "replicate.error_%u", counts[i]);
        bench_row(report, name, result.error_p99_m * 100, "cm, p99", 5);
        first = i == 0 ? result.us_per_client_second : first;
        last = result.us_per_client_second;
    }
    if (first > 0 && last > 0) {
        bench_row(report, "replicate.flat", last / first, "2000 to 100 clients", 1.2);
    }
}

static void bench_one_spot(BenchReport *report, Plain *plain)
{
    if (!bench_wants(report, "replicate.all_in_sight")) {
        return;
    }
    open_plain(plain, 500, 60, NET_SLOTS_MAX);
    const Result result = measure(plain);
    const ReplicatorStats stats = replicator_stats(plain->replicator);
    close_plain(plain);
    bench_note("all in sight: %.1f visible, %.2f versions a second, %.1f %% postponed",
               result.visible, result.versions_per_entity_second,
               100.0 * (double)stats.records_postponed /
                   (double)(stats.records_postponed + stats.records_appended));
    bench_row(report, "replicate.all_in_sight", result.us_per_client_second, "us/client-second",
              BENCH_NO_GOAL);
    bench_row(report, "replicate.all_in_sight.bytes", result.bytes_per_client_second,
              "B/client-second", BENCH_NO_GOAL);
    bench_row(report, "replicate.all_in_sight.appends", result.appends_per_encode, "appends/encode",
              BENCH_NO_GOAL);
    bench_row(report, "replicate.all_in_sight.error", result.error_p99_m * 100, "cm, p99",
              BENCH_NO_GOAL);
}

// For a counting tool: so many snapshots without a clock that matters, and what was done.
static void run_count(Plain *plain, uint32_t count, uint32_t snapshots)
{
    open_plain(plain, count, plain_edge(count), PLAIN_VISIBLE);
    double capture_s;
    double frames_s;
    for (uint32_t i = 0; i < snapshots; i++) {
        snapshot(plain, false, &capture_s, &frames_s);
    }
    Hash64 hash = HASH64_INIT;
    replicator_hash(plain->replicator, &hash);
    printf("frames %llu\n", (unsigned long long)count * snapshots);
    printf("hash %016llx\n", (unsigned long long)hash.state);
    close_plain(plain);
}

static void print_usage(FILE *stream)
{
    fputs("usage: bench_replicate [--json] [--only NAME] [--count SNAPSHOTS [CLIENTS]]\n"
          "  --json         one object a line: bench, value, unit and, where there is one, goal\n"
          "  --only NAME    only the rows whose name starts with NAME\n"
          "  --count N      run N snapshots of 1000 clients, for valgrind with\n"
          "                 --toggle-collect=replicator_capture and replicator_build\n",
          stream);
}

int main(int argc, char **argv)
{
    static Plain plain;
    BenchReport report = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            report.json = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            report.only = argv[++i];
        } else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc) {
            const long snapshots = strtol(argv[i + 1], NULL, 10);
            const long clients = i + 2 < argc ? strtol(argv[i + 2], NULL, 10) : 1000;
            if (snapshots < 1 || snapshots > 100000 || clients < 8 || clients > PLAIN_WALKERS_MAX) {
                print_usage(stderr);
                return 2;
            }
            run_count(&plain, (uint32_t)clients, (uint32_t)snapshots);
            return 0;
        } else {
            print_usage(stderr);
            return 2;
        }
    }
    bench_machine_rows(&report);
    bench_crowds(&report, &plain);
    bench_one_spot(&report, &plain);
    return 0;
}
