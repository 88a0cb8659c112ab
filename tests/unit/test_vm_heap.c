// The Vm's allocator, compared with a plain list of allocations.
#include "core/script/vm/vm_heap.h"

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

#define BLOCKS    600
#define HEAP_SIZE (1u << 20)

typedef struct Block {
    uint8_t *data;
    size_t bytes;
    uint8_t mark;
} Block;

static Block blocks[BLOCKS];

static size_t random_size(Rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return 1 + rng_below(rng, 64);
    case 1:
        return 1 + rng_below(rng, 600);
    case 2:
        return 1 + rng_below(rng, 5000);
    default:
        return 1 + rng_below(rng, 60000);
    }
}

static bool is_intact(const Block *block)
{
    for (size_t i = 0; i < block->bytes; i++) {
        if (block->data[i] != block->mark) {
            return false;
        }
    }
    return true;
}

static void change(VmHeap *heap, Block *block, Rng *rng)
{
    const size_t bytes = random_size(rng);
    const uint8_t mark = (uint8_t)rng_u32(rng);
    if (block->data == NULL) {
        block->data = vm_heap_alloc(heap, bytes);
    } else {
        CHECK(is_intact(block));
        if (rng_below(rng, 2) == 0) {
            vm_heap_free(heap, block->data, block->bytes);
            block->data = NULL;
        } else {
            uint8_t *moved = vm_heap_realloc(heap, block->data, block->bytes, bytes);
            if (moved == NULL) {
                return;
            }
            const size_t kept = block->bytes < bytes ? block->bytes : bytes;
            for (size_t i = 0; i < kept; i += 97) {
                CHECK_INT(moved[i], block->mark);
            }
            block->data = moved;
        }
    }
    block->bytes = bytes;
    block->mark = mark;
    if (block->data != NULL) {
        CHECK(((uintptr_t)block->data & 15) == 0);
        memset(block->data, mark, bytes);
    }
}

TEST(random_use)
{
    Heap outer = heap_make(1ull << 24);
    void *memory = heap_alloc(&outer, vm_heap_bytes(HEAP_SIZE));
    REQUIRE(memory != NULL);
    VmHeap heap;
    vm_heap_init(&heap, memory, HEAP_SIZE);
    Rng rng = rng_make(test_seed(), 1);
    memset(blocks, 0, sizeof blocks);
    for (int i = 0; i < 40000 && test_is_passing(); i++) {
        change(&heap, &blocks[rng_below(&rng, BLOCKS)], &rng);
        if (i % 1000 == 0) {
            CHECK(vm_heap_is_sound(&heap));
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (blocks[i].data != NULL) {
            vm_heap_free(&heap, blocks[i].data, blocks[i].bytes);
        }
    }
    CHECK_INT(heap.used_bytes, 0);
    CHECK(vm_heap_is_sound(&heap));
    // Everything is one piece again, but for an empty run of each size.
    void *large = vm_heap_alloc(&heap, HEAP_SIZE / 2);
    CHECK(large != NULL);
    vm_heap_forget(&heap);
    heap_free(&outer, memory);
}

TEST(full)
{
    Heap outer = heap_make(1ull << 24);
    void *memory = heap_alloc(&outer, vm_heap_bytes(HEAP_SIZE));
    REQUIRE(memory != NULL);
    VmHeap heap;
    vm_heap_init(&heap, memory, HEAP_SIZE);
    uint32_t count = 0;
    while (vm_heap_alloc(&heap, 48) != NULL) {
        count++;
    }
    CHECK(count > HEAP_SIZE / 48 * 98 / 100);
    CHECK(vm_heap_alloc(&heap, 4096) == NULL);
    CHECK(vm_heap_alloc(&heap, (size_t)1 << 28) == NULL);
    vm_heap_release_reserve(&heap);
    CHECK(vm_heap_alloc(&heap, 48) != NULL);
    CHECK(vm_heap_is_sound(&heap));
    vm_heap_forget(&heap);
    heap_free(&outer, memory);
}

// Only what was used is written, and then all of the block is zeros.
TEST(wiped)
{
    Heap outer = heap_make(1ull << 24);
    const size_t bytes = vm_heap_bytes(HEAP_SIZE);
    uint8_t *memory = heap_alloc(&outer, bytes);
    REQUIRE(memory != NULL);
    VmHeap heap;
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t round = 0; round < 4; round++) {
        vm_heap_init(&heap, memory, HEAP_SIZE);
        memset(blocks, 0, sizeof blocks);
        for (uint32_t i = 0; i < 20u << (2 * round) && test_is_passing(); i++) {
            change(&heap, &blocks[rng_below(&rng, BLOCKS)], &rng);
        }
        if (round % 2 != 0) {
            vm_heap_release_reserve(&heap);
            (void)vm_heap_alloc(&heap, 5000);
        }
        CHECK(!vm_heap_wipe(&heap, 4096));
        CHECK(vm_heap_wipe(&heap, SIZE_MAX));
        size_t at = 0;
        while (at < bytes && memory[at] == 0) {
            at += 1;
        }
        CHECK_INT(at, bytes);
    }
    heap_free_clean(&outer, memory);
    CHECK_INT(outer.bytes_now, 0);
}
