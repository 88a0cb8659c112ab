// A bump allocator over one block that the caller owns. World lifetime: filled at create and freed
// whole. Tick lifetime: reset at the start of each step.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct Arena {
    uint8_t *base;
    size_t capacity;
    size_t used;
    size_t used_peak;
    size_t clean_from; // from here on the block is known to be zero
} Arena;

void arena_init(Arena *arena, void *block, size_t bytes);
// The same over a zeroed block, as heap_alloc returns it: memory that is never used is not written,
// so its pages take no memory.
void arena_init_zeroed(Arena *arena, void *block, size_t bytes);
// 16-byte aligned, zeroed. NULL when it does not fit: the caller answers STATUS_LIMIT.
void *arena_alloc(Arena *arena, size_t bytes);
// The same without zeroing, for a buffer that is written before it is read.
void *arena_alloc_raw(Arena *arena, size_t bytes);
void *arena_array(Arena *arena, size_t count, size_t item_bytes);

// A rewind frees everything allocated after the mark.
size_t arena_mark(const Arena *arena);
void arena_rewind(Arena *arena, size_t mark);
void arena_reset(Arena *arena);

// The bytes that an allocation takes from an arena, to add up sizes before create.
size_t arena_need(size_t bytes);
size_t arena_array_need(size_t count, size_t item_bytes);
