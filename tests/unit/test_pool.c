// Pools: lowest slot first, generations, exact restore, and a long random run against a plain
// array.
#include "core/base/pool.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

typedef struct Item {
    uint64_t value;
    uint32_t extra;
} Item;

#define BLOCK_BYTES 65536

static _Alignas(16) uint8_t block[BLOCK_BYTES];
static _Alignas(16) uint8_t second_block[BLOCK_BYTES];

static Pool make_pool(void *memory, uint32_t capacity)
{
    memset(memory, 0xee, BLOCK_BYTES);
    Arena arena;
    arena_init(&arena, memory, BLOCK_BYTES);
    Pool pool = {0};
    CHECK_OK(pool_init(&pool, &arena, capacity, sizeof(Item)));
    CHECK(arena.used == pool_bytes(capacity, sizeof(Item)));
    return pool;
}

TEST(pool_takes_the_lowest_free_slot)
{
    Pool pool = make_pool(block, 5);
    Handle handles[6];
    for (uint32_t i = 1; i <= 5; i++) {
        handles[i] = pool_acquire(&pool);
        CHECK_INT(handles[i].index, i);
        CHECK_INT(handles[i].generation, 1);
    }
    CHECK(handle_is_none(pool_acquire(&pool)));
    CHECK(handle_is_none(pool_acquire(&pool)));
    CHECK_INT(pool.count, 5);
    CHECK(pool_release(&pool, handles[4]));
    CHECK(pool_release(&pool, handles[2]));
    const Handle again = pool_acquire(&pool);
    CHECK_INT(again.index, 2);
    CHECK_INT(again.generation, 2);
    CHECK_INT(pool_acquire(&pool).index, 4);
    CHECK(handle_is_none(pool_acquire(&pool)));
}

TEST(pool_stale_handles_find_nothing)
{
    Pool pool = make_pool(block, 4);
    const Handle old = pool_acquire(&pool);
    Item *item = pool_find(&pool, old);
    REQUIRE(item != NULL);
    CHECK_INT(item->value, 0);
    item->value = 7;
    CHECK(pool_at(&pool, old.index) == item);
    CHECK(handle_equal(pool_handle(&pool, old.index), old));

    CHECK(pool_release(&pool, old));
    CHECK(!pool_release(&pool, old));
    CHECK(pool_find(&pool, old) == NULL);
    CHECK(!pool_is_live(&pool, old.index));
    CHECK_INT(pool.count, 0);

    const Handle fresh = pool_acquire(&pool);
    CHECK_INT(fresh.index, old.index);
    CHECK(!handle_equal(fresh, old));
    CHECK(pool_find(&pool, old) == NULL);
    CHECK(!pool_release(&pool, old));
    item = pool_find(&pool, fresh);
    REQUIRE(item != NULL);
    CHECK_INT(item->value, 0);
}

TEST(pool_refuses_made_up_handles)
{
    Pool pool = make_pool(block, 4);
    (void)pool_acquire(&pool);
    CHECK(pool_find(&pool, HANDLE_NONE) == NULL);
    CHECK(pool_find(&pool, (Handle){0, 1}) == NULL);
    CHECK(pool_find(&pool, (Handle){1, 0}) == NULL);
    CHECK(pool_find(&pool, (Handle){1, 2}) == NULL);
    CHECK(pool_find(&pool, (Handle){5, 1}) == NULL);
    CHECK(pool_find(&pool, (Handle){UINT32_MAX, UINT32_MAX}) == NULL);
    CHECK(!pool_release(&pool, HANDLE_NONE));
    CHECK(!pool_is_live(&pool, 0));
    CHECK(!pool_is_live(&pool, 5));
    CHECK(!pool_is_live(&pool, UINT32_MAX));
    CHECK_INT(pool.count, 1);
}

TEST(pool_generation_wraps_past_zero)
{
    Pool pool = make_pool(block, 2);
    CHECK(pool_acquire_at(&pool, (Handle){1, UINT32_MAX}));
    CHECK(pool_release(&pool, (Handle){1, UINT32_MAX}));
    const Handle next = pool_acquire(&pool);
    CHECK_INT(next.index, 1);
    CHECK_INT(next.generation, 1);
}

TEST(pool_acquire_at_restores_and_refuses)
{
    Pool pool = make_pool(block, 100);
    CHECK(pool_acquire_at(&pool, (Handle){70, 9}));
    CHECK(!pool_acquire_at(&pool, (Handle){70, 9}));
    CHECK(!pool_acquire_at(&pool, (Handle){70, 10}));
    CHECK(!pool_acquire_at(&pool, (Handle){0, 1}));
    CHECK(!pool_acquire_at(&pool, (Handle){101, 1}));
    CHECK(!pool_acquire_at(&pool, (Handle){3, 0}));
    CHECK(pool_acquire_at(&pool, (Handle){1, 5}));
    CHECK_INT(pool.count, 2);
    CHECK(pool_find(&pool, (Handle){70, 9}) != NULL);
    CHECK_INT(pool_acquire(&pool).index, 2);
    CHECK_INT(pool_next(&pool, 3), 70);
}

TEST(pool_clear_releases_everything)
{
    Pool pool = make_pool(block, 130);
    Handle first = HANDLE_NONE;
    for (uint32_t i = 0; i < 130; i++) {
        const Handle handle = pool_acquire(&pool);
        first = i == 0 ? handle : first;
    }
    pool_clear(&pool);
    CHECK_INT(pool.count, 0);
    CHECK_INT(pool_next(&pool, 1), 0);
    CHECK(pool_find(&pool, first) == NULL);
    CHECK_INT(pool_acquire(&pool).index, 1);
}

TEST(pool_init_that_does_not_fit_gives_back)
{
    Arena arena;
    arena_init(&arena, block, 1024);
    CHECK(arena_alloc(&arena, 16) != NULL);
    Pool pool = {.count = 77};
    CHECK_INT(pool_init(&pool, &arena, 1000, sizeof(Item)), STATUS_LIMIT);
    CHECK_INT(pool_init(&pool, &arena, UINT32_MAX - 1, UINT32_MAX), STATUS_LIMIT);
    CHECK_INT(pool.count, 77);
    CHECK_INT(arena.used, 16);
    // Fits by its items alone, not with its bits and generations.
    const uint32_t items_only = (uint32_t)((1024 - 16) / sizeof(Item)) - 1;
    CHECK_INT(pool_init(&pool, &arena, items_only, sizeof(Item)), STATUS_LIMIT);
    CHECK_INT(arena.used, 16);
    CHECK_OK(pool_init(&pool, &arena, 0, sizeof(Item)));
    CHECK(handle_is_none(pool_acquire(&pool)));
    CHECK_INT(pool_next(&pool, 1), 0);
}

static void at_free_slot(void *user)
{
    (void)pool_at(user, 3);
}

static void at_far_slot(void *user)
{
    (void)pool_at(user, 1000);
}

static void handle_of_free_slot(void *user)
{
    (void)pool_handle(user, 3);
}

TEST(pool_at_a_free_slot_dies)
{
    Pool pool = make_pool(block, 5);
    CHECK(test_dies(at_free_slot, &pool));
    CHECK(test_dies(at_far_slot, &pool));
    CHECK(test_dies(handle_of_free_slot, &pool));
}

#define MODEL_CAPACITY 200

typedef struct Model {
    bool live[MODEL_CAPACITY + 1];
    uint32_t generation[MODEL_CAPACITY + 1];
    uint64_t value[MODEL_CAPACITY + 1];
} Model;

static void check_against_model(const Pool *pool, const Model *model)
{
    uint32_t next = pool_next(pool, 0);
    uint32_t count = 0;
    for (uint32_t i = 1; i <= MODEL_CAPACITY; i++) {
        CHECK_INT(pool_is_live(pool, i), model->live[i]);
        CHECK_INT(pool->generations[i], model->generation[i]);
        if (model->live[i]) {
            CHECK_INT(next, i);
            CHECK(((Item *)pool_at(pool, i))->value == model->value[i]);
            next = pool_next(pool, i + 1);
            count += 1;
        }
    }
    CHECK_INT(next, 0);
    CHECK_INT(pool->count, count);
}

TEST(pool_equals_a_plain_array_over_a_random_run)
{
    Pool pool = make_pool(block, MODEL_CAPACITY);
    Model model = {0};
    for (uint32_t i = 1; i <= MODEL_CAPACITY; i++) {
        model.generation[i] = 1;
    }
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        // The odds swing, so that the pool runs full and empty.
        const bool grows = rng_below(&rng, 100) < (round / 2000 % 2 == 0 ? 70u : 30u);
        if (grows) {
            uint32_t want = 1;
            while (want <= MODEL_CAPACITY && model.live[want]) {
                want += 1;
            }
            const Handle got = pool_acquire(&pool);
            CHECK_INT(got.index, want <= MODEL_CAPACITY ? want : 0);
            if (!handle_is_none(got)) {
                CHECK_INT(got.generation, model.generation[got.index]);
                model.live[got.index] = true;
                model.value[got.index] = rng_u64(&rng);
                ((Item *)pool_find(&pool, got))->value = model.value[got.index];
            }
        } else {
            const uint32_t index = 1 + rng_below(&rng, MODEL_CAPACITY);
            const Handle handle = {index, model.generation[index]};
            CHECK_INT(pool_release(&pool, handle), model.live[index]);
            model.generation[index] += model.live[index];
            model.live[index] = false;
        }
        if (round % 64 == 0) {
            check_against_model(&pool, &model);
        }
    }

    // A pool restored from live slots and generations continues exactly like the original.
    Pool restored = make_pool(second_block, MODEL_CAPACITY);
    for (uint32_t i = MODEL_CAPACITY; i >= 1; i--) {
        if (model.live[i]) {
            REQUIRE(pool_acquire_at(&restored, (Handle){i, model.generation[i]}));
            ((Item *)pool_at(&restored, i))->value = model.value[i];
        } else {
            restored.generations[i] = model.generation[i];
        }
    }
    check_against_model(&restored, &model);
    for (uint32_t i = 0; i < MODEL_CAPACITY; i++) {
        CHECK(handle_equal(pool_acquire(&pool), pool_acquire(&restored)));
    }
}
