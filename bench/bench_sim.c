// The speed of the simulation. Every result is the median of several rounds, and a round is the
// mean of the middle half of its steps, so that a step during which another process had the
// processor does not count. Work that should not be measured (a crowd that stands around, inputs,
// refilling) is measured separately and subtracted, or done outside the measured time. The rows
// machine.* and sim.idle measure the machine and an idle sim in the same run: use ratios to them to
// compare runs on different or busy machines.
#include "bench/bench_report.h"
#include "bench/bench_world.h"
#include "core/sim/npc.h"
#include "core/sim/projectile.h"

#ifndef __wasm__
#include "bench/bench_outside.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS            7
#define CHARACTERS        2000
#define CHARACTER_TICKS   60 // in one round
#define WARM_UP_TICKS     120
#define PLATFORMS         64
#define SMALL_CROWD       200
#define PROJECTILES       1000
#define PILE_TICKS        20
#define NPCS              200
#define SMALL_ROUND_TICKS 120
#define ROUND_TICKS_MAX   120
#define EDIT_SETS         20000
#define EDIT_BOXES        40
#define EDIT_SPHERES      40
#define SAVE_BYTES_MAX    (64u << 20)

static double timed_step_us(Sim *sim)
{
    const double start = bench_seconds();
    sim_step(sim);
    return (bench_seconds() - start) * 1e6;
}

// Microseconds of sim_step alone, a step, in one round.
static double round_step_us(BenchCrowd *crowd, uint32_t ticks)
{
    double steps[ROUND_TICKS_MAX];
    for (uint32_t i = 0; i < ticks; i++) {
        bench_crowd_drive(crowd);
        steps[i] = timed_step_us(crowd->sim);
    }
    return bench_middle_mean(steps, ticks);
}

static double crowd_step_us(BenchScene *scene, uint32_t player_count, uint32_t ticks, bool idle)
{
    BenchCrowd crowd;
    double rounds[ROUNDS];
    bench_crowd_create(&crowd, scene, player_count, idle);
    bench_crowd_run(&crowd, WARM_UP_TICKS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        rounds[i] = round_step_us(&crowd, ticks);
    }
    bench_crowd_destroy(&crowd);
    return bench_median(rounds, ROUNDS);
}

static void bench_characters(BenchReport *report, BenchScene *scene)
{
    if (bench_wants(report, "sim.characters")) {
        const double us = crowd_step_us(scene, CHARACTERS, CHARACTER_TICKS, false);
        bench_row(report, "sim.characters", us / CHARACTERS, "us/character", 1.0);
    }
    if (bench_wants(report, "sim.idle")) {
        const double us = crowd_step_us(scene, CHARACTERS, CHARACTER_TICKS, true);
        bench_row(report, "sim.idle", us / CHARACTERS, "us/character", BENCH_NO_GOAL);
    }
}

// The same crowd among platforms of all sizes that turn above and between them.
static void spawn_platforms(BenchCrowd *crowd)
{
    Rng *rng = &crowd->rng;
    for (uint32_t i = 0; i < PLATFORMS; i++) {
        const float wide = i == 0 ? 10.0f : rng_range(rng, 1, 3);
        const Vec3 at = bench_random_point(rng, vec3(-90, 0, -90), vec3(90, 0, 90));
        const float y = (float)bench_ground_y(math_floor_i32(at.x), math_floor_i32(at.z)) + 0.4f;
        const Pose pose = {{at.x, y, at.z}, QUAT_IDENTITY};
        const ShapeDesc desc = {.part = {.shape = {SHAPE_BOX, {wide, 0.3f, 1}}, .pose = pose}};
        const uint64_t now = sim_tick(crowd->sim);
        const MotionSegment segment = {.pose = pose,
                                       .angular_velocity = {0, 0.5f, 0},
                                       .tick_from = now + 1,
                                       .tick_to = now + 100000};
        Handle part;
        bench_require(sim_spawn_part(crowd->sim, &desc, &part), "platform");
        bench_require(sim_move_part(crowd->sim, part, &segment), "segment");
    }
}

static void bench_platforms(BenchReport *report, BenchScene *scene)
{
    if (!bench_wants(report, "sim.platforms")) {
        return;
    }
    BenchCrowd crowd;
    double rounds[ROUNDS];
    bench_crowd_create(&crowd, scene, CHARACTERS, false);
    spawn_platforms(&crowd);
    bench_crowd_run(&crowd, WARM_UP_TICKS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        rounds[i] = round_step_us(&crowd, CHARACTER_TICKS);
    }
    bench_crowd_destroy(&crowd);
    bench_row(report, "sim.platforms", bench_median(rounds, ROUNDS) / CHARACTERS, "us/character",
              BENCH_NO_GOAL);
}

// --- projectiles -------------------------------------------------------------------------------
static void fire_one(BenchCrowd *crowd)
{
    Rng *rng = &crowd->rng;
    const Handle shooter = crowd->players[rng_below(rng, crowd->player_count)];
    const Entity *entity = sim_entity(crowd->sim, shooter);
    const Vec3 direction =
        vec3_normalise(bench_random_point(rng, vec3(-1, -0.1f, -1), vec3(1, 0.9f, 1)));
    const float speed = rng_range(rng, 20, 60);
    const uint32_t drawn = rng_below(rng, 4 * 20);
    const ProjectileDesc desc = {
        .owner_id = entity->owner_id,
        .shooter = shooter,
        .position = vec3_add(entity->position, vec3(0, 1.5f, 0)),
        .velocity = vec3_scale(direction, speed),
        .radius = drawn % 2 == 0 ? 0.0f : 0.15f,
        .gravity = drawn / 2 % 2 == 0 ? 0.0f : 9.8f,
        .damage = 0,
        .lifetime_ticks = 240,
        .rewind_ticks = drawn / 4,
    };
    Handle fired;
    bench_require(projectile_fire(crowd->sim, &desc, &fired), "projectile");
}

static double round_projectiles_us(BenchCrowd *crowd)
{
    double steps[ROUND_TICKS_MAX];
    for (uint32_t i = 0; i < SMALL_ROUND_TICKS; i++) {
        bench_crowd_drive(crowd);
        while (sim_count(crowd->sim, ENTITY_PROJECTILE) < PROJECTILES) {
            fire_one(crowd);
        }
        steps[i] = timed_step_us(crowd->sim);
    }
    return bench_middle_mean(steps, SMALL_ROUND_TICKS);
}

static void bench_projectiles(BenchReport *report, BenchScene *scene)
{
    if (!bench_wants(report, "sim.projectiles")) {
        return;
    }
    BenchCrowd with;
    BenchCrowd without;
    double rounds[ROUNDS];
    bench_crowd_create(&with, scene, SMALL_CROWD, false);
    bench_crowd_create(&without, scene, SMALL_CROWD, false);
    bench_crowd_run(&without, WARM_UP_TICKS);
    bench_crowd_run(&with, WARM_UP_TICKS);
    round_projectiles_us(&with);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const double base = round_step_us(&without, SMALL_ROUND_TICKS);
        rounds[i] = round_projectiles_us(&with) - base;
    }
    bench_crowd_destroy(&without);
    bench_crowd_destroy(&with);
    bench_row(report, "sim.projectiles", bench_median(rounds, ROUNDS) / PROJECTILES,
              "us/projectile", BENCH_NO_GOAL);
}

// Fired from one point, against spread out, in turns within one run.
static Sim *fire_all(Heap *heap, uint32_t count, bool spread)
{
    SimConfig config = sim_config_default();
    Sim *sim = NULL;
    bench_require(sim_create(heap, &config, NULL, &sim), "sim of projectiles");
    for (uint32_t i = 0; i < count; i++) {
        const float x = spread ? (float)(i % 64) * 10 : 0;
        const float z = spread ? (float)(i / 64) * 10 : 0;
        const ProjectileDesc desc = {.position = vec3(x, 50, z),
                                     .velocity = vec3(0, 3, 0),
                                     .radius = 0.05f,
                                     .lifetime_ticks = 10 * PILE_TICKS * ROUNDS};
        Handle fired;
        bench_require(projectile_fire(sim, &desc, &fired), "projectile");
    }
    return sim;
}

static double pile_round_us(Sim *sim)
{
    double steps[PILE_TICKS];
    for (uint32_t i = 0; i < PILE_TICKS; i++) {
        steps[i] = timed_step_us(sim);
    }
    return bench_middle_mean(steps, PILE_TICKS);
}

static void bench_pile(BenchReport *report, const char *name, uint32_t count)
{
    if (!bench_wants(report, name)) {
        return;
    }
    Heap heap = heap_make(1ull << 30);
    Sim *spread = fire_all(&heap, count, true);
    Sim *piled = fire_all(&heap, count, false);
    double ratios[ROUNDS];
    (void)pile_round_us(spread);
    (void)pile_round_us(piled);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const double base = pile_round_us(spread);
        ratios[i] = pile_round_us(piled) / base;
    }
    sim_destroy(&heap, piled);
    sim_destroy(&heap, spread);
    bench_row(report, name, bench_median(ratios, ROUNDS), "of spread out", 1.5);
}

// --- NPCs --------------------------------------------------------------------------------------
// On patrol it notices, chases, and searches ways; on its post it only looks, and never gets
// suspicious enough to do anything about it.
static void spawn_npc(BenchCrowd *crowd, bool patrols)
{
    Rng *rng = &crowd->rng;
    NpcDesc desc = npc_desc_default();
    Vec3 at = bench_random_point(rng, vec3(-80, 0, -80), vec3(80, 0, 80));
    for (uint32_t i = 0; i < 4; i++) {
        at.x = math_clamp(at.x + rng_range(rng, -12, 12), -95, 95);
        at.z = math_clamp(at.z + rng_range(rng, -12, 12), -95, 95);
        at.y = (float)bench_ground_y(math_floor_i32(at.x), math_floor_i32(at.z));
        desc.patrol[i] = at;
    }
    desc.patrol_count = patrols ? 4 : 0;
    desc.tuning.rise = patrols ? desc.tuning.rise : 0;
    desc.position = at;
    Handle npc;
    bench_require(npc_spawn(crowd->sim, &desc, &npc), "npc");
}

// What an NPC costs in all, body and mind: 200 players with and without 200 NPCs among them.
static double npc_us(BenchScene *scene, bool patrols)
{
    BenchCrowd with;
    BenchCrowd without;
    double rounds[ROUNDS];
    bench_crowd_create(&with, scene, SMALL_CROWD, false);
    bench_crowd_create(&without, scene, SMALL_CROWD, false);
    for (uint32_t i = 0; i < NPCS; i++) {
        spawn_npc(&with, patrols);
    }
    bench_crowd_run(&without, WARM_UP_TICKS);
    bench_crowd_run(&with, WARM_UP_TICKS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const double base = round_step_us(&without, SMALL_ROUND_TICKS);
        rounds[i] = round_step_us(&with, SMALL_ROUND_TICKS) - base;
    }
    bench_crowd_destroy(&without);
    bench_crowd_destroy(&with);
    return bench_median(rounds, ROUNDS) / NPCS;
}

static void bench_npcs(BenchReport *report, BenchScene *scene)
{
    if (bench_wants(report, "sim.npcs")) {
        bench_row(report, "sim.npcs", npc_us(scene, false), "us/npc", BENCH_NO_GOAL);
    }
    if (bench_wants(report, "sim.npcs.patrol")) {
        bench_row(report, "sim.npcs.patrol", npc_us(scene, true), "us/npc", BENCH_NO_GOAL);
    }
}

// --- edits -------------------------------------------------------------------------------------
typedef struct EditTally {
    double seconds;
    uint64_t voxels;
} EditTally;

static VoxelCoord random_surface_voxel(Rng *rng)
{
    const int32_t x = (int32_t)rng_below(rng, BENCH_EDGE_M - 40) - (BENCH_EDGE_M / 2 - 20);
    const int32_t z = (int32_t)rng_below(rng, BENCH_EDGE_M - 40) - (BENCH_EDGE_M / 2 - 20);
    return (VoxelCoord){x, bench_ground_y(x, z) - 1 + (int32_t)rng_below(rng, 3), z};
}

// Alternates between two kinds and air, so that most of what is touched changes.
static VoxelKind edit_kind(uint32_t index)
{
    return (VoxelKind)(index % 3 == 0 ? VOXEL_AIR : 4 + index % 3);
}

// The places are chosen before the clock starts.
static const VoxelCoord *random_surface_voxels(Rng *rng, uint32_t count)
{
    static VoxelCoord places[EDIT_SETS];
    for (uint32_t i = 0; i < count; i++) {
        places[i] = random_surface_voxel(rng);
    }
    return places;
}

static EditTally edit_sets(Terrain *terrain, Rng *rng)
{
    const VoxelCoord *places = random_surface_voxels(rng, EDIT_SETS);
    const double start = bench_seconds();
    for (uint32_t i = 0; i < EDIT_SETS; i++) {
        bench_require(terrain_set(terrain, places[i], edit_kind(i), NULL), "set");
    }
    return (EditTally){bench_seconds() - start, EDIT_SETS};
}

static EditTally edit_boxes(Terrain *terrain, Rng *rng)
{
    const VoxelCoord *places = random_surface_voxels(rng, EDIT_BOXES);
    const double start = bench_seconds();
    for (uint32_t i = 0; i < EDIT_BOXES; i++) {
        const VoxelCoord low = places[i];
        const VoxelCoord high = {low.x + 15, low.y + 7, low.z + 15};
        bench_require(terrain_fill_box(terrain, low, high, edit_kind(i), NULL), "box");
    }
    return (EditTally){bench_seconds() - start, EDIT_BOXES * 16 * 8 * 16};
}

static EditTally edit_spheres(Terrain *terrain, Rng *rng)
{
    const VoxelCoord *places = random_surface_voxels(rng, EDIT_SPHERES);
    const double start = bench_seconds();
    for (uint32_t i = 0; i < EDIT_SPHERES; i++) {
        const Vec3 centre = {(float)places[i].x, (float)places[i].y, (float)places[i].z};
        bench_require(terrain_fill_sphere(terrain, centre, 6.0f, edit_kind(i), NULL), "sphere");
    }
    // Voxel centres within 6 m of a corner of the grid.
    return (EditTally){bench_seconds() - start, EDIT_SPHERES * 912};
}

static void bench_edits(BenchReport *report, BenchScene *scene)
{
    if (!bench_wants(report, "sim.edits")) {
        return;
    }
    static EditTally (*const edits[3])(Terrain *, Rng *) = {edit_sets, edit_boxes, edit_spheres};
    BenchCrowd crowd;
    bench_crowd_create(&crowd, scene, 1, true);
    Terrain *terrain = sim_terrain(crowd.sim);
    double rounds[4][ROUNDS];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        EditTally all = {0, 0};
        for (uint32_t i = 0; i < 3; i++) {
            const EditTally one = edits[i](terrain, &crowd.rng);
            rounds[i][round] = one.seconds * 1e9 / (double)one.voxels;
            all.seconds += one.seconds;
            all.voxels += one.voxels;
        }
        rounds[3][round] = all.seconds * 1e9 / (double)all.voxels;
    }
    bench_row(report, "sim.edits", bench_median(rounds[3], ROUNDS), "ns/voxel", BENCH_NO_GOAL);
    const double set_ns = bench_median(rounds[0], ROUNDS);
    bench_row(report, "sim.edits.set", set_ns, "ns/voxel", BENCH_NO_GOAL);
    bench_row(report, "sim.edits.box", bench_median(rounds[1], ROUNDS), "ns/voxel", BENCH_NO_GOAL);
    bench_row(report, "sim.edits.sphere", bench_median(rounds[2], ROUNDS), "ns/voxel",
              BENCH_NO_GOAL);
    bench_crowd_destroy(&crowd);
}

// --- save and restore --------------------------------------------------------------------------
static void bench_save(BenchReport *report, BenchScene *scene)
{
    if (!bench_wants(report, "sim.save")) {
        return;
    }
    BenchCrowd crowd;
    bench_crowd_create(&crowd, scene, CHARACTERS, false);
    bench_crowd_run(&crowd, WARM_UP_TICKS);
    edit_boxes(sim_terrain(crowd.sim), &crowd.rng);
    uint8_t *bytes = heap_alloc(crowd.heap, SAVE_BYTES_MAX);
    bench_require(bytes == NULL ? STATUS_LIMIT : STATUS_OK, "save buffer");
    const uint64_t hash = sim_hash(crowd.sim);
    double write[ROUNDS];
    double read[ROUNDS];
    size_t size = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        ByteWriter writer = byte_writer(bytes, SAVE_BYTES_MAX);
        double start = bench_seconds();
        sim_write(crowd.sim, &writer);
        write[i] = (bench_seconds() - start) * 1e3;
        bench_require(writer.status, "write");
        size = writer.at;
        ByteReader reader = byte_reader(bytes, size);
        start = bench_seconds();
        bench_require(sim_read(crowd.sim, &reader), "read");
        read[i] = (bench_seconds() - start) * 1e3;
    }
    bench_require(sim_hash(crowd.sim) == hash ? STATUS_OK : STATUS_MISMATCH, "restored hash");
    const double write_ms = bench_median(write, ROUNDS);
    const double read_ms = bench_median(read, ROUNDS);
    bench_row(report, "sim.save", write_ms + read_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "sim.save.write", write_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "sim.save.read", read_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "sim.save.bytes", (double)size / 1024, "KiB", BENCH_NO_GOAL);
    heap_free(crowd.heap, bytes);
    bench_crowd_destroy(&crowd);
}

// --- the program -------------------------------------------------------------------------------
// The sim.characters workload for a counting tool: no clock, and a line that says what was done.
static void run_count(BenchScene *scene, uint32_t ticks)
{
    BenchCrowd crowd;
    bench_crowd_create(&crowd, scene, CHARACTERS, false);
    bench_crowd_run(&crowd, ticks);
    printf("units %llu\n", (unsigned long long)CHARACTERS * ticks);
    printf("hash %016llx\n", (unsigned long long)sim_hash(crowd.sim));
    bench_crowd_destroy(&crowd);
}

typedef struct Options {
    BenchReport report;
    const char *wasm_path;
    uint32_t count_ticks;
    bool help;
} Options;

static void print_usage(FILE *stream)
{
    fputs(
        "usage: bench_sim [--json] [--only NAME] [--wasm FILE] [--count TICKS]\n"
        "  --json         one object a line: bench, value, unit and, where there is one, goal\n"
        "  --only NAME    only the rows whose name starts with NAME\n"
        "  --wasm FILE    this program built for WASM; build/wasm/bench_sim.wasm if not given\n"
        "  --count TICKS  run the crowd without a clock, for valgrind --toggle-collect=sim_step\n"
        "Exit code: 0, or 1 if something could not be run, 2 for wrong arguments. A goal that is\n"
        "missed is printed; it does not fail the program, because machines differ.\n",
        stream);
}

static bool parse_options(int argc, char **argv, Options *options)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            options->report.json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            options->help = true;
        } else if (strcmp(argv[i], "--only") == 0 && value != NULL) {
            options->report.only = argv[++i];
        } else if (strcmp(argv[i], "--wasm") == 0 && value != NULL) {
            options->wasm_path = argv[++i];
        } else if (strcmp(argv[i], "--count") == 0 && value != NULL) {
            const long ticks = strtol(argv[++i], NULL, 10);
            if (ticks < 1 || ticks > 1000000) {
                fprintf(stderr, "bench_sim: --count takes a number from 1 to 1000000\n");
                return false;
            }
            options->count_ticks = (uint32_t)ticks;
        } else {
            fprintf(stderr, "bench_sim: unknown or incomplete argument %s\n", argv[i]);
            return false;
        }
    }
    return true;
}

static void run_rows(BenchReport *report, BenchScene *scene)
{
    bench_machine_rows(report);
    bench_characters(report, scene);
    bench_platforms(report, scene);
    bench_projectiles(report, scene);
    bench_pile(report, "sim.pile_1000", 1000);
    bench_pile(report, "sim.pile_4000", 4000);
    bench_npcs(report, scene);
    bench_edits(report, scene);
    bench_save(report, scene);
}

#ifdef __wasm__
static void run_outside_rows(Options *options, const char *program)
{
    (void)options;
    (void)program;
}
#else
static void run_outside_rows(Options *options, const char *program)
{
    if (bench_wants(&options->report, "sim.wasm_ratio")) {
        bench_wasm_ratio(&options->report, program, options->wasm_path);
    }
    if (bench_wants(&options->report, "sim.instructions")) {
        bench_instructions(&options->report, program);
    }
}
#endif

int main(int argc, char **argv)
{
    Options options = {.wasm_path = SANDLOT_ROOT "/build/wasm/bench_sim.wasm"};
    if (!parse_options(argc, argv, &options)) {
        print_usage(stderr);
        return 2;
    }
    if (options.help) {
        print_usage(stdout);
        return 0;
    }
    static BenchScene scene;
    bench_scene_create(&scene);
    if (options.count_ticks > 0) {
        run_count(&scene, options.count_ticks);
    } else {
        run_rows(&options.report, &scene);
        run_outside_rows(&options, argv[0]);
        if (options.report.row_count == 0) {
            bench_note("no row is named %s", options.report.only);
        }
    }
    bench_scene_destroy(&scene);
    return options.count_ticks == 0 && options.report.row_count == 0 ? 2 : 0;
}
