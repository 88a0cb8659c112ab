// A bump allocator over one block that somebody else owns. World lifetime: filled at create and
// freed whole. Tick lifetime: reset at the start of each step.
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
// The same over a block that is zero, as heap_alloc gives it: what was never used is not written
// either, so that its pages take no memory.
void arena_init_zeroed(Arena *arena, void *block, size_t bytes);
// 16-byte aligned, zeroed. NULL when it does not fit: the caller answers STATUS_LIMIT.
void *arena_alloc(Arena *arena, size_t bytes);
void *arena_array(Arena *arena, size_t count, size_t item_bytes);

// Everything allocated after the mark is given back by the rewind.
size_t arena_mark(const Arena *arena);
void arena_rewind(Arena *arena, size_t mark);
void arena_reset(Arena *arena);

// What an allocation of that many bytes takes from an arena, for adding up sizes before create.
size_t arena_need(size_t bytes);
