// The heap: counts, limit, freezing.
#include "core/base/heap.h"
#include "core/base/heap_reserve.h"
#include "tests/support/test.h"

#include <string.h>

static bool is_zero(const void *block, size_t bytes)
{
    const uint8_t *at = block;
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != 0) {
            return false;
        }
    }
    return true;
}

TEST(heap_counts_what_it_gives_and_takes)
{
    Heap heap = heap_make(1000);
    void *a = heap_alloc(&heap, 600);
    void *b = heap_alloc(&heap, 400);
    REQUIRE(a != NULL && b != NULL);
    CHECK_INT(heap.bytes_now, 1000);
    CHECK_INT(heap.alloc_count, 2);
    heap_free(&heap, a);
    CHECK_INT(heap.bytes_now, 400);
    CHECK_INT(heap.bytes_peak, 1000);
    void *c = heap_alloc(&heap, 100);
    CHECK_INT(heap.bytes_now, 500);
    CHECK_INT(heap.bytes_peak, 1000);
    heap_free(&heap, b);
    heap_free(&heap, c);
    heap_free(&heap, NULL);
    CHECK_INT(heap.bytes_now, 0);
    CHECK_INT(heap.alloc_count, 3);
    CHECK_INT(heap.free_count, 3);
    CHECK_INT(heap.refused_count, 0);
}

TEST(heap_blocks_are_zeroed_and_aligned)
{
    Heap heap = heap_make(1 << 20);
    for (size_t bytes = 0; bytes < 300; bytes++) {
        uint8_t *block = heap_alloc(&heap, bytes);
        REQUIRE(block != NULL);
        CHECK((uintptr_t)block % 16 == 0);
        CHECK(is_zero(block, bytes));
        memset(block, 0xff, bytes);
        heap_free(&heap, block);
    }
    CHECK_INT(heap.bytes_now, 0);
}

TEST(heap_refuses_what_passes_the_cap)
{
    Heap heap = heap_make(100);
    void *a = heap_alloc(&heap, 60);
    CHECK(heap_alloc(&heap, 41) == NULL);
    CHECK(heap_alloc(&heap, SIZE_MAX) == NULL);
    CHECK_INT(heap.refused_count, 2);
    CHECK_INT(heap.bytes_now, 60);
    CHECK_INT(heap.alloc_count, 1);
    void *b = heap_alloc(&heap, 40);
    CHECK(b != NULL);
    CHECK(heap_alloc(&heap, 1) == NULL);
    heap_free(&heap, a);
    heap_free(&heap, b);

    Heap none = heap_make(0);
    CHECK(heap_alloc(&none, 0) == NULL);
    CHECK(heap_alloc(&none, 1) == NULL);
    CHECK_INT(none.refused_count, 2);
}

TEST(heap_refuses_what_the_system_or_arithmetic_refuses)
{
    Heap heap = heap_make(UINT64_MAX);
    CHECK(heap_alloc(&heap, SIZE_MAX) == NULL);
    CHECK(heap_alloc(&heap, SIZE_MAX - 8) == NULL);
    CHECK_INT(heap.refused_count, 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // The sanitisers end the process instead of returning NULL.
    volatile size_t bytes = SIZE_MAX / 2;
    CHECK(heap_alloc(&heap, bytes) == NULL);
    CHECK_INT(heap.refused_count, 3);
#endif
    CHECK_INT(heap.bytes_now, 0);
}

static void alloc_something(void *user)
{
    (void)heap_alloc(user, 1);
}

typedef struct FreeCase {
    Heap *heap;
    void *block;
} FreeCase;

static void free_block(void *user)
{
    const FreeCase *it = user;
    heap_free(it->heap, it->block);
}

TEST(heap_frozen_dies_on_any_call)
{
    Heap heap = heap_make(100);
    FreeCase it = {&heap, heap_alloc(&heap, 10)};
    heap_freeze(&heap);
    CHECK(test_dies(alloc_something, &heap));
    CHECK(test_dies(free_block, &it));
    CHECK(test_dies(free_block, &(FreeCase){&heap, NULL}));
    heap_thaw(&heap);
    void *again = heap_alloc(&heap, 10);
    CHECK(again != NULL);
    heap_free(&heap, again);
    heap_free(&heap, it.block);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(heap_free_dies_on_a_block_it_never_gave)
{
    Heap heap = heap_make(100);
    void *mine = heap_alloc(&heap, 50);
    _Alignas(16) uint8_t foreign[64] = {0};
    CHECK(test_dies(free_block, &(FreeCase){&heap, foreign + 16}));
    // A block of another heap would make the count go below zero.
    Heap other = heap_make(1000);
    FreeCase crossed = {&heap, heap_alloc(&other, 500)};
    CHECK(test_dies(free_block, &crossed));
    heap_free(&other, crossed.block);
    heap_free(&heap, mine);
}

TEST(heap_array_bytes_saturates)
{
    CHECK(heap_array_bytes(3, 7) == 21);
    CHECK(heap_array_bytes(0, SIZE_MAX) == 0);
    CHECK(heap_array_bytes(SIZE_MAX, 1) == SIZE_MAX);
    CHECK(heap_array_bytes(SIZE_MAX, 2) == SIZE_MAX);
    CHECK(heap_array_bytes(SIZE_MAX / 2 + 1, 2) == SIZE_MAX);
    CHECK(heap_array_bytes(SIZE_MAX / 4, 4) == SIZE_MAX / 4 * 4);
}

// Players are in that world: where tests do not look for the bug, it must not end for it.
TEST(a_live_heap_counts_and_refuses_what_comes_late)
{
    Heap heap = heap_make(1000);
    FreeCase it = {&heap, heap_alloc(&heap, 100)};
    heap_freeze_live(&heap);
#ifdef SANDLOT_SLOW_CHECKS
    CHECK(test_dies(alloc_something, &heap));
    CHECK(test_dies(free_block, &it));
    heap_thaw(&heap);
#else
    CHECK(heap_alloc(&heap, 1) == NULL);
    CHECK_INT(heap.frozen_count, 1);
    CHECK_INT(heap.refused_count, 1);
    CHECK_INT(heap.bytes_now, 100);
#endif
    heap_free(it.heap, it.block);
    CHECK_INT(heap.bytes_now, 0);
    heap_thaw(&heap);
    it.block = heap_alloc(&heap, 1000);
    CHECK(it.block != NULL);
    heap_free(it.heap, it.block);
}

static bool is_filled(const uint8_t *block, size_t bytes, uint8_t value)
{
    for (size_t i = 0; i < bytes; i++) {
        if (block[i] != value) {
            return false;
        }
    }
    return true;
}

// Large blocks have a way of their own in WebAssembly: freed ones are cut, joined and given again.
TEST(large_blocks_are_zeroed_again_and_never_overlap)
{
    enum { SLOTS = 12, ROUNDS = 400 };
    Heap heap = heap_make(64u << 20);
    uint8_t *blocks[SLOTS] = {NULL};
    size_t bytes[SLOTS] = {0};
    uint32_t seed = 11;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        seed = seed * 1664525u + 1013904223u;
        const uint32_t slot = (seed >> 8) % SLOTS;
        if (blocks[slot] != NULL) {
            CHECK(is_filled(blocks[slot], bytes[slot], (uint8_t)(slot + 1)));
            heap_free(&heap, blocks[slot]);
            blocks[slot] = NULL;
        } else {
            bytes[slot] = 1 + (seed >> 12) % (1u << 20);
            blocks[slot] = heap_alloc(&heap, bytes[slot]);
            CHECK(blocks[slot] != NULL && (uintptr_t)blocks[slot] % 16 == 0);
            CHECK(is_filled(blocks[slot], bytes[slot], 0));
            memset(blocks[slot], (int)(slot + 1), bytes[slot]);
        }
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        heap_free(&heap, blocks[slot]);
    }
    CHECK_INT(heap.bytes_now, 0);
}

// In WebAssembly a reserved block is neither counted nor written, and blocks from it are zero.
TEST(reserved_room_gives_blocks_of_zeros)
{
    enum { BLOCK = 4 << 20, BLOCKS = 3 };
    Heap heap = heap_make(64u << 20);
    uint8_t *blocks[BLOCKS];
    heap_reserve((size_t)BLOCK * BLOCKS);
    heap_reserve(1);
    heap_reserve((size_t)-1); // cannot be had, and is no error
    CHECK_INT(heap.bytes_now, 0);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = heap_alloc(&heap, BLOCK);
        REQUIRE(blocks[i] != NULL);
        for (uint32_t k = 0; k < BLOCK; k += 1024) {
            CHECK(blocks[i][k] == 0);
        }
        memset(blocks[i], 0xff, BLOCK);
    }
    for (uint32_t i = 0; i < BLOCKS; i++) {
        heap_free(&heap, blocks[i]);
    }
}
