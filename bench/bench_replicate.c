// What replication costs, and what it says: captures, interest and frames alone, without messages
// and sockets. N characters walk on a plain and N sessions see through them; the plain is as large
// as it must be for about 32 to be inside the radius of 64 m, and 32 are seen at most. Everybody
// walks straight on at 5 m/s for 1 to 3 seconds (evenly drawn), turns to a direction drawn anew,
// and goes on; whoever is at the edge turns back. 60 ticks and 20 snapshots a second.
//
// Costs are the middle half of all snapshots. Errors are those of eight sessions with a client's
// merge and interpolation behind them, at every tick, 100 ms in the past, against the sim's truth.
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/client/interpolate.h"
#include "core/wire/merge.h"
#include "core/world/replicate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES_MAX (2ull << 30)
#define CLIENTS_MAX    2000
#define TICK_RATE      60
#define SNAPSHOT_TICKS 3
#define RADIUS_M       64.0f
#define VISIBLE        32
#define WARM_UP        80  // snapshots
#define MEASURED       120 // snapshots: six seconds
#define SAMPLES        8
#define VIEW_TICKS     6 // interpolation delay: 100 ms
#define HISTORY        16
#define ERRORS_MAX     (SAMPLES * MEASURED * SNAPSHOT_TICKS * NET_SLOTS_MAX)

typedef struct Walker {
    Handle handle;
    uint64_t net_id;
    SimInput input;
    uint32_t ticks_left;
    Vec3 history[HISTORY]; // by tick
} Walker;

typedef struct Sample {
    uint32_t session;
    Merge merge;
    uint64_t frame_tick, frame_before;
    InterpolateLine lines[NET_SLOTS_MAX];
    uint64_t entered[NET_SLOTS_MAX]; // tick of the enter
} Sample;

typedef struct Plain {
    Heap heap;
    Scene *scene;
    Sim *sim;
    Replicator *replicator;
    uint32_t count;
    float edge;
    Rng rng;
    Walker walkers[CLIENTS_MAX];
    Sample samples[SAMPLES];
    float *errors;
    uint32_t error_count;
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

static void require(Status status, const char *what)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench: %s: %s\n", what, status_text(status));
        exit(1);
    }
}

static void *take(Plain *plain, size_t bytes)
{
    void *block = heap_alloc(&plain->heap, bytes);
    require(block == NULL ? STATUS_LIMIT : STATUS_OK, "memory");
    return block;
}

// --- the plain ----------------------------------------------------------------------------------

static Vec3 random_place(Rng *rng, float edge)
{
    const float x = rng_range(rng, -0.5f, 0.5f);
    const float z = rng_range(rng, -0.5f, 0.5f);
    return vec3(x * edge, 0, z * edge);
}

// How many others are within the radius on average, at most `most`, on a plain of that edge.
static float mean_visible(uint32_t count, float edge, uint32_t most)
{
    static Vec3 places[CLIENTS_MAX];
    Rng rng = rng_make(3, 3);
    for (uint32_t i = 0; i < count; i++) {
        places[i] = random_place(&rng, edge);
    }
    uint64_t sum = 0;
    const uint32_t asked = count < 200 ? count : 200;
    for (uint32_t i = 0; i < asked; i++) {
        uint32_t near = 0;
        for (uint32_t k = 0; k < count; k++) {
            const Vec3 between = vec3_sub(places[i], places[k]);
            near += k != i && vec3_length_squared(between) <= RADIUS_M * RADIUS_M ? 1 : 0;
        }
        sum += near < most ? near : most;
    }
    return (float)sum / (float)asked;
}

// The largest plain on which nearly everybody sees as many as there is room for.
static float edge_for(uint32_t count)
{
    float edge = 1000;
    while (edge > 10 && mean_visible(count, edge, VISIBLE - 1) < 0.96f * (VISIBLE - 1)) {
        edge *= 0.98f;
    }
    return edge;
}

static void make_sim(Plain *plain)
{
    const PartDesc floor = {.shape = {SHAPE_BOX, {512, 1, 512}},
                            .pose = {{0, -1, 0}, QUAT_IDENTITY}};
    const SceneDesc desc = {.parts = &floor, .part_count = 1};
    uint32_t bad = 0;
    require(scene_create(&plain->heap, &desc, &plain->scene, &bad), "scene");
    SimConfig config = sim_config_default();
    config.entity_max = 4096;
    config.character_max = 2048;
    config.npc_max = 1;
    config.structures_max = 64;
    config.terrain = (TerrainConfig){.chunk_max = 64, .page_max = 64};
    require(sim_create(&plain->heap, &config, plain->scene, &plain->sim), "sim");
}

static void spawn_walker(Plain *plain, uint32_t index)
{
    Walker *walker = &plain->walkers[index];
    const CharacterDesc desc = {.owner_id = index + 1,
                                .position = random_place(&plain->rng, plain->edge)};
    require(sim_spawn_player(plain->sim, &desc, &walker->handle), "player");
    walker->net_id = sim_entity(plain->sim, walker->handle)->net_id;
    walker->ticks_left = rng_below(&plain->rng, 2 * TICK_RATE);
    walker->input.yaw = rng_range(&plain->rng, -MATH_PI, MATH_PI);
    walker->input.move_z = 1;
}

static void open_plain(Plain *plain, uint32_t count, float edge, uint32_t visible_max,
                       float tolerance_m)
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
    config.tick_rate = TICK_RATE;
    config.snapshot_ticks = SNAPSHOT_TICKS;
    config.visible_max = visible_max;
    config.radius = RADIUS_M;
    config.tolerance_m = tolerance_m;
    config.event_bytes_max = 4096;
    require(replicator_create(&plain->heap, &config, &plain->replicator), "replicator");
    plain->buffer_bytes = config.budget_bytes + SNAPSHOT_SLACK;
    plain->buffer = take(plain, plain->buffer_bytes);
    plain->errors = take(plain, ERRORS_MAX * sizeof *plain->errors);
    for (uint32_t i = 0; i < count; i++) {
        spawn_walker(plain, i);
        replicator_open(plain->replicator, i);
        replicator_set_eye(plain->replicator, i, plain->walkers[i].net_id, VEC3_ZERO);
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        plain->samples[i].session = i * (count / SAMPLES);
        merge_reset(&plain->samples[i].merge, TICK_RATE);
    }
}

static void close_plain(Plain *plain)
{
    heap_free(&plain->heap, plain->errors);
    heap_free(&plain->heap, plain->buffer);
    replicator_destroy(&plain->heap, plain->replicator);
    sim_destroy(&plain->heap, plain->sim);
    scene_destroy(&plain->heap, plain->scene);
    ASSERT(plain->heap.bytes_now == 0);
}

static void drive(Plain *plain)
{
    const float half = plain->edge / 2;
    for (uint32_t i = 0; i < plain->count; i++) {
        Walker *walker = &plain->walkers[i];
        const Vec3 at = sim_entity(plain->sim, walker->handle)->position;
        const bool outside = math_abs(at.x) > half || math_abs(at.z) > half;
        if (walker->ticks_left == 0 || (outside && walker->ticks_left % 30 == 0)) {
            const float drawn = rng_range(&plain->rng, -MATH_PI, MATH_PI);
            walker->input.yaw = outside ? math_atan2(-at.x, -at.z) : drawn;
            walker->ticks_left = TICK_RATE + rng_below(&plain->rng, 2 * TICK_RATE + 1);
        }
        walker->ticks_left -= 1;
        walker->input.seq += 1;
        sim_set_input(plain->sim, walker->handle, &walker->input);
    }
    sim_step(plain->sim);
    const uint64_t tick = sim_tick(plain->sim);
    for (uint32_t i = 0; i < plain->count; i++) {
        Walker *walker = &plain->walkers[i];
        walker->history[tick % HISTORY] = sim_entity(plain->sim, walker->handle)->position;
    }
}

// --- the other end ------------------------------------------------------------------------------

static void on_enter(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                     const uint8_t *book, size_t book_bytes)
{
    Sample *sample = user;
    (void)shape, (void)book, (void)book_bytes;
    sample->lines[slot].count = 0;
    sample->entered[slot] = sample->frame_tick;
    interpolate_push(&sample->lines[slot], &entity->state, sample->frame_tick,
                     sample->frame_before);
}

static void on_update(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                      uint32_t components, const NetShape *shape, const uint8_t *book,
                      size_t book_bytes)
{
    Sample *sample = user;
    (void)before, (void)components, (void)shape, (void)book, (void)book_bytes;
    interpolate_push(&sample->lines[slot], &entity->state, sample->frame_tick,
                     sample->frame_before);
}

static void on_begin(void *user, const SnapshotHeader *header)
{
    Sample *sample = user;
    sample->frame_before = sample->frame_tick;
    sample->frame_tick = header->tick;
}

static void merge_frame(Sample *sample, const uint8_t *bytes, size_t count)
{
    const MergeSink sink = {
        .user = sample, .begin = on_begin, .enter = on_enter, .update = on_update};
    require(merge_apply(&sample->merge, bytes, count, &sink), "merge");
}

// Errors of the ticks that this snapshot brought into view.
static void measure_errors(Plain *plain, const Sample *sample)
{
    const uint64_t now = sim_tick(plain->sim);
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *known = &sample->merge.slots[slot];
        for (uint32_t i = 0; known->net_id != 0 && i < SNAPSHOT_TICKS; i++) {
            const uint64_t tick = now - VIEW_TICKS + i;
            if (tick < sample->entered[slot] || plain->error_count == ERRORS_MAX) {
                continue;
            }
            const Walker *walker = &plain->walkers[known->owner_id - 1];
            const InterpolatePose pose =
                interpolate_at(&sample->lines[slot], (double)tick, sample->frame_tick, TICK_RATE);
            plain->errors[plain->error_count++] =
                vec3_length(vec3_sub(pose.position, walker->history[tick % HISTORY]));
        }
    }
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static double error_p99(Plain *plain)
{
    if (plain->error_count == 0) {
        return 0;
    }
    qsort(plain->errors, plain->error_count, sizeof *plain->errors, compare_floats);
    return plain->errors[(uint64_t)plain->error_count * 99 / 100];
}

// --- running ------------------------------------------------------------------------------------

// One snapshot for everybody; seconds of the captures and of the frames.
static void snapshot(Plain *plain, bool samples, double *capture_s, double *frames_s)
{
    for (uint32_t i = 0; i < SNAPSHOT_TICKS; i++) {
        drive(plain);
    }
    const double start = bench_seconds();
    replicator_capture(plain->replicator);
    *capture_s = bench_seconds() - start;
    *frames_s = 0;
    const FrameRequest request = {.ack_seq = (uint32_t)sim_tick(plain->sim), .inputs_waiting = 2};
    uint32_t sample = 0;
    uint32_t seq = 0;
    size_t bytes = 0;
    double from = bench_seconds();
    for (uint32_t i = 0; i < plain->count; i++) {
        require(replicator_build(plain->replicator, i, &request, plain->buffer, plain->buffer_bytes,
                                 &bytes, &seq),
                "frame");
        if (samples && sample < SAMPLES && plain->samples[sample].session == i) {
            *frames_s += bench_seconds() - from;
            merge_frame(&plain->samples[sample], plain->buffer, bytes);
            sample += 1;
            from = bench_seconds();
        }
    }
    *frames_s += bench_seconds() - from;
}

static double sum_visible(const Plain *plain)
{
    double sum = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
            sum += plain->samples[i].merge.slots[slot].net_id != 0 ? 1 : 0;
        }
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
            measure_errors(plain, &plain->samples[k]);
        }
        result.visible += sum_visible(plain) / MEASURED;
    }
    const ReplicatorStats after = replicator_stats(plain->replicator);
    const double per_second = (double)TICK_RATE / SNAPSHOT_TICKS;
    const double client_seconds = MEASURED / per_second * plain->count;
    result.us_per_client_second =
        bench_middle_mean(all, MEASURED) * 1e6 * per_second / plain->count;
    result.capture_us = bench_middle_mean(captures, MEASURED) * 1e6 * per_second / plain->count;
    result.bytes_per_client_second =
        (double)(after.frame_bytes - before.frame_bytes) / client_seconds;
    result.appends_per_encode = (double)(after.records_appended - before.records_appended) /
                                (double)(after.records_encoded - before.records_encoded);
    result.error_p99_m = error_p99(plain);
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
        const float edge = edge_for(counts[i]);
        open_plain(plain, counts[i], edge, VISIBLE, 0.012f);
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
    open_plain(plain, 500, 60, NET_SLOTS_MAX, 0.012f);
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
    open_plain(plain, count, edge_for(count), VISIBLE, 0.012f);
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
            if (snapshots < 1 || snapshots > 100000 || clients < 8 || clients > CLIENTS_MAX) {
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
