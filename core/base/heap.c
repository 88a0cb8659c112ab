// The only way to the system heap. Each block has a header of 16 bytes with its size, so that
// heap_free can subtract it, and a mark that detects a block freed twice or never allocated.
//
// In WebAssembly a large block is new pages of the linear memory, which are zero already. calloc
// would write zeros to all of them, and a page of the linear memory takes room only once it was
// written: most of a world's memory is reserved for what never comes.
#include "core/base/heap.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_LIVE 0x5a4d4c48454150b1ull
#define BLOCK_DEAD 0xdeadb10cdeadb10cull

typedef struct BlockHeader {
#ifdef __wasm__
    uint32_t bytes;
    uint32_t pages; // of a large block; 0: it came from calloc
#else
    uint64_t bytes;
#endif
    uint64_t mark;
} BlockHeader;

_Static_assert(sizeof(BlockHeader) == 16, "the header keeps blocks 16-byte aligned");

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

#ifdef __wasm__

#define PAGE_BYTES        65536u
#define LARGE_BLOCK_BYTES (4 * PAGE_BYTES)

// Linear memory is never given back, so a freed block waits for one that fits. While it waits, what
// follows its header is the next one.
typedef struct FreeBlock {
    BlockHeader header;
    struct FreeBlock *next;
} FreeBlock;

static BlockHeader *reuse(Heap *heap, uint32_t pages, size_t bytes)
{
    FreeBlock **best = NULL;
    for (FreeBlock **at = (FreeBlock **)&heap->large_free; *at != NULL; at = &(*at)->next) {
        if ((*at)->header.pages >= pages &&
            (best == NULL || (*at)->header.pages < (*best)->header.pages)) {
            best = at;
        }
    }
    if (best == NULL) {
        return NULL;
    }
    FreeBlock *block = *best;
    *best = block->next;
    memset(&block->header + 1, 0, bytes);
    return &block->header;
}

// All zero but the header's pages.
static BlockHeader *system_alloc(Heap *heap, size_t bytes)
{
    if (bytes < LARGE_BLOCK_BYTES) {
        return calloc(1, sizeof(BlockHeader) + bytes);
    }
    const uint32_t pages =
        (uint32_t)(((uint64_t)bytes + sizeof(BlockHeader) + PAGE_BYTES - 1) / PAGE_BYTES);
    BlockHeader *header = reuse(heap, pages, bytes);
    if (header == NULL) {
        // The first malloc takes all memory that there is: it must not be the first after us.
        void *volatile taken = malloc(1);
        free(taken);
        const size_t first = __builtin_wasm_memory_grow(0, pages);
        if (first == SIZE_MAX) {
            return NULL;
        }
        header = (BlockHeader *)(uintptr_t)(first * PAGE_BYTES);
        header->pages = pages;
    }
    return header;
}

static void system_free(Heap *heap, BlockHeader *header)
{
    if (header->pages == 0) {
        free(header);
        return;
    }
    FreeBlock *block = (FreeBlock *)header;
    block->next = heap->large_free;
    heap->large_free = block;
}

#else

static BlockHeader *system_alloc(Heap *heap, size_t bytes)
{
    (void)heap;
    return calloc(1, sizeof(BlockHeader) + bytes);
}

static void system_free(Heap *heap, BlockHeader *header)
{
    (void)heap;
    free(header);
}

#endif

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
    BlockHeader *header = system_alloc(heap, bytes);
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

void heap_free(Heap *heap, void *block)
{
    check_frozen(heap);
    if (block == NULL) {
        return;
    }
    BlockHeader *header = (BlockHeader *)block - 1;
    ASSERT(header->mark == BLOCK_LIVE);
    ASSERT(header->bytes <= heap->bytes_now);
    header->mark = BLOCK_DEAD;
    heap->bytes_now -= header->bytes;
    heap->free_count += 1;
    system_free(heap, header);
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
