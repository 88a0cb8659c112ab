// Structures: each rule of placement, overlap compared with a slow reference, support with a search
// from the ground, collapses, and their state.
#include "core/base/rng.h"
#include "core/sim/overlap.h"
#include "core/sim/sim_internal.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

// The catalogue of these tests.
enum { CUBE, BEAM, SLAB, FOOT, BLOCK, PIECE_COUNT };
static const PieceDesc PIECES[PIECE_COUNT] = {
    [CUBE] = {1, 1, 1, 0, 10},    [BEAM] = {3, 1, 1, 0, 20},
    [SLAB] = {2, 1, 4, 0, 30},    [FOOT] = {1, 2, 1, PIECE_GROUND_ONLY, 40},
    [BLOCK] = {8, 8, 8, 0, 1000},
};

static Heap heap;
static ChunkStore *chunks;
static Scene *scene;
static Sim *sim;

typedef struct World {
    const PartDesc *parts;
    uint32_t part_count;
    Aabb bounds;
    uint32_t structures_max;
    uint32_t per_player_max;
    bool client;
} World;

// Solid below y = 0 for x, z in [-64, 64); air elsewhere.
static void setup(World world)
{
    heap = heap_make(1u << 30);
    const ChunkStoreConfig store = {64, 256, voxel_kinds_default()};
    CHECK_OK(chunk_store_create(&heap, &store, &chunks));
    CHECK_OK(chunk_store_fill(chunks, (VoxelCoord){-64, -3, -64}, (VoxelCoord){63, -1, 63}, 1));
    const SceneDesc desc = {.chunks = chunks,
                            .parts = world.parts,
                            .part_count = world.part_count,
                            .pieces = PIECES,
                            .piece_count = PIECE_COUNT,
                            .bounds = world.bounds};
    CHECK_OK(scene_create(&heap, &desc, &scene, NULL));
    SimConfig config = sim_config_default();
    config.entity_max = 4096;
    config.character_max = 64;
    config.npc_max = 0;
    config.structures_max = world.structures_max != 0 ? world.structures_max : 3000;
    config.structures_per_player_max = world.per_player_max != 0 ? world.per_player_max : 2000;
    config.terrain = (TerrainConfig){.chunk_max = 64, .page_max = 256};
    config.authority = !world.client;
    CHECK_OK(sim_create(&heap, &config, scene, &sim));
    heap_freeze(&heap);
}

static void teardown(void)
{
    heap_thaw(&heap);
    sim_destroy(&heap, sim);
    scene_destroy(&heap, scene);
    chunk_store_destroy(&heap, chunks);
    CHECK_INT(heap.bytes_now, 0);
}

static StructureDesc desc_of(uint32_t piece, int32_t x, int32_t y, int32_t z)
{
    return (StructureDesc){.owner_id = 1, .piece = piece, .cell = {x, y, z}};
}

static Status check(uint32_t piece, int32_t x, int32_t y, int32_t z)
{
    const StructureDesc desc = desc_of(piece, x, y, z);
    return structure_check(sim, &desc);
}

static Handle place(uint32_t piece, int32_t x, int32_t y, int32_t z)
{
    const StructureDesc desc = desc_of(piece, x, y, z);
    Handle handle = HANDLE_NONE;
    const Status status = structure_place(sim, &desc, &handle);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "piece %u at %d %d %d: %s", piece, x, y, z,
                  status_name(status));
    }
    return handle;
}

static const Part *part_of(Handle handle)
{
    return &sim_at(sim, handle.index)->part;
}

static void steps(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_step(sim);
    }
}

static uint32_t removed_count(StructureEnd end)
{
    uint32_t count = 0;
    uint32_t found = 0;
    const SimEvent *events = sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        found += events[i].type == SIM_EVENT_STRUCTURE_REMOVED && events[i].detail == end;
    }
    return found;
}

static void edit(int32_t x, int32_t y, int32_t z, VoxelKind kind)
{
    CHECK_OK(terrain_set(sim->terrain, (VoxelCoord){x, y, z}, kind, NULL));
}

static PartDesc box_part(Vec3 at, Vec3 half)
{
    return (PartDesc){{SHAPE_BOX, half}, {at, QUAT_IDENTITY}, {.flags = 0}};
}

// --- placing ------------------------------------------------------------------------------------

TEST(a_piece_stands_in_its_cells)
{
    setup((World){.parts = NULL});
    const Handle slab = place(SLAB, 3, 0, -5);
    const Entity *entity = sim_entity(sim, slab);
    REQUIRE(entity != NULL);
    CHECK_INT(entity->type, ENTITY_STRUCTURE);
    CHECK_INT(entity->owner_id, 1);
    const Aabb box = entity->part.placed.bounds;
    CHECK(vec3_equal(box.min, vec3(3, 0, -5)));
    CHECK(vec3_equal(box.max, vec3(5, 1, -1)));
    CHECK(vec3_equal(entity->position, vec3(4, 0.5f, -3)));
    CHECK_INT(entity->part.support, 1);
    CHECK_NEAR(entity->part.health, 30, 0);
    // A quarter turn swaps x and z.
    const StructureDesc desc = {.owner_id = 2, .piece = SLAB, .cell = {10, 0, 0}, .turn = 3};
    Handle turned = HANDLE_NONE;
    CHECK_OK(structure_place(sim, &desc, &turned));
    CHECK(vec3_equal(part_of(turned)->placed.bounds.max, vec3(14, 1, 2)));
    CHECK_INT(part_of(turned)->turn, 3);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 2);
    // It blocks: the exact query that movement uses confirms it.
    CHECK(sim_penetration(sim, vec3(4, 0, -3)) > 0.3f);
    teardown();
}

TEST(what_cannot_be_placed_says_why)
{
    setup((World){.bounds = {{-40, -40, -40}, {40, 40, 40}}});
    Handle handle = {77, 88};
    StructureDesc desc = desc_of(PIECE_COUNT, 0, 0, 0);
    CHECK_INT(structure_place(sim, &desc, &handle), STATUS_NOT_FOUND);
    desc = desc_of(UINT32_MAX, 0, 0, 0);
    CHECK_INT(structure_place(sim, &desc, &handle), STATUS_NOT_FOUND);
    desc = desc_of(CUBE, 0, 0, 0);
    desc.turn = 4;
    CHECK_INT(structure_place(sim, &desc, &handle), STATUS_RANGE);
    const int32_t outside[] = {40, -41, INT32_MAX, INT32_MIN, 20000};
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_INT(check(CUBE, outside[i], 0, 0), STATUS_RANGE);
        CHECK_INT(check(CUBE, 0, outside[i], 0), STATUS_RANGE);
        CHECK_INT(check(CUBE, 0, 0, outside[i]), STATUS_RANGE);
    }
    CHECK_OK(check(CUBE, 39, 0, -40));
    CHECK_INT(check(SLAB, 39, 0, 0), STATUS_RANGE);
    CHECK_INT(check(CUBE, 0, -1, 0), STATUS_BLOCKED);
    CHECK_INT(check(CUBE, 0, 1, 0), STATUS_DENIED);
    CHECK_INT(handle.index, 77);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 0);
    desc = desc_of(CUBE, 0, 0, 0);
    desc.net_id = 40;
    CHECK_OK(structure_place(sim, &desc, &handle));
    desc.cell.x = 5;
    CHECK_INT(structure_place(sim, &desc, &handle), STATUS_EXISTS);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 1);
    teardown();
}

TEST(a_world_without_catalogue_has_no_pieces)
{
    heap = heap_make(1u << 28);
    SimConfig config = sim_config_default();
    config.entity_max = 64;
    config.character_max = 8;
    config.npc_max = 0;
    config.structures_max = 8;
    CHECK_OK(sim_create(&heap, &config, NULL, &sim));
    CHECK_INT(check(CUBE, 0, 0, 0), STATUS_NOT_FOUND);
    steps(3);
    sim_destroy(&heap, sim);
}

TEST(nothing_may_be_in_the_way)
{
    const Quat turned = quat_from_yaw(MATH_PI / 4);
    PartDesc parts[4] = {
        box_part(vec3(10.5f, 0.5f, 0.5f), vec3(0.5f, 0.5f, 0.5f)), // cell (10, 0, 0)
        box_part(vec3(20, 0.5f, 0.5f), vec3(0.5005f, 0.5f, 0.5f)), // to x = 20.5005
        box_part(vec3(30.5f, 0.5f, 0.5f), vec3(0.6f, 0.5f, 0.6f)), // turned: corners at 0.85
        box_part(vec3(0.5f, 0.5f, 20.5f), vec3(0.5f, 0.5f, 0.5f)), // a ghost
    };
    parts[2].pose.rotation = turned;
    parts[3].data.flags = PART_GHOST;
    setup((World){.parts = parts, .part_count = 4});
    CHECK_INT(check(CUBE, 10, 0, 0), STATUS_BLOCKED);
    CHECK_OK(check(CUBE, 11, 0, 0)); // face to face
    CHECK_OK(check(CUBE, 10, 1, 0)); // on top
    CHECK_INT(check(CUBE, 20, 0, 0), STATUS_BLOCKED);
    CHECK_INT(check(CUBE, 31, 0, 0), STATUS_BLOCKED); // a corner reaches 0.35 m into it
    CHECK_OK(check(CUBE, 31, 0, 1));                  // diagonally beside: only the bounds touch
    CHECK_OK(check(CUBE, 0, 0, 20));
    // Hidden, it is not there any more.
    CHECK_OK(sim_hide_part(sim, 1));
    CHECK_OK(check(CUBE, 10, 0, 0));
    // Structures, by cell.
    (void)place(SLAB, -10, 0, -10);
    CHECK_INT(check(CUBE, -9, 0, -7), STATUS_BLOCKED);
    CHECK_INT(check(BEAM, -12, 0, -8), STATUS_BLOCKED);
    CHECK_OK(check(CUBE, -8, 0, -10));
    CHECK_OK(check(CUBE, -11, 0, -10));
    CHECK_OK(check(CUBE, -10, 0, -6));
    teardown();
}

TEST(a_millimetre_does_not_count)
{
    const PartDesc parts[2] = {
        box_part(vec3(10, 0.5f, 0.5f), vec3(0.5005f, 0.5f, 0.5f)), // to x = 10.5005
        box_part(vec3(9.5005f, 5, 0.5f), vec3(0.5f, 0.5f, 0.5f)),  // half a millimetre into x = 10
    };
    setup((World){.parts = parts, .part_count = 2});
    CHECK_INT(check(CUBE, 10, 0, 0), STATUS_BLOCKED);
    CHECK_INT(check(CUBE, 10, 4, 0), STATUS_DENIED); // not blocked; nothing holds it
    CHECK_INT(check(CUBE, 9, 4, 0), STATUS_BLOCKED);
    teardown();
}

TEST(entities_are_in_the_way)
{
    setup((World){.parts = NULL});
    Handle part = HANDLE_NONE;
    const ShapeDesc ball = {
        .part = {{SHAPE_SPHERE, {0.5f, 0, 0}}, {{5.5f, 0.5f, 5.5f}, QUAT_IDENTITY}, {.flags = 0}}};
    CHECK_OK(sim_spawn_part(sim, &ball, &part));
    CHECK_INT(check(CUBE, 5, 0, 5), STATUS_BLOCKED);
    CHECK_OK(check(CUBE, 6, 0, 5));
    CHECK_OK(sim_set_part_data(sim, part, &(PartData){.flags = PART_GHOST}));
    CHECK_OK(check(CUBE, 5, 0, 5));
    Handle prop = HANDLE_NONE;
    CHECK_OK(sim_spawn_prop(sim, &ball, &prop));
    CHECK_OK(check(CUBE, 5, 0, 5));
    // A character with radius 0.4 in the middle of its cell, then near the border.
    Handle player = HANDLE_NONE;
    CHECK_OK(sim_spawn_player(sim, &(CharacterDesc){.position = {-4.5f, 0, -4.5f}}, &player));
    CHECK_INT(check(CUBE, -5, 0, -5), STATUS_BLOCKED);
    CHECK_OK(check(CUBE, -4, 0, -5));
    CHECK_OK(sim_set_position(sim, player, vec3(-4.2f, 0, -4.5f)));
    CHECK_INT(check(CUBE, -4, 0, -5), STATUS_BLOCKED);
    CHECK_OK(check(CUBE, -4, 0, -6)); // not round the corner
    (void)sim_damage(sim, player, 1000, 0);
    CHECK_OK(check(CUBE, -4, 0, -5));
    // Standing on a piece is no reason not to build beside it.
    (void)place(CUBE, 8, 0, 8);
    CHECK_OK(sim_revive(sim, player, vec3(8.5f, 1, 8.5f)));
    CHECK_OK(check(CUBE, 9, 0, 8));
    CHECK_INT(check(CUBE, 8, 1, 8), STATUS_BLOCKED);
    teardown();
}

// The distance between a box and a convex shape: going back and forth between nearest points.
// That is slow where they are nearly parallel.
static double distance_between(Aabb box, const PlacedShape *shape, uint32_t rounds)
{
    Vec3 p = vec3_scale(vec3_add(box.min, box.max), 0.5f);
    double distance = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        const ShapeContact contact = shape_closest(shape, p);
        if (contact.distance <= 0) {
            return 0;
        }
        const Vec3 nearest = vec3_min(vec3_max(contact.point, box.min), box.max);
        distance = (double)vec3_length(vec3_sub(nearest, contact.point));
        if (vec3_equal(nearest, p)) {
            break;
        }
        p = nearest;
    }
    return distance;
}

static Quat random_turn(Rng *rng)
{
    const uint32_t turn = rng_below(rng, 4);
    if (turn == 0) {
        return QUAT_IDENTITY;
    }
    if (turn == 1) {
        return quat_from_yaw(rng_range(rng, -3, 3));
    }
    const Vec3 axis = {rng_range(rng, -1, 1), rng_range(rng, -1, 1), rng_range(rng, 0.1f, 1)};
    return quat_from_axis_angle(vec3_normalise(axis), rng_range(rng, -3, 3));
}

TEST(overlap_is_what_the_reference_says)
{
    Rng rng = rng_make(test_seed(), 1);
    uint32_t clear[2] = {0, 0};
    for (uint32_t i = 0; i < 3000 && test_is_passing(); i++) {
        const Shape shape = {
            (ShapeKind)rng_below(&rng, SHAPE_KIND_COUNT),
            {rng_range(&rng, 0.2f, 2), rng_range(&rng, 0.2f, 2), rng_range(&rng, 0.2f, 2)}};
        const Quat rotation = random_turn(&rng);
        const Vec3 size = {(float)(1 + rng_below(&rng, 4)), (float)(1 + rng_below(&rng, 4)), 1};
        const Aabb box = {vec3_scale(size, -0.5f), vec3_scale(size, 0.5f)};
        const Vec3 direction = vec3_normalise(
            vec3(rng_range(&rng, -1, 1), rng_range(&rng, -1, 1), rng_range(&rng, -1, 1)));
        // How far out it touches, and then a little more or less than that.
        float low = 0;
        float high = 12;
        for (uint32_t k = 0; k < 14; k++) {
            const float middle = (low + high) / 2;
            const Pose pose = {vec3_scale(direction, middle), rotation};
            const PlacedShape placed = shape_place(shape, pose);
            *(distance_between(box, &placed, 300) > 1e-3 ? &high : &low) = middle;
        }
        const float off = rng_range(&rng, -0.15f, 0.3f);
        const Pose pose = {vec3_scale(direction, high + off), rotation};
        const PlacedShape placed = shape_place(shape, pose);
        const bool prism = placed.kind == SHAPE_CYLINDER && placed.turn == SHAPE_FREE;
        const double wider = prism ? 0.0824 * (double)shape.half.x : 0;
        const bool got = overlap_box_shape(box, &placed);
        if (distance_between(box, &placed, 20000) > wider + 5e-3) {
            clear[0] += 1;
            CHECK(!got);
        } else if (distance_between(aabb_grow(box, -5e-3f), &placed, 20000) < 1e-3) {
            clear[1] += 1;
            CHECK(got);
        }
    }
    CHECK(clear[0] > 1000);
    CHECK(clear[1] > 500);
}

// --- owners and caps ----------------------------------------------------------------------------

TEST(only_the_owner_or_the_server_removes)
{
    setup((World){.parts = NULL});
    const Handle mine = place(CUBE, 0, 0, 0);
    CHECK_INT(structure_remove(sim, mine, 2), STATUS_DENIED);
    CHECK(!sim_at(sim, mine.index)->removing);
    CHECK_OK(structure_remove(sim, mine, 1));
    const uint64_t id = sim_at(sim, mine.index)->net_id;
    CHECK_INT(check(CUBE, 0, 0, 0), STATUS_BLOCKED);  // still there until the step
    CHECK_INT(check(CUBE, 0, 1, 0), STATUS_DENIED);   // but holds nothing
    CHECK_INT(check(CUBE, 50, 1, 50), STATUS_DENIED); // as nothing does here
    sim_step(sim);
    uint32_t count = 0;
    const SimEvent *events = sim_events(sim, &count);
    REQUIRE(count == 1);
    CHECK_INT(events[0].type, SIM_EVENT_STRUCTURE_REMOVED);
    CHECK_INT(events[0].detail, STRUCTURE_REMOVED);
    CHECK_INT(events[0].subject, id);
    CHECK_OK(check(CUBE, 0, 0, 0));
    CHECK_INT(structure_remove(sim, mine, 1), STATUS_NOT_FOUND);
    CHECK_OK(structure_remove(sim, place(CUBE, 0, 0, 0), 0));
    Handle player = HANDLE_NONE;
    CHECK_OK(sim_spawn_player(sim, &(CharacterDesc){.position = {9, 0, 9}}, &player));
    CHECK_INT(structure_remove(sim, player, 0), STATUS_NOT_FOUND);
    teardown();
}

TEST(caps_hold)
{
    setup((World){.structures_max = 10, .per_player_max = 3});
    Handle handles[10];
    StructureDesc desc = desc_of(CUBE, 0, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        desc.cell.x = (int32_t)i * 2;
        CHECK_OK(structure_place(sim, &desc, &handles[i]));
    }
    desc.cell.x = 30;
    Handle none = HANDLE_NONE;
    CHECK_INT(structure_place(sim, &desc, &none), STATUS_LIMIT);
    desc.owner_id = 2;
    CHECK_OK(structure_check(sim, &desc));
    desc.owner_id = 0; // the server has no cap of its own
    for (uint32_t i = 3; i < 10; i++) {
        desc.cell.x = (int32_t)i * 2;
        CHECK_OK(structure_place(sim, &desc, &handles[i]));
    }
    desc.cell.x = 30;
    CHECK_INT(structure_check(sim, &desc), STATUS_LIMIT);
    CHECK_OK(structure_remove(sim, handles[1], 1));
    sim_step(sim);
    desc.owner_id = 1;
    CHECK_OK(structure_place(sim, &desc, &none));
    CHECK_INT(structure_check(sim, &desc), STATUS_LIMIT);
    teardown();
}

// Thousands of owners come and go through the table of counts.
TEST(owners_are_counted_one_by_one)
{
    enum { OWNERS = 60, CAP = 4, SPOTS = 120 };
    Rng rng = rng_make(test_seed(), 2);
    setup((World){.structures_max = SPOTS, .per_player_max = CAP});
    Handle standing[SPOTS] = {{0, 0}};
    uint64_t owners[SPOTS] = {0};
    for (uint32_t i = 0; i < 6000 && test_is_passing(); i++) {
        const uint32_t spot = rng_below(&rng, SPOTS);
        if (!handle_is_none(standing[spot])) {
            sim_release(sim, standing[spot].index);
            standing[spot] = HANDLE_NONE;
            continue;
        }
        const uint64_t owner = 1 + (uint64_t)rng_below(&rng, OWNERS) * 0x100000001ull;
        uint32_t count = 0;
        for (uint32_t k = 0; k < SPOTS; k++) {
            count += !handle_is_none(standing[k]) && owners[k] == owner;
        }
        StructureDesc desc = desc_of(CUBE, (int32_t)(spot % 12) * 2, 0, (int32_t)(spot / 12) * 2);
        desc.owner_id = owner;
        CHECK_INT(structure_place(sim, &desc, &standing[spot]),
                  count < CAP ? STATUS_OK : STATUS_LIMIT);
        owners[spot] = owner;
    }
    teardown();
}

// --- damage -------------------------------------------------------------------------------------

TEST(damage_destroys)
{
    setup((World){.parts = NULL});
    const Handle low = place(CUBE, 0, 0, 0);
    const Handle high = place(CUBE, 0, 1, 0);
    CHECK_NEAR(sim_damage(sim, low, 4, 99), 6, 1e-6);
    CHECK_NEAR(sim_damage(sim, low, -100, 99), 10, 0);
    CHECK_NEAR(sim_damage(sim, low, NAN, 99), 0, 10);
    CHECK_NEAR(part_of(low)->health, 10, 0);
    uint32_t count = 0;
    const SimEvent *events = sim_events(sim, &count);
    REQUIRE(count == 2);
    CHECK_INT(events[0].type, SIM_EVENT_DAMAGED);
    CHECK_INT(events[0].other, 99);
    CHECK_NEAR(sim_damage(sim, low, 11, 99), 0, 0);
    CHECK_NEAR(sim_damage(sim, low, 11, 99), 0, 0); // not twice
    (void)sim_events(sim, &count);
    CHECK_INT(count, 3);
    sim_step(sim);
    CHECK(sim_entity(sim, low) == NULL);
    CHECK_INT(removed_count(STRUCTURE_DESTROYED), 1);
    CHECK_INT(removed_count(STRUCTURE_COLLAPSED), 1); // what stood on it, in the same tick
    CHECK(sim_entity(sim, high) == NULL);
    teardown();
}

// --- support ------------------------------------------------------------------------------------

TEST(support_counts_the_steps)
{
    setup((World){.parts = NULL});
    (void)place(CUBE, 0, 0, 0);
    CHECK_INT(part_of(place(CUBE, 0, 1, 0))->support, 2);
    Handle last = HANDLE_NONE;
    for (int32_t x = 1; x <= 6; x++) {
        last = place(CUBE, x, 1, 0);
        CHECK_INT(part_of(last)->support, x + 2);
    }
    CHECK_INT(check(CUBE, 7, 1, 0), STATUS_DENIED);
    CHECK_INT(check(CUBE, 6, 2, 1), STATUS_DENIED); // an edge is no face
    CHECK_INT(check(FOOT, 1, 2, 0), STATUS_DENIED); // only on the ground
    CHECK_OK(check(FOOT, 7, 0, 0));
    // A foot under the end: the numbers follow.
    CHECK_INT(part_of(place(CUBE, 6, 0, 0))->support, 1);
    steps(5);
    CHECK_INT(part_of(last)->support, 2);
    CHECK_OK(check(CUBE, 7, 1, 0));
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 9);
    teardown();
}

TEST(anchored_parts_hold_within_two_centimetres)
{
    PartDesc parts[5] = {
        box_part(vec3(0.5f, 9.5f, 0.5f), vec3(0.5f, 0.5f, 0.5f)),    // top at 10
        box_part(vec3(10.5f, 9.485f, 0.5f), vec3(0.5f, 0.5f, 0.5f)), // 1.5 cm below
        box_part(vec3(20.5f, 9.475f, 0.5f), vec3(0.5f, 0.5f, 0.5f)), // 2.5 cm below
        box_part(vec3(30.5f, 10.5f, 0.5f), vec3(0.5f, 0.5f, 0.5f)),  // a wall beside x = 31
        box_part(vec3(40.5f, 9.5f, 0.5f), vec3(0.5f, 0.5f, 0.5f)),   // a ghost
    };
    parts[4].data.flags = PART_GHOST;
    setup((World){.parts = parts, .part_count = 5});
    CHECK_OK(check(CUBE, 0, 10, 0));
    CHECK_OK(check(FOOT, 0, 10, 0));
    CHECK_OK(check(BEAM, -2, 10, 0)); // with one end
    CHECK_INT(check(CUBE, 1, 10, 0), STATUS_DENIED);
    CHECK_OK(check(CUBE, 10, 10, 0));
    CHECK_INT(check(CUBE, 20, 10, 0), STATUS_DENIED);
    CHECK_INT(check(CUBE, 31, 10, 0), STATUS_DENIED);
    CHECK_INT(check(CUBE, 40, 10, 0), STATUS_DENIED);
    // Dynamic parts move: they hold nothing.
    Handle part = HANDLE_NONE;
    const ShapeDesc lift = {.part = box_part(vec3(50.5f, 9.5f, 0.5f), vec3(0.5f, 0.5f, 0.5f))};
    CHECK_OK(sim_spawn_part(sim, &lift, &part));
    CHECK_INT(check(CUBE, 50, 10, 0), STATUS_DENIED);
    // When the part is removed, so is what stands on it.
    const Handle cube = place(CUBE, 0, 10, 0);
    steps(10);
    CHECK(sim_entity(sim, cube) != NULL);
    CHECK_OK(sim_hide_part(sim, 1));
    sim_step(sim);
    CHECK(sim_entity(sim, cube) == NULL);
    CHECK_INT(removed_count(STRUCTURE_COLLAPSED), 1);
    teardown();
}

TEST(a_tower_falls_with_its_foot)
{
    setup((World){.parts = NULL});
    const Handle foot = place(CUBE, 0, 0, 0);
    Handle tower[8];
    for (int32_t y = 1; y < 8; y++) {
        tower[y] = place(CUBE, 0, y, 0);
    }
    const Handle beside = place(CUBE, 1, 0, 0); // stands by itself
    const Handle bridge = place(CUBE, 1, 1, 0); // on that one
    steps(3);
    CHECK_INT(part_of(tower[7])->support, 8);
    CHECK_OK(structure_remove(sim, foot, 1));
    steps(30);
    // 1 (beside) holds 2 (bridge), which holds tower[1] as 3, and so on: tower[6] is 8.
    CHECK_INT(part_of(bridge)->support, 2);
    CHECK_INT(part_of(tower[1])->support, 3);
    CHECK_INT(part_of(tower[6])->support, 8);
    CHECK(sim_entity(sim, tower[7]) == NULL);
    CHECK(sim_entity(sim, beside) != NULL);
    CHECK_OK(structure_remove(sim, beside, 1));
    steps(30);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 0);
    teardown();
}

TEST(terrain_under_it_goes_or_comes)
{
    setup((World){.parts = NULL});
    const Handle slab = place(SLAB, 0, 0, 0);
    for (int32_t i = 0; i < 7; i++) {
        edit(i % 2, -1, i / 2, 0);
        steps(2);
        CHECK(sim_entity(sim, slab) != NULL);
    }
    edit(1, -1, 3, 0);
    sim_step(sim);
    CHECK(sim_entity(sim, slab) == NULL);
    CHECK_INT(removed_count(STRUCTURE_COLLAPSED), 1);
    // New ground under the end of a bridge shortens its way.
    (void)place(CUBE, 10, 0, 0);
    const Handle middle = place(BEAM, 10, 1, 0);
    const Handle end = place(BEAM, 13, 1, 0);
    CHECK_INT(part_of(end)->support, 3);
    edit(15, 0, 0, 1);
    steps(3);
    CHECK_INT(part_of(end)->support, 1);
    CHECK_INT(part_of(middle)->support, 2);
    teardown();
}

TEST(support_that_moves_over_saves_the_bridge)
{
    // In one tick the old pillar goes and a new one comes at the far end: nothing may fall,
    // although the numbers must first fall from one side and rise from the other.
    setup((World){.parts = NULL});
    const Handle pillar = place(CUBE, 0, 0, 0);
    Handle bridge[7];
    for (int32_t i = 0; i < 7; i++) {
        bridge[i] = place(CUBE, i, 1, 0);
    }
    steps(3);
    CHECK_OK(structure_remove(sim, pillar, 1));
    (void)place(CUBE, 6, 0, 0);
    steps(30);
    for (uint32_t i = 0; i < 7; i++) {
        REQUIRE(sim_entity(sim, bridge[i]) != NULL);
        CHECK_INT(part_of(bridge[i])->support, 8 - i);
    }
    teardown();
}

// The same with more pieces than one tick can work out: some have a wrong number for a while.
TEST(nothing_falls_before_the_numbers_have_settled)
{
    enum { LONG = 7, WIDE = 40 };
    setup((World){.parts = NULL});
    Handle pillars[WIDE];
    Handle bridge[LONG][WIDE];
    for (int32_t z = 0; z < WIDE; z++) {
        pillars[z] = place(CUBE, 0, 0, z);
    }
    for (int32_t x = 0; x < LONG; x++) {
        for (int32_t z = 0; z < WIDE; z++) {
            bridge[x][z] = place(CUBE, x, 1, z);
        }
    }
    steps(10);
    for (int32_t z = 0; z < WIDE; z++) {
        CHECK_OK(structure_remove(sim, pillars[z], 1));
        (void)place(CUBE, LONG - 1, 0, z);
    }
    sim_step(sim);
    bool stale = false;
    for (uint32_t x = 0; x < LONG; x++) {
        for (uint32_t z = 0; z < WIDE; z++) {
            REQUIRE(sim_entity(sim, bridge[x][z]) != NULL);
            stale = stale || part_of(bridge[x][z])->support_stale;
        }
    }
    CHECK(stale); // otherwise this test shows nothing
    steps(60);
    for (uint32_t x = 0; x < LONG; x++) {
        for (uint32_t z = 0; z < WIDE; z++) {
            REQUIRE(sim_entity(sim, bridge[x][z]) != NULL);
            CHECK_INT(part_of(bridge[x][z])->support, LONG + 1 - x);
        }
    }
    teardown();
}

TEST(a_large_collapse_takes_its_time)
{
    setup((World){.parts = NULL});
    // A column of blocks under a field of slabs: 1 + 1 + many.
    const Handle foot = place(CUBE, 0, 0, 0);
    uint32_t count = 0;
    for (int32_t z = -7; z <= 7; z++) {
        for (int32_t x = -7; x <= 7; x++) {
            // Grown from the middle outwards below; here only those near enough.
            count += (x < 0 ? -x : x) + (z < 0 ? -z : z) <= 6;
        }
    }
    uint32_t placed = 0;
    for (int32_t ring = 0; ring <= 6; ring++) {
        for (int32_t z = -ring; z <= ring; z++) {
            for (int32_t x = -ring; x <= ring; x++) {
                if ((x < 0 ? -x : x) + (z < 0 ? -z : z) == ring) {
                    (void)place(CUBE, x, 1, z);
                    placed += 1;
                }
            }
        }
    }
    CHECK_INT(placed, count);
    steps(3);
    CHECK_OK(structure_remove(sim, foot, 1));
    uint32_t gone = 0;
    uint32_t ticks = 0;
    while (sim_count(sim, ENTITY_STRUCTURE) > 0 && ticks < 100) {
        sim_step(sim);
        ticks += 1;
        const uint32_t now = removed_count(STRUCTURE_COLLAPSED);
        CHECK(now <= STRUCTURE_COLLAPSES);
        gone += now;
    }
    CHECK_INT(gone, count);
    CHECK(ticks >= count / STRUCTURE_COLLAPSES);
    CHECK(ticks < 20);
    teardown();
}

TEST(what_never_settles_does_not_hold_up_the_rest)
{
    setup((World){.parts = NULL});
    const Handle foot = place(CUBE, 60, 0, 60);
    const Handle high = place(CUBE, 60, 1, 60);
    // Somebody takes the ground from under a whole field and puts it back, tick by tick.
    for (int32_t z = 0; z < 25; z++) {
        for (int32_t x = 0; x < 25; x++) {
            (void)place(CUBE, 2 * x, 0, 2 * z);
        }
    }
    steps(5);
    CHECK_OK(structure_remove(sim, foot, 1));
    const VoxelCoord low = {0, -1, 0};
    const VoxelCoord end = {49, -1, 49};
    for (uint32_t i = 0; i < STRUCTURE_SETTLE_TICKS + 5; i++) {
        CHECK_OK(terrain_fill_box(sim->terrain, low, end, i % 2 == 0 ? 0 : 1, NULL));
        sim_step(sim);
        if (i == 20) {
            CHECK(sim_entity(sim, high) != NULL); // it does wait for a while
        }
    }
    CHECK(sim_entity(sim, high) == NULL);
    teardown();
}

// --- random building against a search from the ground -------------------------------------------

#define FIELD 10
#define ROWS  3

typedef struct Standing {
    Handle handle;
    VoxelCoord min, max; // exclusive
    uint32_t piece;
    uint32_t distance; // by the search; 99: none
} Standing;

static Standing standing[600];
static uint32_t standing_count;

static bool shares_face(const Standing *a, const Standing *b)
{
    const int32_t low[3] = {a->min.x, a->min.y, a->min.z};
    const int32_t high[3] = {a->max.x, a->max.y, a->max.z};
    const int32_t other_low[3] = {b->min.x, b->min.y, b->min.z};
    const int32_t other_high[3] = {b->max.x, b->max.y, b->max.z};
    for (uint32_t axis = 0; axis < 3; axis++) {
        bool others = true;
        for (uint32_t k = 0; k < 3; k++) {
            others = others && (k == axis || (low[k] < other_high[k] && other_low[k] < high[k]));
        }
        if (others && (high[axis] == other_low[axis] || low[axis] == other_high[axis])) {
            return true;
        }
    }
    return false;
}

static bool has_ground(const Standing *s)
{
    for (int32_t z = s->min.z; z < s->max.z; z++) {
        for (int32_t x = s->min.x; x < s->max.x; x++) {
            if (terrain_is_solid(sim->terrain, (VoxelCoord){x, s->min.y - 1, z})) {
                return true;
            }
        }
    }
    return false;
}

static void search_from_ground(void)
{
    for (uint32_t i = 0; i < standing_count; i++) {
        standing[i].distance = has_ground(&standing[i]) ? 1 : 99;
    }
    for (uint32_t level = 1; level < STRUCTURE_SUPPORT_MAX; level++) {
        for (uint32_t i = 0; i < standing_count; i++) {
            for (uint32_t k = 0; k < standing_count; k++) {
                if (standing[i].distance == 99 && standing[k].distance == level &&
                    (PIECES[standing[i].piece].flags & PIECE_GROUND_ONLY) == 0 &&
                    shares_face(&standing[i], &standing[k])) {
                    standing[i].distance = level + 1;
                }
            }
        }
    }
}

static bool overlaps(const Standing *a, const Standing *b)
{
    return a->min.x < b->max.x && b->min.x < a->max.x && a->min.y < b->max.y &&
           b->min.y < a->max.y && a->min.z < b->max.z && b->min.z < a->max.z;
}

static bool is_in_the_way(const Standing *s)
{
    for (uint32_t i = 0; i < standing_count; i++) {
        if (overlaps(s, &standing[i])) {
            return true;
        }
    }
    for (int32_t z = s->min.z; z < s->max.z; z++) {
        for (int32_t x = s->min.x; x < s->max.x; x++) {
            for (int32_t y = s->min.y; y < s->max.y; y++) {
                if (terrain_is_solid(sim->terrain, (VoxelCoord){x, y, z})) {
                    return true;
                }
            }
        }
    }
    return false;
}

// What placing it should say when everything has settled.
static Status expected(const Standing *s)
{
    if (is_in_the_way(s)) {
        return STATUS_BLOCKED;
    }
    if (has_ground(s)) {
        return STATUS_OK;
    }
    search_from_ground();
    for (uint32_t i = 0; i < standing_count; i++) {
        if ((PIECES[s->piece].flags & PIECE_GROUND_ONLY) == 0 &&
            standing[i].distance < STRUCTURE_SUPPORT_MAX && shares_face(s, &standing[i])) {
            return STATUS_OK;
        }
    }
    return STATUS_DENIED;
}

static void random_build(Rng *rng, bool settled)
{
    const uint32_t piece = rng_below(rng, BLOCK);
    const uint32_t turn = rng_below(rng, 4);
    VoxelCoord cell = {(int32_t)rng_below(rng, FIELD), (int32_t)rng_below(rng, ROWS),
                       (int32_t)rng_below(rng, FIELD)};
    if (standing_count != 0 && rng_below(rng, 4) != 0) {
        cell = standing[rng_below(rng, standing_count)].max; // beside or on something
        cell.x -= (int32_t)rng_below(rng, 4);
        cell.y -= (int32_t)rng_below(rng, 2);
        cell.z -= (int32_t)rng_below(rng, 4);
    }
    const StructureDesc desc = {
        .owner_id = 1 + rng_below(rng, 3), .piece = piece, .cell = cell, .turn = turn};
    const PieceDesc *p = &PIECES[piece];
    Standing s = {.min = desc.cell, .piece = piece};
    s.max = (VoxelCoord){s.min.x + (turn % 2 == 0 ? p->cells_x : p->cells_z), s.min.y + p->cells_y,
                         s.min.z + (turn % 2 == 0 ? p->cells_z : p->cells_x)};
    const Status status = structure_check(sim, &desc);
    if (settled) {
        CHECK_INT(status, expected(&s));
    }
    CHECK_INT(structure_place(sim, &desc, &s.handle), status);
    if (status == STATUS_OK) {
        REQUIRE(standing_count < sizeof standing / sizeof standing[0]);
        standing[standing_count++] = s;
    }
}

static void random_change(Rng *rng, bool settled)
{
    const uint32_t what = rng_below(rng, 20);
    if (what < 16 || standing_count == 0) {
        random_build(rng, settled);
    } else if (what < 18) {
        const uint32_t at = rng_below(rng, standing_count);
        CHECK_OK(structure_remove(sim, standing[at].handle, 0));
        standing[at] = standing[--standing_count];
    } else {
        const VoxelCoord low = {(int32_t)rng_below(rng, FIELD), -1, (int32_t)rng_below(rng, FIELD)};
        const VoxelCoord high = {low.x + 4, -1, low.z + 4};
        const VoxelKind kind = rng_below(rng, 2) == 0 ? 0 : 1;
        CHECK_OK(terrain_fill_box(sim->terrain, low, high, kind, NULL));
    }
}

// Everything the ground holds is there with its distance, and nothing else. Returns how many fell.
static uint32_t check_settled(void)
{
    uint32_t collapsed = 0;
    search_from_ground();
    for (uint32_t i = 0; i < standing_count;) {
        const Entity *entity = sim_entity(sim, standing[i].handle);
        CHECK((entity == NULL) == (standing[i].distance == 99));
        if (entity == NULL) {
            standing[i] = standing[--standing_count];
            collapsed += 1;
            continue;
        }
        CHECK_INT(entity->part.support, standing[i].distance);
        CHECK(!entity->part.support_stale);
        i += 1;
    }
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), standing_count);
    return collapsed;
}

TEST(random_building_keeps_exactly_what_the_ground_holds)
{
    Rng rng = rng_make(test_seed(), 3);
    setup((World){.parts = NULL});
    standing_count = 0;
    uint32_t collapsed = 0;
    uint32_t most = 0;
    for (uint32_t round = 0; round < 2500 && test_is_passing(); round++) {
        const uint32_t changes = rng_below(&rng, 4) == 0 ? 12 : 1;
        for (uint32_t i = 0; i < changes; i++) {
            random_change(&rng, i == 0);
        }
        steps(6);
        collapsed += check_settled();
        most = standing_count > most ? standing_count : most;
    }
    CHECK(collapsed > 100);
    CHECK(most > 60);
    teardown();
}

// --- state --------------------------------------------------------------------------------------

static uint8_t saved[1 << 21];

static size_t save(void)
{
    ByteWriter writer = byte_writer(saved, sizeof saved);
    sim_write(sim, &writer);
    CHECK_OK(writer.status);
    return writer.at;
}

static void build_field(void)
{
    for (int32_t i = 0; i < 5; i++) {
        (void)place(FOOT, i * 3, 0, 0);
        for (int32_t k = 0; k < 6; k++) {
            (void)place(BEAM, i * 3, 2, k);
            (void)place(CUBE, i * 3 + 1, 3, k);
        }
    }
    steps(10);
}

// In the middle of a collapse, and with an edit that no step has seen yet.
TEST(a_restored_collapse_goes_on_the_same)
{
    for (uint32_t round = 0; round < 6 && test_is_passing(); round++) {
        setup((World){.parts = NULL});
        build_field();
        for (int32_t i = 0; i < 5; i++) {
            edit(i * 3, -1, 0, 0);
        }
        steps(round);
        if (round == 0) {
            (void)place(FOOT, 2, 0, 5); // what it touches has a support to work out
        } else if (round == 3) {
            edit(3, -1, 0, 1);
        }
        const size_t size = save();
        heap_thaw(&heap);
        Sim *other = NULL;
        CHECK_OK(sim_create(&heap, &sim->config, scene, &other));
        ByteReader reader = byte_reader(saved, size);
        CHECK_OK(sim_read(other, &reader));
        for (uint32_t i = 0; i < 60 && test_is_passing(); i++) {
            CHECK(sim_hash(sim) == sim_hash(other));
            CHECK_INT(sim_count(other, ENTITY_STRUCTURE), sim_count(sim, ENTITY_STRUCTURE));
            sim_step(sim);
            sim_step(other);
        }
        CHECK(sim_count(sim, ENTITY_STRUCTURE) < (round == 0 ? 60 : 20));
        // The counts of the owners came back as well: as many fit in as before.
        CHECK_INT(sim_count(other, ENTITY_STRUCTURE), sim_count(sim, ENTITY_STRUCTURE));
        sim_destroy(&heap, other);
        teardown();
    }
}

TEST(a_support_to_work_out_is_restored_as_such)
{
    setup((World){.parts = NULL});
    (void)place(CUBE, 0, 0, 0);
    (void)place(BEAM, 0, 1, 0);
    const Handle end = place(BEAM, 3, 1, 0);
    steps(3);
    CHECK_INT(part_of(end)->support, 3);
    (void)place(CUBE, 5, 0, 0);
    const size_t size = save();
    ByteReader reader = byte_reader(saved, size);
    CHECK_OK(sim_read(sim, &reader));
    CHECK_INT(part_of(end)->support, 3);
    sim_step(sim);
    CHECK_INT(part_of(end)->support, 2);
    teardown();
}

TEST(restored_owners_have_their_counts)
{
    setup((World){.per_player_max = 3});
    (void)place(CUBE, 0, 0, 0);
    (void)place(CUBE, 2, 0, 0);
    const size_t size = save();
    (void)place(CUBE, 4, 0, 0);
    CHECK_INT(check(CUBE, 6, 0, 0), STATUS_LIMIT);
    ByteReader reader = byte_reader(saved, size);
    CHECK_OK(sim_read(sim, &reader));
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 2);
    (void)place(CUBE, 4, 0, 0);
    CHECK_INT(check(CUBE, 6, 0, 0), STATUS_LIMIT);
    CHECK_INT(check(CUBE, 0, 0, 0), STATUS_LIMIT);
    teardown();
}

TEST(an_emptied_sim_is_as_new)
{
    setup((World){.parts = NULL});
    const uint64_t fresh = sim_hash(sim);
    build_field();
    edit(0, -1, 0, 0);
    ByteReader reader = byte_reader(saved, 3);
    CHECK(sim_read(sim, &reader) != STATUS_OK);
    CHECK(sim_hash(sim) == fresh);
    (void)place(CUBE, 0, 0, 0);
    steps(3);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 1);
    teardown();
}

TEST(broken_states_are_refused_or_lived_with)
{
    Rng rng = rng_make(test_seed(), 4);
    setup((World){.structures_max = 70});
    build_field();
    edit(3, -1, 0, 0);
    const size_t size = save();
    static uint8_t copy[sizeof saved];
    memcpy(copy, saved, size);
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        memcpy(saved, copy, size);
        for (uint32_t k = 0; k <= rng_below(&rng, 3); k++) {
            saved[17 + rng_below(&rng, (uint32_t)size - 17)] = (uint8_t)rng_u32(&rng);
        }
        ByteReader reader = byte_reader(saved, size);
        if (sim_read(sim, &reader) == STATUS_OK) {
            accepted += 1;
            steps(3);
        }
    }
    CHECK(accepted > 10);
    teardown();
}

static Status read_part(Part *part, const uint8_t *data, size_t size)
{
    ByteReader reader = byte_reader(data, size);
    StateIo io = {.mode = STATE_READ, .reader = &reader};
    structure_visit(sim, part, &io);
    return byte_reader_finish(&reader);
}

TEST(fields_that_make_no_sense_are_not_read)
{
    setup((World){.bounds = {{-40, -40, -40}, {40, 40, 40}}});
    const Part good = *part_of(place(SLAB, 1, 0, 2));
    Part bad[8] = {good, good, good, good, good, good, good, good};
    bad[1].piece = PIECE_COUNT;
    bad[2].turn = 4;
    bad[3].support = 0;
    bad[4].support = STRUCTURE_SUPPORT_MAX + 2;
    bad[5].cell.y = 40;
    bad[6].health = -1;
    bad[7].health = 31;
    for (uint32_t i = 0; i < 8; i++) {
        ByteWriter writer = byte_writer(saved, sizeof saved);
        StateIo io = {.mode = STATE_WRITE, .writer = &writer};
        structure_visit(sim, &bad[i], &io);
        Part got = {.piece = 0};
        CHECK_INT(read_part(&got, saved, writer.at), i == 0 ? STATUS_OK : STATUS_RANGE);
        CHECK(read_part(&got, saved, writer.at - 1) != STATUS_OK);
    }
    teardown();
}

TEST(more_structures_than_allowed_are_not_restored)
{
    setup((World){.structures_max = 2});
    (void)place(CUBE, 0, 0, 0);
    (void)place(CUBE, 2, 0, 0);
    // A third one that never went through the gate.
    uint32_t slot = 0;
    CHECK_OK(sim_acquire(sim, ENTITY_STRUCTURE, 0, 1, &slot));
    sim_at(sim, slot)->part = *part_of((Handle){1, 1});
    const size_t size = save();
    ByteReader reader = byte_reader(saved, size);
    CHECK_INT(sim_read(sim, &reader), STATUS_RANGE);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 0);
    teardown();
}

TEST(a_client_believes_what_it_is_told)
{
    setup((World){.client = true, .structures_max = 2});
    const Handle floating = place(CUBE, 0, 9, 0);
    edit(30, 0, 30, 1);
    steps(200);
    CHECK(sim_entity(sim, floating) != NULL);
    CHECK_INT(check(CUBE, 5, 9, 0), STATUS_DENIED); // a preview still checks the rules
    CHECK_OK(check(CUBE, 5, 0, 0));
    (void)place(CUBE, 0, 9, 5);
    StructureDesc desc = desc_of(CUBE, 0, 9, 9);
    Handle none = HANDLE_NONE;
    CHECK_INT(structure_place(sim, &desc, &none), STATUS_LIMIT);
    desc = desc_of(PIECE_COUNT, 0, 9, 9);
    CHECK_INT(structure_place(sim, &desc, &none), STATUS_NOT_FOUND);
    teardown();
}

// What a client would show: it is not told how far from the ground its pieces are.
TEST(a_client_counts_the_steps_itself)
{
    setup((World){.client = true});
    (void)place(CUBE, 0, 0, 0);
    for (int32_t x = 0; x <= 6; x++) {
        CHECK_OK(check(CUBE, x, 1, 0));
        (void)place(CUBE, x, 1, 0);
    }
    CHECK_INT(check(CUBE, 7, 1, 0), STATUS_DENIED); // the ninth step
    CHECK_INT(check(CUBE, 6, 2, 1), STATUS_DENIED); // an edge is no face
    CHECK_INT(check(FOOT, 1, 2, 0), STATUS_DENIED); // only on the ground
    CHECK_INT(check(CUBE, 6, 1, 0), STATUS_BLOCKED);
    (void)place(CUBE, 6, 0, 0);
    CHECK_OK(check(CUBE, 7, 1, 0));
    teardown();
}

TEST(memory_is_as_announced)
{
    static uint64_t block[8192];
    SimConfig config = sim_config_client();
    Arena arena;
    const size_t need = structure_bytes(&config);
    REQUIRE(need < sizeof block);
    CHECK(need < 4096);
    Structures *made = NULL;
    arena_init(&arena, block, need);
    CHECK_OK(structure_init(&arena, &config, &made));
    CHECK_INT(arena.used, need);
    arena_init(&arena, block, need - 16);
    CHECK_INT(structure_init(&arena, &config, &made), STATUS_LIMIT);
    CHECK_INT(arena.used, 0);
}
