#include "bench/bench_world.h"

#include <stdio.h>
#include <stdlib.h>

#define HALF_EDGE_M      (BENCH_EDGE_M / 2)
#define HEAP_BYTES_MAX   (1ull << 30)
#define GROUND_PARTS     ((BENCH_EDGE_M / 2) * (BENCH_EDGE_M / 2))
#define OVERHEAD_PARTS   ((BENCH_EDGE_M / 4) * (BENCH_EDGE_M / 4))
#define PARTS            (GROUND_PARTS + OVERHEAD_PARTS)
#define SCENE_SEED       11
#define CROWD_SEED       12
#define CROWD_EDGE_M     95.0f // players further out turn back
#define TURN_CHANCE      90    // one tick in so many, for each character
#define JUMP_CHANCE      180
#define FREE_CHANCE      20 // to jump or to turn, when stopped
#define STOPPED_SPEED_M  1.0f
#define RUNNERS_OUT_OF_4 1

enum { KIND_STONE = 1, KIND_EARTH, KIND_GRASS, KIND_SAND };

void bench_require(Status status, const char *what)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "bench: %s: %s\n", what, status_text(status));
        exit(1);
    }
}

Vec3 bench_random_point(Rng *rng, Vec3 low, Vec3 high)
{
    // One statement for each draw: C does not say which argument of a call is worked out first.
    const float x = rng_range(rng, low.x, high.x);
    const float y = rng_range(rng, low.y, high.y);
    const float z = rng_range(rng, low.z, high.z);
    return vec3(x, y, z);
}

int32_t bench_ground_y(int32_t x, int32_t z)
{
    const float u = (float)x;
    const float v = (float)z;
    const float hills = 5.0f * math_sin(u * 0.063f + 0.9f) * math_cos(v * 0.051f) +
                        3.0f * math_sin((u + v) * 0.117f) + 1.5f * math_cos(u * 0.23f - v * 0.19f);
    return math_floor_i32(16.0f + hills);
}

static void build_terrain(ChunkStore *chunks)
{
    for (int32_t z = -HALF_EDGE_M; z < HALF_EDGE_M; z++) {
        for (int32_t x = -HALF_EDGE_M; x < HALF_EDGE_M; x++) {
            const int32_t y = bench_ground_y(x, z);
            const VoxelKind top = y < 11 ? KIND_SAND : KIND_GRASS;
            Status status = chunk_store_fill(chunks, (VoxelCoord){x, 0, z},
                                             (VoxelCoord){x, y - 4, z}, KIND_STONE);
            if (status == STATUS_OK) {
                status = chunk_store_fill(chunks, (VoxelCoord){x, y - 3, z},
                                          (VoxelCoord){x, y - 2, z}, KIND_EARTH);
            }
            if (status == STATUS_OK) {
                status = chunk_store_set(chunks, (VoxelCoord){x, y - 1, z}, top);
            }
            bench_require(status, "terrain");
        }
    }
}

// Every fifth part is turned freely; of the others half stand aligned and half are turned about y.
static Quat part_rotation(uint32_t index, Rng *rng)
{
    if (index % 5 == 0) {
        const Vec3 v = bench_random_point(rng, vec3(-1, -1, -1), vec3(1, 1, 1));
        return quat_normalise((Quat){v.x, v.y, v.z, rng_range(rng, -1, 1)});
    }
    return index % 2 == 0 ? QUAT_IDENTITY : quat_from_yaw(rng_range(rng, -MATH_PI, MATH_PI));
}

// Half are boxes, the rest shared out among the other kinds; a third are low enough to step on.
static PartDesc make_part(uint32_t index, float x, float z, float raised_by, Rng *rng)
{
    static const ShapeKind kinds[] = {SHAPE_BOX,      SHAPE_WEDGE, SHAPE_BOX,
                                      SHAPE_CYLINDER, SHAPE_BOX,   SHAPE_SPHERE};
    const ShapeKind kind = kinds[rng_below(rng, 6)];
    const float half_y = rng_below(rng, 3) == 0 ? 0.12f : rng_range(rng, 0.15f, 0.7f);
    const Vec3 half = bench_random_point(rng, vec3(0.15f, half_y, 0.15f), vec3(0.6f, half_y, 0.6f));
    const float ground = (float)bench_ground_y(math_floor_i32(x), math_floor_i32(z));
    const Quat rotation = part_rotation(index, rng);
    return (PartDesc){
        .shape = {kind, half},
        .pose = {{x, ground + raised_by + half.y * 0.9f, z}, rotation},
    };
}

static uint32_t scatter_parts(PartDesc *parts, uint32_t index, uint32_t cell_m, float low,
                              float high, Rng *rng)
{
    for (int32_t z = -HALF_EDGE_M; z < HALF_EDGE_M; z += (int32_t)cell_m) {
        for (int32_t x = -HALF_EDGE_M; x < HALF_EDGE_M; x += (int32_t)cell_m) {
            const float part_x = (float)x + rng_range(rng, 0, (float)cell_m);
            const float part_z = (float)z + rng_range(rng, 0, (float)cell_m);
            const float raised_by = rng_range(rng, low, high);
            parts[index] = make_part(index, part_x, part_z, raised_by, rng);
            index += 1;
        }
    }
    return index;
}

static void create_scene(BenchScene *scene)
{
    PartDesc *parts = heap_alloc(&scene->heap, heap_array_bytes(PARTS, sizeof *parts));
    bench_require(parts == NULL ? STATUS_LIMIT : STATUS_OK, "parts");
    Rng rng = rng_make(SCENE_SEED, 1);
    uint32_t count = scatter_parts(parts, 0, 2, -0.1f, 0.1f, &rng);
    count = scatter_parts(parts, count, 4, 2.0f, 4.0f, &rng);
    static const PieceDesc pieces[] = {{1, 1, 1, 0, 100.0f}};
    const SceneDesc desc = {
        .chunks = scene->chunks,
        .parts = parts,
        .part_count = count,
        .pieces = pieces,
        .piece_count = 1,
        .bounds = {{-HALF_EDGE_M, -32, -HALF_EDGE_M}, {HALF_EDGE_M, 128, HALF_EDGE_M}},
    };
    uint32_t bad_index = 0;
    bench_require(scene_create(&scene->heap, &desc, &scene->scene, &bad_index), "scene");
    heap_free(&scene->heap, parts);
}

void bench_scene_create(BenchScene *scene)
{
    *scene = (BenchScene){.heap = heap_make(HEAP_BYTES_MAX)};
    // 8 x 8 chunks cover the ground, two high; each takes at most a few pages.
    const ChunkStoreConfig config = {
        .chunk_max = 256, .page_max = 4096, .kinds = voxel_kinds_default()};
    bench_require(chunk_store_create(&scene->heap, &config, &scene->chunks), "chunk store");
    build_terrain(scene->chunks);
    create_scene(scene);
}

void bench_scene_destroy(BenchScene *scene)
{
    scene_destroy(&scene->heap, scene->scene);
    chunk_store_destroy(&scene->heap, scene->chunks);
    *scene = (BenchScene){0};
}

static float random_coordinate(Rng *rng)
{
    return rng_range(rng, -CROWD_EDGE_M, CROWD_EDGE_M);
}

void bench_crowd_create(BenchCrowd *crowd, BenchScene *scene, uint32_t player_count, bool idle)
{
    *crowd = (BenchCrowd){.heap = &scene->heap, .player_count = player_count, .idle = idle};
    crowd->rng = rng_make(CROWD_SEED, 1);
    SimConfig config = sim_config_default();
    config.character_max = 4096;
    config.npc_max = 512;
    config.event_max = 8192;
    config.terrain = (TerrainConfig){.chunk_max = 256, .page_max = 4096};
    bench_require(sim_create(crowd->heap, &config, scene->scene, &crowd->sim), "sim");
    crowd->players =
        heap_alloc(crowd->heap, heap_array_bytes(player_count, sizeof *crowd->players));
    crowd->inputs = heap_alloc(crowd->heap, heap_array_bytes(player_count, sizeof *crowd->inputs));
    const bool full = crowd->players == NULL || crowd->inputs == NULL;
    bench_require(full ? STATUS_LIMIT : STATUS_OK, "crowd");
    for (uint32_t i = 0; i < player_count; i++) {
        const float x = random_coordinate(&crowd->rng);
        const float z = random_coordinate(&crowd->rng);
        const float y = (float)bench_ground_y(math_floor_i32(x), math_floor_i32(z));
        const CharacterDesc desc = {.owner_id = i + 1, .position = {x, y, z}};
        bench_require(sim_spawn_player(crowd->sim, &desc, &crowd->players[i]), "player");
        crowd->inputs[i].yaw = rng_range(&crowd->rng, -MATH_PI, MATH_PI);
    }
}

void bench_crowd_destroy(BenchCrowd *crowd)
{
    heap_free(crowd->heap, crowd->inputs);
    heap_free(crowd->heap, crowd->players);
    sim_destroy(crowd->heap, crowd->sim);
    *crowd = (BenchCrowd){0};
}

static bool is_outside(Vec3 p)
{
    return math_abs(p.x) > CROWD_EDGE_M || math_abs(p.z) > CROWD_EDGE_M;
}

static void drive_one(BenchCrowd *crowd, uint32_t index)
{
    SimInput *input = &crowd->inputs[index];
    Rng *rng = &crowd->rng;
    const Entity *entity = sim_entity(crowd->sim, crowd->players[index]);
    const Vec3 v = entity->velocity;
    const bool stopped = v.x * v.x + v.z * v.z < STOPPED_SPEED_M * STOPPED_SPEED_M;
    input->seq += 1;
    input->buttons = index % 4 < RUNNERS_OUT_OF_4 ? INPUT_RUN : 0;
    input->move_x = 0;
    input->move_z = 1;
    if (rng_below(rng, TURN_CHANCE) == 0 || (stopped && rng_below(rng, FREE_CHANCE) == 0)) {
        input->yaw = rng_range(rng, -MATH_PI, MATH_PI);
    }
    if (rng_below(rng, JUMP_CHANCE) == 0 || (stopped && rng_below(rng, FREE_CHANCE) == 0)) {
        input->buttons |= INPUT_JUMP;
    }
    if (is_outside(entity->position)) {
        input->yaw = math_atan2(-entity->position.x, -entity->position.z);
    }
    sim_set_input(crowd->sim, crowd->players[index], input);
}

void bench_crowd_drive(BenchCrowd *crowd)
{
    for (uint32_t i = 0; !crowd->idle && i < crowd->player_count; i++) {
        drive_one(crowd, i);
    }
}

void bench_crowd_run(BenchCrowd *crowd, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        bench_crowd_drive(crowd);
        sim_step(crowd->sim);
    }
}
