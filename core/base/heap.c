// The only way to the system heap. Each block has a header of 16 bytes with its size, so that
// heap_free can subtract it, and a mark that detects a block freed twice or never allocated.
#include "core/base/heap.h"

#include "core/base/check.h"

#include <stdlib.h>

#define BLOCK_LIVE 0x5a4d4c48454150b1ull
#define BLOCK_DEAD 0xdeadb10cdeadb10cull

typedef struct BlockHeader {
    uint64_t bytes;
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
    BlockHeader *header = calloc(1, sizeof(BlockHeader) + bytes);
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
    free(header);
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
