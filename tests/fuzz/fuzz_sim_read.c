// sim_read on any bytes: an error status and an empty sim, or a sim that can step and be written,
// and that is the same when it is read again.
//
// The first 17 bytes of a state name the format, the scene and the config. When the first byte is
// 0x80 or more they are filled in here, so that the corpus stays valid when those hashes change.
#include "tests/fuzz/small_world.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 17
#define STEPS        5
#define INPUT_MAX    (1u << 20)
#define HEADER_BY_US 0x80

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

// Of an empty sim, which begins with the right header.
static void fill_header(SmallWorld *world, uint8_t *bytes)
{
    static uint8_t header[HEADER_BYTES];
    static bool known;
    if (!known) {
        Sim *empty = NULL;
        ASSERT(sim_create(&world->heap, &world->config, world->scene, &empty) == STATUS_OK);
        static uint8_t state[1 << 20];
        ByteWriter writer = byte_writer(state, sizeof state);
        sim_write(empty, &writer);
        ASSERT(writer.status == STATUS_OK);
        memcpy(header, state, sizeof header);
        sim_destroy(&world->heap, empty);
        known = true;
    }
    memcpy(bytes, header, sizeof header);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count > INPUT_MAX) {
        return 0;
    }
    SmallWorld *world = small_world();
    uint8_t *copy = malloc(count + 1);
    ASSERT(copy != NULL);
    memcpy(copy, bytes, count);
    if (count >= HEADER_BYTES && bytes[0] >= HEADER_BY_US) {
        fill_header(world, copy);
    }
    Sim *sim = NULL;
    ASSERT(sim_create(&world->heap, &world->config, world->scene, &sim) == STATUS_OK);
    const uint64_t hash_empty = sim_hash(sim);
    ByteReader reader = byte_reader(copy, count);
    if (sim_read(sim, &reader) != STATUS_OK) {
        ASSERT(sim_hash(sim) == hash_empty);
    }
    for (int i = 0; i < STEPS; i++) {
        sim_step(sim);
        small_world_check(sim, false);
    }
    Sim *again = small_world_copy(world, sim);
    if (again != NULL) {
        sim_step(sim);
        sim_step(again);
        ASSERT(sim_hash(sim) == sim_hash(again));
        sim_destroy(&world->heap, again);
    }
    sim_destroy(&world->heap, sim);
    free(copy);
    return 0;
}
