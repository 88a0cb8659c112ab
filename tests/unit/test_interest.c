// Who is near whom, compared with checking all pairs.
#include "core/base/rng.h"
#include "core/world/replicate/interest.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define ITEMS 600

typedef struct Thing {
    Vec3 position;
    float reach;
} Thing;

static Heap heap;
static void *block;
static Interest interest;
static Thing things[ITEMS];
static InterestHit hits[ITEMS + 2];

static void open_interest(float cell_m)
{
    heap = heap_make(16u << 20);
    const size_t bytes = interest_bytes(ITEMS + 1);
    block = heap_alloc(&heap, bytes);
    Arena arena;
    arena_init(&arena, block, bytes);
    CHECK_OK(interest_init(&interest, &arena, ITEMS + 1, cell_m));
}

static void add_all(uint32_t count)
{
    interest_begin(&interest);
    for (uint32_t i = 0; i < count; i++) {
        interest_add(&interest, i + 1, things[i].position, things[i].reach);
    }
    interest_end(&interest);
}

static void check_query(uint32_t count, Vec3 eye, float radius)
{
    static uint32_t found[ITEMS + 1];
    for (uint32_t i = 0; i <= ITEMS; i++) {
        found[i] = 0;
    }
    const uint32_t hit_count = interest_query(&interest, eye, radius, hits);
    for (uint32_t i = 0; i < hit_count; i++) {
        found[hits[i].entry] += 1;
        CHECK(hits[i].key <= radius * radius);
    }
    for (uint32_t i = 0; i < count; i++) {
        const float key = interest_key(eye, things[i].position, things[i].reach);
        CHECK_INT(found[i + 1], key <= radius * radius);
    }
}

TEST(queries_find_exactly_what_is_inside)
{
    open_interest(8);
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20; round++) {
        const uint32_t count = rng_below(&rng, ITEMS + 1);
        const float spread = round % 4 == 0 ? 16000 : 60;
        for (uint32_t i = 0; i < count; i++) {
            const float x = rng_range(&rng, -spread, spread);
            const float y = rng_range(&rng, -20, 20);
            const float z = rng_range(&rng, -spread, spread);
            const uint32_t kind = rng_below(&rng, 10);
            const float reach = kind == 0  ? rng_range(&rng, 8, 200)
                                : kind < 4 ? rng_range(&rng, 0, 8)
                                           : 0;
            things[i] = (Thing){{x, y, z}, reach};
        }
        add_all(count);
        for (uint32_t k = 0; k < 10; k++) {
            const float x = rng_range(&rng, -spread, spread);
            const float z = rng_range(&rng, -spread, spread);
            check_query(count, vec3(x, 0, z), 17.6f);
        }
    }
    heap_free(&heap, block);
}

TEST(nobody_anywhere_finds_nobody)
{
    open_interest(8);
    add_all(0);
    CHECK_INT(interest_query(&interest, VEC3_ZERO, 100, hits), 0);
    heap_free(&heap, block);
}

TEST(what_reaches_here_is_near)
{
    CHECK_NEAR(interest_key(VEC3_ZERO, vec3(3, 0, 4), 0), 25, 0);
    CHECK_NEAR(interest_key(VEC3_ZERO, vec3(3, 0, 4), 3), 4, 1e-5);
    CHECK_NEAR(interest_key(VEC3_ZERO, vec3(3, 0, 4), 6), 0, 0);
}

static uint64_t id_reversed(const void *user, uint32_t entry)
{
    (void)user;
    return 1000000 - entry;
}

static int compare_hits(const void *a, const void *b)
{
    const InterestHit *x = a;
    const InterestHit *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->entry > y->entry ? -1 : 1; // ids run the other way
}

TEST(the_nearest_are_chosen_by_key_and_then_by_id)
{
    static InterestHit sorted[ITEMS];
    static bool chosen[ITEMS + 1];
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t round = 0; round < 300 && test_is_passing(); round++) {
        const uint32_t count = rng_below(&rng, ITEMS + 1);
        const uint32_t keep = rng_below(&rng, count + 2);
        const uint32_t different = 1 + rng_below(&rng, 40);
        for (uint32_t i = 0; i < count; i++) {
            const bool ascending = round % 5 == 0;
            const float key = ascending ? (float)i : (float)rng_below(&rng, different);
            hits[i] = sorted[i] = (InterestHit){key, i + 1};
        }
        qsort(sorted, count, sizeof sorted[0], compare_hits);
        interest_nearest(hits, count, keep < count ? keep : count, id_reversed, NULL);
        for (uint32_t i = 0; i <= ITEMS; i++) {
            chosen[i] = false;
        }
        for (uint32_t i = 0; i < keep && i < count; i++) {
            CHECK(!chosen[hits[i].entry]);
            chosen[hits[i].entry] = true;
        }
        for (uint32_t i = 0; i < keep && i < count; i++) {
            CHECK(chosen[sorted[i].entry]);
        }
    }
}
