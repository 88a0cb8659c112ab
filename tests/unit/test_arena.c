// Arenas: alignment, zeroing, exhaustion, marks.
#include "core/base/arena.h"
#include "tests/support/test.h"

#include <string.h>

#define BLOCK_BYTES 1024

static _Alignas(16) uint8_t block[BLOCK_BYTES];

static Arena fresh_arena(void)
{
    memset(block, 0xee, sizeof block);
    Arena arena;
    arena_init(&arena, block, sizeof block);
    return arena;
}

TEST(arena_gives_aligned_zeroed_memory)
{
    Arena arena = fresh_arena();
    size_t want_used = 0;
    for (size_t bytes = 0; bytes < 20; bytes++) {
        uint8_t *got = arena_alloc(&arena, bytes);
        REQUIRE(got != NULL);
        CHECK(got == block + want_used);
        CHECK((uintptr_t)got % 16 == 0);
        for (size_t i = 0; i < bytes; i++) {
            CHECK_INT(got[i], 0);
        }
        want_used += (bytes + 15) / 16 * 16;
        CHECK_INT(arena.used, want_used);
    }
}

TEST(arena_exhaustion_gives_null_and_changes_nothing)
{
    Arena arena = fresh_arena();
    CHECK(arena_alloc(&arena, BLOCK_BYTES + 1) == NULL);
    CHECK(arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(arena_alloc(&arena, SIZE_MAX - 15) == NULL);
    CHECK_INT(arena.used, 0);
    CHECK(arena_alloc(&arena, BLOCK_BYTES - 16) != NULL);
    CHECK(arena_alloc(&arena, 17) == NULL);
    CHECK_INT(arena.used, BLOCK_BYTES - 16);
    CHECK(arena_alloc(&arena, 16) != NULL);
    CHECK(arena_alloc(&arena, 1) == NULL);
    CHECK_INT(arena.used, BLOCK_BYTES);
    CHECK_INT(arena.used_peak, BLOCK_BYTES);
}

TEST(arena_array_checks_the_product)
{
    Arena arena = fresh_arena();
    CHECK(arena_array(&arena, 10, 8) != NULL);
    CHECK_INT(arena.used, 80);
    CHECK(arena_array(&arena, SIZE_MAX / 2 + 2, 2) == NULL);
    CHECK(arena_array(&arena, SIZE_MAX, SIZE_MAX) == NULL);
    CHECK_INT(arena.used, 80);
}

TEST(arena_rewind_gives_back_and_zeroes_again)
{
    Arena arena = fresh_arena();
    CHECK(arena_alloc(&arena, 100) != NULL);
    const size_t mark = arena_mark(&arena);
    uint8_t *first = arena_alloc(&arena, 64);
    REQUIRE(first != NULL);
    memset(first, 0xaa, 64);
    arena_rewind(&arena, mark);
    CHECK_INT(arena.used, mark);
    uint8_t *second = arena_alloc(&arena, 32);
    CHECK(second == first);
    CHECK_INT(second[0] + second[31], 0);
    CHECK_INT(arena.used_peak, 112 + 64);
    arena_reset(&arena);
    CHECK_INT(arena.used, 0);
    CHECK_INT(arena.used_peak, 112 + 64);
}

TEST(arena_need_adds_up_to_what_is_used)
{
    Arena arena = fresh_arena();
    size_t sum = 0;
    for (size_t bytes = 0; bytes < 30; bytes += 7) {
        sum += arena_need(bytes);
        CHECK(arena_alloc(&arena, bytes) != NULL);
    }
    CHECK_INT(arena.used, sum);
    CHECK(arena_need(SIZE_MAX) == SIZE_MAX);
    CHECK(arena_need(SIZE_MAX - 3) == SIZE_MAX);
    CHECK_INT(arena_need(0), 0);
    CHECK_INT(arena_need(1), 16);
    CHECK_INT(arena_need(16), 16);
}

TEST(arena_odd_capacity_is_rounded_down)
{
    Arena arena;
    arena_init(&arena, block, 31);
    CHECK(arena_alloc(&arena, 16) != NULL);
    CHECK(arena_alloc(&arena, 1) == NULL);
    arena_init(&arena, NULL, 0);
    CHECK(arena_alloc(&arena, 1) == NULL);
    CHECK(arena_alloc(&arena, 0) == NULL);
}

TEST(arena_over_zeroed_memory_clears_only_what_was_used)
{
    Arena arena;
    memset(block, 0, 256);
    block[200] = 7; // not zero as promised: shows that it is not written
    arena_init_zeroed(&arena, block, 256);
    uint8_t *first = arena_alloc(&arena, 64);
    memset(first, 0xff, 64);
    uint8_t *second = arena_alloc(&arena, 192);
    CHECK_INT(second[200 - 64], 7);
    arena_reset(&arena);
    const uint8_t *again = arena_alloc(&arena, 256);
    CHECK_INT(again[0], 0);
    CHECK_INT(again[63], 0);
    CHECK_INT(again[200], 0);
}

static void init_unaligned(void *user)
{
    arena_init(user, block + 1, 100);
}

static void rewind_forward(void *user)
{
    arena_rewind(user, 64);
}

TEST(arena_misuse_dies)
{
    Arena arena = fresh_arena();
    CHECK(test_dies(init_unaligned, &arena));
    CHECK(test_dies(rewind_forward, &arena));
}
