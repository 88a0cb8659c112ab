// Saving and restoring: exact, rejects saves of other sims, and safe on damaged bytes.
#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <stdlib.h>

#define STATE_BYTES_MAX (4 << 20)

typedef struct Saved {
    uint8_t *bytes;
    size_t count;
} Saved;

static Saved save(const Sim *sim)
{
    Saved saved = {.bytes = malloc(STATE_BYTES_MAX)};
    ByteWriter writer = byte_writer(saved.bytes, STATE_BYTES_MAX);
    sim_write(sim, &writer);
    CHECK_OK(writer.status);
    saved.count = writer.at;
    return saved;
}

static Status load(Sim *sim, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    const Status status = sim_read(sim, &reader);
    return status != STATUS_OK ? status : byte_reader_finish(&reader);
}

static const PartDesc wall = {.shape = {SHAPE_BOX, {2, 2, 0.5f}},
                              .pose = {{0, 2, 8}, {0, 0, 0, 1}}};

// A little of everything.
static WalkWorld busy_world(void)
{
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &wall;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle player = walk_player(sim, vec3(0, 0, 0));
    const Handle gone = walk_player(sim, vec3(2, 0, 0));
    NpcDesc npc = npc_desc_default();
    npc.position = vec3(-6, 0, -6);
    npc.patrol[0] = vec3(-6, 0, -6);
    npc.patrol[1] = vec3(6, 0, -6);
    npc.patrol_count = 2;
    Handle handle = HANDLE_NONE;
    CHECK_OK(npc_spawn(sim, &npc, &handle));
    CHECK_OK(sim_thaw_part(sim, 1, &handle));
    const MotionSegment segment = {.pose = {{0, 2, 8}, QUAT_IDENTITY},
                                   .velocity = {0, 0.5f, 0},
                                   .tick_from = 3,
                                   .tick_to = 200};
    CHECK_OK(sim_move_part(sim, handle, &segment));
    walk_fill(sim, (VoxelCoord){3, 0, 3}, (VoxelCoord){5, 2, 5}, 2);
    const ProjectileDesc shot = {.shooter = player,
                                 .position = {0, 1.5f, 1},
                                 .velocity = {3, 4, 0},
                                 .gravity = 9.8f,
                                 .damage = 5,
                                 .lifetime_ticks = 300,
                                 .rewind_ticks = 6};
    CHECK_OK(projectile_fire(sim, &shot, &handle));
    sim_set_input(sim, player, &(SimInput){.move_z = 1, .yaw = 0.4f, .buttons = INPUT_RUN});
    sim_remove(sim, gone);
    walk_steps_run(sim, 40);
    walk_fill(sim, (VoxelCoord){-3, 0, 3}, (VoxelCoord){-2, 0, 3}, 1); // not yet seen by a step
    return world;
}

TEST(restores_exactly_and_goes_on_the_same)
{
    WalkWorld world = busy_world();
    const Saved saved = save(world.sim);
    Sim *twin = walk_world_twin(&world);
    walk_steps_run(twin, 5); // what was in it before does not matter
    (void)walk_player(twin, vec3(9, 0, 9));
    REQUIRE(load(twin, saved.bytes, saved.count) == STATUS_OK);
    CHECK(sim_hash(twin) == sim_hash(world.sim));
    const Saved again = save(twin);
    CHECK_INT(again.count, saved.count);
    CHECK_BYTES(again.bytes, saved.bytes, saved.count);
    for (uint32_t i = 0; i < 200 && test_is_passing(); i++) {
        sim_step(world.sim);
        sim_step(twin);
        CHECK(sim_hash(twin) == sim_hash(world.sim));
    }
    free(saved.bytes);
    free(again.bytes);
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}

TEST(the_hash_sees_every_kind_of_change)
{
    WalkWorld world = busy_world();
    Sim *sim = world.sim;
    const uint64_t before = sim_hash(sim);
    CHECK(sim_hash(sim) == before); // asking changes nothing
    (void)rng_u32(sim_rng(sim));
    const uint64_t drawn = sim_hash(sim);
    CHECK(drawn != before);
    walk_fill(sim, (VoxelCoord){9, 0, 9}, (VoxelCoord){9, 0, 9}, 1);
    const uint64_t edited = sim_hash(sim);
    CHECK(edited != drawn);
    const Handle player = sim_next(sim, HANDLE_NONE, ENTITY_MASK(ENTITY_PLAYER));
    CHECK_OK(sim_set_velocity(sim, player, vec3(0, 0, 1e-3f)));
    CHECK(sim_hash(sim) != edited);
    walk_world_close(&world);
}

TEST(another_scene_or_config_is_refused)
{
    WalkWorld world = busy_world();
    const Saved saved = save(world.sim);
    WalkWorldDesc desc = walk_world_default();
    WalkWorld bare = walk_world_open(&desc);
    CHECK_INT(load(bare.sim, saved.bytes, saved.count), STATUS_MISMATCH);
    desc.parts = &wall;
    desc.part_count = 1;
    desc.config.character.gravity += 1;
    WalkWorld heavy = walk_world_open(&desc);
    CHECK_INT(load(heavy.sim, saved.bytes, saved.count), STATUS_MISMATCH);
    saved.bytes[0] = 99;
    CHECK_INT(load(world.sim, saved.bytes, saved.count), STATUS_UNSUPPORTED);
    free(saved.bytes);
    walk_world_close(&bare);
    walk_world_close(&heavy);
    walk_world_close(&world);
}

TEST(damaged_bytes_leave_an_empty_sim)
{
    WalkWorld world = busy_world();
    const Saved saved = save(world.sim);
    Sim *twin = walk_world_twin(&world);
    const uint64_t empty = sim_hash(twin);
    for (size_t count = 0; count < saved.count; count += 1 + saved.count / 300) {
        CHECK(load(twin, saved.bytes, count) != STATUS_OK);
        CHECK(sim_hash(twin) == empty);
    }
    Rng rng = rng_make(test_seed(), 6);
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < 1500 && test_is_passing(); i++) {
        const uint32_t at = rng_below(&rng, (uint32_t)saved.count);
        const uint8_t was = saved.bytes[at];
        saved.bytes[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
        if (load(twin, saved.bytes, saved.count) == STATUS_OK) {
            accepted += 1; // a changed float is still a float: it must be safe to go on with
            walk_steps_run(twin, 3);
        } else {
            sim_step(twin);
        }
        saved.bytes[at] = was;
    }
    CHECK(accepted > 0);
    CHECK_OK(load(twin, saved.bytes, saved.count));
    CHECK(sim_hash(twin) == sim_hash(world.sim));
    free(saved.bytes);
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}
