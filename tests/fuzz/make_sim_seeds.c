// Writes the seed corpora of fuzz_sim_read and fuzz_sim_play:  make_sim_seeds CORPUS_FOLDER
// Run again when the format of a saved sim has changed and the old seeds no longer read.
#include "tests/fuzz/small_world.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

#define SEED_COUNT   12
#define PLAY_BYTES   400
#define HEADER_BY_US 0x80

static uint8_t bytes[1 << 20];

static void write_file(const char *folder, const char *target, int index, size_t count)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s/seed_%02d", folder, target, index);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(bytes, 1, count, file) == count);
    ASSERT(fclose(file) == 0);
}

static void add_characters(Sim *sim, Rng *rng, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Handle h = HANDLE_NONE;
        const CharacterDesc desc = {.position =
                                        vec3(rng_range(rng, -9, 9), 3, rng_range(rng, -9, 9))};
        ASSERT(sim_spawn_player(sim, &desc, &h) == STATUS_OK);
        const SimInput input = {.move_z = 1, .yaw = rng_range(rng, -3, 3), .buttons = INPUT_JUMP};
        sim_set_input(sim, h, &input);
    }
}

static void add_npcs(Sim *sim, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        NpcDesc desc = npc_desc_default();
        Handle h = HANDLE_NONE;
        desc.position = vec3(2 * (float)i, 2, -6);
        desc.patrol[0] = vec3(-8, 0, 8);
        desc.patrol[1] = vec3(8, 0, 8);
        desc.patrol_count = 2;
        ASSERT(npc_spawn(sim, &desc, &h) == STATUS_OK);
    }
}

static void add_parts(Sim *sim)
{
    Handle h = HANDLE_NONE;
    const ShapeDesc desc = {.part = {.shape = {SHAPE_BOX, {1, 0.2f, 1}},
                                     .pose = {{0, 3, 0}, QUAT_IDENTITY},
                                     .data = {.flags = PART_TRIGGER}}};
    ASSERT(sim_spawn_part(sim, &desc, &h) == STATUS_OK);
    const MotionSegment segment = {.pose = desc.part.pose,
                                   .velocity = {0, 1, 0},
                                   .angular_velocity = {0, 1, 0},
                                   .tick_from = sim_tick(sim),
                                   .tick_to = sim_tick(sim) + 60};
    ASSERT(sim_move_part(sim, h, &segment) == STATUS_OK);
    ASSERT(sim_thaw_part(sim, 3, &h) == STATUS_OK);
    ASSERT(sim_hide_part(sim, 9) == STATUS_OK);
}

static void add_projectiles(Sim *sim)
{
    for (int i = 0; i < 5; i++) {
        Handle h = HANDLE_NONE;
        const ProjectileDesc desc = {.position = vec3((float)i, 9, 0),
                                     .velocity = vec3(4, 4, (float)i),
                                     .gravity = 5,
                                     .damage = 3,
                                     .rewind_ticks = 8,
                                     .lifetime_ticks = 200};
        ASSERT(projectile_fire(sim, &desc, &h) == STATUS_OK);
    }
}

static void add_structures(Sim *sim)
{
    for (int32_t i = 0; i < 4; i++) {
        Handle h = HANDLE_NONE;
        const StructureDesc desc = {.owner_id = 1, .cell = {-10 + 3 * i, 1, 10}};
        (void)!structure_place(sim, &desc, &h);
    }
    ASSERT(terrain_fill_sphere(sim_terrain(sim), vec3(5, 0, 5), 2, VOXEL_AIR, NULL) == STATUS_OK);
    ASSERT(terrain_set(sim_terrain(sim), (VoxelCoord){-5, 2, -5}, 4, NULL) == STATUS_OK);
}

// Bit by bit more of everything, from an empty sim on.
static void write_state(const char *folder, int index)
{
    SmallWorld *world = small_world();
    Rng rng = rng_make((uint64_t)index, 3);
    Sim *sim = NULL;
    ASSERT(sim_create(&world->heap, &world->config, world->scene, &sim) == STATUS_OK);
    if (index % 2 == 1) {
        add_characters(sim, &rng, 1 + (uint32_t)index / 2);
    }
    if (index % 4 >= 2) {
        add_parts(sim);
    }
    if (index >= 4) {
        add_projectiles(sim);
    }
    if (index % 3 == 0) {
        add_structures(sim);
    }
    if (index % 5 >= 3) {
        add_npcs(sim, 2);
    }
    for (int i = 0; i < index; i++) {
        sim_step(sim);
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    sim_write(sim, &writer);
    ASSERT(writer.status == STATUS_OK);
    bytes[0] |= HEADER_BY_US;
    write_file(folder, "sim_read", index, writer.at);
    sim_destroy(&world->heap, sim);
}

// Random operations with ordinary arguments, more and more of them unusual.
static void write_play(const char *folder, int index)
{
    Rng rng = rng_make((uint64_t)index, 4);
    for (int i = 0; i < PLAY_BYTES; i++) {
        const bool ordinary = (int)rng_below(&rng, SEED_COUNT) >= index / 2;
        bytes[i] = (uint8_t)(ordinary ? rng_below(&rng, 200) : rng_u32(&rng));
    }
    // Somebody to play with, in any case.
    static const uint8_t OPENING[] = {2, 0, 1,  100, 120, 100, 100, 2,
                                      0, 1, 90, 120, 110, 100, 1,   9};
    memcpy(bytes, OPENING, sizeof OPENING);
    write_file(folder, "sim_play", index, PLAY_BYTES);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: make_sim_seeds CORPUS_FOLDER\n");
        return 2;
    }
    for (int i = 0; i < SEED_COUNT; i++) {
        write_state(argv[1], i);
        write_play(argv[1], i);
    }
    return 0;
}
