// The only way to the system heap. Each block has a header of 16 bytes with its size, so that
// heap_free can subtract it, and a mark that detects a block freed twice or never allocated.
#include "core/base/heap.h"

#include "core/base/check.h"
#include "core/base/heap_reserve.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_LIVE 0x5a4d4c48454150b1ull
#define BLOCK_DEAD 0xdeadb10cdeadb10cull

typedef struct BlockHeader {
    uint64_t bytes;
    uint64_t mark;
} BlockHeader;

_Static_assert(sizeof(BlockHeader) == 16, "the header keeps blocks 16-byte aligned");

// --- blocks of the system -----------------------------------------------------------------------
#ifdef __wasm__
// calloc writes zeros into every page, and a page that was written stays resident. New memory of
// the module is zero already, so a large block comes from there, and pages that nobody uses cost
// nothing. The module grows by steps, because each time costs as much as zeroing half a megabyte:
// what is left of a step is in the list of fresh blocks. A freed block is kept for others in the
// list of used ones. Both are sorted by address, and neighbours become one.
#define PAGE_BYTES  65536u
#define LARGE_BYTES (128u << 10)
#define GROW_BYTES  (32u << 20)

typedef struct FreeBlock {
    struct FreeBlock *next;
    size_t bytes; // whole pages
} FreeBlock;

static FreeBlock *used_blocks, *fresh_blocks; // fresh: zeros after the FreeBlock
static bool malloc_has_begun;

// At its first call malloc takes all memory that the module has then, with any block of ours in it.
static void begin_malloc(void)
{
    if (!malloc_has_begun) {
        void *volatile first = malloc(1); // not left out by the compiler
        free(first);
        malloc_has_begun = true;
    }
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

// The smallest that is large enough; what is left of it stays in the list.
static FreeBlock *take_free(FreeBlock **list, size_t bytes)
{
    FreeBlock **best = NULL;
    for (FreeBlock **at = list; *at != NULL; at = &(*at)->next) {
        if ((*at)->bytes >= bytes && (best == NULL || (*at)->bytes < (*best)->bytes)) {
            best = at;
        }
    }
    if (best == NULL) {
        return NULL;
    }
    FreeBlock *block = *best;
    if (block->bytes > bytes) {
        FreeBlock *rest = (FreeBlock *)(void *)((uint8_t *)block + bytes);
        *rest = (FreeBlock){block->next, block->bytes - bytes};
        *best = rest;
    } else {
        *best = block->next;
    }
    return block;
}

static void merge_next(FreeBlock *block)
{
    const bool touch =
        block->next != NULL && (uint8_t *)block + block->bytes == (uint8_t *)block->next;
    if (touch) {
        FreeBlock *next = block->next;
        block->bytes += next->bytes;
        block->next = next->next;
        *next = (FreeBlock){0};
    }
}

static void give_free(FreeBlock **list, void *block, size_t bytes)
{
    FreeBlock **at = list, *before = NULL;
    while (*at != NULL && (uintptr_t)*at < (uintptr_t)block) {
        before = *at;
        at = &(*at)->next;
    }
    FreeBlock *freed = block;
    *freed = (FreeBlock){*at, bytes};
    *at = freed;
    merge_next(freed);
    if (before != NULL) {
        merge_next(before);
    }
}

// Adds fresh memory: a step, or what is asked for if no step can be had.
static bool grow(size_t bytes)
{
    begin_malloc();
    size_t more = bytes > GROW_BYTES ? bytes : GROW_BYTES;
    size_t page = __builtin_wasm_memory_grow(0, more / PAGE_BYTES);
    if (page == SIZE_MAX && more > bytes) {
        more = bytes;
        page = __builtin_wasm_memory_grow(0, more / PAGE_BYTES);
    }
    if (page == SIZE_MAX) {
        return false;
    }
    give_free(&fresh_blocks, (void *)(page * PAGE_BYTES), more);
    return true;
}

void heap_reserve(size_t bytes)
{
    size_t fresh = 0;
    for (const FreeBlock *block = fresh_blocks; block != NULL; block = block->next) {
        fresh += block->bytes;
    }
    if (bytes > fresh && bytes < SIZE_MAX / 2) {
        (void)grow(whole_pages(bytes - fresh)); // or nothing
    }
}

static void *system_alloc(size_t bytes)
{
    if (bytes < LARGE_BYTES) {
        return calloc(1, bytes);
    }
    if (bytes > SIZE_MAX / 2) { // as calloc does
        return NULL;
    }
    const size_t whole = whole_pages(bytes);
    FreeBlock *block = take_free(&used_blocks, whole);
    if (block != NULL) {
        return memset(block, 0, whole);
    }
    block = take_free(&fresh_blocks, whole);
    if (block == NULL && grow(whole)) {
        block = take_free(&fresh_blocks, whole);
    }
    if (block != NULL) {
        *block = (FreeBlock){0};
    }
    return block;
}

static void system_free(void *block, size_t bytes, bool is_clean)
{
    if (bytes < LARGE_BYTES) {
        free(block);
    } else if (is_clean) {
        memset(block, 0, sizeof(BlockHeader));
        give_free(&fresh_blocks, block, whole_pages(bytes));
    } else {
        give_free(&used_blocks, block, whole_pages(bytes));
    }
}
#else
void heap_reserve(size_t bytes)
{
    (void)bytes;
}

static void *system_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

static void system_free(void *block, size_t bytes, bool is_clean)
{
    (void)bytes;
    (void)is_clean;
    free(block);
}
#endif

Heap heap_make(uint64_t bytes_max)
{
    return (Heap){.bytes_max = bytes_max};
}

// Dies, or counts where it may not.
static void check_frozen(Heap *heap)
{
    CHECK_SLOW(!heap->frozen);
    ASSERT(!heap->frozen || heap->frozen_live);
    heap->frozen_count += heap->frozen;
}

void *heap_alloc(Heap *heap, size_t bytes)
{
    check_frozen(heap);
    ASSERT(heap->bytes_now <= heap->bytes_max);
    // SIZE_MAX is an overflow reported by heap_array_bytes, whatever the cap.
    if (bytes > SIZE_MAX - sizeof(BlockHeader) || bytes > heap->bytes_max - heap->bytes_now ||
        heap->bytes_max == 0 || heap->frozen) {
        heap->refused_count += 1;
        return NULL;
    }
    BlockHeader *header = system_alloc(sizeof(BlockHeader) + bytes);
    if (header == NULL) {
        heap->refused_count += 1;
        return NULL;
    }
    ASSERT((uintptr_t)header % 16 == 0);
    header->bytes = bytes;
    header->mark = BLOCK_LIVE;
    heap->bytes_now += bytes;
    heap->alloc_count += 1;
    if (heap->bytes_now > heap->bytes_peak) {
        heap->bytes_peak = heap->bytes_now;
    }
    return header + 1;
}

static void give_back(Heap *heap, void *block, bool is_clean)
{
    check_frozen(heap);
    if (block == NULL) {
        return;
    }
    BlockHeader *header = (BlockHeader *)block - 1;
    ASSERT(header->mark == BLOCK_LIVE);
    ASSERT(header->bytes <= heap->bytes_now);
    const size_t bytes = (size_t)header->bytes;
    header->mark = BLOCK_DEAD;
    heap->bytes_now -= bytes;
    heap->free_count += 1;
    system_free(header, sizeof(BlockHeader) + bytes, is_clean);
}

void heap_free(Heap *heap, void *block)
{
    give_back(heap, block, false);
}

void heap_free_clean(Heap *heap, void *block)
{
    give_back(heap, block, true);
}

void heap_freeze(Heap *heap)
{
    heap->frozen = true;
}

void heap_freeze_live(Heap *heap)
{
    heap->frozen = true;
    heap->frozen_live = true;
}

void heap_thaw(Heap *heap)
{
    heap->frozen = false;
    heap->frozen_live = false;
}

size_t heap_array_bytes(size_t count, size_t item_bytes)
{
    size_t bytes;
    return __builtin_mul_overflow(count, item_bytes, &bytes) ? SIZE_MAX : bytes;
}
