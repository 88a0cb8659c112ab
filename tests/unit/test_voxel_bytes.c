// Chunks and terrains as bytes: round trips, equal content has equal bytes, and any bytes from a
// stranger are either rejected without any effect or give a valid terrain.
#include "core/sim/voxel.h"

#include "core/base/check.h"
#include "tests/support/test.h"
#include "tests/unit/test_voxel_reference.h"

#include <string.h>

#define BUFFER_BYTES (4 << 20)

static Reference reference;
static uint8_t buffer[BUFFER_BYTES];
static uint8_t other_buffer[BUFFER_BYTES];

// Eight chunks with hills over some kinds, and edits on it.
typedef struct World {
    Heap heap;
    ChunkStore *store;
    Terrain *terrain;
} World;

static World world_make(uint32_t edit_count, uint32_t kind_count, uint64_t stream)
{
    World world = {.heap = heap_make(64 << 20)};
    Rng rng = rng_make(test_seed(), stream);
    reference_clear(&reference);
    reference.kinds.solid[0] &= ~4ull; // kind 2 is water
    reference_hills(&reference, 6);
    world.store = reference_store(&reference, &world.heap);
    world.terrain = terrain_make(&world.heap, world.store, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 12);
    for (uint32_t i = 0; i < edit_count; i++) {
        const Edit edit = edit_random(&rng, kind_count);
        CHECK_OK(edit_terrain(world.terrain, &edit, NULL));
        reference_edit(&reference, &edit);
    }
    return world;
}

static void world_free(World *world)
{
    terrain_destroy(&world->heap, world->terrain);
    chunk_store_destroy(&world->heap, world->store);
    CHECK_INT(world->heap.bytes_now, 0);
}

static size_t write_all(const Terrain *terrain, uint8_t *into)
{
    ByteWriter writer = byte_writer(into, BUFFER_BYTES);
    terrain_write(terrain, &writer);
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

typedef void WriteChunk(const Terrain *terrain, ChunkCoord at, ByteWriter *writer);

static size_t write_one(WriteChunk *write, const Terrain *terrain, ChunkCoord at, uint8_t *into)
{
    ByteWriter writer = byte_writer(into, BUFFER_BYTES);
    write(terrain, at, &writer);
    ASSERT(writer.status == STATUS_OK);
    ByteWriter counter = byte_counter();
    write(terrain, at, &counter);
    CHECK_INT(counter.at, writer.at);
    CHECK(writer.at <= CHUNK_BYTES_MAX);
    return writer.at;
}

static Status read_one(Terrain *terrain, ChunkCoord at, const uint8_t *data, size_t size)
{
    ByteReader reader = byte_reader(data, size);
    const Status status = terrain_read_chunk(terrain, at, &reader);
    return status != STATUS_OK ? status : byte_reader_finish(&reader);
}

static Status read_all(Terrain *terrain, const uint8_t *data, size_t size)
{
    ByteReader reader = byte_reader(data, size);
    const Status status = terrain_read(terrain, &reader);
    return status != STATUS_OK ? status : byte_reader_finish(&reader);
}

static void check_same_bytes(const Terrain *a, const Terrain *b)
{
    const size_t size = write_all(a, buffer);
    REQUIRE(write_all(b, other_buffer) == size);
    CHECK(memcmp(buffer, other_buffer, size) == 0);
    CHECK(terrain_hash_of(a) == terrain_hash_of(b));
}

// --- round trips --------------------------------------------------------------------------------

TEST(a_terrain_comes_back_as_it_was)
{
    const uint32_t kind_counts[] = {3, 40, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        World world = world_make(300, kind_counts[i], 20 + i);
        Terrain *copy =
            terrain_make(&world.heap, world.store, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 12);
        // Something to be replaced.
        CHECK_OK(terrain_set(copy, (VoxelCoord){500, 500, 500}, 1, NULL));
        CHECK_OK(terrain_set(copy, (VoxelCoord){1, 30, 1}, 999, NULL));
        heap_freeze(&world.heap);
        const size_t size = write_all(world.terrain, buffer);
        CHECK_OK(read_all(copy, buffer, size));
        reference_check(&reference, copy);
        check_same_bytes(world.terrain, copy);
        heap_thaw(&world.heap);
        terrain_destroy(&world.heap, copy);
        world_free(&world);
    }
}

// A restored terrain must go on exactly like the original, also in what it refuses.
TEST(a_restored_terrain_goes_on_alike)
{
    World world = world_make(0, 6, 1);
    Terrain *a = terrain_make(&world.heap, world.store, 20, 60);
    Terrain *b = terrain_make(&world.heap, world.store, 20, 60);
    Rng rng = rng_make(test_seed(), 31);
    for (uint32_t i = 0; i < 300; i++) {
        const Edit edit = edit_random(&rng, 60);
        (void)!edit_terrain(a, &edit, NULL);
    }
    CHECK_OK(read_all(b, buffer, write_all(a, buffer)));
    CHECK_INT(terrain_edit_count(a), terrain_edit_count(b));
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 600 && test_is_passing(); i++) {
        const Edit edit = edit_random(&rng, 60);
        uint32_t changed_a = 0;
        uint32_t changed_b = 0;
        const Status status = edit_terrain(a, &edit, &changed_a);
        CHECK_INT(edit_terrain(b, &edit, &changed_b), status);
        CHECK_INT(changed_a, changed_b);
        CHECK_INT(terrain_use(a).page_count, terrain_use(b).page_count);
        refused += status == STATUS_LIMIT;
    }
    CHECK(refused > 10);
    check_same_bytes(a, b);
    terrain_destroy(&world.heap, a);
    terrain_destroy(&world.heap, b);
    world_free(&world);
}

TEST(chunks_travel_one_by_one_in_both_forms)
{
    World world = world_make(300, 300, 3);
    WriteChunk *const forms[] = {terrain_write_chunk, terrain_write_difference};
    for (uint32_t form = 0; form < 2; form++) {
        Terrain *copy =
            terrain_make(&world.heap, world.store, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 12);
        heap_freeze(&world.heap);
        for (uint32_t i = 0; i < REFERENCE_CHUNKS; i++) {
            const ChunkCoord at = reference_chunk_coord(i);
            const size_t size = write_one(forms[form], world.terrain, at, buffer);
            CHECK_OK(read_one(copy, at, buffer, size));
            CHECK_INT(terrain_chunk_version(copy, at), reference.versions[i]);
            CHECK_INT(write_one(forms[form], copy, at, other_buffer), size);
            CHECK(memcmp(buffer, other_buffer, size) == 0);
        }
        CHECK(terrain_hash_of(world.terrain) == terrain_hash_of(copy));
        // Reading counts as editing; apart from that nothing differs.
        CHECK_INT(terrain_edit_count(copy), REFERENCE_CHUNKS);
        reference.edit_count = REFERENCE_CHUNKS;
        reference_check(&reference, copy);
        heap_thaw(&world.heap);
        terrain_destroy(&world.heap, copy);
    }
    world_free(&world);
}

// The base with the differences applied is the whole.
TEST(a_difference_holds_only_what_differs)
{
    World world = world_make(0, 6, 4);
    const ChunkCoord at = {0, 0, 0};
    const VoxelCoord voxel = {3, 31, 4};
    const VoxelKind before = terrain_voxel(world.terrain, voxel);
    CHECK_OK(terrain_set(world.terrain, voxel, 500, NULL));
    CHECK_OK(terrain_set(world.terrain, (VoxelCoord){3, 30, 4}, 500, NULL));
    size_t size = write_one(terrain_write_difference, world.terrain, at, buffer);
    const uint32_t number = (4 * 32 + 3) * 32 + 30;
    const uint8_t want[] = {2,
                            2,
                            0,
                            0,
                            0,
                            1,
                            (uint8_t)(number | 128),
                            (uint8_t)(number >> 7),
                            2,
                            (500 & 127) | 128,
                            500 >> 7};
    CHECK_INT(size, sizeof want);
    CHECK_BYTES(buffer, want, sizeof want);
    // Edited back, the difference is empty but the version has risen.
    CHECK_OK(terrain_set(world.terrain, voxel, before, NULL));
    CHECK_OK(terrain_set(world.terrain, (VoxelCoord){3, 30, 4}, before, NULL));
    size = write_one(terrain_write_difference, world.terrain, at, buffer);
    const uint8_t empty[] = {2, 4, 0, 0, 0, 0};
    CHECK_INT(size, sizeof empty);
    CHECK_BYTES(buffer, empty, sizeof empty);
    CHECK_INT(terrain_changed_chunk_count(world.terrain), 1);
    // A run goes on from one column into the next: 64 voxels of kind 500 from number 4,192.
    CHECK_OK(
        terrain_fill_box(world.terrain, (VoxelCoord){3, 0, 4}, (VoxelCoord){4, 31, 4}, 500, NULL));
    size = write_one(terrain_write_difference, world.terrain, at, buffer);
    const uint8_t across[] = {2, 5, 0, 0, 0, 1, 0xe0, 0x20, 64, (500 & 127) | 128, 500 >> 7};
    CHECK_INT(size, sizeof across);
    CHECK_BYTES(buffer, across, sizeof across);
    // One kind everywhere: the whole form is the smaller one.
    CHECK_OK(
        terrain_fill_box(world.terrain, (VoxelCoord){0, 0, 0}, (VoxelCoord){31, 31, 31}, 7, NULL));
    CHECK_OK(terrain_set(world.terrain, (VoxelCoord){0, 0, 0}, 7, NULL));
    size = write_one(terrain_write_difference, world.terrain, at, buffer);
    const uint8_t uniform[] = {1, 6, 0, 0, 0, 1, 0, 7, 0};
    CHECK(size <= sizeof uniform);
    CHECK_INT(write_one(terrain_write_chunk, world.terrain, at, buffer), sizeof uniform);
    CHECK_BYTES(buffer, uniform, sizeof uniform);
    world_free(&world);
}

TEST(a_difference_gives_way_to_a_smaller_whole)
{
    Heap heap = heap_make(4 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 1, 12);
    for (int32_t y = 0; y < 32; y += 2) {
        CHECK_OK(
            terrain_fill_box(terrain, (VoxelCoord){0, y, 0}, (VoxelCoord){31, y, 31}, 1, NULL));
    }
    const ChunkCoord at = {0, 0, 0};
    CHECK_INT(write_one(terrain_write_difference, terrain, at, buffer), 5 + 2 + 4 + 4096);
    CHECK_INT(buffer[0], 1);
    CHECK_INT(buffer[11], 0x55);
    terrain_destroy(&heap, terrain);
}

TEST(equal_content_has_equal_bytes_whatever_its_past)
{
    Heap heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 8);
    for (uint32_t round = 0; round < 6; round++) {
        const uint32_t kind_counts[] = {2, 4, 12, 30, 200, 1000};
        const uint32_t kind_count = kind_counts[round];
        reference_clear(&reference);
        for (uint32_t i = 0; i < 2000; i++) {
            Edit edit = {.kind = (VoxelKind)rng_below(&rng, kind_count)};
            edit.min = voxel_random(&rng, (VoxelCoord){-5, -5, -5}, (VoxelCoord){5, 5, 5});
            edit.max = edit.min;
            reference_edit(&reference, &edit);
        }
        Terrain *a = terrain_make(&heap, NULL, 8, 96);
        Terrain *b = terrain_make(&heap, NULL, 8, 96);
        CHECK_OK(terrain_fill_sphere(b, VEC3_ZERO, 7, 1001, NULL));
        const int32_t count = 11 * 11 * 11;
        for (int32_t i = 0; i < count; i++) {
            // One goes forwards, the other backwards over a wrong kind.
            const int32_t j = count - 1 - i;
            const VoxelCoord at_a = {i % 11 - 5, i / 11 % 11 - 5, i / 121 - 5};
            const VoxelCoord at_b = {j % 11 - 5, j / 11 % 11 - 5, j / 121 - 5};
            CHECK_OK(terrain_set(a, at_a, reference_voxel(&reference, at_a), NULL));
            CHECK_OK(terrain_set(b, at_b, (VoxelKind)(1 + i % 1000), NULL));
            CHECK_OK(terrain_set(b, at_b, reference_voxel(&reference, at_b), NULL));
        }
        for (int32_t i = 0; i < 17 * 17 * 17; i++) {
            const VoxelCoord at = {i % 17 - 8, i / 17 % 17 - 8, i / 289 - 8};
            if (terrain_voxel(b, at) == 1001) {
                CHECK_OK(terrain_set(b, at, VOXEL_AIR, NULL));
            }
        }
        for (int32_t i = 0; i < 8; i++) {
            const ChunkCoord at = {i % 2 - 1, i / 2 % 2 - 1, i / 4 - 1};
            const size_t size = write_one(terrain_write_chunk, a, at, buffer);
            CHECK_INT(write_one(terrain_write_chunk, b, at, other_buffer), size);
            memset(&buffer[1], 0, 4); // the versions differ
            memset(&other_buffer[1], 0, 4);
            CHECK(memcmp(buffer, other_buffer, size) == 0);
            CHECK_INT(terrain_use(a).page_count, terrain_use(b).page_count);
        }
        terrain_destroy(&heap, a);
        terrain_destroy(&heap, b);
    }
}

TEST(the_largest_chunk_has_the_largest_bytes)
{
    Heap heap = heap_make(4 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 1, 12);
    // All kinds, and indices that look like noise: runs would be longer.
    ByteWriter writer = byte_writer(buffer, BUFFER_BYTES);
    byte_write_u8(&writer, 1);
    byte_write_u32(&writer, 1);
    byte_write_u16(&writer, VOXEL_KINDS_MAX);
    for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
        byte_write_u16(&writer, (uint16_t)kind);
    }
    Rng rng = rng_make(1, 1);
    for (uint32_t word = 0; word < 1024 * 10; word++) {
        byte_write_u32(&writer, rng_u32(&rng));
    }
    CHECK_INT(writer.at, CHUNK_BYTES_MAX);
    CHECK_OK(read_one(terrain, (ChunkCoord){0, 0, 0}, buffer, writer.at));
    CHECK_INT(terrain_use(terrain).page_count, 12);
    const ChunkCoord at = {0, 0, 0};
    CHECK_INT(write_one(terrain_write_chunk, terrain, at, buffer), CHUNK_BYTES_MAX);
    CHECK_INT(write_one(terrain_write_difference, terrain, at, buffer), CHUNK_BYTES_MAX);
    ByteWriter small = byte_writer(buffer, CHUNK_BYTES_MAX - 1);
    terrain_write_chunk(terrain, at, &small);
    CHECK_INT(small.status, STATUS_LIMIT);
    terrain_destroy(&heap, terrain);
}

// --- versions and the way back to the base ------------------------------------------------------

TEST(versions_rise_across_save_and_restore)
{
    Heap heap = heap_make(4 << 20);
    Terrain *a = terrain_make(&heap, NULL, 4, 16);
    const VoxelCoord voxel = {-5, 6, 7};
    const ChunkCoord at = voxel_chunk(voxel);
    for (uint32_t i = 1; i <= 20; i++) {
        CHECK_OK(terrain_set(a, voxel, (VoxelKind)(i % 2), NULL));
        CHECK_INT(terrain_chunk_version(a, at), i);
        CHECK_INT(terrain_edit_count(a), i);
        Terrain *b = terrain_make(&heap, NULL, 4, 16);
        CHECK_OK(read_all(b, buffer, write_all(a, buffer)));
        terrain_destroy(&heap, a);
        a = b;
    }
    terrain_destroy(&heap, a);
}

TEST(a_version_that_cannot_rise_stops_edits)
{
    Heap heap = heap_make(4 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 4, 16);
    const uint8_t last[] = {2, 255, 255, 255, 255, 1, 0, 1, 5};
    CHECK_OK(read_one(terrain, (ChunkCoord){0, 0, 0}, last, sizeof last));
    CHECK_INT(terrain_chunk_version(terrain, (ChunkCoord){0, 0, 0}), UINT32_MAX);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){1, 1, 1}, 1, NULL), STATUS_LIMIT);
    // A box that reaches into it fails as a whole; one that changes nothing in it does not.
    CHECK_INT(terrain_fill_box(terrain, (VoxelCoord){0, 0, 0}, (VoxelCoord){40, 0, 0}, 6, NULL),
              STATUS_LIMIT);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, 0, 0}, 5, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){40, 0, 0}, 5, NULL));
    CHECK_INT(terrain_changed_chunk_count(terrain), 2);
    terrain_destroy(&heap, terrain);
}

TEST(a_chunk_said_to_be_unedited_must_equal_the_base)
{
    World world = world_make(0, 6, 5);
    Terrain *terrain = world.terrain;
    const ChunkCoord at = {-1, 0, 0};
    const VoxelCoord voxel = {-7, 9, 3};
    const VoxelKind before = terrain_voxel(terrain, voxel);
    const size_t whole = write_one(terrain_write_chunk, terrain, at, buffer);
    CHECK_INT(buffer[1], 0);
    CHECK_OK(terrain_set(terrain, voxel, 444, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){40, 9, 3}, 444, NULL));
    // Whole, difference, and a difference that equals what is there anyway.
    CHECK_OK(read_one(terrain, at, buffer, whole));
    CHECK_INT(terrain_voxel(terrain, voxel), before);
    CHECK_INT(terrain_chunk_version(terrain, at), 0);
    CHECK_INT(terrain_changed_chunk_count(terrain), 1);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){40, 9, 3}), 444);
    const uint8_t unedited[] = {2, 0, 0, 0, 0, 0};
    CHECK_OK(terrain_set(terrain, voxel, 444, NULL));
    CHECK_OK(read_one(terrain, at, unedited, sizeof unedited));
    CHECK_OK(read_one(terrain, at, unedited, sizeof unedited));
    CHECK_INT(terrain_voxel(terrain, voxel), before);
    const VoxelKind first = terrain_voxel(terrain, (VoxelCoord){-32, 0, 0});
    const uint8_t same[] = {2, 0, 0, 0, 0, 1, 0, 1, (uint8_t)first};
    const uint8_t differs[] = {2, 0, 0, 0, 0, 1, 0, 1, (uint8_t)(first + 1)};
    CHECK_OK(terrain_set(terrain, voxel, 444, NULL));
    CHECK_OK(read_one(terrain, at, same, sizeof same));
    CHECK_OK(terrain_set(terrain, voxel, 444, NULL));
    const uint64_t hash = terrain_hash_of(terrain);
    CHECK_INT(read_one(terrain, at, differs, sizeof differs), STATUS_MISMATCH);
    CHECK(buffer[7] != 200); // a kind of the palette becomes one that the base has not
    const size_t size = write_one(terrain_write_chunk, terrain, (ChunkCoord){1, 0, 0}, buffer);
    memset(&buffer[1], 0, 4);
    CHECK_INT(read_one(terrain, (ChunkCoord){1, 0, 0}, buffer, size), STATUS_MISMATCH);
    CHECK(terrain_hash_of(terrain) == hash);
    world_free(&world);
}

// Many chunks given back in a random order: the others are still found, with a grid of the
// terrain's own, with the store's, and with none.
static void check_giving_back(const ChunkStore *store, Heap *heap, int32_t spread)
{
    enum { COUNT = 120 };
    Terrain *terrain = terrain_make(heap, store, COUNT, 3 * COUNT);
    Rng rng = rng_make(test_seed(), (uint64_t)spread);
    VoxelCoord places[COUNT];
    bool is_owned[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        places[i] = (VoxelCoord){(i % 10 - 5) * spread * 32 + 3, (i / 10 % 3 - 1) * 32 + 30,
                                 (i / 30 - 2) * spread * 32 + 5};
        is_owned[i] = true;
        CHECK_OK(terrain_set(terrain, places[i], (VoxelKind)(100 + i), NULL));
    }
    const uint8_t unedited[] = {2, 0, 0, 0, 0, 0};
    for (uint32_t round = 0; round < 400 && test_is_passing(); round++) {
        const uint32_t i = rng_below(&rng, COUNT);
        if (is_owned[i]) {
            CHECK_OK(read_one(terrain, voxel_chunk(places[i]), unedited, sizeof unedited));
        } else {
            CHECK_OK(terrain_set(terrain, places[i], (VoxelKind)(100 + i), NULL));
        }
        is_owned[i] = !is_owned[i];
        uint32_t owned = 0;
        for (uint32_t j = 0; j < COUNT; j++) {
            const VoxelKind kind = terrain_voxel(terrain, places[j]);
            CHECK_INT(kind == 100 + j, is_owned[j]);
            CHECK_INT(terrain_column(terrain, places[j].x, places[j].z, places[j].y, 1), kind != 0);
            owned += is_owned[j];
        }
        CHECK_INT(terrain_changed_chunk_count(terrain), owned);
    }
    terrain_destroy(heap, terrain);
}

TEST(chunks_given_back_leave_the_others_findable)
{
    Heap heap = heap_make(64 << 20);
    check_giving_back(NULL, &heap, 1);
    check_giving_back(NULL, &heap, 40);
    ChunkStore *small = store_make(&heap, 200, 400);
    CHECK_OK(chunk_store_fill(small, (VoxelCoord){-100, -20, -100}, (VoxelCoord){99, -1, 99}, 1));
    check_giving_back(small, &heap, 1);
    check_giving_back(small, &heap, 2);
    ChunkStore *large = store_make(&heap, 1500, 3000);
    CHECK_OK(chunk_store_fill(large, (VoxelCoord){-400, -20, -400}, (VoxelCoord){399, 1, 399}, 1));
    check_giving_back(large, &heap, 1);
    check_giving_back(large, &heap, 5);
    ChunkStore *scattered = store_make(&heap, 3, 6);
    CHECK_OK(chunk_store_set(scattered, (VoxelCoord){-9000, 3, 3}, 1));
    CHECK_OK(chunk_store_set(scattered, (VoxelCoord){9000, 30, 5}, 1));
    CHECK_OK(chunk_store_set(scattered, (VoxelCoord){3, 30, 5}, 1));
    check_giving_back(scattered, &heap, 1);
    check_giving_back(scattered, &heap, 16);
    chunk_store_destroy(&heap, small);
    chunk_store_destroy(&heap, large);
    chunk_store_destroy(&heap, scattered);
}

// --- limits -------------------------------------------------------------------------------------

TEST(reading_more_than_fits_changes_nothing)
{
    World world = world_make(200, 30, 6);
    const ChunkCoord at = {0, 0, 0};
    const size_t all = write_all(world.terrain, buffer);
    const size_t one = write_one(terrain_write_chunk, world.terrain, at, other_buffer);
    const TerrainUse use = terrain_use(world.terrain);
    const TerrainConfig configs[] = {{use.chunk_count - 1, use.page_count},
                                     {use.chunk_count, use.page_count - 1},
                                     {use.chunk_count, use.page_count}};
    for (uint32_t i = 0; i < 3; i++) {
        Terrain *terrain =
            terrain_make(&world.heap, world.store, configs[i].chunk_max, configs[i].page_max);
        CHECK_OK(terrain_set(terrain, (VoxelCoord){90, 90, 90}, 3, NULL));
        const uint64_t hash = terrain_hash_of(terrain);
        CHECK_INT(read_all(terrain, buffer, all), i < 2 ? STATUS_LIMIT : STATUS_OK);
        CHECK_INT(terrain_hash_of(terrain) == hash, i < 2);
        CHECK_INT(terrain_use(terrain).limit_count, i < 2);
        terrain_destroy(&world.heap, terrain);
    }
    // One chunk: too few pages, too few chunks, and just enough.
    Terrain *terrain = terrain_make(&world.heap, world.store, 1, 2);
    CHECK_INT(read_one(terrain, at, other_buffer, one), STATUS_LIMIT);
    CHECK_INT(terrain_changed_chunk_count(terrain), 0);
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){64, 0, 0}, (VoxelCoord){95, 31, 31}, 1, NULL));
    const uint8_t uniform[] = {1, 1, 0, 0, 0, 1, 0, 7, 0};
    CHECK_INT(read_one(terrain, at, uniform, sizeof uniform), STATUS_LIMIT);
    CHECK_OK(read_one(terrain, (ChunkCoord){2, 0, 0}, uniform, sizeof uniform));
    CHECK_INT(read_one(terrain, (ChunkCoord){512, 0, 0}, uniform, sizeof uniform), STATUS_RANGE);
    CHECK_INT(terrain_use(terrain).limit_count, 2);
    terrain_destroy(&world.heap, terrain);
    world_free(&world);
}

TEST(a_full_pool_still_takes_a_chunk_in_place_of_another)
{
    Heap heap = heap_make(4 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 1, 2);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){1, 1, 1}, 5, NULL));
    const uint8_t next[] = {2, 9, 0, 0, 0, 1, 7, 1, 6};
    CHECK_OK(read_one(terrain, (ChunkCoord){0, 0, 0}, next, sizeof next));
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){0, 7, 0}), 6);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){1, 1, 1}), VOXEL_AIR);
    CHECK_INT(terrain_use(terrain).page_count, 2);
    terrain_destroy(&heap, terrain);
}

// --- the store ----------------------------------------------------------------------------------

TEST(a_store_is_built_from_whole_chunks)
{
    World world = world_make(200, 300, 7);
    const ChunkStoreConfig config = {
        .chunk_max = REFERENCE_CHUNKS, .page_max = REFERENCE_CHUNKS * 12, .kinds = reference.kinds};
    ChunkStore *store = NULL;
    REQUIRE(chunk_store_create(&world.heap, &config, &store) == STATUS_OK);
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){0, 0, 0}, (VoxelCoord){9, 9, 9}, 1000));
    for (uint32_t i = 0; i < REFERENCE_CHUNKS; i++) {
        const ChunkCoord at = reference_chunk_coord(i);
        ByteReader reader =
            byte_reader(buffer, write_one(terrain_write_chunk, world.terrain, at, buffer));
        CHECK_OK(chunk_store_parse(store, at, &reader));
        CHECK_OK(byte_reader_finish(&reader));
    }
    Terrain *terrain = terrain_make(&world.heap, store, 1, 12);
    memset(reference.versions, 0, sizeof reference.versions);
    reference.edit_count = 0;
    reference_check(&reference, terrain);
    terrain_destroy(&world.heap, terrain);
    chunk_store_destroy(&world.heap, store);
    world_free(&world);
}

TEST(a_store_refuses_what_is_not_a_whole_chunk_or_does_not_fit)
{
    Heap heap = heap_make(4 << 20);
    ChunkStore *store = store_make(&heap, 1, 2);
    const uint8_t difference[] = {2, 0, 0, 0, 0, 0};
    ByteReader reader = byte_reader(difference, sizeof difference);
    CHECK_INT(chunk_store_parse(store, (ChunkCoord){0, 0, 0}, &reader), STATUS_UNSUPPORTED);
    reader = byte_reader(difference, 0);
    CHECK_INT(chunk_store_parse(store, (ChunkCoord){0, 0, 0}, &reader), STATUS_TRUNCATED);
    const uint8_t uniform[] = {1, 1, 0, 0, 0, 1, 0, 7, 0};
    reader = byte_reader(uniform, sizeof uniform);
    CHECK_INT(chunk_store_parse(store, (ChunkCoord){0, -513, 0}, &reader), STATUS_RANGE);
    CHECK_OK(chunk_store_parse(store, (ChunkCoord){0, 0, 0}, &reader));
    reader = byte_reader(uniform, sizeof uniform);
    CHECK_INT(chunk_store_parse(store, (ChunkCoord){1, 0, 0}, &reader), STATUS_LIMIT);
    Terrain *terrain = terrain_make(&heap, store, 2, 12);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){5, 5, 5}), 7);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){40, 1, 1}, 2, NULL));
    CHECK_OK(terrain_set(terrain, (VoxelCoord){41, 1, 1}, 3, NULL));
    const size_t size = write_one(terrain_write_chunk, terrain, (ChunkCoord){1, 0, 0}, buffer);
    terrain_destroy(&heap, terrain);
    reader = byte_reader(buffer, size);
    CHECK_INT(chunk_store_parse(store, (ChunkCoord){0, 0, 0}, &reader), STATUS_LIMIT); // 3 pages
    chunk_store_destroy(&heap, store);
}

// --- strangers' bytes ---------------------------------------------------------------------------

typedef struct Hostile {
    const char *what;
    Status status;
    size_t size;
    uint8_t bytes[24];
} Hostile;

TEST(malformed_chunks_are_refused)
{
    Heap heap = heap_make(4 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 2, 24);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){1, 2, 3}, 4, NULL));
    const uint64_t hash = terrain_hash_of(terrain);
    const Hostile cases[] = {
        {"nothing", STATUS_TRUNCATED, 0, {0}},
        {"format 0", STATUS_UNSUPPORTED, 6, {0, 1, 0, 0, 0, 0}},
        {"format 3", STATUS_UNSUPPORTED, 6, {3, 1, 0, 0, 0, 0}},
        {"half a version", STATUS_TRUNCATED, 3, {1, 1, 0}},
        {"no kinds", STATUS_RANGE, 7, {1, 1, 0, 0, 0, 0, 0}},
        {"1,025 kinds", STATUS_RANGE, 7, {1, 1, 0, 0, 0, 1, 4}},
        {"kind 1,024", STATUS_RANGE, 9, {1, 1, 0, 0, 0, 1, 0, 0, 4}},
        {"kinds cut off", STATUS_TRUNCATED, 9, {1, 1, 0, 0, 0, 2, 0, 7, 0}},
        {"kinds descending", STATUS_MALFORMED, 11, {1, 1, 0, 0, 0, 2, 0, 7, 0, 6, 0}},
        {"kinds repeated", STATUS_MALFORMED, 11, {1, 1, 0, 0, 0, 2, 0, 7, 0, 7, 0}},
        {"no planes", STATUS_TRUNCATED, 11, {1, 1, 0, 0, 0, 2, 0, 7, 0, 8, 0}},
        {"too many runs", STATUS_RANGE, 8, {2, 1, 0, 0, 0, 0x81, 0x80, 2}},
        {"runs missing", STATUS_TRUNCATED, 6, {2, 1, 0, 0, 0, 1}},
        {"an empty run", STATUS_MALFORMED, 9, {2, 1, 0, 0, 0, 1, 0, 0, 5}},
        {"a run beyond", STATUS_RANGE, 11, {2, 1, 0, 0, 0, 1, 1, 0x80, 0x80, 2, 5}},
        {"a skip beyond", STATUS_RANGE, 11, {2, 1, 0, 0, 0, 1, 0x81, 0x80, 2, 1, 5}},
        {"a skip to the end", STATUS_MALFORMED, 11, {2, 1, 0, 0, 0, 1, 0x80, 0x80, 2, 0, 5}},
        {"a run after the end",
         STATUS_MALFORMED,
         14,
         {2, 1, 0, 0, 0, 2, 0, 0x80, 0x80, 2, 5, 0, 0, 6}},
        {"a run of kind 1,024", STATUS_RANGE, 10, {2, 1, 0, 0, 0, 1, 0, 1, 0x80, 8}},
        {"a padded number", STATUS_MALFORMED, 10, {2, 1, 0, 0, 0, 1, 0x80, 0, 1, 5}},
        {"a byte too many", STATUS_MALFORMED, 10, {1, 1, 0, 0, 0, 1, 0, 7, 0, 0}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Hostile *hostile = &cases[i];
        // A byte too many is for the caller to see: the chunk itself was good.
        const bool is_read = hostile->size == 10 && hostile->bytes[0] == 1;
        const Status status =
            read_one(terrain, (ChunkCoord){is_read ? 1 : 0, 0, 0}, hostile->bytes, hostile->size);
        if (status != hostile->status) {
            test_fail(__FILE__, __LINE__, "%s: %s, want %s", hostile->what, status_name(status),
                      status_name(hostile->status));
        }
        CHECK(is_read || terrain_hash_of(terrain) == hash);
    }
    // A kind without a voxel, and an index without a kind.
    const uint64_t hash_now = terrain_hash_of(terrain);
    uint8_t three[13 + 8192] = {1, 1, 0, 0, 0, 3, 0, 7, 0, 8, 0, 9, 0};
    CHECK_INT(read_one(terrain, (ChunkCoord){0, 0, 0}, three, sizeof three), STATUS_MALFORMED);
    memset(&three[13], 0x55, 8192);
    CHECK_INT(read_one(terrain, (ChunkCoord){0, 0, 0}, three, sizeof three), STATUS_MALFORMED);
    for (uint32_t i = 0; i < 8192; i++) {
        three[13 + i] = i % 8 < 4 ? 0x11 : 0x33;
    }
    CHECK_INT(read_one(terrain, (ChunkCoord){0, 0, 0}, three, sizeof three), STATUS_MALFORMED);
    CHECK(terrain_hash_of(terrain) == hash_now);
    for (uint32_t i = 0; i < 8192; i++) {
        three[13 + i] = i % 8 < 4 ? 0x11 : 0x22;
    }
    CHECK_OK(read_one(terrain, (ChunkCoord){0, 0, 0}, three, sizeof three));
    terrain_destroy(&heap, terrain);
}

TEST(malformed_terrains_are_refused)
{
    Heap heap = heap_make(4 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 2, 24);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){1, 2, 3}, 4, NULL));
    const uint64_t hash = terrain_hash_of(terrain);
    const Hostile cases[] = {
        {"nothing", STATUS_TRUNCATED, 0, {0}},
        {"format 2", STATUS_UNSUPPORTED, 9, {2, 0, 0, 0, 0, 0, 0, 0, 0}},
        {"no count", STATUS_TRUNCATED, 6, {1, 0, 0, 0, 0, 0}},
        {"three chunks", STATUS_LIMIT, 9, {1, 0, 0, 0, 0, 3, 0, 0, 0}},
        {"endless chunks", STATUS_LIMIT, 9, {1, 0, 0, 0, 0, 255, 255, 255, 255}},
        {"no chunk", STATUS_TRUNCATED, 9, {1, 0, 0, 0, 0, 1, 0, 0, 0}},
        {"key of 31 bits",
         STATUS_MALFORMED,
         19,
         {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 64, 2, 1, 0, 0, 0, 0}},
        {"version 0",
         STATUS_MALFORMED,
         19,
         {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0}},
        {"a bad chunk",
         STATUS_UNSUPPORTED,
         19,
         {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 1, 0, 0, 0, 0}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Status status = read_all(terrain, cases[i].bytes, cases[i].size);
        if (status != cases[i].status) {
            test_fail(__FILE__, __LINE__, "%s: %s, want %s", cases[i].what, status_name(status),
                      status_name(cases[i].status));
        }
        CHECK(terrain_hash_of(terrain) == hash);
    }
    // The same chunk twice, and two in the wrong order.
    uint8_t two[29] = {1, 7, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 2, 1,
                       0, 0, 0, 0, 5, 0, 0, 0, 2, 1, 0, 0, 0, 0};
    CHECK_INT(read_all(terrain, two, sizeof two), STATUS_MALFORMED);
    two[19] = 4;
    CHECK_INT(read_all(terrain, two, sizeof two), STATUS_MALFORMED);
    CHECK(terrain_hash_of(terrain) == hash);
    two[19] = 6;
    CHECK_OK(read_all(terrain, two, sizeof two));
    CHECK_INT(terrain_edit_count(terrain), 7);
    CHECK_INT(terrain_changed_chunk_count(terrain), 2);
    terrain_destroy(&heap, terrain);
}

// Every prefix and many mutations of good bytes: refused without a trace, or a terrain that writes
// itself down the same way from then on.
static void check_mutant(Terrain *terrain, size_t size)
{
    const uint64_t hash = terrain_hash_of(terrain);
    const TerrainUse use = terrain_use(terrain);
    const uint32_t edit_count = terrain_edit_count(terrain);
    ByteReader reader = byte_reader(buffer, size);
    if (terrain_read(terrain, &reader) != STATUS_OK) {
        CHECK(terrain_hash_of(terrain) == hash);
        CHECK_INT(terrain_use(terrain).page_count, use.page_count);
        CHECK_INT(terrain_edit_count(terrain), edit_count);
        return;
    }
    const uint64_t taken = terrain_hash_of(terrain);
    const size_t written = write_all(terrain, other_buffer);
    CHECK_OK(read_all(terrain, other_buffer, written));
    CHECK(terrain_hash_of(terrain) == taken);
    CHECK_INT(write_all(terrain, other_buffer + BUFFER_BYTES / 2), written);
    CHECK(memcmp(other_buffer, other_buffer + BUFFER_BYTES / 2, written) == 0);
}

TEST(mutated_bytes_leave_the_terrain_sound)
{
    World world = world_make(6, 5, 9);
    Rng rng = rng_make(test_seed(), 9);
    Terrain *terrain =
        terrain_make(&world.heap, world.store, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 12);
    const size_t size = write_all(world.terrain, buffer);
    ASSERT(size < BUFFER_BYTES / 4);
    uint8_t *good = buffer + BUFFER_BYTES / 2;
    memcpy(good, buffer, size);
    heap_freeze(&world.heap);
    for (uint32_t i = 0; i < 60 && test_is_passing(); i++) {
        check_mutant(terrain, i < 30 ? i : rng_below(&rng, (uint32_t)size));
    }
    for (uint32_t i = 0; i < 300 && test_is_passing(); i++) {
        for (uint32_t flips = 1 + rng_below(&rng, 3); flips > 0; flips--) {
            const uint32_t at = rng_below(&rng, i % 2 == 0 ? 64 : (uint32_t)size);
            buffer[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
        }
        check_mutant(terrain, size);
        memcpy(buffer, good, size);
    }
    heap_thaw(&world.heap);
    terrain_destroy(&world.heap, terrain);
    world_free(&world);
}
