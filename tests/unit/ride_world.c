// See ride_world.h. A failure here is a bug in the test, so it ends the program.
#include "tests/unit/ride_world.h"

#include "core/base/check.h"

#define STAIRS 8

static PartDesc box(Vec3 min, Vec3 max)
{
    return (PartDesc){.shape = {SHAPE_BOX, vec3_scale(vec3_sub(max, min), 0.5f)},
                      .pose = {vec3_lerp(min, max, 0.5f), QUAT_IDENTITY}};
}

static uint32_t scene_parts(PartDesc *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < STAIRS; i++) { // net ids 1..8
        const float z = 3 + 0.7f * (float)i;
        out[count++] = box(vec3(-9, 0, z), vec3(-6, 0.3f * (float)(i + 1), z + 0.7f));
    }
    out[count++] = box(vec3(-9, 0, 8.6f), vec3(-6, 2.4f, 12)); // 9: the landing
    out[count] = box(vec3(-3, 0, 4), vec3(0, 0.2f, 10));       // 10
    out[count].data = (PartData){.flags = PART_CONVEYOR, .conveyor_speed = {0, 0, -3}};
    count++;
    out[count] = box(vec3(0, 0, 4), vec3(3, 0.2f, 10)); // 11: beside it, the other way, turned
    out[count].data = (PartData){.flags = PART_CONVEYOR, .conveyor_speed = {1.5f, 0, 2}};
    out[count++].pose.rotation = quat_from_yaw(0.05f);
    out[count] = box(vec3(6, 0, 4), vec3(6.4f, 5, 7)); // 12
    out[count++].data = (PartData){.flags = PART_LADDER};
    out[count++] = box(vec3(6.4f, 0, 3), vec3(9, 4.9f, 8)); // 13: what the ladder leads to
    out[count] = box(vec3(4, 0, -7), vec3(6, 0.2f, -5));    // 14
    out[count++].data = (PartData){.flags = PART_BOUNCE, .bounce_speed = 9};
    out[count++] = (PartDesc){.shape = {SHAPE_WEDGE, {2, 1, 2.5f}}, // 15
                              .pose = {{-6, 1, -6}, quat_from_yaw(0.6f)}};
    out[count++] = (PartDesc){.shape = {SHAPE_SPHERE, {1.5f, 0, 0}}, // 16
                              .pose = {{0, -0.6f, -8}, QUAT_IDENTITY}};
    out[count++] =
        (PartDesc){.shape = {SHAPE_CYLINDER, {0.6f, 2.5f, 0}}, // 17: lies about
                   .pose = {{9, 0.2f, -2}, quat_from_axis_angle(vec3(0, 0, 1), MATH_PI / 2)}};
    out[count++] = (PartDesc){.shape = {SHAPE_BOX, {2, 0.1f, 2}}, // 18: a tilted plate
                              .pose = {{-11, 0.6f, -2}, quat_from_axis_angle(vec3(1, 0, 0), 0.4f)}};
    out[count++] = box(vec3(-14, -1, -14), vec3(-13, 4, 14)); // 19..22: walls around
    out[count++] = box(vec3(13, -1, -14), vec3(14, 4, 14));
    out[count++] = box(vec3(-14, -1, -14), vec3(14, 4, -13));
    out[count++] = box(vec3(-14, -1, 13), vec3(14, 4, 14));
    return count;
}

static void fill(ChunkStore *store, VoxelCoord min, VoxelCoord max)
{
    ASSERT(chunk_store_fill(store, min, max, 1) == STATUS_OK);
}

void ride_open(RideWorld *world, uint32_t tick_rate)
{
    *world = (RideWorld){.heap = heap_make(256u << 20), .config = sim_config_default()};
    const ChunkStoreConfig store = {
        .chunk_max = 64, .page_max = 512, .kinds = voxel_kinds_default()};
    ASSERT(chunk_store_create(&world->heap, &store, &world->chunks) == STATUS_OK);
    fill(world->chunks, (VoxelCoord){-20, -1, -20}, (VoxelCoord){19, -1, 19});
    fill(world->chunks, (VoxelCoord){9, 0, 9}, (VoxelCoord){12, 0, 12});
    fill(world->chunks, (VoxelCoord){10, 1, 10}, (VoxelCoord){12, 1, 12});
    fill(world->chunks, (VoxelCoord){-12, 0, -12}, (VoxelCoord){-10, 0, -9});
    PartDesc parts[64];
    const PieceDesc pieces[] = {{.cells_x = 1, .cells_y = 1, .cells_z = 1, .health = 50},
                                {.cells_x = 2, .cells_y = 1, .cells_z = 1, .health = 80}};
    const SceneDesc scene = {.chunks = world->chunks,
                             .parts = parts,
                             .part_count = scene_parts(parts),
                             .pieces = pieces,
                             .piece_count = 2};
    uint32_t bad = 0;
    ASSERT(scene_create(&world->heap, &scene, &world->scene, &bad) == STATUS_OK);
    world->config.tick_rate = tick_rate;
    world->config.entity_max = 64;
    world->config.character_max = 16;
    world->config.npc_max = 0;
    world->config.structures_max = 8;
    world->config.path_cells_max = 0;
    world->config.path_nodes_per_tick = 0;
    world->config.terrain = (TerrainConfig){.chunk_max = 16, .page_max = 64};
}

void ride_close(RideWorld *world)
{
    scene_destroy(&world->heap, world->scene);
    chunk_store_destroy(&world->heap, world->chunks);
    ASSERT(world->heap.bytes_now == 0);
}

PartDesc ride_mover(uint32_t index)
{
    PartDesc part = box(vec3(-1.2f, -0.1f, -1.2f), vec3(1.2f, 0.1f, 1.2f));
    switch (index) {
    case 0: // a lift
        part.pose.position = vec3(10, 0.1f, 5);
        break;
    case 1: // a ferry
        part.pose.position = vec3(-4, 0.1f, 0);
        break;
    case 2: // a carousel
        part.shape.half = vec3(2.2f, 0.1f, 2.2f);
        part.pose.position = vec3(0, 0.1f, 0);
        break;
    case 3: // a ferry with a belt on it
        part.pose.position = vec3(3, 0.1f, -4);
        part.data = (PartData){.flags = PART_CONVEYOR, .conveyor_speed = {1, 0, 1}};
        break;
    case 4: // a pad that bounces and turns
        part.pose.position = vec3(7, 0.1f, 0);
        part.data = (PartData){.flags = PART_BOUNCE, .bounce_speed = 6};
        break;
    case 5: // a ladder on its way
        part.shape.half = vec3(0.2f, 2, 1);
        part.pose.position = vec3(-11, 2, 4);
        part.data = (PartData){.flags = PART_LADDER};
        break;
    case 6: // a belt whose end is put back to its start
        part.pose.position = vec3(-2, 0.15f, -11);
        break;
    default: // a cylinder that rolls
        part.shape = (Shape){SHAPE_CYLINDER, {0.5f, 1, 0.5f}};
        part.pose = (Pose){{5, 0.2f, 11}, quat_from_axis_angle(vec3(1, 0, 0), MATH_PI / 2)};
        break;
    }
    return part;
}

// The way of a mover in its k-th segment, which lasts `ticks`.
static MotionSegment segment_at(uint32_t index, uint64_t k, uint64_t ticks, uint64_t from,
                                float seconds)
{
    const PartDesc part = ride_mover(index);
    const bool back = k % 2 == 1;
    const Vec3 ways[RIDE_MOVERS] = {{0, 3, 0}, {3, 0, 2}, {0, 0, 0},    {-2, 0.5f, 0},
                                    {0, 0, 2}, {0, 0, 4}, {5, 0.3f, 0}, {-4, 0, 0}};
    const Vec3 turns[RIDE_MOVERS] = {{0, 0, 0}, {0, 0, 0},    {0, 0.8f, 0}, {0, 0.3f, 0},
                                     {0, 1, 0}, {0, 0.2f, 0}, {0, 0, 0},    {0, 0, 3}};
    MotionSegment segment = {.pose = part.pose, .tick_from = from, .tick_to = from + ticks};
    const Vec3 way = ways[index];
    if (back && index != 6) {
        segment.pose.position = vec3_add(segment.pose.position, way);
    }
    const float sign = back && index != 6 ? -1.0f : 1.0f;
    segment.velocity = vec3_scale(way, sign / ((float)ticks * seconds));
    segment.angular_velocity = vec3_scale(turns[index], sign);
    if (back) { // the turn so far
        const float speed = vec3_length(turns[index]);
        if (speed > 0 && index != 6) {
            const Quat turn = quat_from_axis_angle(vec3_scale(turns[index], 1 / speed),
                                                   speed * (float)ticks * seconds);
            segment.pose.rotation = quat_normalise(quat_multiply(turn, part.pose.rotation));
        }
    }
    return segment;
}

bool ride_announce(Sim *sim, uint32_t index)
{
    const Handle handle = sim_find(sim, RIDE_MOVER_FIRST + index);
    const Entity *mover = sim_entity(sim, handle);
    ASSERT(mover != NULL);
    const Motion *motion = &mover->part.motion;
    const uint64_t ticks = 70 + 13 * index;
    const uint64_t known =
        motion->count != 0 ? motion->segments[motion->count - 1].tick_to : sim_tick(sim);
    if (motion->count == MOTION_SEGMENTS_MAX || known > sim_tick(sim) + RIDE_ANNOUNCED + ticks) {
        return false;
    }
    const uint64_t k = motion->count == 0 ? 0 : known / ticks;
    const uint64_t from = k * ticks > known ? k * ticks : known;
    const MotionSegment segment = segment_at(index, k, ticks, from, sim_tick_seconds(sim));
    ASSERT(sim_move_part(sim, handle, &segment) == STATUS_OK);
    return true;
}

Sim *ride_sim(RideWorld *world, bool authority, uint32_t order)
{
    SimConfig config = world->config;
    config.authority = authority;
    Sim *sim = NULL;
    ASSERT(sim_create(&world->heap, &config, world->scene, &sim) == STATUS_OK);
    for (uint32_t i = 0; i < RIDE_MOVERS; i++) {
        const uint32_t index = (i * (2 * order + 1) + order) % RIDE_MOVERS;
        const ShapeDesc desc = {.net_id = RIDE_MOVER_FIRST + index, .part = ride_mover(index)};
        Handle handle = HANDLE_NONE;
        ASSERT(sim_spawn_part(sim, &desc, &handle) == STATUS_OK);
    }
    return sim;
}

RideWalker ride_walker(uint64_t seed)
{
    return (RideWalker){.rng = rng_make(seed, 7)};
}

static Vec3 attraction(Rng *rng)
{
    const Vec3 places[] = {{-7.5f, 0, 2},   {-7.5f, 2, 10},  {-1.5f, 0, 7}, {1.5f, 0, 7},
                           {5.5f, 0, 5.5f}, {7.5f, 5, 5.5f}, {5, 0, -6},    {-6, 0, -6},
                           {0, 0, -8},      {9, 0, -2},      {-11, 0, -2},  {11, 0, 11},
                           {10, 0, 5},      {-3, 0, 1},      {0, 0, 0},     {2, 0, -4},
                           {7, 0, 1},       {-11, 0, 6},     {0, 0, -11},   {3, 0, 11}};
    const uint32_t which = rng_below(rng, sizeof places / sizeof places[0]);
    Vec3 goal = places[which];
    const float x = rng_range(rng, -1, 1);
    const float z = rng_range(rng, -1, 1);
    return vec3_add(goal, vec3(x, 0, z));
}

SimInput ride_steer(RideWalker *walker, Vec3 position)
{
    Rng *rng = &walker->rng;
    if (walker->ticks_left == 0) {
        walker->goal = attraction(rng);
        walker->ticks_left = 60 + rng_below(rng, 240);
    }
    walker->ticks_left -= 1;
    const Vec3 way = vec3_sub(walker->goal, position);
    SimInput *input = &walker->input;
    if (rng_below(rng, 6) == 0) { // hands are not that quick
        const float aim = math_atan2(way.x, way.z);
        const float noise = rng_range(rng, -0.4f, 0.4f);
        input->yaw = math_wrap_angle(aim + noise);
        input->pitch = rng_range(rng, -1, 1);
        const bool near = way.x * way.x + way.z * way.z < 1;
        input->move_z = near ? 0 : rng_range(rng, 0.5f, 1);
        input->move_x = rng_below(rng, 4) == 0 ? rng_range(rng, -1, 1) : 0;
        input->buttons = (rng_below(rng, 4) == 0 ? INPUT_JUMP : 0u);
        input->buttons |= (rng_below(rng, 3) == 0 ? INPUT_RUN : 0u);
    }
    input->seq += 1;
    return *input;
}

void ride_look(RideSeen *seen, const Sim *sim, Handle walker)
{
    const Entity *entity = sim_entity(sim, walker);
    const Character *character = &entity->character;
    seen->grounded += character->grounded;
    seen->climbing += character->climbing;
    seen->airborne += !character->grounded && !character->climbing;
    const uint64_t ground = character->grounded ? character->ground_net_id : 0;
    seen->on_stairs += ground >= 1 && ground <= STAIRS;
    seen->on_conveyor += ground == 10 || ground == 11 || ground == RIDE_MOVER_FIRST + 3;
    seen->on_slope += ground == 15 || ground == 16 || ground == 18;
    seen->on_mover += ground >= RIDE_MOVER_FIRST && ground < RIDE_MOVER_FIRST + RIDE_MOVERS;
    uint32_t count = 0;
    const SimEvent *events = sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        seen->bounced += events[i].type == SIM_EVENT_BOUNCED;
        seen->landed += events[i].type == SIM_EVENT_LANDED;
    }
}
