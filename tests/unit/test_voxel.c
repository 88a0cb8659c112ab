// The chunk store, the terrain and its edits: compared with a dense array under random edits, at
// the limits, and with the heap frozen.
#include "core/sim/voxel.h"

#include "tests/support/test.h"
#include "tests/unit/test_voxel_reference.h"

#include <math.h>

static Reference reference;

TEST(a_terrain_without_a_base_is_air)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 16);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){0, 0, 0}), VOXEL_AIR);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){INT32_MIN, INT32_MAX, 7}), VOXEL_AIR);
    CHECK(!terrain_is_solid(terrain, (VoxelCoord){-1, -1, -1}));
    CHECK_INT(terrain_column(terrain, 3, -4, -20, 64), 0);
    CHECK_INT(terrain_changed_chunk_count(terrain), 0);
    CHECK_INT(terrain_edit_count(terrain), 0);
    CHECK_INT(terrain_chunk_version(terrain, (ChunkCoord){0, 0, 0}), 0);
    CHECK_INT(terrain_chunk_version(terrain, (ChunkCoord){INT32_MIN, 512, INT32_MAX}), 0);
    terrain_destroy(&heap, terrain);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(one_voxel_is_set_at_every_corner_of_the_extent)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 16, 32);
    const int32_t ends[2] = {-WORLD_EXTENT_M, WORLD_EXTENT_M - 1};
    for (uint32_t i = 0; i < 8; i++) {
        const VoxelCoord at = {ends[i & 1], ends[i >> 1 & 1], ends[i >> 2 & 1]};
        const VoxelKind kind = (VoxelKind)(i * 100 + 323);
        uint32_t changed = 9;
        CHECK_OK(terrain_set(terrain, at, kind, &changed));
        CHECK_INT(changed, 1);
        CHECK_INT(terrain_voxel(terrain, at), kind);
        CHECK(terrain_is_solid(terrain, at));
        CHECK_INT(terrain_column(terrain, at.x, at.z, at.y, 1), 1);
        // A column that reaches beyond the extent sees air there.
        CHECK(terrain_column(terrain, at.x, at.z, at.y - 31, 64) == 1ull << 31);
        CHECK_INT(terrain_chunk_version(terrain, voxel_chunk(at)), 1);
        CHECK_OK(terrain_set(terrain, at, kind, &changed));
        CHECK_INT(changed, 0);
        CHECK_INT(terrain_chunk_version(terrain, voxel_chunk(at)), 1);
    }
    CHECK_INT(terrain_edit_count(terrain), 8);
    CHECK_INT(terrain_use(terrain).page_count, 16);
    terrain_destroy(&heap, terrain);
}

TEST(numbers_out_of_range_are_refused)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 8, 16);
    const VoxelCoord zero = {0, 0, 0};
    const float infinity = INFINITY;
    const float nan = NAN;
    uint32_t changed = 77;
    CHECK_INT(terrain_set(terrain, (VoxelCoord){WORLD_EXTENT_M, 0, 0}, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){0, -WORLD_EXTENT_M - 1, 0}, 1, &changed),
              STATUS_RANGE);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){0, 0, INT32_MIN}, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_set(terrain, zero, VOXEL_KINDS_MAX, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_box(terrain, zero, zero, UINT16_MAX, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_box(terrain, (VoxelCoord){1, 0, 0}, zero, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_box(terrain, zero, (VoxelCoord){0, 64, 0}, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_box(terrain, (VoxelCoord){INT32_MIN, 0, 0},
                               (VoxelCoord){INT32_MAX, 0, 0}, 1, &changed),
              STATUS_RANGE);
    CHECK_INT(terrain_fill_sphere(terrain, VEC3_ZERO, 24.01f, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_sphere(terrain, VEC3_ZERO, -0.5f, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_sphere(terrain, VEC3_ZERO, nan, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_sphere(terrain, vec3(0, nan, 0), 1, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_sphere(terrain, vec3(0, 0, -infinity), 1, 1, &changed), STATUS_RANGE);
    CHECK_INT(terrain_fill_sphere(terrain, VEC3_ZERO, 1, VOXEL_KINDS_MAX, &changed), STATUS_RANGE);
    CHECK_INT(changed, 77);
    CHECK_INT(terrain_edit_count(terrain), 0);
    CHECK_INT(terrain_use(terrain).limit_count, 0);
    // What lies wholly outside is not there to be changed.
    CHECK_OK(terrain_fill_sphere(terrain, vec3(3e30f, 0, 0), 24, 1, &changed));
    CHECK_INT(changed, 0);
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){INT32_MAX - 63, 0, 0},
                              (VoxelCoord){INT32_MAX, 0, 0}, 1, NULL));
    CHECK_INT(terrain_changed_chunk_count(terrain), 0);
    terrain_destroy(&heap, terrain);
}

TEST(edits_are_cut_at_the_extent)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 16, 40);
    const int32_t last = WORLD_EXTENT_M - 1;
    uint32_t changed = 0;
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){last - 1, last - 2, -WORLD_EXTENT_M - 5},
                              (VoxelCoord){last + 60, last + 9, -WORLD_EXTENT_M + 3}, 1, &changed));
    CHECK_INT(changed, 2 * 3 * 4);
    // Half of a ball whose centre is in the border plane.
    const Vec3 border = vec3(-WORLD_EXTENT_M, 0, 0);
    CHECK_OK(terrain_fill_sphere(terrain, border, 8, 2, &changed));
    const uint32_t half = changed;
    CHECK_OK(terrain_fill_sphere(terrain, vec3(0, 0, 0), 8, 2, &changed));
    CHECK_INT(changed, 2 * half);
    terrain_destroy(&heap, terrain);
}

TEST(a_sphere_holds_the_voxels_whose_centres_it_holds)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 27, 200);
    uint32_t changed = 0;
    CHECK_OK(terrain_fill_sphere(terrain, vec3(0.5f, 0.5f, 0.5f), 0, 1, &changed));
    CHECK_INT(changed, 1);
    CHECK_OK(terrain_fill_sphere(terrain, vec3(0.5f, 0.5f, 0.5f), 1, 1, &changed));
    CHECK_INT(changed, 6); // the faces' neighbours, exactly at the radius
    CHECK_OK(terrain_fill_sphere(terrain, vec3(0.5f, 0.5f, 0.5f), 0.999999f, 2, &changed));
    CHECK_INT(changed, 1);
    CHECK_OK(terrain_fill_sphere(terrain, vec3(0, 0, 0), 0.8f, 3, &changed));
    CHECK_INT(changed, 0); // the eight centres around a corner are 0.866 away
    CHECK_OK(terrain_fill_sphere(terrain, vec3(0, 0, 0), 0.9f, 3, &changed));
    CHECK_INT(changed, 8);
    CHECK_OK(terrain_fill_sphere(terrain, vec3(16, 16, 16), 24, 4, &changed));
    CHECK_INT(changed, 57856);
    terrain_destroy(&heap, terrain);
}

TEST(kinds_that_are_not_solid_are_seen_but_not_felt)
{
    Heap heap = heap_make(1 << 20);
    ChunkStoreConfig config = {.chunk_max = 4, .page_max = 8, .kinds = voxel_kinds_default()};
    config.kinds.solid[0] |= 1; // air stays open, whatever the table says
    config.kinds.solid[5 / 64] &= ~(1ull << 5);
    ChunkStore *store = NULL;
    REQUIRE(chunk_store_create(&heap, &config, &store) == STATUS_OK);
    CHECK_OK(chunk_store_set(store, (VoxelCoord){1, 2, 3}, 5));
    CHECK_OK(chunk_store_set(store, (VoxelCoord){1, 3, 3}, 6));
    CHECK(!voxel_kind_is_solid(chunk_store_kinds(store), VOXEL_AIR));
    Terrain *terrain = terrain_make(&heap, store, 4, 8);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){1, 2, 3}), 5);
    CHECK(!terrain_is_solid(terrain, (VoxelCoord){1, 2, 3}));
    CHECK_INT(terrain_column(terrain, 1, 3, 0, 8), 8);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){1, 3, 3}, 5, NULL));
    CHECK_INT(terrain_column(terrain, 1, 3, 0, 8), 0);
    CHECK_INT(terrain_use(terrain).page_count, 1); // nothing solid: no mask
    CHECK_OK(terrain_set(terrain, (VoxelCoord){1, 2, 3}, 7, NULL));
    CHECK_INT(terrain_column(terrain, 1, 3, 0, 8), 4);
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

// Thousands of edits for each number of kinds: 2 need one plane, 1,000 all ten.
static void run_random_edits(uint64_t seed, uint32_t kind_count, uint32_t edit_count)
{
    Heap heap = heap_make(64 << 20);
    Rng rng = rng_make(seed, kind_count);
    reference_clear(&reference);
    reference.kinds.solid[0] &= ~4ull; // kind 2 is water
    if (seed % 2 == 0) {
        reference_hills(&reference, kind_count < 6 ? kind_count : 6);
    }
    ChunkStore *store = reference_store(&reference, &heap);
    Terrain *terrain = terrain_make(&heap, store, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 12);
    heap_freeze(&heap);
    for (uint32_t i = 0; i < edit_count && test_is_passing(); i++) {
        const Edit edit = edit_random(&rng, kind_count);
        uint32_t changed = 0;
        CHECK_OK(edit_terrain(terrain, &edit, &changed));
        CHECK_INT(changed, reference_edit(&reference, &edit));
        if (i % 500 == 0) {
            reference_check(&reference, terrain);
        }
    }
    reference_check(&reference, terrain);
    heap_thaw(&heap);
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

TEST(random_edits_match_a_dense_array)
{
    const uint32_t kind_counts[] = {2, 5, 17, 70, 300, 1000};
    for (uint32_t i = 0; i < sizeof kind_counts / sizeof kind_counts[0]; i++) {
        run_random_edits(test_seed() + i, kind_counts[i], 1000);
    }
}

// All 1,024 kinds in one chunk, then fewer and fewer: every width is reached from above and below.
TEST(every_width_grows_and_shrinks)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 1, 12);
    for (uint32_t kind = 1; kind < VOXEL_KINDS_MAX; kind++) {
        const VoxelCoord at = {(int32_t)kind % 32, (int32_t)kind / 32, 5};
        CHECK_OK(terrain_set(terrain, at, (VoxelKind)kind, NULL));
        uint32_t planes = 0;
        while (1u << planes < kind + 1) {
            planes += 1;
        }
        CHECK_INT(terrain_use(terrain).page_count, planes + 1 + (kind + 1 > 16));
    }
    for (uint32_t left = VOXEL_KINDS_MAX - 1; left > 0; left--) {
        // Odd numbers first, so that what remains is spread over the palette.
        const uint32_t kind = left > 511 ? 2 * (left - 511) - 1 : 2 * left;
        const VoxelCoord at = {(int32_t)kind % 32, (int32_t)kind / 32, 5};
        CHECK_INT(terrain_voxel(terrain, at), kind);
        CHECK_OK(terrain_set(terrain, at, VOXEL_AIR, NULL));
        uint32_t planes = 0;
        while (1u << planes < left) {
            planes += 1;
        }
        CHECK_INT(terrain_use(terrain).page_count, planes + (left > 1) + (left > 16));
    }
    for (int32_t y = 0; y < 32; y++) {
        CHECK_INT(terrain_column(terrain, y, 5, 0, 32), 0);
    }
    terrain_destroy(&heap, terrain);
}

TEST(columns_equal_voxels_for_every_offset_and_count)
{
    Heap heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 7);
    reference_clear(&reference);
    reference_hills(&reference, 4);
    ChunkStore *store = reference_store(&reference, &heap);
    Terrain *terrain = terrain_make(&heap, store, 48, 200);
    for (uint32_t i = 0; i < 200; i++) {
        Edit edit = edit_random(&rng, 4);
        edit.edit = EDIT_SET;
        edit.max = edit.min;
        CHECK_OK(edit_terrain(terrain, &edit, NULL));
        reference_edit(&reference, &edit);
    }
    for (uint32_t i = 0; i < 100000 && test_is_passing(); i++) {
        const int32_t x = (int32_t)rng_below(&rng, 140) - 70;
        const int32_t z = (int32_t)rng_below(&rng, 140) - 70;
        const int32_t y = (int32_t)rng_below(&rng, 240) - 120;
        const uint32_t count = 1 + rng_below(&rng, 64);
        uint64_t want = 0;
        for (uint32_t bit = 0; bit < count; bit++) {
            const VoxelCoord at = {x, y + (int32_t)bit, z};
            want |= (uint64_t)reference_is_solid(&reference, at) << bit;
        }
        const uint64_t got = terrain_column(terrain, x, z, y, count);
        if (got != want) {
            test_fail(__FILE__, __LINE__, "column (%d, %d) from %d, %u: %llx, want %llx", x, z, y,
                      count, (unsigned long long)got, (unsigned long long)want);
        }
    }
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

static void column_of_none(void *terrain)
{
    (void)terrain_column(terrain, 0, 0, 0, 0);
}

static void column_of_65(void *terrain)
{
    (void)terrain_column(terrain, 0, 0, 0, 65);
}

TEST(a_column_has_1_to_64_voxels)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 1, 1);
    CHECK(test_dies(column_of_none, terrain));
    CHECK(test_dies(column_of_65, terrain));
    terrain_destroy(&heap, terrain);
}

// --- limits -------------------------------------------------------------------------------------

// With too few pages many edits fail; each of them must leave every bit as it was, and each that
// succeeds must do all of its work.
TEST(an_edit_that_does_not_fit_changes_nothing)
{
    Heap heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 11);
    reference_clear(&reference);
    reference_hills(&reference, 5);
    ChunkStore *store = reference_store(&reference, &heap);
    Terrain *terrain = terrain_make(&heap, store, 14, 40);
    heap_freeze(&heap);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 1000 && test_is_passing(); i++) {
        const Edit edit = edit_random(&rng, i < 500 ? 6 : 200);
        const uint64_t hash = terrain_hash_of(terrain);
        const TerrainUse use = terrain_use(terrain);
        uint32_t changed = 12345;
        const Status status = edit_terrain(terrain, &edit, &changed);
        if (status == STATUS_OK) {
            CHECK_INT(changed, reference_edit(&reference, &edit));
            continue;
        }
        refused += 1;
        CHECK_INT(status, STATUS_LIMIT);
        CHECK_INT(changed, 12345);
        CHECK(terrain_hash_of(terrain) == hash);
        CHECK_INT(terrain_use(terrain).page_count, use.page_count);
        CHECK_INT(terrain_use(terrain).chunk_count, use.chunk_count);
        CHECK_INT(terrain_use(terrain).limit_count, refused);
        if (refused % 100 == 1) {
            reference_check(&reference, terrain);
        }
    }
    CHECK(refused > 100);
    CHECK(refused < 900);
    reference_check(&reference, terrain);
    heap_thaw(&heap);
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

TEST(a_full_pool_still_allows_edits_that_need_no_more)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 2, 2);
    const VoxelCoord a = {3, 3, 3};
    const VoxelCoord b = {4, 4, 4};
    CHECK_OK(terrain_set(terrain, a, 1, NULL)); // a plane and a mask
    CHECK_INT(terrain_set(terrain, b, 2, NULL), STATUS_LIMIT);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){40, 0, 0}, 1, NULL), STATUS_LIMIT);
    CHECK_OK(terrain_set(terrain, b, 1, NULL));
    // The last of a kind makes room for the first of another, in the same number of planes.
    CHECK_INT(terrain_set(terrain, a, 2, NULL), STATUS_LIMIT);
    CHECK_OK(terrain_set(terrain, b, VOXEL_AIR, NULL));
    CHECK_OK(terrain_set(terrain, a, 2, NULL));
    CHECK_INT(terrain_voxel(terrain, a), 2);
    // A chunk of one kind needs no page, whatever it is.
    const VoxelCoord zero = {0, 0, 0};
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){32, 0, 0}, (VoxelCoord){63, 31, 31}, 9, NULL));
    CHECK_OK(terrain_fill_box(terrain, zero, (VoxelCoord){31, 31, 31}, 7, NULL));
    CHECK_INT(terrain_use(terrain).page_count, 0);
    CHECK_INT(terrain_column(terrain, 63, 0, 0, 64), UINT32_MAX);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){0, 32, 0}, 1, NULL), STATUS_LIMIT); // third chunk
    CHECK_INT(terrain_use(terrain).limit_count, 4);
    terrain_destroy(&heap, terrain);
}

// Kinds replaced by kinds in a pool that has no page to spare: sixteen kinds go from the record to
// the palette page and back, masks come and go.
TEST(a_page_given_back_pays_within_the_same_chunk)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 1, 6);
    for (int32_t kind = 0; kind < 16; kind++) {
        CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){0, 2 * kind, 0},
                                  (VoxelCoord){31, 2 * kind + 1, 31}, (VoxelKind)kind, NULL));
    }
    CHECK_INT(terrain_use(terrain).page_count, 5);
    // Seventeen kinds: five planes, a palette page and a mask are one too many.
    CHECK_INT(terrain_set(terrain, (VoxelCoord){5, 9, 5}, 16, NULL), STATUS_LIMIT);
    // Without air there is no mask, and it fits.
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){0, 0, 0}, (VoxelCoord){31, 1, 31}, 16, NULL));
    CHECK_INT(terrain_use(terrain).page_count, 4);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){5, 9, 5}, 17, NULL));
    CHECK_INT(terrain_use(terrain).page_count, 6);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){5, 9, 6}, VOXEL_AIR, NULL), STATUS_LIMIT);
    // The seventeenth kind goes, air comes: five planes and their page become four and a mask.
    CHECK_OK(terrain_set(terrain, (VoxelCoord){5, 9, 5}, 4, NULL));
    CHECK_OK(terrain_fill_box(terrain, (VoxelCoord){0, 0, 0}, (VoxelCoord){31, 1, 31}, 0, NULL));
    CHECK_INT(terrain_use(terrain).page_count, 5);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){5, 31, 5}), 15);
    terrain_destroy(&heap, terrain);
}

TEST(editing_forth_and_back_does_not_use_up_pages)
{
    Heap heap = heap_make(1 << 20);
    Terrain *terrain = terrain_make(&heap, NULL, 2, 6);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){0, 0, 0}, 1, NULL));
    for (uint32_t i = 0; i < 5000; i++) {
        const VoxelKind kind = (VoxelKind)(2 + i % 1000);
        CHECK_OK(terrain_set(terrain, (VoxelCoord){9, 9, 9}, kind, NULL));
        if (i % 3 == 0) {
            CHECK_OK(terrain_set(terrain, (VoxelCoord){9, 9, 9}, VOXEL_AIR, NULL));
        }
    }
    CHECK_INT(terrain_use(terrain).page_count, 3);
    terrain_destroy(&heap, terrain);
}

TEST(create_takes_what_it_says_and_no_more)
{
    const TerrainConfig config = {.chunk_max = 24, .page_max = 24};
    Heap heap = heap_make(terrain_bytes(&config));
    Terrain *terrain = terrain_make(&heap, NULL, 24, 24);
    CHECK_INT(heap.bytes_now, terrain_bytes(&config));
    terrain_destroy(&heap, terrain);
    heap = heap_make(terrain_bytes(&config) - 1);
    Terrain *none = NULL;
    CHECK_INT(terrain_create(&heap, &config, NULL, &none), STATUS_LIMIT);
    CHECK(none == NULL);
    // Without its pages a terrain is small: a client has many.
    const TerrainConfig idle = {.chunk_max = 24, .page_max = 0};
    CHECK(terrain_bytes(&idle) < 12000);
    const TerrainConfig vast = {.chunk_max = UINT32_MAX, .page_max = UINT32_MAX};
    heap = heap_make(UINT64_MAX);
    CHECK_INT(terrain_create(&heap, &vast, NULL, &none), STATUS_LIMIT);
    const ChunkStoreConfig vast_store = {
        .chunk_max = UINT32_MAX, .page_max = UINT32_MAX, .kinds = voxel_kinds_default()};
    ChunkStore *no_store = NULL;
    CHECK_INT(chunk_store_create(&heap, &vast_store, &no_store), STATUS_LIMIT);
    CHECK(no_store == NULL);
}

TEST(a_terrain_may_own_nothing)
{
    Heap heap = heap_make(1 << 20);
    ChunkStore *store = store_make(&heap, 1, 2);
    CHECK_OK(chunk_store_set(store, (VoxelCoord){1, 1, 1}, 3));
    Terrain *terrain = terrain_make(&heap, store, 0, 0);
    CHECK_INT(terrain_voxel(terrain, (VoxelCoord){1, 1, 1}), 3);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){1, 1, 1}, 2, NULL), STATUS_LIMIT);
    CHECK_OK(terrain_set(terrain, (VoxelCoord){1, 1, 1}, 3, NULL));
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

// --- the store ----------------------------------------------------------------------------------

TEST(terrains_share_a_store_and_not_each_other)
{
    Heap heap = heap_make(4 << 20);
    ChunkStore *store = store_make(&heap, 8, 16);
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-32, -5, -32}, (VoxelCoord){31, 0, 31}, 1));
    Terrain *a = terrain_make(&heap, store, 4, 16);
    Terrain *b = terrain_make(&heap, store, 4, 16);
    CHECK_OK(terrain_fill_box(a, (VoxelCoord){0, 0, 0}, (VoxelCoord){3, 0, 3}, VOXEL_AIR, NULL));
    CHECK_OK(terrain_set(b, (VoxelCoord){1, 1, 1}, 2, NULL));
    CHECK_INT(terrain_column(a, 1, 1, -4, 8), 0x0f);
    CHECK_INT(terrain_column(b, 1, 1, -4, 8), 0x3f);
    CHECK_INT(terrain_column(a, 4, 1, -4, 8), 0x1f);
    CHECK_INT(terrain_voxel(a, (VoxelCoord){1, 1, 1}), VOXEL_AIR);
    Terrain *c = terrain_make(&heap, store, 4, 16);
    CHECK_INT(terrain_column(c, 1, 1, -4, 8), 0x1f);
    terrain_destroy(&heap, a);
    terrain_destroy(&heap, b);
    terrain_destroy(&heap, c);
    chunk_store_destroy(&heap, store);
}

TEST(a_store_takes_boxes_of_any_size)
{
    Heap heap = heap_make(16 << 20);
    ChunkStore *store = store_make(&heap, 200, 400);
    const VoxelCoord low = {INT32_MIN, INT32_MIN, INT32_MIN};
    const VoxelCoord high = {INT32_MAX, INT32_MAX, INT32_MAX};
    CHECK_OK(chunk_store_fill(store, low, high, VOXEL_AIR));
    CHECK_INT(chunk_store_fill(store, low, high, 1), STATUS_LIMIT);
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){-100, -10, -100}, (VoxelCoord){99, 20, 99}, 1));
    CHECK_OK(chunk_store_fill(store, (VoxelCoord){INT32_MIN, 3, -2}, (VoxelCoord){INT32_MAX, 9, 2},
                              VOXEL_AIR));
    CHECK_INT(chunk_store_fill(store, (VoxelCoord){0, 5, 0}, (VoxelCoord){0, 4, 0}, 1),
              STATUS_RANGE);
    CHECK_INT(chunk_store_set(store, (VoxelCoord){0, 0, WORLD_EXTENT_M}, 1), STATUS_RANGE);
    CHECK_INT(chunk_store_set(store, (VoxelCoord){0, 0, 0}, VOXEL_KINDS_MAX), STATUS_RANGE);
    Terrain *terrain = terrain_make(&heap, store, 1, 1);
    CHECK_INT(terrain_column(terrain, -100, -100, -12, 40), 0x1fffffffcull);
    CHECK_INT(terrain_column(terrain, 50, 1, -12, 40), 0x1ffc07ffcull);
    CHECK_INT(terrain_column(terrain, 100, 1, -12, 40), 0);
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

// Far apart, the chunks leave the dense grid for the hash table; the answers are the same.
TEST(scattered_chunks_are_found_without_the_grid)
{
    Heap heap = heap_make(16 << 20);
    ChunkStore *store = store_make(&heap, 512, 1024);
    Rng rng = rng_make(test_seed(), 3);
    VoxelCoord places[500];
    for (uint32_t i = 0; i < 500; i++) {
        // The first hundred are near, then the box grows too large.
        const int32_t reach = i < 100 ? 64 : WORLD_EXTENT_M;
        places[i] = voxel_random(&rng, (VoxelCoord){-reach, -reach, -reach},
                                 (VoxelCoord){reach - 1, reach - 1, reach - 1});
        CHECK_OK(chunk_store_set(store, places[i], (VoxelKind)(1 + i)));
    }
    Terrain *terrain = terrain_make(&heap, store, 300, 900);
    for (uint32_t i = 0; i < 500; i += 2) {
        VoxelCoord above = places[i];
        above.y ^= 1;
        CHECK_OK(terrain_set(terrain, above, 1001, NULL));
    }
    for (uint32_t i = 0; i < 500; i++) {
        const VoxelCoord at = places[i];
        const VoxelCoord above = {at.x, at.y ^ 1, at.z};
        CHECK_INT(terrain_voxel(terrain, at), 1 + i);
        CHECK_INT(terrain_is_solid(terrain, above), i % 2 == 0);
        CHECK_INT(terrain_column(terrain, at.x, at.z, at.y, 1), 1);
    }
    for (uint32_t i = 1; i < terrain_changed_chunk_count(terrain); i++) {
        const ChunkCoord a = terrain_changed_chunk(terrain, i - 1);
        const ChunkCoord b = terrain_changed_chunk(terrain, i);
        CHECK(a.z < b.z || (a.z == b.z && (a.y < b.y || (a.y == b.y && a.x < b.x))));
    }
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}

// --- one number for every build -----------------------------------------------------------------

TEST(the_golden_hash)
{
    Heap heap = heap_make(64 << 20);
    reference_clear(&reference);
    reference_hills(&reference, 6);
    ChunkStore *store = reference_store(&reference, &heap);
    Terrain *terrain = terrain_make(&heap, store, REFERENCE_CHUNKS, REFERENCE_CHUNKS * 12);
    Rng rng = rng_make(2024, 29);
    for (uint32_t i = 0; i < 600; i++) {
        Edit edit = edit_random(&rng, i % 100 == 0 ? 900 : 20);
        // Centres and radii that do not come out even: here rounding decides, alike everywhere.
        edit.centre.x += 0.1f * (float)(i % 7);
        edit.radius *= 0.93f;
        CHECK_OK(edit_terrain(terrain, &edit, NULL));
    }
    Hash64 hash = HASH64_INIT;
    terrain_hash(terrain, &hash);
    for (uint32_t i = 0; i < 2000; i++) {
        const VoxelCoord from =
            voxel_random(&rng, (VoxelCoord){-6000, -3000, -6000}, (VoxelCoord){6000, 6000, 6000});
        const VoxelCoord way =
            voxel_random(&rng, (VoxelCoord){-99, -99, -99}, (VoxelCoord){99, 99, 99});
        const Vec3 origin = vec3_scale(vec3((float)from.x, (float)from.y, (float)from.z), 0.01f);
        const Vec3 direction = vec3_normalise(vec3((float)way.x, (float)way.y, (float)way.z));
        TerrainHit hit = {.kind = 0};
        if (terrain_ray(terrain, origin, direction, 80, &hit)) {
            hash_u32(&hash, (uint32_t)hit.voxel.x);
            hash_u32(&hash, (uint32_t)hit.voxel.y);
            hash_u32(&hash, (uint32_t)hit.voxel.z);
            hash_u32(&hash, hit.kind);
            hash_f32(&hash, hit.distance);
            hash_f32(&hash, hit.point.x);
            hash_f32(&hash, hit.point.y);
            hash_f32(&hash, hit.point.z);
            hash_f32(&hash, hit.normal.y);
        }
    }
    const uint64_t golden = 0xf4c9c2a15fd3cde1ull;
    if (hash.state != golden) {
        test_fail(__FILE__, __LINE__, "hash 0x%016llx, want 0x%016llx",
                  (unsigned long long)hash.state, (unsigned long long)golden);
    }
    terrain_destroy(&heap, terrain);
    chunk_store_destroy(&heap, store);
}
