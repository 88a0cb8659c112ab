// No character is ever inside geometry by more than a millimetre: a million random steps in random
// worlds, checked after each one, at both tick rates and with bodies of three sizes.
#include "tests/support/test.h"
#include "tests/unit/property_world.h"

#include <stdio.h>

#define DEPTH_MAX 0.001f
#define TICKS     500
#define WORLDS    32

static PropertyWorld world;

typedef struct Tally {
    uint64_t looked; // living characters looked at, one for each step
    uint64_t grounded;
    uint64_t on_parts;
    uint64_t on_movers;
    uint64_t crushed;
    float deepest;
} Tally;

static void look_at(Handle h, uint32_t number, Tally *tally)
{
    const Entity *entity = sim_entity(world.sim, h);
    if (entity->character.health <= 0) {
        return;
    }
    const float depth = sim_penetration(world.sim, entity->position);
    tally->looked += 1;
    tally->grounded += entity->character.grounded;
    tally->on_parts += entity->character.ground_net_id != 0;
    tally->on_movers += !handle_is_none(entity->character.platform);
    tally->deepest = math_max(tally->deepest, depth);
    if (!(depth <= DEPTH_MAX) || !vec3_is_finite(entity->velocity)) {
        test_fail(__FILE__, __LINE__,
                  "world %u tick %llu: character %u is %.4f m inside at (%.4f %.4f %.4f)", number,
                  (unsigned long long)sim_tick(world.sim), h.index, (double)depth,
                  (double)entity->position.x, (double)entity->position.y,
                  (double)entity->position.z);
    }
}

static void run_world(uint32_t number, Tally *tally)
{
    PropertyOptions options = property_options_default(test_seed() + number);
    options.variant = number % 4;
    property_open(&world, options);
    for (uint32_t tick = 0; tick < TICKS && test_is_passing(); tick++) {
        property_drive(&world);
        sim_step(world.sim);
        uint32_t count = 0;
        const SimEvent *events = sim_events(world.sim, &count);
        for (uint32_t i = 0; i < count; i++) {
            tally->crushed += events[i].type == SIM_EVENT_CRUSHED;
        }
        for (Handle h = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_CHARACTERS);
             !handle_is_none(h); h = sim_next(world.sim, h, ENTITY_MASK_CHARACTERS)) {
            look_at(h, number, tally);
        }
    }
    CHECK_INT(sim_counters(world.sim)->colliders_dropped, 0);
    property_close(&world);
}

TEST(nobody_is_inside_anything)
{
    Tally tally = {0};
    for (uint32_t i = 0; i < WORLDS && test_is_passing(); i++) {
        run_world(i, &tally);
    }
    printf("%llu steps: %llu on the ground, %llu on parts, %llu on moving parts, %llu crushed, "
           "deepest %.6f m\n",
           (unsigned long long)tally.looked, (unsigned long long)tally.grounded,
           (unsigned long long)tally.on_parts, (unsigned long long)tally.on_movers,
           (unsigned long long)tally.crushed, (double)tally.deepest);
    CHECK(tally.looked >= 1000000);
    // The worlds are worth looking at.
    CHECK(tally.grounded > tally.looked / 4);
    CHECK(tally.on_parts > tally.looked / 20);
    CHECK(tally.on_movers > tally.looked / 500);
}

// --- the measure itself -------------------------------------------------------------------------
static float deepest_voxel(Capsule capsule)
{
    const Aabb bounds = capsule_bounds(capsule);
    const VoxelCoord low = voxel_at(bounds.min);
    const VoxelCoord high = voxel_at(bounds.max);
    float deepest = 0;
    for (int32_t z = low.z; z <= high.z; z++) {
        for (int32_t y = low.y; y <= high.y; y++) {
            for (int32_t x = low.x; x <= high.x; x++) {
                if (!terrain_is_solid(sim_terrain_view(world.sim), (VoxelCoord){x, y, z})) {
                    continue;
                }
                const Vec3 corner = vec3((float)x, (float)y, (float)z);
                const PlacedShape box = shape_place_box(corner, vec3_add(corner, vec3(1, 1, 1)));
                deepest = math_max(deepest, -shape_capsule_contact(&box, capsule).distance);
            }
        }
    }
    return deepest;
}

static float deepest_part(Capsule capsule)
{
    float deepest = 0;
    for (uint32_t i = 0; i < world.options.part_count; i++) {
        const ScenePart *part = scene_part(world.scene, i);
        if (!sim_part_is_hidden(world.sim, i) && (part->desc.data.flags & PART_GHOST) == 0) {
            deepest = math_max(deepest, -shape_capsule_contact(&part->placed, capsule).distance);
        }
    }
    for (Handle h = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_SHAPES); !handle_is_none(h);
         h = sim_next(world.sim, h, ENTITY_MASK_SHAPES)) {
        const Part *part = &sim_entity(world.sim, h)->part;
        if ((part->data.flags & PART_GHOST) == 0) {
            deepest = math_max(deepest, -shape_capsule_contact(&part->placed, capsule).distance);
        }
    }
    return deepest;
}

// Voxels are joined into larger boxes, in which one can be deeper than in any one of them.
TEST(penetration_equals_brute_force)
{
    property_open(&world, property_options_busy(test_seed() + 77));
    REQUIRE(sim_hide_part(world.sim, 4) == STATUS_OK);
    uint32_t free_count = 0;
    for (uint32_t tick = 0; tick < 100 && test_is_passing(); tick++) {
        property_drive(&world);
        sim_step(world.sim);
        for (uint32_t i = 0; i < 60; i++) {
            const Vec3 feet = property_place(&world, -4, 6);
            const Capsule capsule = sim_capsule(world.sim, feet);
            const float got = sim_penetration(world.sim, feet);
            const float voxel = deepest_voxel(capsule);
            const float part = deepest_part(capsule);
            free_count += got == 0;
            CHECK(got >= math_max(voxel, part) - 0.0001f);
            CHECK(voxel > 0.0001f || got <= part + 0.0001f);
        }
    }
    CHECK(free_count > 1000);
    CHECK(free_count < 5000);
    property_close(&world);
}
