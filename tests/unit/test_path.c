// Paths: compared with a slow search that implements the rules independently, after changes of the
// world, across save and restore, and with arbitrary bytes.
#include "core/sim/path.h"
#include "core/sim/structure.h"
#include "core/sim/walk.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <string.h>

#define CELLS_MAX 8192

typedef struct Finder {
    PathFinder *finder;
    void *block;
} Finder;

static Finder finder_open(WalkWorld *world, uint32_t cells_max)
{
    Finder f = {0};
    const size_t bytes = path_bytes(cells_max);
    f.block = heap_alloc(&world->heap, bytes);
    Arena arena;
    arena_init(&arena, f.block, bytes);
    CHECK_OK(path_init(&arena, cells_max, &f.finder));
    CHECK_INT(arena.used, bytes);
    return f;
}

static void finder_close(WalkWorld *world, Finder *f)
{
    heap_free(&world->heap, f->block);
}

// Runs a whole search. PATH_SEARCHING means that it could not begin.
static PathProgress find_path(PathFinder *finder, Sim *sim, Vec3 from, Vec3 to, Path *path)
{
    path->count = 0;
    if (!path_begin(finder, sim, from, to)) {
        return PATH_SEARCHING;
    }
    const PathProgress progress = path_advance(finder, sim, UINT32_MAX, NULL);
    path_read(finder, sim, path);
    return progress;
}

static Vec3 path_last(const Path *path)
{
    return path->points[path->count - 1];
}

static float path_length(Vec3 from, const Path *path)
{
    float length = 0;
    for (uint32_t i = 0; i < path->count; i++) {
        length += vec3_length(vec3_sub(path->points[i], from));
        from = path->points[i];
    }
    return length;
}

// --- the slow reference -------------------------------------------------------------------------
// Dijkstra without a queue, over a small block of voxels, straight from the words of walk.h.
#define REF_EDGE   20
#define REF_HEIGHT 10
#define REF_CELLS  (REF_EDGE * REF_EDGE * REF_HEIGHT)
#define REF_NEVER  UINT32_MAX

typedef struct Reference {
    const Terrain *terrain;
    uint32_t cost[REF_CELLS];
    bool done[REF_CELLS];
} Reference;

static bool ref_solid(const Reference *ref, int32_t x, int32_t y, int32_t z)
{
    return terrain_is_solid(ref->terrain, (VoxelCoord){x, y, z});
}

static bool ref_stands(const Reference *ref, int32_t x, int32_t y, int32_t z)
{
    return ref_solid(ref, x, y - 1, z) && !ref_solid(ref, x, y, z) && !ref_solid(ref, x, y + 1, z);
}

static int32_t ref_index(int32_t x, int32_t y, int32_t z)
{
    return (y * REF_EDGE + z) * REF_EDGE + x;
}

static bool ref_inside(int32_t x, int32_t y, int32_t z)
{
    return x >= 0 && x < REF_EDGE && z >= 0 && z < REF_EDGE && y >= 0 && y < REF_HEIGHT;
}

// The cost of one step, or REF_NEVER.
static uint32_t ref_step(const Reference *ref, VoxelCoord a, VoxelCoord b)
{
    const int32_t dx = b.x - a.x;
    const int32_t dy = b.y - a.y;
    const int32_t dz = b.z - a.z;
    if (!ref_stands(ref, a.x, a.y, a.z) || !ref_stands(ref, b.x, b.y, b.z)) {
        return REF_NEVER;
    }
    if (dx != 0 && dz != 0) {
        const bool corners =
            ref_stands(ref, a.x + dx, a.y, a.z) && ref_stands(ref, a.x, a.y, a.z + dz);
        return dy == 0 && corners ? PATH_COST_DIAGONAL : REF_NEVER;
    }
    if (dy == 0) {
        return PATH_COST_STRAIGHT;
    }
    if (dy == 1) {
        return ref_solid(ref, a.x, a.y + 2, a.z) ? REF_NEVER : PATH_COST_STRAIGHT + PATH_COST_JUMP;
    }
    if (dy > 0 || dy < -3) {
        return REF_NEVER;
    }
    for (int32_t y = b.y; y <= a.y + 1; y++) {
        if (ref_solid(ref, b.x, y, b.z)) {
            return REF_NEVER;
        }
    }
    return PATH_COST_STRAIGHT + PATH_COST_DROP;
}

static int32_t ref_cheapest(const Reference *ref)
{
    int32_t best = -1;
    for (int32_t i = 0; i < REF_CELLS; i++) {
        if (!ref->done[i] && ref->cost[i] != REF_NEVER &&
            (best < 0 || ref->cost[i] < ref->cost[best])) {
            best = i;
        }
    }
    return best;
}

static void ref_relax(Reference *ref, VoxelCoord a)
{
    for (int32_t n = 0; n < 9 * 5; n++) {
        const VoxelCoord b = {a.x + n % 3 - 1, a.y + n / 9 - 3, a.z + n / 3 % 3 - 1};
        if ((a.x == b.x && a.z == b.z) || !ref_inside(b.x, b.y, b.z)) {
            continue;
        }
        const uint32_t step = ref_step(ref, a, b);
        const int32_t from = ref_index(a.x, a.y, a.z);
        const int32_t to = ref_index(b.x, b.y, b.z);
        if (step != REF_NEVER && ref->cost[from] + step < ref->cost[to]) {
            ref->cost[to] = ref->cost[from] + step;
        }
    }
}

static void ref_run(Reference *ref, VoxelCoord start)
{
    memset(ref->done, 0, sizeof ref->done);
    memset(ref->cost, 0xff, sizeof ref->cost);
    ref->cost[ref_index(start.x, start.y, start.z)] = 0;
    for (int32_t i = ref_cheapest(ref); i >= 0; i = ref_cheapest(ref)) {
        ref->done[i] = true;
        ref_relax(ref,
                  (VoxelCoord){i % REF_EDGE, i / (REF_EDGE * REF_EDGE), i / REF_EDGE % REF_EDGE});
    }
}

// Rolling ground with pillars, pits, and roofs of every height above it.
static void random_block(Sim *sim, Rng *rng)
{
    walk_fill(sim, (VoxelCoord){-1, -2, -1}, (VoxelCoord){REF_EDGE, REF_HEIGHT + 2, REF_EDGE}, 0);
    for (int32_t x = 0; x < REF_EDGE; x++) {
        for (int32_t z = 0; z < REF_EDGE; z++) {
            const bool high = rng_below(rng, 4) == 0;
            const int32_t height = (int32_t)rng_below(rng, high ? 5 : 2);
            walk_fill(sim, (VoxelCoord){x, -1, z}, (VoxelCoord){x, height - 1, z}, 1);
            if (rng_below(rng, 4) == 0) {
                const int32_t roof = height + 1 + (int32_t)rng_below(rng, 4);
                walk_fill(sim, (VoxelCoord){x, roof, z}, (VoxelCoord){x, roof, z}, 2);
            }
        }
    }
}

static bool random_spot(const Reference *ref, Rng *rng, VoxelCoord *out)
{
    for (uint32_t i = 0; i < 1000; i++) {
        VoxelCoord at;
        at.x = (int32_t)rng_below(rng, REF_EDGE);
        at.y = (int32_t)rng_below(rng, REF_HEIGHT);
        at.z = (int32_t)rng_below(rng, REF_EDGE);
        if (ref_stands(ref, at.x, at.y, at.z)) {
            *out = at;
            return true;
        }
    }
    return false;
}

static Vec3 cell_feet(VoxelCoord cell)
{
    return vec3((float)cell.x + 0.5f, (float)cell.y, (float)cell.z + 0.5f);
}

// Walks the turns cell by cell; what each step costs by the reference's rules must add up.
static uint32_t walked_cost(const Reference *ref, VoxelCoord at, const Path *path)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < path->count; i++) {
        const VoxelCoord to = voxel_at(vec3_add(path->points[i], vec3(0, 0.01f, 0)));
        while (at.x != to.x || at.z != to.z) {
            VoxelCoord next = at;
            next.x += (to.x > at.x) - (to.x < at.x);
            next.z += (to.z > at.z) - (to.z < at.z);
            next.y = to.y;
            const uint32_t step = ref_step(ref, at, next);
            if (step == REF_NEVER) {
                return REF_NEVER;
            }
            cost += step;
            at = next;
        }
    }
    return cost;
}

static void compare_with_reference(PathFinder *finder, Sim *sim, Reference *ref, Rng *rng,
                                   uint32_t counts[2])
{
    VoxelCoord start;
    VoxelCoord goal;
    REQUIRE(random_spot(ref, rng, &start));
    ref_run(ref, start);
    for (uint32_t i = 0; i < 20; i++) {
        REQUIRE(random_spot(ref, rng, &goal));
        Path path;
        const PathProgress progress =
            find_path(finder, sim, cell_feet(start), cell_feet(goal), &path);
        const uint32_t want = ref->cost[ref_index(goal.x, goal.y, goal.z)];
        counts[want == REF_NEVER] += 1;
        CHECK_INT(progress, want == REF_NEVER ? PATH_GIVEN_UP : PATH_FOUND);
        if (want != REF_NEVER && progress == PATH_FOUND) {
            CHECK_INT(path_cost(finder), want);
            CHECK_INT(path.end, PATH_AT_GOAL);
            CHECK_INT(walked_cost(ref, start, &path), want);
        }
        REQUIRE(test_is_passing());
    }
}

TEST(cheapest_way_on_random_maps)
{
    WalkWorldDesc desc = walk_world_default();
    desc.floor = false;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, CELLS_MAX);
    static Reference ref;
    ref.terrain = sim_terrain_view(world.sim);
    Rng rng = rng_make(test_seed(), 5);
    uint32_t counts[2] = {0, 0};
    for (uint32_t map = 0; map < 25 && test_is_passing(); map++) {
        random_block(world.sim, &rng);
        compare_with_reference(f.finder, world.sim, &ref, &rng, counts);
    }
    CHECK(counts[0] > 100); // both kinds must have occurred, or nothing was tested
    CHECK(counts[1] > 20);
    finder_close(&world, &f);
    walk_world_close(&world);
}

// --- slices, caps, bytes ------------------------------------------------------------------------
static void build_maze(ChunkStore *store)
{
    // Walls with a gap at alternating ends: 22 of them.
    for (int32_t i = 0; i < 22; i++) {
        const int32_t z = -22 + 2 * i;
        const int32_t low = i % 2 == 0 ? -8 : -7;
        CHECK_OK(chunk_store_fill(store, (VoxelCoord){low, 0, z}, (VoxelCoord){low + 14, 2, z}, 1));
    }
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-9, 0, -24}, (VoxelCoord){-9, 2, 24}, 1));
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){8, 0, -24}, (VoxelCoord){8, 2, 24}, 1));
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-9, 0, -24}, (VoxelCoord){8, 2, -24}, 1));
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-9, 0, 24}, (VoxelCoord){8, 2, 24}, 1));
}

static const Vec3 maze_from = {0.5f, 0, -22.5f};
static const Vec3 maze_to = {0.5f, 0, 21.5f};

TEST(slices_change_nothing)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_maze;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, CELLS_MAX);
    Path whole;
    REQUIRE(find_path(f.finder, world.sim, maze_from, maze_to, &whole) == PATH_FOUND);
    CHECK(whole.count > 40);
    CHECK(whole.count < PATH_POINTS_MAX);
    const uint32_t cost = path_cost(f.finder);
    for (uint32_t slice = 1; slice < 20; slice += 6) {
        REQUIRE(path_begin(f.finder, world.sim, maze_from, maze_to));
        PathProgress progress = PATH_SEARCHING;
        uint32_t rounds = 0;
        while (progress == PATH_SEARCHING) {
            uint32_t used = 0;
            progress = path_advance(f.finder, world.sim, slice, &used);
            CHECK(used == slice || (progress != PATH_SEARCHING && used <= slice));
            CHECK_INT(path_is_active(f.finder), progress == PATH_SEARCHING);
            rounds += 1;
            REQUIRE(rounds < 10000);
        }
        Path path;
        path_read(f.finder, world.sim, &path);
        CHECK_INT(path_cost(f.finder), cost);
        CHECK_INT(path.count, whole.count);
        CHECK_BYTES(path.points, whole.points, whole.count * sizeof(Vec3));
    }
    finder_close(&world, &f);
    walk_world_close(&world);
}

static size_t finder_save(PathFinder *finder, uint8_t *bytes, size_t capacity)
{
    ByteWriter writer = byte_writer(bytes, capacity);
    StateIo io = {.mode = STATE_WRITE, .writer = &writer};
    path_visit(finder, &io);
    CHECK_OK(writer.status);
    return writer.at;
}

static Status finder_load(PathFinder *finder, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    StateIo io = {.mode = STATE_READ, .reader = &reader};
    path_visit(finder, &io);
    return byte_reader_finish(&reader);
}

static uint64_t finder_hash(PathFinder *finder)
{
    StateIo io = {.mode = STATE_HASH, .hash = HASH64_INIT};
    path_visit(finder, &io);
    return io.hash.state;
}

static uint8_t saved[1 << 18];

// Steps up and down all over the maze, so that every node has a height of its own.
static void build_rough_maze(ChunkStore *store)
{
    build_maze(store);
    for (int32_t x = -8; x <= 7; x += 3) {
        for (int32_t z = -23; z <= 23; z += 2) {
            CHECK_OK(chunk_store_set(store, (VoxelCoord){x, 0, z}, 1));
        }
    }
}

TEST(restored_search_continues_exactly)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_rough_maze;
    WalkWorld world = walk_world_open(&desc);
    Finder a = finder_open(&world, CELLS_MAX);
    Finder b = finder_open(&world, CELLS_MAX);
    Path unused;
    (void)find_path(b.finder, world.sim, maze_to, maze_from,
                    &unused); // leaves traces in b's memory
    REQUIRE(path_begin(a.finder, world.sim, maze_from, maze_to));
    CHECK_INT(path_advance(a.finder, world.sim, 150, NULL), PATH_SEARCHING);
    const size_t bytes = finder_save(a.finder, saved, sizeof saved);
    CHECK_OK(finder_load(b.finder, saved, bytes));
    CHECK_INT(finder_hash(a.finder), finder_hash(b.finder));
    PathProgress progress = PATH_SEARCHING;
    while (progress == PATH_SEARCHING) {
        progress = path_advance(a.finder, world.sim, 1, NULL);
        CHECK_INT(path_advance(b.finder, world.sim, 1, NULL), progress);
        CHECK_INT(finder_hash(a.finder), finder_hash(b.finder));
        REQUIRE(test_is_passing());
    }
    Path pa;
    Path pb;
    path_read(a.finder, world.sim, &pa);
    path_read(b.finder, world.sim, &pb);
    CHECK_INT(pa.count, pb.count);
    CHECK_BYTES(pa.points, pb.points, pa.count * sizeof(Vec3));
    finder_close(&world, &a);
    finder_close(&world, &b);
    walk_world_close(&world);
}

TEST(broken_bytes_are_refused_or_harmless)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_maze;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, 512);
    REQUIRE(path_begin(f.finder, world.sim, maze_from, maze_to));
    (void)path_advance(f.finder, world.sim, 20, NULL);
    const size_t bytes = finder_save(f.finder, saved, sizeof saved);
    for (size_t cut = 0; cut < bytes; cut++) {
        CHECK(finder_load(f.finder, saved, cut) != STATUS_OK);
        CHECK(!path_is_active(f.finder));
    }
    static uint8_t broken[sizeof saved];
    Rng rng = rng_make(test_seed(), 9);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        memcpy(broken, saved, bytes);
        for (uint32_t n = rng_below(&rng, 4) + 1; n > 0; n--) {
            broken[rng_below(&rng, (uint32_t)bytes)] = (uint8_t)rng_u32(&rng);
        }
        if (finder_load(f.finder, broken, bytes) != STATUS_OK) {
            refused += 1;
        }
        for (uint32_t round = 0; round < 4 && path_is_active(f.finder); round++) {
            if (path_advance(f.finder, world.sim, 200, NULL) != PATH_SEARCHING) {
                Path path;
                path_read(f.finder, world.sim, &path);
                CHECK(path.count <= PATH_POINTS_MAX);
            }
        }
    }
    CHECK(refused > 500);
    finder_close(&world, &f);
    walk_world_close(&world);
}

TEST(cap_ends_a_search_at_the_nearest_place)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_maze;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, 100);
    Path path;
    CHECK_INT(find_path(f.finder, world.sim, maze_from, maze_to, &path), PATH_GIVEN_UP);
    CHECK_INT(path.end, PATH_NEAREST);
    REQUIRE(path.count > 0);
    CHECK(path_last(&path).z > maze_from.z + 1);
    Finder none = finder_open(&world, 0);
    CHECK(!path_begin(none.finder, world.sim, maze_from, maze_to));
    finder_close(&world, &none);
    finder_close(&world, &f);
    walk_world_close(&world);
}

// A row of battlements: up and down at every step, and each step is a turn of its own.
static void build_battlements(ChunkStore *store)
{
    for (int32_t i = 0; i < 90; i++) {
        CHECK_OK(
            chunk_store_fill(store, (VoxelCoord){i - 45, 0, 0}, (VoxelCoord){i - 45, i % 2, 0}, 1));
    }
}

TEST(long_way_is_cut_and_goes_on_from_its_end)
{
    WalkWorldDesc desc = walk_world_default();
    desc.build = build_battlements;
    desc.floor = false;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, CELLS_MAX);
    const Vec3 to = {44.5f, 2, 0.5f};
    Path path;
    REQUIRE(find_path(f.finder, world.sim, vec3(-44.5f, 1, 0.5f), to, &path) == PATH_FOUND);
    CHECK_INT(path.end, PATH_CUT);
    CHECK_INT(path.count, PATH_POINTS_MAX);
    CHECK_NEAR(path.points[0].x, -44.5f, 1e-6); // sets out from the middle, to jump
    CHECK_NEAR(path_last(&path).x, -44.5f + 63, 1e-6);
    REQUIRE(find_path(f.finder, world.sim, path_last(&path), to, &path) == PATH_FOUND);
    CHECK_INT(path.end, PATH_AT_GOAL);
    CHECK_NEAR(path_last(&path).x, to.x, 1e-6);
    finder_close(&world, &f);
    walk_world_close(&world);
}

// --- the world around the path ------------------------------------------------------------------
TEST(open_ground_is_one_straight_line)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, CELLS_MAX);
    Path path;
    REQUIRE(find_path(f.finder, world.sim, vec3(0.2f, 0, 0.7f), vec3(9.6f, 0, 0.1f), &path) ==
            PATH_FOUND);
    CHECK_INT(path.count, 1);
    CHECK_INT(path_cost(f.finder), 90);
    CHECK_NEAR(path.points[0].x, 9.5f, 1e-6);
    REQUIRE(find_path(f.finder, world.sim, vec3(0.5f, 0, 0.5f), vec3(0.7f, 0, 0.3f), &path) ==
            PATH_FOUND);
    CHECK_INT(path.count, 0); // already there
    // A goal in the air means the floor under it; one over a chasm, nothing.
    REQUIRE(find_path(f.finder, world.sim, vec3(0.5f, 0, 0.5f), vec3(5.5f, 2.4f, 0.5f), &path) ==
            PATH_FOUND);
    CHECK(!path_begin(f.finder, world.sim, vec3(0.5f, 0, 0.5f), vec3(5.5f, 9, 0.5f)));
    CHECK(!path_begin(f.finder, world.sim, vec3(0.5f, 0, 0.5f), vec3(1e30f, 0, 0)));
    // Feet over an edge: the nearest spot beside them.
    WalkSpot spot;
    REQUIRE(walk_find(world.sim, vec3((float)WALK_WORLD_HALF + 0.2f, 0, 0.5f), &spot));
    CHECK_INT(spot.cell.x, WALK_WORLD_HALF - 1);
    finder_close(&world, &f);
    walk_world_close(&world);
}

TEST(spots_under_feet)
{
    // A pillar in the middle of a cell, and a slab that hurts.
    PartDesc parts[2] = {walk_box(vec3(5.2f, 0, 0.2f), vec3(5.8f, 2, 0.8f)),
                         walk_box(vec3(8, 0, 0), vec3(12, 0.3f, 3))};
    parts[1].data = (PartData){.flags = PART_DAMAGE, .damage = 5};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    WalkSpot spot;
    REQUIRE(walk_find(world.sim, vec3(5.1f, 0, 0.5f), &spot));
    CHECK_INT(spot.cell.x, 4); // beside the pillar
    CHECK(!walk_find(world.sim, vec3(10.5f, 0.3f, 1.5f), &spot));
    // Too low to stand: under a ceiling at one metre.
    walk_fill(world.sim, (VoxelCoord){-6, 1, -6}, (VoxelCoord){-2, 1, -2}, 1);
    CHECK(!walk_find(world.sim, vec3(-3.5f, 0, -3.5f), &spot));
    walk_fill(world.sim, (VoxelCoord){-4, 1, -4}, (VoxelCoord){-4, 1, -4}, 0);
    REQUIRE(walk_find(world.sim, vec3(-3.5f, 0, -3.5f), &spot));
    CHECK_INT(spot.cell.x, -4);
    walk_world_close(&world);
}

TEST(edits_open_and_close_a_way)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    Finder f = finder_open(&world, CELLS_MAX);
    const Vec3 from = {0.5f, 0, -4.5f};
    const Vec3 to = {0.5f, 0, 4.5f};
    Path path;
    // A closed ring around the start, three high.
    walk_fill(sim, (VoxelCoord){-3, 0, -7}, (VoxelCoord){3, 2, -2}, 1);
    walk_fill(sim, (VoxelCoord){-2, 0, -6}, (VoxelCoord){2, 2, -3}, 0);
    CHECK_INT(find_path(f.finder, sim, from, to, &path), PATH_GIVEN_UP);
    CHECK_INT(path.end, PATH_NEAREST);
    REQUIRE(path.count > 0);
    CHECK_NEAR(path_last(&path).z, -2.5f, 1e-6);
    walk_fill(sim, (VoxelCoord){3, 0, -5}, (VoxelCoord){3, 1, -5}, 0); // a door
    REQUIRE(find_path(f.finder, sim, from, to, &path) == PATH_FOUND);
    CHECK(path_length(from, &path) > 12);
    walk_fill(sim, (VoxelCoord){0, 0, -2}, (VoxelCoord){0, 2, -2}, 0); // a nearer one
    REQUIRE(find_path(f.finder, sim, from, to, &path) == PATH_FOUND);
    CHECK_INT(path_cost(f.finder), 90);
    walk_fill(sim, (VoxelCoord){0, 1, -2}, (VoxelCoord){0, 1, -2}, 1); // too low a lintel
    REQUIRE(find_path(f.finder, sim, from, to, &path) == PATH_FOUND);
    CHECK(path_cost(f.finder) > 90);
    // While a search is under way, too.
    REQUIRE(path_begin(f.finder, sim, from, to));
    CHECK_INT(path_advance(f.finder, sim, 5, NULL), PATH_SEARCHING);
    walk_fill(sim, (VoxelCoord){3, 0, -5}, (VoxelCoord){3, 2, -5}, 1);
    CHECK_INT(path_advance(f.finder, sim, 100000, NULL), PATH_GIVEN_UP);
    finder_close(&world, &f);
    walk_world_close(&world);
}

// A wall of parts across the world, 10 cm thin, on the border between two rows of cells.
static PartDesc thin_wall(float x_from, float x_to)
{
    return walk_box(vec3(x_from, 0, -0.05f), vec3(x_to, 3, 0.05f));
}

TEST(parts_block_unless_ghost_or_hidden)
{
    PartDesc parts[3] = {thin_wall(-48, -0.5f), thin_wall(1.5f, 48), thin_wall(-0.5f, 1.5f)};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 3;
    const Vec3 from = {0.5f, 0, -4.5f};
    const Vec3 to = {0.5f, 0, 4.5f};
    Path path;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, 16384);
    CHECK_INT(find_path(f.finder, world.sim, from, to, &path), PATH_GIVEN_UP);
    CHECK(!walk_line(world.sim, from, to, true));
    CHECK(!walk_line(world.sim, from, to, false));
    CHECK_OK(sim_hide_part(world.sim, 3));
    CHECK_INT(find_path(f.finder, world.sim, from, to, &path), PATH_FOUND);
    CHECK(walk_line(world.sim, from, to, true));
    // A door in the gap: a part that is an entity.
    Handle door;
    CHECK_OK(sim_spawn_part(world.sim, &(ShapeDesc){.part = parts[2]}, &door));
    CHECK_INT(find_path(f.finder, world.sim, from, to, &path), PATH_GIVEN_UP);
    CHECK_OK(sim_set_position(world.sim, door, vec3(0.5f, 1.5f, 20)));
    CHECK_INT(find_path(f.finder, world.sim, from, to, &path), PATH_FOUND);
    finder_close(&world, &f);
    walk_world_close(&world);
    parts[2].data.flags = PART_GHOST;
    world = walk_world_open(&desc);
    f = finder_open(&world, 16384);
    CHECK_INT(find_path(f.finder, world.sim, from, to, &path), PATH_FOUND);
    finder_close(&world, &f);
    walk_world_close(&world);
    // A zone that hurts is walked around, or not at all.
    parts[2].data = (PartData){.flags = PART_GHOST | PART_DAMAGE, .damage = 5};
    world = walk_world_open(&desc);
    f = finder_open(&world, 16384);
    CHECK_INT(find_path(f.finder, world.sim, from, to, &path), PATH_GIVEN_UP);
    finder_close(&world, &f);
    walk_world_close(&world);
}

// No voxel at all: two platforms, joined by a ramp up to a third that is 2.5 m higher.
TEST(floors_and_ramps_of_parts_are_walked)
{
    PartDesc parts[4] = {
        walk_box(vec3(-5, -0.3f, -5), vec3(5, 0.25f, 5)),
        walk_box(vec3(5, -0.3f, -1), vec3(12, 0.25f, 1)),
        walk_box(vec3(-3, 2, 10), vec3(3, 2.75f, 14)),
        {.shape = {SHAPE_WEDGE, {1.5f, 1.25f, 2.5f}}, .pose = {{0, 1.5f, 7.5f}, QUAT_IDENTITY}},
    };
    WalkWorldDesc desc = walk_world_default();
    desc.floor = false;
    desc.parts = parts;
    desc.part_count = 4;
    WalkWorld world = walk_world_open(&desc);
    Finder f = finder_open(&world, CELLS_MAX);
    Path path;
    const Vec3 from = {11.5f, 0.25f, 0.5f};
    REQUIRE(find_path(f.finder, world.sim, from, vec3(0.5f, 2.75f, 12.5f), &path) == PATH_FOUND);
    REQUIRE(path.count > 1);
    CHECK_NEAR(path_last(&path).y, 2.75f, 1e-3);
    for (uint32_t i = 0; i < path.count; i++) {
        CHECK(path.points[i].y >= 0.2f);
        CHECK(path.points[i].y <= 2.8f);
    }
    CHECK(walk_line(world.sim, from, vec3(0.5f, 0.25f, 0.5f), true));
    CHECK(!walk_line(world.sim, from, vec3(4.5f, 0.25f, 4.5f), false)); // across a chasm
    CHECK(walk_line(world.sim, vec3(0.5f, 0.25f, 0.5f), vec3(0.5f, 2.75f, 12.5f), true));
    CHECK_OK(sim_hide_part(world.sim, 4));
    CHECK_INT(find_path(f.finder, world.sim, from, vec3(0.5f, 2.75f, 12.5f), &path), PATH_GIVEN_UP);
    finder_close(&world, &f);
    walk_world_close(&world);
    desc.config.character.slope_cos = 0.95f; // for whom the ramp, of 27 degrees, is too steep
    world = walk_world_open(&desc);
    f = finder_open(&world, CELLS_MAX);
    CHECK_INT(find_path(f.finder, world.sim, from, vec3(0.5f, 2.75f, 12.5f), &path), PATH_GIVEN_UP);
    finder_close(&world, &f);
    walk_world_close(&world);
}

TEST(straight_lines)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Vec3 from = {0.5f, 0, 0.5f};
    CHECK(walk_line(sim, from, vec3(10.3f, 0, 5.2f), true));
    CHECK(!walk_line(sim, from, vec3(30, 0, 0.5f), true));    // too far to look
    CHECK(!walk_line(sim, from, vec3(10.3f, 3, 5.2f), true)); // up in the air
    CHECK(!walk_line(sim, from, vec3(0.0f / 1, 1e30f, 1e30f), true));
    // A pillar beside the line: the middle passes, the shoulders do not.
    walk_fill(sim, (VoxelCoord){5, 0, 1}, (VoxelCoord){5, 2, 1}, 1);
    CHECK(walk_line(sim, vec3(0.5f, 0, 0.9f), vec3(10.5f, 0, 0.9f), false));
    CHECK(!walk_line(sim, vec3(0.5f, 0, 0.9f), vec3(10.5f, 0, 0.9f), true));
    CHECK(walk_line(sim, vec3(0.5f, 0, 0.5f), vec3(10.5f, 0, 0.5f), true));
    CHECK(!walk_line(sim, vec3(0.5f, 0, 1.5f), vec3(10.5f, 0, 1.5f), false));
    // A step of one voxel and a hole are not level.
    walk_fill(sim, (VoxelCoord){5, 0, 1}, (VoxelCoord){5, 2, 1}, 0);
    walk_fill(sim, (VoxelCoord){5, 0, 0}, (VoxelCoord){5, 0, 0}, 1);
    CHECK(!walk_line(sim, from, vec3(10.5f, 0, 0.5f), false));
    walk_fill(sim, (VoxelCoord){5, -1, 0}, (VoxelCoord){5, 0, 0}, 0);
    CHECK(!walk_line(sim, from, vec3(10.5f, 0, 0.5f), false));
    walk_world_close(&world);
}
