// Fixed slots with generation handles. A handle outlives its slot safely: once the slot is
// released, pool_find on the old handle gives NULL. The lowest free slot is always taken first, so
// the state of a pool is just which slots are live and their generations: it restores exactly,
// whatever its past.
//
// Slot 0 is never used, so that the all-zero handle means none.
#pragma once

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Handle {
    uint32_t index;
    uint32_t generation;
} Handle;

#define HANDLE_NONE ((Handle){0, 0})

static inline bool handle_is_none(Handle handle)
{
    return handle.index == 0;
}
static inline bool handle_equal(Handle a, Handle b)
{
    return a.index == b.index && a.generation == b.generation;
}

typedef struct Pool {
    uint8_t *items;
    uint64_t *live;        // one bit a slot
    uint32_t *generations; // bumped on release; 0 only for slot 0
    uint32_t item_bytes;
    uint32_t slot_count; // capacity + 1
    uint32_t count;      // live slots
    uint32_t first_free; // no free slot below this one
} Pool;

// What pool_init takes from its arena.
size_t pool_bytes(uint32_t capacity, uint32_t item_bytes);
MUST_USE Status pool_init(Pool *pool, Arena *arena, uint32_t capacity, uint32_t item_bytes);

// A zeroed slot, or HANDLE_NONE when the pool is full.
Handle pool_acquire(Pool *pool);
// Takes the given slot with the given generation (restore); false if it is live or out of range. A
// restore that must be exact also writes the generations of free slots, which are never 0.
bool pool_acquire_at(Pool *pool, Handle handle);
// False for a stale handle: releasing twice is harmless.
bool pool_release(Pool *pool, Handle handle);
void pool_clear(Pool *pool);

static inline bool pool_is_live(const Pool *pool, uint32_t index)
{
    return index < pool->slot_count && (pool->live[index / 64] >> (index % 64) & 1) != 0;
}
// The slot must be live.
static inline void *pool_at(const Pool *pool, uint32_t index)
{
    ASSERT(pool_is_live(pool, index));
    return pool->items + (size_t)index * pool->item_bytes;
}
// NULL for a stale or empty handle.
static inline void *pool_find(const Pool *pool, Handle handle)
{
    if (!pool_is_live(pool, handle.index) || pool->generations[handle.index] != handle.generation) {
        return NULL;
    }
    return pool->items + (size_t)handle.index * pool->item_bytes;
}
// The slot must be live.
static inline Handle pool_handle(const Pool *pool, uint32_t index)
{
    ASSERT(pool_is_live(pool, index));
    return (Handle){index, pool->generations[index]};
}

// The first live slot at or after `from`, or 0:
//   for (i = pool_next(p, 1); i != 0; i = pool_next(p, i + 1))
static inline uint32_t pool_next(const Pool *pool, uint32_t from)
{
    if (from >= pool->slot_count) {
        return 0;
    }
    const uint32_t word_last = (pool->slot_count - 1) / 64;
    uint32_t word = from / 64;
    uint64_t bits = pool->live[word] & (~0ull << (from % 64));
    while (bits == 0) {
        if (word == word_last) {
            return 0;
        }
        word += 1;
        bits = pool->live[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}
