// A bump allocator: `used` is always a multiple of 16, so every allocation starts aligned when the
// block does. Memory is zeroed as it is handed out, not at reset: a reset costs nothing.
#include "core/base/arena.h"

#include "core/base/check.h"
#include "core/base/heap.h"

#include <stdbool.h>
#include <string.h>

#define ARENA_ALIGN ((size_t)16)

void arena_init(Arena *arena, void *block, size_t bytes)
{
    ASSERT(block != NULL || bytes == 0);
    ASSERT((uintptr_t)block % ARENA_ALIGN == 0);
    const size_t capacity = bytes / ARENA_ALIGN * ARENA_ALIGN;
    *arena = (Arena){.base = block, .capacity = capacity, .clean_from = capacity};
}

void arena_init_zeroed(Arena *arena, void *block, size_t bytes)
{
    arena_init(arena, block, bytes);
    arena->clean_from = 0;
}

size_t arena_need(size_t bytes)
{
    if (bytes > SIZE_MAX - ARENA_ALIGN) {
        return SIZE_MAX;
    }
    return (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}

size_t arena_array_need(size_t count, size_t item_bytes)
{
    return arena_need(heap_array_bytes(count, item_bytes));
}

static void *take(Arena *arena, size_t bytes, bool is_zeroed)
{
    const size_t need = arena_need(bytes);
    ASSERT(arena->used <= arena->capacity);
    if (arena->base == NULL || need > arena->capacity - arena->used) {
        return NULL;
    }
    uint8_t *block = arena->base + arena->used;
    if (is_zeroed && arena->used < arena->clean_from) {
        const size_t dirty = arena->clean_from - arena->used;
        memset(block, 0, dirty < need ? dirty : need);
    }
    arena->used += need;
    if (arena->used > arena->used_peak) {
        arena->used_peak = arena->used;
    }
    if (arena->used > arena->clean_from) {
        arena->clean_from = arena->used;
    }
    return block;
}

void *arena_alloc(Arena *arena, size_t bytes)
{
    return take(arena, bytes, true);
}

void *arena_alloc_raw(Arena *arena, size_t bytes)
{
    return take(arena, bytes, false);
}

void *arena_array(Arena *arena, size_t count, size_t item_bytes)
{
    return arena_alloc(arena, heap_array_bytes(count, item_bytes));
}

size_t arena_mark(const Arena *arena)
{
    return arena->used;
}

void arena_rewind(Arena *arena, size_t mark)
{
    ASSERT(mark <= arena->used);
    ASSERT(mark % ARENA_ALIGN == 0);
    arena->used = mark;
}

void arena_reset(Arena *arena)
{
    arena->used = 0;
}
