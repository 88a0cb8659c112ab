// A sim that was written and read is the same sim, also in another process; a step never allocates;
// and a client's sim stays within its size limit.
#ifndef __wasm__
#define _POSIX_C_SOURCE 200809L
#endif
#include "tests/support/test.h"
#include "tests/unit/property_world.h"

#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef __wasm__
#include <sys/wait.h>
#include <unistd.h>
#endif

#define STATE_BYTES_MAX (16u << 20)
#define STEPS_AFTER     600
#define CLIENT_BYTES    (256u << 10)

static PropertyWorld world;
static uint8_t bytes[STATE_BYTES_MAX];

static size_t write_state(const Sim *sim)
{
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    sim_write(sim, &writer);
    CHECK_OK(writer.status);
    return writer.at;
}

TEST(reading_what_was_written_gives_the_same_sim)
{
    property_open(&world, property_options_busy(test_seed() + 1));
    Sim *copy = NULL;
    REQUIRE(sim_create(&world.heap, &world.config, world.scene, &copy) == STATUS_OK);
    for (uint32_t round = 0; round < 30 && test_is_passing(); round++) {
        for (uint32_t i = 0; i < 20; i++) {
            property_drive(&world);
            sim_step(world.sim);
        }
        property_drive(&world); // what is asked for but not yet done is state too
        const size_t count = write_state(world.sim);
        ByteReader reader = byte_reader(bytes, count);
        CHECK_OK(sim_read(copy, &reader));
        CHECK_INT(reader.at, count);
        CHECK(sim_hash(copy) == sim_hash(world.sim));
        // Equal states give equal bytes.
        static uint8_t again[STATE_BYTES_MAX];
        ByteWriter writer = byte_writer(again, sizeof again);
        sim_write(copy, &writer);
        CHECK_INT(writer.at, count);
        CHECK_BYTES(again, bytes, count);
        for (uint32_t i = 0; i < 5; i++) {
            sim_step(copy);
            sim_step(world.sim);
            CHECK(sim_hash(copy) == sim_hash(world.sim));
        }
    }
    sim_destroy(&world.heap, copy);
    property_close(&world);
}

TEST(every_cut_of_a_state_is_refused)
{
    PropertyOptions options = property_options_busy(test_seed() + 2);
    options.player_count = 4;
    options.npc_count = 2;
    property_open(&world, options);
    for (uint32_t i = 0; i < 60; i++) {
        property_drive(&world);
        sim_step(world.sim);
    }
    Sim *copy = NULL;
    REQUIRE(sim_create(&world.heap, &world.config, world.scene, &copy) == STATUS_OK);
    const uint64_t empty = sim_hash(copy);
    const size_t count = write_state(world.sim);
    for (size_t cut = 0; cut < count && test_is_passing(); cut += cut < 4000 ? 7 : 97) {
        ByteReader reader = byte_reader(bytes, cut);
        CHECK(sim_read(copy, &reader) != STATUS_OK);
        CHECK(sim_hash(copy) == empty);
    }
    // A state belongs to its config.
    SimConfig other = world.config;
    other.character.gravity += 1;
    Sim *stranger = NULL;
    REQUIRE(sim_create(&world.heap, &other, world.scene, &stranger) == STATUS_OK);
    ByteReader reader = byte_reader(bytes, count);
    CHECK_INT(sim_read(stranger, &reader), STATUS_MISMATCH);
    sim_destroy(&world.heap, stranger);
    sim_destroy(&world.heap, copy);
    property_close(&world);
}

// --- a fresh process ----------------------------------------------------------------------------
#ifndef __wasm__
#define STATE_VARIABLE "SANDLOT_TEST_STATE"

// The world is driven without a look at the sim's future: inputs and motions come from its rng, and
// both processes start that from the same seed.
static uint64_t run_on(PropertyWorld *from)
{
    from->rng = rng_make(4242, 1);
    from->input_seq = 0;
    for (uint32_t i = 0; i < STEPS_AFTER; i++) {
        property_drive(from);
        sim_step(from->sim);
    }
    return sim_hash(from->sim);
}

static bool write_file(const char *path, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    const bool whole = fwrite(bytes, 1, count, file) == count;
    return fclose(file) == 0 && whole;
}

// The second process: does nothing unless the first one has started it.
TEST(fresh_process_child)
{
    const char *path = getenv(STATE_VARIABLE);
    if (path == NULL) {
        return;
    }
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    property_open(&world, property_options_busy(test_seed() + 3));
    ByteReader reader = byte_reader(bytes, count);
    REQUIRE(sim_read(world.sim, &reader) == STATUS_OK);
    const uint64_t hash = run_on(&world);
    file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK(fprintf(file, "%016llx", (unsigned long long)hash) == 16);
    CHECK(fclose(file) == 0);
    property_close(&world);
}

static bool run_child(const char *path)
{
    char seed[32];
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)test_seed());
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (setenv(STATE_VARIABLE, path, 1) == 0 && freopen("/dev/null", "w", stdout) != NULL) {
            (void)execl("/proc/self/exe", "test_property_state", "fresh_process_child", "--seed",
                        seed, (char *)NULL);
        }
        _exit(1);
    }
    int state = 0;
    return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) &&
           WEXITSTATUS(state) == 0;
}

TEST(a_fresh_process_goes_on_the_same)
{
    if (getenv(STATE_VARIABLE) != NULL) {
        return; // we are the second process
    }
    property_open(&world, property_options_busy(test_seed() + 3));
    for (uint32_t i = 0; i < 300; i++) {
        property_drive(&world);
        sim_step(world.sim);
    }
    char path[] = "/tmp/sandlot_state_XXXXXX";
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    (void)close(descriptor);
    const size_t count = write_state(world.sim);
    CHECK(write_file(path, count));
    const uint64_t hash = run_on(&world);
    CHECK(run_child(path));
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    unsigned long long other = 0;
    CHECK(fscanf(file, "%llx", &other) == 1);
    CHECK(other == hash);
    (void)fclose(file);
    (void)unlink(path);
    property_close(&world);
}
#endif

// --- memory -------------------------------------------------------------------------------------
TEST(a_step_never_calls_the_heap)
{
    property_open(&world, property_options_busy(test_seed() + 4));
    uint64_t totals[SIM_EVENT_TYPE_COUNT] = {0};
    uint64_t structures = 0;
    heap_freeze(&world.heap); // any call from here on ends the test
    for (uint32_t tick = 0; tick < 10000; tick++) {
        property_drive(&world);
        sim_step(world.sim);
        uint32_t count = 0;
        const SimEvent *events = sim_events(world.sim, &count);
        for (uint32_t i = 0; i < count; i++) {
            totals[events[i].type] += 1;
        }
        structures += sim_count(world.sim, ENTITY_STRUCTURE);
    }
    heap_thaw(&world.heap);
    // It was busy indeed.
    CHECK(totals[SIM_EVENT_LANDED] > 1000);
    CHECK(totals[SIM_EVENT_JUMPED] > 1000);
    CHECK(totals[SIM_EVENT_PROJECTILE_HIT] > 1000);
    CHECK(totals[SIM_EVENT_NPC_STATE] > 10);
    CHECK(totals[SIM_EVENT_STRUCTURE_REMOVED] > 10);
    CHECK(structures > 1000);
    CHECK(terrain_edit_count(sim_terrain_view(world.sim)) > 500);
    property_close(&world);
}

TEST(a_sim_takes_what_it_says)
{
    property_open(&world, property_options_default(test_seed() + 5));
    const SimConfig configs[] = {sim_config_client(), world.config, sim_config_default()};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const Scene *scene = k == 0 ? world.scene : NULL;
            const uint64_t before = world.heap.bytes_now;
            Sim *sim = NULL;
            REQUIRE(sim_create(&world.heap, &configs[i], scene, &sim) == STATUS_OK);
            CHECK_INT(world.heap.bytes_now - before, sim_bytes(&configs[i], scene));
            sim_destroy(&world.heap, sim);
            CHECK_INT(world.heap.bytes_now, before);
        }
    }
    property_close(&world);
}

TEST(a_client_sim_is_small)
{
    const SimConfig config = sim_config_client();
    CHECK(sim_bytes(&config, NULL) <= CLIENT_BYTES);
    Heap heap = heap_make(CLIENT_BYTES);
    Sim *sim = NULL;
    REQUIRE(sim_create(&heap, &config, NULL, &sim) == STATUS_OK);
    // 64 visible entities fit.
    for (uint32_t i = 0; i < 64; i++) {
        Handle made;
        const CharacterDesc desc = {.position = vec3((float)i, 0, 0)};
        CHECK_OK(sim_spawn_player(sim, &desc, &made));
    }
    sim_step(sim);
    sim_destroy(&heap, sim);
}

TEST(a_heap_that_refuses_leaves_nothing_behind)
{
    const SimConfig config = sim_config_client();
    const size_t need = sim_bytes(&config, NULL);
    for (size_t cap = 0; cap < need; cap += 997) {
        Heap heap = heap_make(cap);
        Sim *sim = NULL;
        CHECK_INT(sim_create(&heap, &config, NULL, &sim), STATUS_LIMIT);
        CHECK(sim == NULL);
        CHECK_INT(heap.bytes_now, 0);
    }
}
