// The world in which a scenario runs: builds the scene, steps the sim, and checks it after each
// step.
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

static void require(ScenarioWorld *world, Status status, const char *what)
{
    if (status != STATUS_OK) {
        printf("%s: cannot build: %s: %s\n", world->scenario->name, what, status_text(status));
        ASSERT(status == STATUS_OK);
    }
}

// --- building -----------------------------------------------------------------------------------
void scenario_terrain(ScenarioWorld *world, VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    ASSERT(world->sim == NULL);
    require(world, chunk_store_fill(world->chunks, min, max, kind), "terrain");
}

void scenario_ground(ScenarioWorld *world, int32_t edge)
{
    scenario_terrain(world, (VoxelCoord){-edge, -4, -edge}, (VoxelCoord){edge - 1, -1, edge - 1},
                     1);
}

void scenario_hills(ScenarioWorld *world, int32_t edge, uint64_t seed)
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
            scenario_terrain(world, (VoxelCoord){x, -8, z}, (VoxelCoord){x, top - 1, z},
                             (VoxelKind)(1 + (top & 3)));
        }
    }
}

uint64_t scenario_part(ScenarioWorld *world, PartDesc part)
{
    ASSERT(world->sim == NULL);
    ASSERT(world->part_count < SCENARIO_PARTS_MAX);
    world->parts[world->part_count++] = part;
    return world->part_count;
}

void scenario_open(ScenarioWorld *world)
{
    ASSERT(world->sim == NULL);
    const SceneDesc desc = {
        .chunks = world->no_terrain ? NULL : world->chunks,
        .parts = world->parts,
        .part_count = world->part_count,
        .pieces = world->pieces,
        .piece_count = world->piece_count,
        .bounds = world->bounds,
    };
    uint32_t bad_index = 0;
    const Status status = scene_create(&world->heap, &desc, &world->scene, &bad_index);
    if (status != STATUS_OK) {
        printf("%s: part or piece %u is out of range\n", world->scenario->name, bad_index);
    }
    require(world, status, "scene");
    require(world, sim_create(&world->heap, &world->config, world->scene, &world->sim), "sim");
    heap_freeze(&world->heap);
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
Handle scenario_player(ScenarioWorld *world, Vec3 feet)
{
    ASSERT(world->player_count < SCENARIO_PLAYERS_MAX);
    const CharacterDesc desc = {.owner_id = 1000 + world->player_count, .position = feet};
    Handle player = HANDLE_NONE;
    require(world, sim_spawn_player(world->sim, &desc, &player), "player");
    world->players[world->player_count++] = player;
    return player;
}

Handle scenario_spawn(ScenarioWorld *world, PartDesc part)
{
    Handle made = HANDLE_NONE;
    require(world, sim_spawn_part(world->sim, &(ShapeDesc){.part = part}, &made), "part");
    return made;
}

void scenario_move(ScenarioWorld *world, Handle part, Vec3 velocity, Vec3 angular_velocity,
                   uint32_t ticks)
{
    const Part *moved = &scenario_at(world, part)->part;
    const Motion *motion = &moved->motion;
    MotionSegment segment = {
        .pose = moved->rest,
        .velocity = velocity,
        .angular_velocity = angular_velocity,
        .tick_from = sim_tick(world->sim),
    };
    if (motion->count > 0) {
        const MotionSegment *last = &motion->segments[motion->count - 1];
        segment.pose = motion_segment_pose(last, last->tick_to, sim_tick_seconds(world->sim));
        if (last->tick_to > segment.tick_from) {
            segment.tick_from = last->tick_to;
        }
    }
    segment.tick_to = segment.tick_from + ticks;
    require(world, sim_move_part(world->sim, part, &segment), "motion");
}

// --- driving ------------------------------------------------------------------------------------
void scenario_input(ScenarioWorld *world, Handle character, SimInput input)
{
    input.seq = ++world->input_seq;
    sim_set_input(world->sim, character, &input);
}

void scenario_walk(ScenarioWorld *world, Handle player, Vec3 direction, uint32_t buttons)
{
    const bool still = direction.x == 0 && direction.z == 0;
    const SimInput input = {
        .move_z = still ? 0.0f : 1.0f,
        .yaw = still ? 0.0f : math_atan2(direction.x, direction.z),
        .buttons = buttons,
    };
    scenario_input(world, player, input);
}

void scenario_stand(ScenarioWorld *world, Handle player)
{
    scenario_walk(world, player, VEC3_ZERO, 0);
}

void scenario_wander(ScenarioWorld *world, Handle player, uint32_t ticks)
{
    if (rng_below(&world->rng, ticks) != 0) {
        return;
    }
    SimInput input = {0};
    input.move_x = (float)rng_below(&world->rng, 3) - 1.0f;
    input.move_z = (float)rng_below(&world->rng, 3) - 1.0f;
    input.yaw = rng_range(&world->rng, -4, 4);
    input.pitch = rng_range(&world->rng, -1, 1);
    input.buttons = rng_below(&world->rng, 3) == 0 ? INPUT_JUMP : 0u;
    input.buttons |= rng_below(&world->rng, 2) == 0 ? INPUT_RUN : 0u;
    scenario_input(world, player, input);
}

Vec3 scenario_random(Rng *rng, Vec3 low, Vec3 high)
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

void scenario_restore(ScenarioWorld *world)
{
    uint8_t *bytes = malloc(RESTORE_BYTES);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, RESTORE_BYTES);
    sim_write(world->sim, &writer);
    require(world, writer.status, "save");
    const uint64_t hash_before = sim_hash(world->sim);

    Sim *fresh = NULL;
    heap_thaw(&world->heap);
    require(world, sim_create(&world->heap, &world->config, world->scene, &fresh), "second sim");
    ByteReader reader = byte_reader(bytes, writer.at);
    scenario_expect_ok(world, "restore", sim_read(fresh, &reader));
    scenario_expect(world, reader.at == writer.at, "restore read %zu of %zu bytes", reader.at,
                    writer.at);
    scenario_expect(world, sim_hash(fresh) == hash_before, "the restored sim has another hash");
    counters_add(&world->counters, sim_counters(world->sim));
    sim_destroy(&world->heap, world->sim);
    world->sim = fresh;
    heap_freeze(&world->heap);
    free(bytes);
}

// --- looking ------------------------------------------------------------------------------------
const Entity *scenario_at(const ScenarioWorld *world, Handle entity)
{
    const Entity *found = sim_entity(world->sim, entity);
    if (found == NULL) {
        printf("%s: tick %u: entity %u is gone\n", world->scenario->name, world->tick,
               entity.index);
        ASSERT(found != NULL);
    }
    return found;
}

Vec3 scenario_feet(const ScenarioWorld *world, Handle entity)
{
    return scenario_at(world, entity)->position;
}

uint64_t scenario_net_id(const ScenarioWorld *world, Handle entity)
{
    return scenario_at(world, entity)->net_id;
}

float scenario_distance(Vec3 a, Vec3 b)
{
    return vec3_length(vec3_sub(a, b));
}

float scenario_distance_flat(Vec3 a, Vec3 b)
{
    return vec3_length(vec3(a.x - b.x, 0, a.z - b.z));
}

uint32_t scenario_seen(const ScenarioWorld *world, SimEventType type, uint64_t subject,
                       uint64_t other)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        seen += events[i].type == type && (subject == 0 || events[i].subject == subject) &&
                (other == 0 || events[i].other == other);
    }
    return seen;
}

uint64_t scenario_total(const ScenarioWorld *world, SimEventType type)
{
    return world->event_counts[type];
}

void scenario_expect(ScenarioWorld *world, bool holds, const char *format, ...)
{
    if (holds) {
        return;
    }
    world->failure_count += 1;
    if (world->quiet || world->failure_count > FAILURES_PRINTED) {
        return;
    }
    printf("%s: tick %u: ", world->scenario->name, world->tick);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void scenario_expect_near(ScenarioWorld *world, const char *what, float got, float want,
                          float tolerance)
{
    scenario_expect(world, math_abs(got - want) <= tolerance, "%s is %.3f, should be %.3f ± %.3f",
                    what, (double)got, (double)want, (double)tolerance);
}

void scenario_expect_ok(ScenarioWorld *world, const char *what, Status status)
{
    scenario_expect(world, status == STATUS_OK, "%s: %s", what, status_text(status));
}

// --- running ------------------------------------------------------------------------------------
static void watch_characters(ScenarioWorld *world)
{
    for (Handle h = sim_next(world->sim, HANDLE_NONE, ENTITY_MASK_CHARACTERS); !handle_is_none(h);
         h = sim_next(world->sim, h, ENTITY_MASK_CHARACTERS)) {
        const Entity *entity = scenario_at(world, h);
        scenario_expect(world, vec3_is_finite(entity->position) && vec3_is_finite(entity->velocity),
                        "character %u has numbers that are not finite", h.index);
        if (world->tick % WATCH_INTERVAL != 0 || entity->character.health <= 0) {
            continue;
        }
        const float depth = sim_penetration(world->sim, entity->position);
        scenario_expect(world, depth <= PENETRATION_MAX || world->may_overlap,
                        "character %u is %.4f m inside something at (%.3f %.3f %.3f)", h.index,
                        (double)depth, (double)entity->position.x, (double)entity->position.y,
                        (double)entity->position.z);
    }
}

static void watch(ScenarioWorld *world)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(events[i].type > SIM_EVENT_NONE && events[i].type < SIM_EVENT_TYPE_COUNT);
        world->event_counts[events[i].type] += 1;
        scenario_expect(world,
                        vec3_is_finite(events[i].position) && vec3_is_finite(events[i].normal) &&
                            math_is_finite(events[i].value),
                        "event %d has numbers that are not finite", (int)events[i].type);
    }
    watch_characters(world);
    const uint32_t interval =
        (world->scenario->ticks + SCENARIO_HASHES_MAX - 1) / SCENARIO_HASHES_MAX;
    if (world->tick % interval == 0 && world->hash_count < SCENARIO_HASHES_MAX) {
        world->hash_ticks[world->hash_count] = world->tick;
        world->hashes[world->hash_count++] = sim_hash(world->sim);
    }
}

void scenario_run(ScenarioWorld *world, const Scenario *scenario, bool restore)
{
    memset(world, 0, sizeof *world);
    world->scenario = scenario;
    world->heap = heap_make(HEAP_BYTES);
    world->config = sim_config_default();
    world->config.entity_max = 1024;
    world->config.character_max = 256;
    world->config.npc_max = 64;
    world->config.event_max = 4096;
    world->config.structures_max = 512;
    world->rng = rng_make(2024, 5);
    const ChunkStoreConfig store = {
        .chunk_max = 256, .page_max = 4096, .kinds = voxel_kinds_default()};
    require(world, chunk_store_create(&world->heap, &store, &world->chunks), "chunk store");
    scenario->build(world);
    ASSERT(world->sim != NULL);
    while (world->tick < scenario->ticks) {
        scenario->drive(world);
        // After drive: what it asked for is state too, and it may look at the last step's events.
        if (restore && world->tick == scenario->ticks / 2) {
            scenario_restore(world);
        }
        sim_step(world->sim);
        world->tick += 1;
        watch(world);
    }
    world->hash = sim_hash(world->sim);
    counters_add(&world->counters, sim_counters(world->sim));
    scenario->finish(world);
}

void scenario_close(ScenarioWorld *world)
{
    heap_thaw(&world->heap);
    sim_destroy(&world->heap, world->sim);
    scene_destroy(&world->heap, world->scene);
    chunk_store_destroy(&world->heap, world->chunks);
    ASSERT(world->heap.bytes_now == 0);
}
