#include "tests/unit/property_world.h"

#include "core/base/check.h"

#include <string.h>

#define HEAP_BYTES (512u << 20)

PropertyOptions property_options_default(uint64_t seed)
{
    return (PropertyOptions){.seed = seed,
                             .player_count = 64,
                             .part_count = 240,
                             .mover_count = 40,
                             .edge_m = 18,
                             .edits = true};
}

PropertyOptions property_options_busy(uint64_t seed)
{
    PropertyOptions options = property_options_default(seed);
    options.player_count = 24;
    options.npc_count = 8;
    options.part_count = 60;
    options.mover_count = 8;
    options.projectiles = true;
    options.structures = true;
    return options;
}

static void build_terrain(PropertyWorld *world)
{
    const ChunkStoreConfig config = {
        .chunk_max = 64, .page_max = 1024, .kinds = voxel_kinds_default()};
    ASSERT(chunk_store_create(&world->heap, &config, &world->chunks) == STATUS_OK);
    Rng *rng = &world->rng;
    const int32_t edge = world->options.edge_m;
    const float phase = rng_range(rng, 0, 6);
    for (int32_t z = -edge; z < edge; z++) {
        for (int32_t x = -edge; x < edge; x++) {
            const float wave = 2 * math_sin((float)x * 0.3f + phase) * math_cos((float)z * 0.25f);
            const int32_t bump = rng_below(rng, 30) == 0 ? (int32_t)rng_below(rng, 3) : 0;
            const VoxelCoord min = {x, -6, z};
            const VoxelCoord max = {x, math_floor_i32(wave) + bump - 1, z};
            ASSERT(chunk_store_fill(world->chunks, min, max, 1) == STATUS_OK);
            if (rng_below(rng, 80) == 0) { // something overhead
                const VoxelCoord roof = {x, max.y + 3, z};
                ASSERT(chunk_store_fill(world->chunks, roof, roof, 2) == STATUS_OK);
            }
        }
    }
}

Vec3 property_place(PropertyWorld *world, float low, float high)
{
    const float edge = (float)world->options.edge_m - 2;
    Vec3 at;
    at.x = rng_range(&world->rng, -edge, edge);
    at.y = rng_range(&world->rng, low, high);
    at.z = rng_range(&world->rng, -edge, edge);
    return at;
}

static Quat random_turn(Rng *rng)
{
    switch (rng_below(rng, 3)) {
    case 0:
        return QUAT_IDENTITY;
    case 1:
        return quat_from_yaw(rng_range(rng, -3, 3));
    default: {
        Vec3 axis;
        axis.x = rng_range(rng, -1, 1);
        axis.y = rng_range(rng, -1, 1);
        axis.z = rng_range(rng, -1, 1) + 0.001f;
        return quat_from_axis_angle(vec3_normalise(axis), rng_range(rng, -3, 3));
    }
    }
}

PartDesc property_part(Rng *rng, Vec3 at)
{
    PartDesc part = {.pose = {at, random_turn(rng)}};
    part.shape.kind = (ShapeKind)rng_below(rng, SHAPE_KIND_COUNT);
    part.shape.half.x = rng_range(rng, 0.05f, 2.5f);
    part.shape.half.y = rng_range(rng, 0.02f, 1.2f);
    part.shape.half.z = rng_range(rng, 0.05f, 2.5f);
    // One in three does something.
    if (rng_below(rng, 3) == 0) {
        part.data.flags = 1u << rng_below(rng, 6);
        part.data.bounce_speed = rng_range(rng, 1, 14);
        part.data.damage = rng_range(rng, 0, 12);
        part.data.conveyor_speed.x = rng_range(rng, -3, 3);
        part.data.conveyor_speed.z = rng_range(rng, -3, 3);
    }
    return part;
}

static void build_scene(PropertyWorld *world)
{
    enum { PARTS_MAX = 1024 };
    static PartDesc parts[PARTS_MAX];
    ASSERT(world->options.part_count <= PARTS_MAX);
    for (uint32_t i = 0; i < world->options.part_count; i++) {
        parts[i] = property_part(&world->rng, property_place(world, -1, 4));
    }
    static const PieceDesc pieces[] = {
        {1, 1, 1, 0, 30}, {3, 2, 1, 0, 60}, {2, 1, 2, PIECE_GROUND_ONLY, 50}};
    const float edge = (float)world->options.edge_m + 8;
    const SceneDesc desc = {.chunks = world->chunks,
                            .parts = parts,
                            .part_count = world->options.part_count,
                            .pieces = pieces,
                            .piece_count = 3,
                            .bounds = {{-edge, -40, -edge}, {edge, 80, edge}}};
    uint32_t bad = 0;
    ASSERT(scene_create(&world->heap, &desc, &world->scene, &bad) == STATUS_OK);
}

static void spawn_all(PropertyWorld *world)
{
    for (uint32_t i = 0; i < world->options.player_count; i++) {
        const CharacterDesc desc = {.owner_id = i + 1, .position = property_place(world, 4, 8)};
        ASSERT(sim_spawn_player(world->sim, &desc, &world->players[i]) == STATUS_OK);
    }
    for (uint32_t i = 0; i < world->options.mover_count; i++) {
        PartDesc part = property_part(&world->rng, property_place(world, 0, 3));
        world->mover_home[i] = part.pose.position;
        const ShapeDesc desc = {.part = part};
        ASSERT(sim_spawn_part(world->sim, &desc, &world->movers[i]) == STATUS_OK);
    }
    for (uint32_t i = 0; i < world->options.npc_count; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = property_place(world, 4, 8);
        desc.patrol_count = 3;
        for (uint32_t k = 0; k < desc.patrol_count; k++) {
            desc.patrol[k] = property_place(world, 0, 1);
        }
        Handle made;
        ASSERT(npc_spawn(world->sim, &desc, &made) == STATUS_OK);
    }
}

static void vary(SimConfig *config, uint32_t variant)
{
    CharacterTuning *tuning = &config->character;
    switch (variant) {
    case 1:
        config->tick_rate = TICK_RATE_LOW;
        break;
    case 2:
        tuning->radius = 0.2f;
        tuning->height = 0.8f;
        tuning->step_height = 0.25f;
        break;
    case 3:
        tuning->radius = 0.7f;
        tuning->height = 2.6f;
        tuning->step_height = 1.1f;
        tuning->run_speed = 14;
        tuning->jump_speed = 14;
        break;
    default:
        break;
    }
}

void property_open(PropertyWorld *world, PropertyOptions options)
{
    ASSERT(options.player_count <= PROPERTY_PLAYERS_MAX);
    ASSERT(options.mover_count <= PROPERTY_MOVERS_MAX);
    memset(world, 0, sizeof *world);
    world->options = options;
    world->heap = heap_make(HEAP_BYTES);
    world->rng = rng_make(options.seed, 9);
    world->config = sim_config_default();
    world->config.entity_max = 1024;
    world->config.character_max = 320;
    world->config.npc_max = 32;
    world->config.event_max = 4096;
    world->config.structures_max = 200;
    world->config.terrain = (TerrainConfig){.chunk_max = 64, .page_max = 1024};
    vary(&world->config, options.variant);
    build_terrain(world);
    build_scene(world);
    ASSERT(sim_create(&world->heap, &world->config, world->scene, &world->sim) == STATUS_OK);
    spawn_all(world);
}

void property_close(PropertyWorld *world)
{
    sim_destroy(&world->heap, world->sim);
    scene_destroy(&world->heap, world->scene);
    chunk_store_destroy(&world->heap, world->chunks);
    ASSERT(world->heap.bytes_now == 0);
}

// --- driving ------------------------------------------------------------------------------------
static void drive_player(PropertyWorld *world, Handle player)
{
    Rng *rng = &world->rng;
    const Entity *entity = sim_entity(world->sim, player);
    if (entity->character.health <= 0) {
        const Vec3 at = property_place(world, 3, 8);
        ASSERT(sim_revive(world->sim, player, at) == STATUS_OK);
    }
    if (rng_below(rng, 16) != 0) {
        return;
    }
    SimInput input = {.seq = ++world->input_seq};
    input.move_x = rng_range(rng, -1, 1);
    input.move_z = rng_range(rng, -0.3f, 1);
    input.yaw = rng_range(rng, -4, 4);
    input.buttons = rng_u32(rng) & INPUT_BUTTONS_ALL;
    sim_set_input(world->sim, player, &input);
    if (rng_below(rng, 40) == 0) {
        Vec3 kick = {.z = 12};
        kick.x = rng_range(rng, -30, 30);
        kick.y = rng_range(rng, -30, 30);
        ASSERT(sim_set_velocity(world->sim, player, kick) == STATUS_OK);
    }
}

// Somewhere within a few metres of home, at up to 6 m/s, turning.
static void drive_mover(PropertyWorld *world, uint32_t index)
{
    Rng *rng = &world->rng;
    const Handle mover = world->movers[index];
    const Entity *entity = sim_entity(world->sim, mover);
    if (entity->part.motion.count != 0 || rng_below(rng, 20) != 0) {
        return;
    }
    const uint32_t ticks = 20 + rng_below(rng, 100);
    const float seconds = (float)ticks * sim_tick_seconds(world->sim);
    Vec3 goal = world->mover_home[index];
    goal.x += rng_range(rng, -3, 3);
    goal.y += rng_range(rng, -1, 3);
    goal.z += rng_range(rng, -3, 3);
    Vec3 velocity = vec3_scale(vec3_sub(goal, entity->position), 1 / seconds);
    const float speed = vec3_length(velocity);
    if (speed > 6) {
        velocity = vec3_scale(velocity, 6 / speed);
    }
    MotionSegment segment = {.pose = {entity->position, entity->rotation}, .velocity = velocity};
    segment.angular_velocity.y = rng_below(rng, 2) == 0 ? rng_range(rng, -1.5f, 1.5f) : 0;
    segment.angular_velocity.x = rng_below(rng, 4) == 0 ? rng_range(rng, -0.7f, 0.7f) : 0;
    segment.tick_from = sim_tick(world->sim);
    segment.tick_to = segment.tick_from + ticks;
    ASSERT(sim_move_part(world->sim, mover, &segment) == STATUS_OK);
}

// Under feet, inside bodies, and anywhere.
static void drive_edit(PropertyWorld *world)
{
    Rng *rng = &world->rng;
    Terrain *terrain = sim_terrain(world->sim);
    const uint32_t pick = rng_below(rng, world->options.player_count);
    const Vec3 feet = sim_entity(world->sim, world->players[pick])->position;
    const VoxelKind kind = rng_below(rng, 2) == 0 ? VOXEL_AIR : (VoxelKind)(1 + rng_below(rng, 5));
    const float radius = rng_range(rng, 0.3f, 2.5f);
    Status status;
    switch (rng_below(rng, 4)) {
    case 0: // the ground under somebody
        status =
            terrain_set(terrain, voxel_at(vec3(feet.x, feet.y - 0.5f, feet.z)), VOXEL_AIR, NULL);
        break;
    case 1: // where somebody stands
        status = terrain_set(terrain, voxel_at(vec3(feet.x, feet.y + 0.5f, feet.z)), kind, NULL);
        break;
    case 2:
        status = terrain_fill_sphere(terrain, property_place(world, -4, 3), radius, kind, NULL);
        break;
    default:
        status = terrain_fill_sphere(terrain, feet, radius, kind, NULL);
        break;
    }
    // Only a world without room for another changed chunk refuses.
    ASSERT(status == STATUS_OK || status == STATUS_LIMIT || status == STATUS_RANGE);
}

static void drive_shot(PropertyWorld *world)
{
    Rng *rng = &world->rng;
    const Handle shooter = world->players[rng_below(rng, world->options.player_count)];
    const Vec3 eye = vec3_add(sim_entity(world->sim, shooter)->position, vec3(0, 1.5f, 0));
    ProjectileDesc desc = {.shooter = shooter, .position = eye, .damage = 5};
    desc.velocity.x = rng_range(rng, -60, 60);
    desc.velocity.y = rng_range(rng, -10, 30);
    desc.velocity.z = rng_range(rng, -60, 60);
    desc.radius = rng_below(rng, 2) == 0 ? 0 : 0.2f;
    desc.gravity = rng_below(rng, 2) == 0 ? 0 : 10.0f;
    desc.lifetime_ticks = 20 + rng_below(rng, 100);
    desc.rewind_ticks = rng_below(rng, 30);
    Handle made;
    // Somebody who fell out of the world cannot shoot.
    const Status status = projectile_fire(world->sim, &desc, &made);
    ASSERT(status == STATUS_OK || status == STATUS_RANGE || status == STATUS_LIMIT);
}

static void drive_structure(PropertyWorld *world)
{
    Rng *rng = &world->rng;
    StructureDesc desc = {.cell = voxel_at(property_place(world, -1, 5))};
    desc.owner_id = 1 + rng_below(rng, 4);
    desc.piece = rng_below(rng, 3);
    desc.turn = rng_below(rng, 4);
    Handle made;
    (void)!structure_place(world->sim, &desc, &made); // many places will not do
    if (rng_below(rng, 12) == 0) {
        const Handle first = sim_next(world->sim, HANDLE_NONE, ENTITY_MASK(ENTITY_STRUCTURE));
        if (!handle_is_none(first)) {
            ASSERT(structure_remove(world->sim, first, 0) == STATUS_OK);
        }
    }
}

static void revive_npcs(PropertyWorld *world)
{
    const uint32_t mask = ENTITY_MASK(ENTITY_NPC);
    for (Handle h = sim_next(world->sim, HANDLE_NONE, mask); !handle_is_none(h);
         h = sim_next(world->sim, h, mask)) {
        if (sim_entity(world->sim, h)->character.health <= 0) {
            ASSERT(sim_revive(world->sim, h, property_place(world, 3, 8)) == STATUS_OK);
        }
    }
}

void property_drive(PropertyWorld *world)
{
    for (uint32_t i = 0; i < world->options.player_count; i++) {
        drive_player(world, world->players[i]);
    }
    for (uint32_t i = 0; i < world->options.mover_count; i++) {
        drive_mover(world, i);
    }
    if (world->options.edits && sim_tick(world->sim) % 8 == 0) {
        drive_edit(world);
    }
    if (world->options.projectiles) {
        drive_shot(world);
    }
    if (world->options.structures && sim_tick(world->sim) % 4 == 0) {
        drive_structure(world);
    }
    if (world->options.npc_count != 0) {
        revive_npcs(world);
    }
}
