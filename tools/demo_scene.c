#include "tools/demo_scene.h"

#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/sim/structure.h"

#define HEAP_BYTES_MAX  (256ull << 20)
#define ISLAND_HALF     64
#define ISLAND_FLOOR_Y  (-6)
#define PLAZA_Y         5.0f
#define SEED            7
#define TREE_COUNT      46
#define TOWER_TOP_Y     9.8f
#define STAIR_STEPS     16
#define BUILD_TICKS     14 // from piece to piece
#define BUILD_REST      150
#define BUILDERS_OWNER  500
#define SHOT_TICKS      40
#define WALL_TICKS      540 // from repair to repair of the wall that is shot at
#define CRATER_RADIUS_M 1.6f

static Vec3 random_point(Rng *rng, Vec3 low, Vec3 high)
{
    // One statement for each draw: C does not say which argument of a call is worked out first.
    const float x = rng_range(rng, low.x, high.x);
    const float y = rng_range(rng, low.y, high.y);
    const float z = rng_range(rng, low.z, high.z);
    return vec3(x, y, z);
}

// --- the ground --------------------------------------------------------------------------------
static float lattice(int32_t x, int32_t z, uint32_t layer)
{
    const uint64_t key = (uint64_t)(uint32_t)x << 32 | (uint32_t)z;
    return (float)(hash_mix(key + layer * 0x51ull) >> 40) / 16777216.0f;
}

static float smooth(float low, float high, float x)
{
    const float t = math_clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

// Value noise in 0..1.
static float noise(float x, float z, uint32_t layer)
{
    const int32_t cell_x = math_floor_i32(x);
    const int32_t cell_z = math_floor_i32(z);
    const float u = smooth(0, 1, x - (float)cell_x);
    const float v = smooth(0, 1, z - (float)cell_z);
    const float a = lattice(cell_x, cell_z, layer);
    const float b = lattice(cell_x + 1, cell_z, layer);
    const float c = lattice(cell_x, cell_z + 1, layer);
    const float d = lattice(cell_x + 1, cell_z + 1, layer);
    return (a + (b - a) * u) * (1 - v) + (c + (d - c) * u) * v;
}

static float distance_xz(float x, float z, float to_x, float to_z)
{
    return math_sqrt((x - to_x) * (x - to_x) + (z - to_z) * (z - to_z));
}

typedef struct Flat {
    float x, z, radius;
} Flat;

// Where things stand: plaza, castle, round tower, belts, building site, camp, range.
static const Flat flats[] = {{0, 0, 14},  {0, -17, 8},  {14.5f, -14, 7}, {11, 11, 7},
                             {26, -4, 8}, {-8, 27, 10}, {22, 24, 9},     {-14, 4, 6}};
#define FLAT_COUNT (sizeof flats / sizeof flats[0])

static float flatness(float x, float z)
{
    float flat = 0;
    for (uint32_t i = 0; i < FLAT_COUNT; i++) {
        const float d = distance_xz(x, z, flats[i].x, flats[i].z);
        flat = math_max(flat, 1 - smooth(flats[i].radius, flats[i].radius + 6, d));
    }
    return flat;
}

static float ground_height(float x, float z)
{
    const float shore = distance_xz(x, z, -2, 1) + 14 * (noise(x / 17, z / 17, 1) - 0.5f);
    const float land = 1 - smooth(34, 54, shore);
    const float rolling = 1.5f + 5 * noise(x / 19, z / 19, 2) + 3 * noise(x / 8, z / 8, 3);
    const float crag = 9 * (noise(x / 9, z / 9, 7) - 0.5f) + 4 * (noise(x / 4, z / 4, 10) - 0.5f);
    const float peak = 1 - smooth(0, 25, distance_xz(x, z, -25, -24) + crag);
    const float ridge = 1 - smooth(0, 13, distance_xz(x, z, -34, -4));
    float height = rolling * land + peak * (15 + 8 * noise(x / 6, z / 6, 4)) +
                   ridge * 6 * noise(x / 6, z / 6, 5) - 5 * (1 - land);
    height += (PLAZA_Y + 0.5f - height) * flatness(x, z);
    return height;
}

static int32_t ground_y(int32_t x, int32_t z)
{
    return math_floor_i32(ground_height((float)x + 0.5f, (float)z + 0.5f));
}

static VoxelKind surface_kind(int32_t x, int32_t y, int32_t z)
{
    const float d = distance_xz((float)x + 0.5f, (float)z + 0.5f, 0, 0);
    const float ragged = noise((float)x / 4, (float)z / 4, 6);
    if (d < 9.5f || (d < 12.5f && d > 10.6f)) {
        return DEMO_KIND_COBBLE;
    }
    if (y <= 2) {
        return DEMO_KIND_SAND;
    }
    if ((float)y > 17 + 4 * ragged) {
        return DEMO_KIND_SNOW;
    }
    return (float)y > 10 + 3 * ragged ? DEMO_KIND_STONE : DEMO_KIND_GRASS;
}

static Status build_ground(ChunkStore *chunks)
{
    Status status = STATUS_OK;
    for (int32_t z = -ISLAND_HALF; z < ISLAND_HALF; z++) {
        for (int32_t x = -ISLAND_HALF; x < ISLAND_HALF && status == STATUS_OK; x++) {
            const int32_t y = ground_y(x, z);
            if (y <= ISLAND_FLOOR_Y) {
                continue;
            }
            const VoxelKind top = surface_kind(x, y, z);
            const VoxelKind below = top == DEMO_KIND_GRASS ? DEMO_KIND_EARTH : top;
            const VoxelCoord floor = {x, ISLAND_FLOOR_Y, z};
            status = chunk_store_fill(chunks, floor, (VoxelCoord){x, y - 1, z}, DEMO_KIND_STONE);
            if (status == STATUS_OK && y - 3 > ISLAND_FLOOR_Y) {
                status = chunk_store_fill(chunks, (VoxelCoord){x, y - 3, z},
                                          (VoxelCoord){x, y - 1, z}, below);
            }
            if (status == STATUS_OK) {
                status = chunk_store_set(chunks, (VoxelCoord){x, y - 1, z}, top);
            }
        }
    }
    return status;
}

// A trunk and a rounded crown.
static Status plant_tree(ChunkStore *chunks, int32_t x, int32_t z, int32_t height)
{
    const int32_t y = ground_y(x, z);
    Status status = STATUS_OK;
    for (int32_t dz = -2; dz <= 2; dz++) {
        for (int32_t dx = -2; dx <= 2; dx++) {
            for (int32_t dy = -1; dy <= 2 && status == STATUS_OK; dy++) {
                const int32_t distance = dx * dx + dz * dz + dy * dy;
                const VoxelCoord at = {x + dx, y + height + dy, z + dz};
                if (distance + (int32_t)(lattice(at.x, at.z * 7 + at.y, 9) * 2.0f) <= 6) {
                    status = chunk_store_set(chunks, at, DEMO_KIND_LEAVES);
                }
            }
        }
    }
    if (status == STATUS_OK) {
        status = chunk_store_fill(chunks, (VoxelCoord){x, y, z}, (VoxelCoord){x, y + height, z},
                                  DEMO_KIND_TRUNK);
    }
    return status;
}

static Status plant_trees(ChunkStore *chunks, Rng *rng)
{
    Status status = STATUS_OK;
    uint32_t planted = 0;
    for (uint32_t tries = 0; tries < 4000 && planted < TREE_COUNT && status == STATUS_OK; tries++) {
        const int32_t x = (int32_t)rng_below(rng, 90) - 45;
        const int32_t z = (int32_t)rng_below(rng, 90) - 45;
        const int32_t y = ground_y(x, z);
        const bool grass = surface_kind(x, y, z) == DEMO_KIND_GRASS;
        // Trees stand in groves, away from what was built.
        if (grass && y < 11 && flatness((float)x, (float)z) < 0.2f &&
            noise((float)x / 9, (float)z / 9, 8) > 0.5f) {
            status = plant_tree(chunks, x, z, 3 + (int32_t)rng_below(rng, 3));
            planted += 1;
        }
    }
    return status;
}

// --- anchored parts ----------------------------------------------------------------------------
typedef struct PartList {
    PartDesc parts[DEMO_PARTS_MAX];
    DemoPaint *paints;
    uint32_t count;
} PartList;

static PartDesc *add(PartList *list, DemoPaint paint, ShapeKind kind, Vec3 position, Vec3 half,
                     Quat rotation)
{
    ASSERT(list->count < DEMO_PARTS_MAX);
    PartDesc *part = &list->parts[list->count];
    *part = (PartDesc){.shape = {kind, half}, .pose = {position, rotation}};
    list->paints[list->count] = paint;
    list->count += 1;
    return part;
}

static PartDesc *add_box(PartList *list, DemoPaint paint, Vec3 position, Vec3 half)
{
    return add(list, paint, SHAPE_BOX, position, half, QUAT_IDENTITY);
}

static void add_castle(PartList *list)
{
    const float half_y = (TOWER_TOP_Y - PLAZA_Y) / 2;
    add_box(list, PAINT_STONE, vec3(0, PLAZA_Y + half_y, -18), vec3(3, half_y, 3));
    for (uint32_t i = 0; i < STAIR_STEPS; i++) {
        const float rise = 0.3f * (float)(i + 1);
        const float z = -8.025f - 0.45f * (float)i;
        add_box(list, PAINT_MARBLE, vec3(0, PLAZA_Y + rise / 2, z), vec3(1.5f, rise / 2, 0.225f));
    }
    // Battlements leave the stairs and the bridge free.
    for (int32_t i = -2; i <= 2; i++) {
        const float along = 1.35f * (float)i;
        const Vec3 half = {0.35f, 0.4f, 0.25f};
        add_box(list, PAINT_STONE, vec3(along, TOWER_TOP_Y + 0.4f, -20.75f), half);
        add_box(list, PAINT_STONE, vec3(-2.75f, TOWER_TOP_Y + 0.4f, -18 + along),
                vec3(0.25f, 0.4f, 0.35f));
    }
    const Vec3 pole = {-2.4f, TOWER_TOP_Y + 3, -20.4f};
    add(list, PAINT_WOOD, SHAPE_CYLINDER, pole, vec3(0.1f, 3, 0.1f), QUAT_IDENTITY);
    const Quat flag = quat_from_axis_angle(vec3(1, 0, 0), MATH_PI / 2);
    add(list, PAINT_RED, SHAPE_WEDGE, vec3(-1.3f, TOWER_TOP_Y + 5.2f, -20.4f),
        vec3(1.0f, 0.05f, 0.6f), flag);
    add_box(list, PAINT_LADDER, vec3(-3.08f, PLAZA_Y + half_y, -17), vec3(0.08f, half_y, 0.5f))
        ->data.flags = PART_LADDER;
}

// Planks that sag and are laid askew, from the castle to a round tower with a ramp.
static void add_bridge(PartList *list, Rng *rng)
{
    for (uint32_t i = 0; i < 10; i++) {
        const float t = ((float)i + 0.5f) / 10;
        const float sag = 0.9f * (1 - (2 * t - 1) * (2 * t - 1));
        const Quat roll = quat_from_axis_angle(vec3(0, 0, 1), (2 * t - 1) * 0.35f);
        const Quat askew = quat_multiply(quat_from_yaw(rng_range(rng, -0.09f, 0.09f)), roll);
        const Vec3 at = {3 + t * 9.2f, TOWER_TOP_Y - 0.1f - sag, -18};
        add(list, PAINT_WOOD, SHAPE_BOX, at, vec3(0.47f, 0.08f, 0.95f), askew);
    }
    const float half_y = (TOWER_TOP_Y - PLAZA_Y) / 2;
    add(list, PAINT_STONE, SHAPE_CYLINDER, vec3(14.5f, PLAZA_Y + half_y, -18),
        vec3(2.5f, half_y, 2.5f), QUAT_IDENTITY);
    add(list, PAINT_MARBLE, SHAPE_WEDGE, vec3(14.5f, PLAZA_Y + half_y, -11.4f),
        vec3(1.2f, half_y, 4.3f), quat_from_yaw(MATH_PI));
}

// A ring of columns, with lintels between every other pair.
static void add_columns(PartList *list)
{
    for (uint32_t i = 0; i < 12; i++) {
        const float angle = ((float)i + 0.5f) * MATH_PI / 6;
        const float x = 11.6f * math_sin(angle);
        const float z = 11.6f * math_cos(angle);
        if (z < -6 && math_abs(x) < 8) {
            continue; // the stairs
        }
        add(list, PAINT_MARBLE, SHAPE_CYLINDER, vec3(x, PLAZA_Y + 1.9f, z), vec3(0.45f, 1.9f, 0),
            QUAT_IDENTITY);
        if (i % 2 == 0) {
            const float middle = angle + MATH_PI / 12;
            const Vec3 at = {11.2f * math_sin(middle), PLAZA_Y + 4.1f, 11.2f * math_cos(middle)};
            add(list, PAINT_MARBLE, SHAPE_BOX, at, vec3(3.6f, 0.3f, 0.5f), quat_from_yaw(middle));
        }
    }
}

// Four belts in a ring; who stands on one is handed to the next.
static void add_belts(PartList *list)
{
    const Vec3 centre = {13, PLAZA_Y + 0.15f, 13};
    for (uint32_t i = 0; i < 4; i++) {
        const Quat turn = quat_from_yaw((float)i * MATH_PI / 2);
        const Vec3 at = vec3_add(centre, quat_rotate(turn, vec3(-0.8f, 0, -3.2f)));
        PartDesc *belt = add(list, PAINT_BELT, SHAPE_BOX, at, vec3(3.2f, 0.15f, 0.8f), turn);
        belt->data.flags = PART_CONVEYOR;
        belt->data.conveyor_speed = vec3(1.8f, 0, 0);
    }
    add(list, PAINT_TEAL, SHAPE_SPHERE, vec3(13, PLAZA_Y + 1.4f, 13), vec3(1.4f, 0, 0),
        QUAT_IDENTITY);
}

static void add_bounce_pads(PartList *list)
{
    static const Vec3 places[] = {{-7, PLAZA_Y + 0.15f, 7}, {7.5f, PLAZA_Y + 0.15f, 4}};
    for (uint32_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        PartDesc *pad =
            add(list, PAINT_BOUNCE, SHAPE_CYLINDER, places[i], vec3(1.1f, 0.15f, 0), QUAT_IDENTITY);
        pad->data.flags = PART_BOUNCE;
        pad->data.bounce_speed = 11;
    }
}

// Walls around the camp, crates in it, and old stones on the hills.
static void add_camp_and_ruins(PartList *list, Rng *rng)
{
    static const float walls[][4] = {// x, z, half length, yaw
                                     {-8, 35.5f, 7, 0},
                                     {-16.5f, 27, 6, 1.5708f},
                                     {0.5f, 30, 3.5f, 1.5708f},
                                     {-12.5f, 18.5f, 3, 0},
                                     {-8, 27.5f, 2, 0.6f}};
    for (uint32_t i = 0; i < sizeof walls / sizeof walls[0]; i++) {
        add(list, PAINT_WOOD, SHAPE_BOX, vec3(walls[i][0], PLAZA_Y + 1.1f, walls[i][1]),
            vec3(walls[i][2], 1.1f, 0.2f), quat_from_yaw(walls[i][3]));
    }
    static const float crates[][3] = {{-13, 32, 0}, {-12, 33, 0}, {-12.6f, 32.4f, 1}, {-3, 31, 0}};
    for (uint32_t i = 0; i < sizeof crates / sizeof crates[0]; i++) {
        add(list, PAINT_GOLD, SHAPE_BOX,
            vec3(crates[i][0], PLAZA_Y + 0.5f + crates[i][2], crates[i][1]), vec3(0.5f, 0.5f, 0.5f),
            quat_from_yaw((float)i));
    }
    for (uint32_t i = 0; i < 40; i++) {
        const float x = rng_range(rng, -36, 36);
        const float z = rng_range(rng, -36, 36);
        if (flatness(x, z) > 0.05f || ground_height(x, z) < 2) {
            continue;
        }
        const float size = rng_range(rng, 0.4f, 1.2f);
        const Vec3 axis = random_point(rng, vec3(-1, -1, -1), vec3(1, 1, 1));
        const Quat any = quat_normalise((Quat){axis.x, axis.y, axis.z, 0.7f});
        const float y = math_floor(ground_height(x, z)) + size * 0.5f;
        add(list, PAINT_STONE, i % 3 == 0 ? SHAPE_SPHERE : SHAPE_BOX, vec3(x, y, z),
            vec3(size, size * 0.8f, size * 0.7f), any);
    }
}

// --- moving parts ------------------------------------------------------------------------------
static Status add_mover(Demo *demo, DemoPaint paint, ShapeKind kind, Vec3 half, Vec3 from, Vec3 to,
                        Vec3 turn, uint32_t leg_ticks)
{
    ASSERT(demo->mover_count < DEMO_MOVERS_MAX);
    DemoMover *mover = &demo->movers[demo->mover_count];
    *mover = (DemoMover){.paint = paint,
                         .ends = {from, to},
                         .turn = turn,
                         .leg_ticks = leg_ticks,
                         .next_end = 1,
                         .pose = {from, QUAT_IDENTITY}};
    const ShapeDesc desc = {.part = {.shape = {kind, half}, .pose = mover->pose}};
    demo->mover_count += 1;
    return sim_spawn_part(demo->sim, &desc, &mover->entity);
}

static Status add_movers(Demo *demo)
{
    const Vec3 disc = {0, PLAZA_Y + 0.15f, 0};
    const Vec3 bar = {0, PLAZA_Y + 0.42f, 0};
    const Vec3 turn = {0, 0.55f, 0};
    Status status =
        add_mover(demo, PAINT_TEAL, SHAPE_CYLINDER, vec3(4.6f, 0.15f, 0), disc, disc, turn, 300);
    if (status == STATUS_OK) {
        status =
            add_mover(demo, PAINT_GOLD, SHAPE_BOX, vec3(4.2f, 0.12f, 0.35f), bar, bar, turn, 300);
    }
    if (status == STATUS_OK) {
        status =
            add_mover(demo, PAINT_GOLD, SHAPE_BOX, vec3(0.35f, 0.12f, 4.2f), bar, bar, turn, 300);
    }
    if (status == STATUS_OK) {
        status =
            add_mover(demo, PAINT_LIFT, SHAPE_BOX, vec3(1.6f, 0.15f, 1.6f),
                      vec3(-14, PLAZA_Y + 0.15f, 1), vec3(-14, PLAZA_Y + 6.5f, 1), VEC3_ZERO, 210);
    }
    if (status == STATUS_OK) {
        status =
            add_mover(demo, PAINT_LIFT, SHAPE_BOX, vec3(1.6f, 0.15f, 1.6f),
                      vec3(-14, PLAZA_Y + 6.5f, 5), vec3(-14, PLAZA_Y + 6.5f, 17), VEC3_ZERO, 300);
    }
    return status;
}

// Announces each mover's next leg one second ahead.
static void drive_movers(Demo *demo)
{
    for (uint32_t i = 0; i < demo->mover_count; i++) {
        DemoMover *mover = &demo->movers[i];
        const uint64_t now = sim_tick(demo->sim);
        if (mover->announced_until > now + 60) {
            continue;
        }
        const uint64_t from = mover->announced_until > now ? mover->announced_until : now + 1;
        const float seconds = (float)mover->leg_ticks * sim_tick_seconds(demo->sim);
        const Vec3 way = vec3_sub(mover->ends[mover->next_end], mover->pose.position);
        const MotionSegment segment = {.pose = mover->pose,
                                       .velocity = vec3_scale(way, 1 / seconds),
                                       .angular_velocity = mover->turn,
                                       .tick_from = from,
                                       .tick_to = from + mover->leg_ticks};
        if (sim_move_part(demo->sim, mover->entity, &segment) != STATUS_OK) {
            continue; // the queue is full: again at the next tick
        }
        mover->pose = motion_segment_pose(&segment, segment.tick_to, sim_tick_seconds(demo->sim));
        mover->announced_until = segment.tick_to;
        mover->next_end = 1 - mover->next_end;
    }
}

// --- people ------------------------------------------------------------------------------------
typedef struct DemoRoute {
    const Vec3 *points; // y is not looked at
    uint32_t count;
    bool runs;
} DemoRoute;

#define ROUTE(points, runs)                                \
    {                                                      \
        points, sizeof(points) / sizeof((points)[0]), runs \
    }

static const Vec3 castle_points[] = {{3, 0, -3},     {0, 0, -7},  {0, 0, -16},
                                     {2, 0, -18},    {8, 0, -18}, {14.5f, 0, -18},
                                     {14.5f, 0, -7}, {10, 0, -3}, {6, 0, 2}};
static const Vec3 plaza_points[] = {{6, 0, 6},   {-3, 0, 8}, {-9, 0, 0},
                                    {-5, 0, -6}, {5, 0, -6}, {9, 0, 0}};
static const Vec3 pad_points[] = {{-7, 0, 7},   {-4, 0, 10}, {2, 0, 9},
                                  {7.5f, 0, 4}, {9, 0, -2},  {-9, 0, -3}};
static const Vec3 hill_points[] = {
    {-16, 0, -8}, {-24, 0, -16}, {-30, 0, -6}, {-24, 0, 6}, {-15, 0, 8}};
static const Vec3 camp_points[] = {{-8, 0, 14}, {-5, 0, 22}, {-11, 0, 24}, {-14, 0, 15}};
static const Vec3 shore_points[] = {
    {30, 0, 10}, {34, 0, -6}, {26, 0, -18}, {18, 0, -6}, {22, 0, 8}};
static const Vec3 turntable_points[] = {{0, 0, 0}};
static const Vec3 lift_points[] = {{-14, 0, 1}};
static const Vec3 shuttle_points[] = {{-14, 0, 5}};
static const Vec3 belt_points[] = {{13, 0, 13}};
static const Vec3 range_points[] = {{20, 0, 15}};
static const Vec3 site_points[] = {{21, 0, -5}, {23, 0, 1}, {29, 0, 2}};

enum {
    ROUTE_CASTLE,
    ROUTE_PLAZA,
    ROUTE_PAD,
    ROUTE_HILL,
    ROUTE_CAMP,
    ROUTE_SHORE,
    ROUTE_SITE,
    ROUTE_STANDING, // from here on people do not walk
    ROUTE_TURNTABLE = ROUTE_STANDING,
    ROUTE_LIFT,
    ROUTE_SHUTTLE,
    ROUTE_BELT,
    ROUTE_RANGE,
    ROUTE_COUNT
};

static const DemoRoute routes[ROUTE_COUNT] = {
    [ROUTE_CASTLE] = ROUTE(castle_points, false),
    [ROUTE_PLAZA] = ROUTE(plaza_points, false),
    [ROUTE_PAD] = ROUTE(pad_points, true),
    [ROUTE_HILL] = ROUTE(hill_points, false),
    [ROUTE_CAMP] = ROUTE(camp_points, true),
    [ROUTE_SHORE] = ROUTE(shore_points, true),
    [ROUTE_SITE] = ROUTE(site_points, false),
    [ROUTE_TURNTABLE] = ROUTE(turntable_points, false),
    [ROUTE_LIFT] = ROUTE(lift_points, false),
    [ROUTE_SHUTTLE] = ROUTE(shuttle_points, false),
    [ROUTE_BELT] = ROUTE(belt_points, false),
    [ROUTE_RANGE] = ROUTE(range_points, false),
};

static Status add_walker(Demo *demo, uint32_t route, uint32_t point, Vec3 offset)
{
    ASSERT(demo->walker_count < DEMO_WALKERS_MAX);
    DemoWalker *walker = &demo->walkers[demo->walker_count];
    const Vec3 at = vec3_add(routes[route].points[point], offset);
    const float above = offset.y > 0 ? offset.y : ground_height(at.x, at.z) + 0.5f;
    const CharacterDesc desc = {.owner_id = demo->walker_count + 1,
                                .position = {at.x, above, at.z}};
    *walker = (DemoWalker){.route = &routes[route],
                           .next_point = (point + 1) % routes[route].count,
                           .input.yaw = rng_range(&demo->rng, -MATH_PI, MATH_PI)};
    demo->walker_count += 1;
    const Status status = sim_spawn_player(demo->sim, &desc, &walker->entity);
    if (status == STATUS_OK && route == ROUTE_RANGE) {
        walker->input.yaw = 0.3f;
        demo->gunners[demo->gunner_count] = walker->entity;
        demo->gunner_count += 1;
    }
    return status;
}

static Status add_walkers(Demo *demo)
{
    static const struct {
        uint32_t route, point;
        Vec3 offset;
    } people[] = {
        {ROUTE_CASTLE, 0, {0, 0, 0}},
        {ROUTE_CASTLE, 1, {0.5f, 0, 0}},
        {ROUTE_CASTLE, 2, {0, 10, 0}},
        {ROUTE_CASTLE, 4, {0, 9.6f, 0}},
        {ROUTE_CASTLE, 5, {0, 10, 0}},
        {ROUTE_CASTLE, 7, {0, 0, 0}},
        {ROUTE_CASTLE, 1, {-0.6f, 0, 1.5f}},
        {ROUTE_PLAZA, 0, {0, 0, 0}},
        {ROUTE_PLAZA, 2, {0, 0, 1}},
        {ROUTE_PLAZA, 4, {0, 0, 0}},
        {ROUTE_PAD, 0, {1, 0, 1}},
        {ROUTE_PAD, 2, {0, 0, 0}},
        {ROUTE_PAD, 4, {0, 0, 0}},
        {ROUTE_HILL, 0, {0, 0, 0}},
        {ROUTE_HILL, 2, {0, 0, 0}},
        {ROUTE_HILL, 3, {0, 0, 0}},
        {ROUTE_CAMP, 0, {0, 0, 0}},
        {ROUTE_CAMP, 2, {0, 0, 0}},
        {ROUTE_SHORE, 0, {0, 0, 0}},
        {ROUTE_SHORE, 3, {0, 0, 0}},
        {ROUTE_SITE, 0, {0, 0, 0}},
        {ROUTE_SITE, 2, {0, 0, 0}},
        {ROUTE_TURNTABLE, 0, {2.5f, 5.4f, 1}},
        {ROUTE_TURNTABLE, 0, {-2, 5.4f, 2.5f}},
        {ROUTE_TURNTABLE, 0, {-1.5f, 5.4f, -3}},
        {ROUTE_LIFT, 0, {0.5f, 5.4f, 0}},
        {ROUTE_SHUTTLE, 0, {-0.4f, 12, 0.3f}},
        {ROUTE_BELT, 0, {-3.2f, 5.4f, 2}},
        {ROUTE_BELT, 0, {3.2f, 5.4f, -1}},
        {ROUTE_BELT, 0, {1, 5.4f, 3.2f}},
        {ROUTE_RANGE, 0, {0, 0, 0}},
        {ROUTE_RANGE, 0, {3, 0, -1}},
        {ROUTE_RANGE, 0, {6, 0, 0}},
    };
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < sizeof people / sizeof people[0] && status == STATUS_OK; i++) {
        status = add_walker(demo, people[i].route, people[i].point, people[i].offset);
    }
    return status;
}

// Turns towards the next point of the route and walks; jumps when something stops it, and gives the
// point up when that does not help.
static void drive_walker(Demo *demo, DemoWalker *walker)
{
    const Entity *entity = sim_entity(demo->sim, walker->entity);
    const bool stands = walker->route >= &routes[ROUTE_STANDING];
    if (entity == NULL) {
        return;
    }
    walker->input.seq += 1;
    walker->input.buttons = walker->route->runs ? INPUT_RUN : 0;
    walker->input.move_z = stands ? 0 : 1;
    if (!stands) {
        const Vec3 point = walker->route->points[walker->next_point];
        const float dx = point.x - entity->position.x;
        const float dz = point.z - entity->position.z;
        walker->input.yaw = math_atan2(dx, dz);
        const Vec3 v = entity->velocity;
        walker->stopped_ticks = v.x * v.x + v.z * v.z < 1 ? walker->stopped_ticks + 1 : 0;
        if (walker->stopped_ticks % 20 == 10) {
            walker->input.buttons |= INPUT_JUMP;
        }
        if (dx * dx + dz * dz < 1 || walker->stopped_ticks > 180) {
            walker->next_point = (walker->next_point + 1) % walker->route->count;
            walker->stopped_ticks = 0;
        }
    }
    sim_set_input(demo->sim, walker->entity, &walker->input);
}

// --- guards, guns and builders -----------------------------------------------------------------
static Status add_guards(Demo *demo)
{
    static const Vec3 posts[][4] = {
        {{-14, 5, 21}, {-14, 5, 33}, {-3, 5, 33}, {-3, 5, 22}},
        {{-3, 5, 33}, {-3, 5, 22}, {-14, 5, 21}, {-14, 5, 33}},
        {{-9, 5, 20}, {-5, 5, 16}, {-12, 5, 15}, {-13, 5, 22}},
        {{5, 5, 18}, {4, 5, 26}, {12, 5, 24}, {12, 5, 19}},
        {{-18, 5, 10}, {-17, 5, 16}, {-13, 5, 19}, {-12, 5, 10}},
    };
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < sizeof posts / sizeof posts[0] && status == STATUS_OK; i++) {
        NpcDesc desc = npc_desc_default();
        desc.patrol_count = 4;
        for (uint32_t point = 0; point < 4; point++) {
            const Vec3 at = posts[i][point];
            desc.patrol[point] = vec3(at.x, math_floor(ground_height(at.x, at.z)), at.z);
        }
        desc.position = vec3_add(desc.patrol[0], vec3(0, 0.1f, 0));
        status = npc_spawn(demo->sim, &desc, &demo->npcs[i]);
        demo->npc_count += status == STATUS_OK;
    }
    return status;
}

static Status repair_wall(Demo *demo)
{
    const int32_t y = (int32_t)PLAZA_Y;
    return terrain_fill_box(sim_terrain(demo->sim), (VoxelCoord){17, y, 28},
                            (VoxelCoord){28, y + 5, 29}, DEMO_KIND_BRICK, NULL);
}

static void fire(Demo *demo, Handle shooter)
{
    const Entity *entity = sim_entity(demo->sim, shooter);
    if (entity == NULL) {
        return;
    }
    const Vec3 target =
        random_point(&demo->rng, vec3(18, PLAZA_Y + 1, 28), vec3(28, PLAZA_Y + 5, 28));
    const Vec3 muzzle = vec3_add(entity->position, vec3(0, 1.4f, 0.6f));
    const float seconds = 0.9f;
    const float gravity = 12;
    Vec3 velocity = vec3_scale(vec3_sub(target, muzzle), 1 / seconds);
    velocity.y += gravity * seconds / 2;
    const ProjectileDesc desc = {.owner_id = entity->owner_id,
                                 .shooter = shooter,
                                 .position = muzzle,
                                 .velocity = velocity,
                                 .radius = 0.2f,
                                 .gravity = gravity,
                                 .lifetime_ticks = 240,
                                 .kind = DEMO_SHOT_BALL};
    Handle ball;
    if (projectile_fire(demo->sim, &desc, &ball) != STATUS_OK) {
        return; // too many in the air; the next one will do
    }
}

static void drive_range(Demo *demo)
{
    const uint64_t tick = sim_tick(demo->sim);
    for (uint32_t i = 0; i < demo->gunner_count; i++) {
        if ((tick + i * 13) % SHOT_TICKS == 0) {
            fire(demo, demo->gunners[i]);
        }
    }
    if (tick % WALL_TICKS == 0 && repair_wall(demo) != STATUS_OK) {
        return; // no page left for it: the wall stays as it is
    }
}

// The catalogue and the gate that is built from it.
enum { PIECE_PILLAR, PIECE_BEAM, PIECE_BLOCK };
static const PieceDesc pieces[] = {{1, 2, 1, 0, 100}, {5, 1, 1, 0, 100}, {1, 1, 1, 0, 50}};

typedef struct GatePiece {
    uint8_t piece, x, y, z, turn;
} GatePiece;
static const GatePiece gate[] = {
    {PIECE_PILLAR, 0, 0, 0, 0}, {PIECE_PILLAR, 4, 0, 0, 0}, {PIECE_PILLAR, 0, 0, 4, 0},
    {PIECE_PILLAR, 4, 0, 4, 0}, {PIECE_PILLAR, 0, 2, 0, 0}, {PIECE_PILLAR, 4, 2, 0, 0},
    {PIECE_PILLAR, 0, 2, 4, 0}, {PIECE_PILLAR, 4, 2, 4, 0}, {PIECE_BEAM, 0, 4, 0, 0},
    {PIECE_BEAM, 0, 4, 4, 0},   {PIECE_BEAM, 0, 5, 0, 1},   {PIECE_BEAM, 1, 5, 0, 1},
    {PIECE_BEAM, 2, 5, 0, 1},   {PIECE_BEAM, 3, 5, 0, 1},   {PIECE_BEAM, 4, 5, 0, 1},
    {PIECE_BLOCK, 0, 6, 0, 0},  {PIECE_BLOCK, 4, 6, 0, 0},  {PIECE_BLOCK, 0, 6, 4, 0},
    {PIECE_BLOCK, 4, 6, 4, 0},  {PIECE_PILLAR, 2, 6, 2, 0}, {PIECE_BLOCK, 1, 6, 2, 0},
    {PIECE_BLOCK, 3, 6, 2, 0},  {PIECE_BLOCK, 2, 6, 1, 0},  {PIECE_BLOCK, 2, 6, 3, 0},
    {PIECE_PILLAR, 2, 8, 2, 0}};
#define GATE_PIECES (sizeof gate / sizeof gate[0])

static void place_next_piece(Demo *demo)
{
    const GatePiece *next = &gate[demo->piece_count];
    const StructureDesc desc = {.owner_id = BUILDERS_OWNER,
                                .piece = next->piece,
                                .cell = {23 + next->x, (int32_t)PLAZA_Y + next->y, -7 + next->z},
                                .turn = next->turn};
    // A player in the way is given time to leave.
    if (structure_place(demo->sim, &desc, &demo->pieces[demo->piece_count]) == STATUS_OK) {
        demo->piece_count += 1;
    }
}

// Builds piece by piece, rests, and takes the four feet away one after the other; what stood on
// them falls by the sim's own rules.
static void drive_builders(Demo *demo)
{
    demo->build_phase_ticks += 1;
    if (!demo->gate_falls && demo->piece_count < GATE_PIECES) {
        if (demo->build_phase_ticks % BUILD_TICKS == 0) {
            place_next_piece(demo);
            demo->build_phase_ticks = 0;
        }
        return;
    }
    if (demo->build_phase_ticks < BUILD_REST || demo->build_phase_ticks % 20 != 0) {
        return;
    }
    demo->gate_falls = true;
    const uint32_t foot = (demo->build_phase_ticks - BUILD_REST) / 20;
    if (foot < 4) {
        // A foot that fell with the rest is already gone.
        const Status status = structure_remove(demo->sim, demo->pieces[foot], BUILDERS_OWNER);
        ASSERT(status == STATUS_OK || status == STATUS_NOT_FOUND);
    } else if (sim_count(demo->sim, ENTITY_STRUCTURE) == 0) {
        demo->gate_falls = false;
        demo->piece_count = 0;
        demo->build_phase_ticks = 0;
    }
}

// --- events ------------------------------------------------------------------------------------
static void flash(Demo *demo, Vec3 position, float radius)
{
    demo->flashes[demo->flash_next] = (DemoFlash){position, radius, sim_tick(demo->sim)};
    demo->flash_next = (demo->flash_next + 1) % DEMO_FLASHES;
}

// What fell flies apart.
static void scatter_debris(Demo *demo, Vec3 position)
{
    for (uint32_t i = 0; i < 3; i++) {
        Rng *rng = &demo->rng;
        const Vec3 offset = random_point(rng, vec3(-0.4f, 0, -0.4f), vec3(0.4f, 0.5f, 0.4f));
        const Vec3 velocity = random_point(rng, vec3(-4, 1, -4), vec3(4, 6, 4));
        const ProjectileDesc desc = {.position = vec3_add(position, offset),
                                     .velocity = velocity,
                                     .radius = 0.1f,
                                     .gravity = 14,
                                     .lifetime_ticks = 150,
                                     .kind = DEMO_SHOT_DEBRIS};
        Handle piece;
        if (projectile_fire(demo->sim, &desc, &piece) != STATUS_OK) {
            return; // enough is flying
        }
    }
}

static bool is_on_range(Vec3 p)
{
    return p.x > 14 && p.x < 31 && p.z > 25 && p.z < 33 && p.y > PLAZA_Y + 0.3f;
}

static void react_to(Demo *demo, const SimEvent *event)
{
    if (event->type == SIM_EVENT_PROJECTILE_HIT && event->value == (float)DEMO_SHOT_BALL) {
        flash(demo, event->position, 0.9f);
        if (event->other == 0 && is_on_range(event->position) &&
            terrain_fill_sphere(sim_terrain(demo->sim), event->position, CRATER_RADIUS_M, VOXEL_AIR,
                                NULL) == STATUS_OK) {
            scatter_debris(demo, vec3_mad(event->position, event->normal, 0.6f));
        }
    }
    if (event->type == SIM_EVENT_STRUCTURE_REMOVED) {
        scatter_debris(demo, event->position);
    }
    if (event->type == SIM_EVENT_BOUNCED) {
        flash(demo, event->position, 0.6f);
    }
}

void demo_react(Demo *demo)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(demo->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        const SimEvent event = events[i]; // firing must not move it under our feet
        react_to(demo, &event);
    }
    demo->event_count += count;
}

void demo_drive(Demo *demo)
{
    drive_movers(demo);
    for (uint32_t i = 0; i < demo->walker_count; i++) {
        drive_walker(demo, &demo->walkers[i]);
    }
    drive_range(demo);
    drive_builders(demo);
}

// --- making it ---------------------------------------------------------------------------------
static Status create_scene(Demo *demo)
{
    static PartList list;
    list.paints = demo->paints;
    list.count = 0;
    add_castle(&list);
    add_bridge(&list, &demo->rng);
    add_columns(&list);
    add_belts(&list);
    add_bounce_pads(&list);
    add_camp_and_ruins(&list, &demo->rng);
    const SceneDesc desc = {
        .chunks = demo->chunks,
        .parts = list.parts,
        .part_count = list.count,
        .pieces = pieces,
        .piece_count = sizeof pieces / sizeof pieces[0],
        .bounds = {{-ISLAND_HALF, -32, -ISLAND_HALF}, {ISLAND_HALF, 96, ISLAND_HALF}}};
    uint32_t bad_index = 0;
    return scene_create(&demo->heap, &desc, &demo->scene, &bad_index);
}

static Status create_ground(Demo *demo)
{
    const ChunkStoreConfig config = {
        .chunk_max = 128, .page_max = 2048, .kinds = voxel_kinds_default()};
    Status status = chunk_store_create(&demo->heap, &config, &demo->chunks);
    if (status == STATUS_OK) {
        status = build_ground(demo->chunks);
    }
    return status == STATUS_OK ? plant_trees(demo->chunks, &demo->rng) : status;
}

static Status create_sim(Demo *demo)
{
    SimConfig config = sim_config_default();
    config.entity_max = 320;
    config.character_max = 64;
    config.npc_max = 16;
    config.structures_max = 64;
    config.structures_per_player_max = 64;
    config.terrain = (TerrainConfig){.chunk_max = 32, .page_max = 512};
    config.seed = SEED;
    return sim_create(&demo->heap, &config, demo->scene, &demo->sim);
}

Status demo_create(Demo *demo, const char **what)
{
    static const struct {
        const char *what;
        Status (*make)(Demo *);
    } steps[] = {{"ground", create_ground}, {"scene", create_scene}, {"sim", create_sim},
                 {"movers", add_movers},    {"people", add_walkers}, {"guards", add_guards},
                 {"wall", repair_wall}};
    *demo = (Demo){.heap = heap_make(HEAP_BYTES_MAX), .rng = rng_make(SEED, 1)};
    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const Status status = steps[i].make(demo);
        if (status != STATUS_OK) {
            *what = steps[i].what;
            return status;
        }
    }
    return STATUS_OK;
}

void demo_destroy(Demo *demo)
{
    if (demo->sim != NULL) {
        sim_destroy(&demo->heap, demo->sim);
    }
    if (demo->scene != NULL) {
        scene_destroy(&demo->heap, demo->scene);
    }
    if (demo->chunks != NULL) {
        chunk_store_destroy(&demo->heap, demo->chunks);
    }
    *demo = (Demo){0};
}

DemoPaint demo_paint(const Demo *demo, uint64_t net_id)
{
    const Handle entity = sim_find(demo->sim, net_id);
    for (uint32_t i = 0; i < demo->mover_count; i++) {
        if (!handle_is_none(entity) && handle_equal(demo->movers[i].entity, entity)) {
            return demo->movers[i].paint;
        }
    }
    return net_id - 1 < scene_part_count(demo->scene) ? demo->paints[net_id - 1] : PAINT_STONE;
}
