// The loose grid, compared with a plain list.
#include "core/base/rng.h"
#include "core/sim/grid.h"
#include "tests/support/test.h"

#include <string.h>

#define SLOTS 400

typedef struct Fixture {
    _Alignas(16) uint8_t block[1 << 20];
    Arena arena;
    Grid grid;
    Aabb bounds[SLOTS];
    bool present[SLOTS];
} Fixture;

static Fixture fixture;

static void open_fixture(void)
{
    memset(&fixture, 0, sizeof fixture);
    arena_init(&fixture.arena, fixture.block, sizeof fixture.block);
    CHECK_OK(grid_init(&fixture.grid, &fixture.arena, SLOTS));
    CHECK_INT(fixture.arena.used, grid_bytes(SLOTS));
}

static Aabb random_box(Rng *rng)
{
    const float spread = rng_below(rng, 4) == 0 ? 3000.0f : 60.0f;
    const float size = rng_below(rng, 8) == 0 ? 500.0f : 4.0f;
    const Vec3 min = {rng_range(rng, -spread, spread), rng_range(rng, -spread, spread),
                      rng_range(rng, -spread, spread)};
    const Vec3 extent = {rng_range(rng, 0, size), rng_range(rng, 0, size), rng_range(rng, 0, size)};
    return (Aabb){min, vec3_add(min, extent)};
}

static void compare(Aabb box)
{
    uint32_t want[SLOTS];
    uint32_t want_count = 0;
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        if (fixture.present[slot] && aabb_overlaps(fixture.bounds[slot], box)) {
            want[want_count++] = slot;
        }
    }
    uint32_t got[SLOTS];
    CHECK_INT(grid_query(&fixture.grid, box, GRID_ALL, got, SLOTS), want_count);
    CHECK_BYTES(got, want, want_count * sizeof want[0]);
    // With less room the lowest are kept, and the count stays true.
    const uint32_t room = want_count / 2;
    CHECK_INT(grid_query(&fixture.grid, box, GRID_ALL, got, room), want_count);
    CHECK_BYTES(got, want, room * sizeof want[0]);
}

TEST(queries_equal_brute_force_under_movement)
{
    open_fixture();
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; i < 20000 && test_is_passing(); i++) {
        const uint32_t slot = 1 + rng_below(&rng, SLOTS - 1);
        const uint32_t what = rng_below(&rng, 10);
        if (what == 0) {
            grid_remove(&fixture.grid, slot);
            fixture.present[slot] = false;
        } else if (what < 4 || !fixture.present[slot]) {
            fixture.bounds[slot] = random_box(&rng);
            grid_put(&fixture.grid, slot, GRID_SHAPES, fixture.bounds[slot]);
            fixture.present[slot] = true;
        } else {
            // The usual case: a short way.
            const Vec3 way = {rng_range(&rng, -1, 1), rng_range(&rng, -1, 1),
                              rng_range(&rng, -1, 1)};
            Aabb *bounds = &fixture.bounds[slot];
            *bounds = (Aabb){vec3_add(bounds->min, way), vec3_add(bounds->max, way)};
            grid_put(&fixture.grid, slot, GRID_SHAPES, *bounds);
        }
        if (i % 7 == 0) {
            compare(random_box(&rng));
        }
    }
    compare((Aabb){{-1e6f, -1e6f, -1e6f}, {1e6f, 1e6f, 1e6f}});
    grid_clear(&fixture.grid);
    memset(fixture.present, 0, sizeof fixture.present);
    compare((Aabb){{-1e6f, -1e6f, -1e6f}, {1e6f, 1e6f, 1e6f}});
}

TEST(the_answer_does_not_depend_on_the_past)
{
    open_fixture();
    const Aabb here = {{0, 0, 0}, {1, 1, 1}};
    uint32_t got[4];
    for (uint32_t slot = 3; slot >= 1; slot--) {
        grid_put(&fixture.grid, slot, GRID_SHAPES, here);
    }
    grid_remove(&fixture.grid, 2);
    grid_put(&fixture.grid, 2, GRID_SHAPES, here);
    CHECK_INT(grid_query(&fixture.grid, here, GRID_ALL, got, 4), 3);
    CHECK_INT(got[0], 1);
    CHECK_INT(got[1], 2);
    CHECK_INT(got[2], 3);
}

TEST(a_query_finds_only_the_layers_it_wants)
{
    open_fixture();
    const Aabb here = {{0, 0, 0}, {1, 1, 1}};
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        grid_put(&fixture.grid, slot, slot == 7 ? GRID_SHAPES : GRID_PROJECTILES, here);
    }
    grid_put(&fixture.grid, 9, GRID_CHARACTERS, here); // out of one layer, into another
    uint32_t got[SLOTS];
    const uint64_t before = *fixture.grid.work;
    CHECK_INT(grid_query(&fixture.grid, here, GRID_BLOCKING, got, SLOTS), 2);
    CHECK_INT(got[0], 7);
    CHECK_INT(got[1], 9);
    // What is not asked for is not looked at either.
    CHECK(*fixture.grid.work - before <= 4 * GRID_ITEM_STEPS + 200 * GRID_CELL_STEPS);
    CHECK_INT(grid_query(&fixture.grid, here, GRID_ALL, got, SLOTS), SLOTS - 1);
    for (uint32_t i = 0; i < SLOTS - 1; i++) {
        CHECK_INT(got[i], i + 1);
    }
}
