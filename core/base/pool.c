// Slot pools. Each slot has a live bit, so the lowest free slot is found a word at a time;
// `first_free` only says where that search may start. Bit 0 stays clear: slot 0 is never used.
#include "core/base/pool.h"

#include "core/base/check.h"
#include "core/base/heap.h"

#include <string.h>

static size_t word_count(uint32_t slot_count)
{
    return ((size_t)slot_count + 63) / 64;
}

size_t pool_bytes(uint32_t capacity, uint32_t item_bytes)
{
    ASSERT(capacity < UINT32_MAX);
    const size_t slot_count = (size_t)capacity + 1;
    const size_t needs[] = {
        arena_need(heap_array_bytes(slot_count, item_bytes)),
        arena_need(heap_array_bytes(word_count(capacity + 1), sizeof(uint64_t))),
        arena_need(heap_array_bytes(slot_count, sizeof(uint32_t))),
    };
    size_t sum = 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (needs[i] > SIZE_MAX - sum) {
            return SIZE_MAX;
        }
        sum += needs[i];
    }
    return sum;
}

Status pool_init(Pool *pool, Arena *arena, uint32_t capacity, uint32_t item_bytes)
{
    ASSERT(item_bytes > 0);
    ASSERT(capacity < UINT32_MAX);
    const size_t mark = arena_mark(arena);
    Pool made = {.item_bytes = item_bytes, .slot_count = capacity + 1, .first_free = 1};
    made.items = arena_array(arena, made.slot_count, item_bytes);
    made.live = arena_array(arena, word_count(made.slot_count), sizeof(uint64_t));
    made.generations = arena_array(arena, made.slot_count, sizeof(uint32_t));
    if (made.items == NULL || made.live == NULL || made.generations == NULL) {
        arena_rewind(arena, mark);
        return STATUS_LIMIT;
    }
    for (uint32_t i = 1; i < made.slot_count; i++) {
        made.generations[i] = 1;
    }
    *pool = made;
    return STATUS_OK;
}

static void slot_take(Pool *pool, uint32_t index)
{
    pool->live[index / 64] |= 1ull << (index % 64);
    pool->count += 1;
    memset(pool->items + (size_t)index * pool->item_bytes, 0, pool->item_bytes);
}

static void slot_give_back(Pool *pool, uint32_t index)
{
    pool->live[index / 64] &= ~(1ull << (index % 64));
    pool->count -= 1;
    pool->generations[index] += 1;
    if (pool->generations[index] == 0) {
        pool->generations[index] = 1;
    }
    if (index < pool->first_free) {
        pool->first_free = index;
    }
}

// The lowest free slot, or slot_count when all are live.
static uint32_t find_free(const Pool *pool)
{
    const uint32_t from = pool->first_free;
    if (from >= pool->slot_count) {
        return pool->slot_count;
    }
    const uint32_t words = (uint32_t)word_count(pool->slot_count);
    uint64_t free_bits = ~pool->live[from / 64] & (~0ull << (from % 64));
    for (uint32_t word = from / 64;;) {
        if (free_bits != 0) {
            // The bits past the last slot are clear: slot_count is the first that can come up.
            return word * 64 + (uint32_t)__builtin_ctzll(free_bits);
        }
        word += 1;
        if (word == words) {
            return pool->slot_count;
        }
        free_bits = ~pool->live[word];
    }
}

Handle pool_acquire(Pool *pool)
{
    const uint32_t index = find_free(pool);
    pool->first_free = index;
    if (index == pool->slot_count) {
        return HANDLE_NONE;
    }
    slot_take(pool, index);
    pool->first_free = index + 1;
    ASSERT(pool->count < pool->slot_count);
    return (Handle){index, pool->generations[index]};
}

bool pool_acquire_at(Pool *pool, Handle handle)
{
    if (handle.index == 0 || handle.index >= pool->slot_count || handle.generation == 0 ||
        pool_is_live(pool, handle.index)) {
        return false;
    }
    slot_take(pool, handle.index);
    pool->generations[handle.index] = handle.generation;
    return true;
}

bool pool_release(Pool *pool, Handle handle)
{
    if (pool_find(pool, handle) == NULL) {
        return false;
    }
    slot_give_back(pool, handle.index);
    return true;
}

void pool_clear(Pool *pool)
{
    for (uint32_t i = pool_next(pool, 1); i != 0; i = pool_next(pool, i + 1)) {
        slot_give_back(pool, i);
    }
    ASSERT(pool->count == 0);
    pool->first_free = 1;
}
