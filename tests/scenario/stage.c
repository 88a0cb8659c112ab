// The stage on which scenarios run: builds the scene, steps the sim, and checks it after each step.
#include "tests/scenario/scenario.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES       (512u << 20)
#define PENETRATION_MAX  0.001f
#define WATCH_INTERVAL   4 // the slow look at every character
#define RESTORE_BYTES    (64u << 20)
#define FAILURES_PRINTED 12

static void require(Stage *stage, Status status, const char *what)
{
    if (status != STATUS_OK) {
        printf("%s: cannot build: %s: %s\n", stage->scenario->name, what, status_text(status));
        ASSERT(status == STATUS_OK);
    }
}

// --- building -----------------------------------------------------------------------------------
void stage_terrain(Stage *stage, VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    ASSERT(stage->sim == NULL);
    require(stage, chunk_store_fill(stage->chunks, min, max, kind), "terrain");
}

void stage_ground(Stage *stage, int32_t edge)
{
    stage_terrain(stage, (VoxelCoord){-edge, -4, -edge}, (VoxelCoord){edge - 1, -1, edge - 1}, 1);
}

void stage_hills(Stage *stage, int32_t edge, uint64_t seed)
{
    Rng rng = rng_make(seed, 7);
    const float phase_x = rng_range(&rng, 0, 6);
    const float phase_z = rng_range(&rng, 0, 6);
    for (int32_t z = -edge; z < edge; z++) {
        for (int32_t x = -edge; x < edge; x++) {
            const float wave = math_sin((float)x * 0.21f + phase_x) * 1.6f +
                               math_sin((float)z * 0.17f + phase_z) * 1.6f +
                               (rng_below(&rng, 24) == 0 ? 1.0f : 0.0f);
            const int32_t top = math_floor_i32(wave);
            stage_terrain(stage, (VoxelCoord){x, -8, z}, (VoxelCoord){x, top - 1, z},
                          (VoxelKind)(1 + (top & 3)));
        }
    }
}

uint64_t stage_part(Stage *stage, PartDesc part)
{
    ASSERT(stage->sim == NULL);
    ASSERT(stage->part_count < STAGE_PARTS_MAX);
    stage->parts[stage->part_count++] = part;
    return stage->part_count;
}

void stage_open(Stage *stage)
{
    ASSERT(stage->sim == NULL);
    const SceneDesc desc = {
        .chunks = stage->no_terrain ? NULL : stage->chunks,
        .parts = stage->parts,
        .part_count = stage->part_count,
        .pieces = stage->pieces,
        .piece_count = stage->piece_count,
        .bounds = stage->bounds,
    };
    uint32_t bad_index = 0;
    const Status status = scene_create(&stage->heap, &desc, &stage->scene, &bad_index);
    if (status != STATUS_OK) {
        printf("%s: part or piece %u is out of range\n", stage->scenario->name, bad_index);
    }
    require(stage, status, "scene");
    require(stage, sim_create(&stage->heap, &stage->config, stage->scene, &stage->sim), "sim");
    heap_freeze(&stage->heap);
}

PartDesc part_box(Vec3 centre, Vec3 half)
{
    return (PartDesc){.shape = {SHAPE_BOX, half}, .pose = {centre, QUAT_IDENTITY}};
}

PartDesc part_wedge(Vec3 centre, Vec3 half, float yaw)
{
    return (PartDesc){.shape = {SHAPE_WEDGE, half}, .pose = {centre, quat_from_yaw(yaw)}};
}

PartDesc part_sphere(Vec3 centre, float radius)
{
    return (PartDesc){.shape = {SHAPE_SPHERE, vec3(radius, radius, radius)},
                      .pose = {centre, QUAT_IDENTITY}};
}

PartDesc part_cylinder(Vec3 centre, float radius, float half_length)
{
    return (PartDesc){.shape = {SHAPE_CYLINDER, vec3(radius, half_length, radius)},
                      .pose = {centre, QUAT_IDENTITY}};
}

PartDesc part_turned(PartDesc part, Vec3 axis, float radians)
{
    const Quat turn = quat_from_axis_angle(vec3_normalise(axis), radians);
    part.pose.rotation = quat_normalise(quat_multiply(turn, part.pose.rotation));
    return part;
}

PartDesc part_flagged(PartDesc part, uint32_t flags)
{
    part.data.flags |= flags;
    return part;
}

PartDesc part_zone(Vec3 centre, Vec3 half)
{
    return part_flagged(part_box(centre, half), PART_GHOST | PART_TRIGGER);
}

// --- who and what is in it ----------------------------------------------------------------------
Handle stage_player(Stage *stage, Vec3 feet)
{
    ASSERT(stage->player_count < STAGE_PLAYERS_MAX);
    const CharacterDesc desc = {.owner_id = 1000 + stage->player_count, .position = feet};
    Handle player = HANDLE_NONE;
    require(stage, sim_spawn_player(stage->sim, &desc, &player), "player");
    stage->players[stage->player_count++] = player;
    return player;
}

Handle stage_spawn(Stage *stage, PartDesc part)
{
    Handle made = HANDLE_NONE;
    require(stage, sim_spawn_part(stage->sim, &(ShapeDesc){.part = part}, &made), "part");
    return made;
}

void stage_move(Stage *stage, Handle part, Vec3 velocity, Vec3 angular_velocity, uint32_t ticks)
{
    const Part *moved = &stage_at(stage, part)->part;
    const Motion *motion = &moved->motion;
    MotionSegment segment = {
        .pose = moved->rest,
        .velocity = velocity,
        .angular_velocity = angular_velocity,
        .tick_from = sim_tick(stage->sim),
    };
    if (motion->count > 0) {
        const MotionSegment *last = &motion->segments[motion->count - 1];
        segment.pose = motion_segment_pose(last, last->tick_to, sim_tick_seconds(stage->sim));
        if (last->tick_to > segment.tick_from) {
            segment.tick_from = last->tick_to;
        }
    }
    segment.tick_to = segment.tick_from + ticks;
    require(stage, sim_move_part(stage->sim, part, &segment), "motion");
}

// --- driving ------------------------------------------------------------------------------------
void stage_input(Stage *stage, Handle character, SimInput input)
{
    input.seq = ++stage->input_seq;
    sim_set_input(stage->sim, character, &input);
}

void stage_walk(Stage *stage, Handle player, Vec3 direction, uint32_t buttons)
{
    const bool still = direction.x == 0 && direction.z == 0;
    const SimInput input = {
        .move_z = still ? 0.0f : 1.0f,
        .yaw = still ? 0.0f : math_atan2(direction.x, direction.z),
        .buttons = buttons,
    };
    stage_input(stage, player, input);
}

void stage_stand(Stage *stage, Handle player)
{
    stage_walk(stage, player, VEC3_ZERO, 0);
}

void stage_wander(Stage *stage, Handle player, uint32_t ticks)
{
    if (rng_below(&stage->rng, ticks) != 0) {
        return;
    }
    SimInput input = {0};
    input.move_x = (float)rng_below(&stage->rng, 3) - 1.0f;
    input.move_z = (float)rng_below(&stage->rng, 3) - 1.0f;
    input.yaw = rng_range(&stage->rng, -4, 4);
    input.pitch = rng_range(&stage->rng, -1, 1);
    input.buttons = rng_below(&stage->rng, 3) == 0 ? INPUT_JUMP : 0u;
    input.buttons |= rng_below(&stage->rng, 2) == 0 ? INPUT_RUN : 0u;
    stage_input(stage, player, input);
}

Vec3 stage_random(Rng *rng, Vec3 low, Vec3 high)
{
    Vec3 at;
    at.x = rng_range(rng, low.x, high.x);
    at.y = rng_range(rng, low.y, high.y);
    at.z = rng_range(rng, low.z, high.z);
    return at;
}

static void counters_add(SimCounters *sum, const SimCounters *more)
{
    sum->events_dropped += more->events_dropped;
    sum->colliders_dropped += more->colliders_dropped;
    sum->query_overflow += more->query_overflow;
    sum->moves_refused += more->moves_refused;
    sum->unstuck += more->unstuck;
    sum->inputs_sanitised += more->inputs_sanitised;
    sum->triggers_dropped += more->triggers_dropped;
    sum->paths_given_up += more->paths_given_up;
}

void stage_restore(Stage *stage)
{
    uint8_t *bytes = malloc(RESTORE_BYTES);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, RESTORE_BYTES);
    sim_write(stage->sim, &writer);
    require(stage, writer.status, "save");
    const uint64_t hash_before = sim_hash(stage->sim);

    Sim *fresh = NULL;
    heap_thaw(&stage->heap);
    require(stage, sim_create(&stage->heap, &stage->config, stage->scene, &fresh), "second sim");
    ByteReader reader = byte_reader(bytes, writer.at);
    stage_expect_ok(stage, "restore", sim_read(fresh, &reader));
    stage_expect(stage, reader.at == writer.at, "restore read %zu of %zu bytes", reader.at,
                 writer.at);
    stage_expect(stage, sim_hash(fresh) == hash_before, "the restored sim has another hash");
    counters_add(&stage->counters, sim_counters(stage->sim));
    sim_destroy(&stage->heap, stage->sim);
    stage->sim = fresh;
    heap_freeze(&stage->heap);
    free(bytes);
}

// --- looking ------------------------------------------------------------------------------------
const Entity *stage_at(const Stage *stage, Handle entity)
{
    const Entity *found = sim_entity(stage->sim, entity);
    if (found == NULL) {
        printf("%s: tick %u: entity %u is gone\n", stage->scenario->name, stage->tick,
               entity.index);
        ASSERT(found != NULL);
    }
    return found;
}

Vec3 stage_feet(const Stage *stage, Handle entity)
{
    return stage_at(stage, entity)->position;
}

uint64_t stage_net_id(const Stage *stage, Handle entity)
{
    return stage_at(stage, entity)->net_id;
}

float stage_distance(Vec3 a, Vec3 b)
{
    return vec3_length(vec3_sub(a, b));
}

float stage_distance_flat(Vec3 a, Vec3 b)
{
    return vec3_length(vec3(a.x - b.x, 0, a.z - b.z));
}

uint32_t stage_seen(const Stage *stage, SimEventType type, uint64_t subject, uint64_t other)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(stage->sim, &count);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        seen += events[i].type == type && (subject == 0 || events[i].subject == subject) &&
                (other == 0 || events[i].other == other);
    }
    return seen;
}

uint64_t stage_total(const Stage *stage, SimEventType type)
{
    return stage->event_counts[type];
}

void stage_expect(Stage *stage, bool holds, const char *format, ...)
{
    if (holds) {
        return;
    }
    stage->failure_count += 1;
    if (stage->quiet || stage->failure_count > FAILURES_PRINTED) {
        return;
    }
    printf("%s: tick %u: ", stage->scenario->name, stage->tick);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void stage_expect_near(Stage *stage, const char *what, float got, float want, float tolerance)
{
    stage_expect(stage, math_abs(got - want) <= tolerance, "%s is %.3f, should be %.3f ± %.3f",
                 what, (double)got, (double)want, (double)tolerance);
}

void stage_expect_ok(Stage *stage, const char *what, Status status)
{
    stage_expect(stage, status == STATUS_OK, "%s: %s", what, status_text(status));
}

// --- running ------------------------------------------------------------------------------------
static void watch_characters(Stage *stage)
{
    for (Handle h = sim_next(stage->sim, HANDLE_NONE, ENTITY_MASK_CHARACTERS); !handle_is_none(h);
         h = sim_next(stage->sim, h, ENTITY_MASK_CHARACTERS)) {
        const Entity *entity = stage_at(stage, h);
        stage_expect(stage, vec3_is_finite(entity->position) && vec3_is_finite(entity->velocity),
                     "character %u has numbers that are not finite", h.index);
        if (stage->tick % WATCH_INTERVAL != 0 || entity->character.health <= 0) {
            continue;
        }
        const float depth = sim_penetration(stage->sim, entity->position);
        stage_expect(stage, depth <= PENETRATION_MAX || stage->may_overlap,
                     "character %u is %.4f m inside something at (%.3f %.3f %.3f)", h.index,
                     (double)depth, (double)entity->position.x, (double)entity->position.y,
                     (double)entity->position.z);
    }
}

static void watch(Stage *stage)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(stage->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(events[i].type > SIM_EVENT_NONE && events[i].type < SIM_EVENT_TYPE_COUNT);
        stage->event_counts[events[i].type] += 1;
        stage_expect(stage,
                     vec3_is_finite(events[i].position) && vec3_is_finite(events[i].normal) &&
                         math_is_finite(events[i].value),
                     "event %d has numbers that are not finite", (int)events[i].type);
    }
    watch_characters(stage);
    const uint32_t interval = (stage->scenario->ticks + STAGE_HASHES_MAX - 1) / STAGE_HASHES_MAX;
    if (stage->tick % interval == 0 && stage->hash_count < STAGE_HASHES_MAX) {
        stage->hash_ticks[stage->hash_count] = stage->tick;
        stage->hashes[stage->hash_count++] = sim_hash(stage->sim);
    }
}

void stage_run(Stage *stage, const Scenario *scenario, bool restore)
{
    memset(stage, 0, sizeof *stage);
    stage->scenario = scenario;
    stage->heap = heap_make(HEAP_BYTES);
    stage->config = sim_config_default();
    stage->config.entity_max = 1024;
    stage->config.character_max = 256;
    stage->config.npc_max = 64;
    stage->config.event_max = 4096;
    stage->config.structures_max = 512;
    stage->rng = rng_make(2024, 5);
    const ChunkStoreConfig store = {
        .chunk_max = 256, .page_max = 4096, .kinds = voxel_kinds_default()};
    require(stage, chunk_store_create(&stage->heap, &store, &stage->chunks), "chunk store");
    scenario->build(stage);
    ASSERT(stage->sim != NULL);
    while (stage->tick < scenario->ticks) {
        scenario->drive(stage);
        // After drive: what it asked for is state too, and it may look at the last step's events.
        if (restore && stage->tick == scenario->ticks / 2) {
            stage_restore(stage);
        }
        sim_step(stage->sim);
        stage->tick += 1;
        watch(stage);
    }
    stage->hash = sim_hash(stage->sim);
    counters_add(&stage->counters, sim_counters(stage->sim));
    scenario->finish(stage);
}

void stage_close(Stage *stage)
{
    heap_thaw(&stage->heap);
    sim_destroy(&stage->heap, stage->sim);
    scene_destroy(&stage->heap, stage->scene);
    chunk_store_destroy(&stage->heap, stage->chunks);
    ASSERT(stage->heap.bytes_now == 0);
}
