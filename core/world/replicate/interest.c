// Positions by cell: counted, summed, filled in; see interest.h. Cells share hash buckets, and each
// item stores its cell, so nothing is found twice.
#include "core/world/replicate/interest.h"

#include "core/base/check.h"

#include <string.h>

#define LARGE_MAX 4096 // above that, large ones go into the cells, and every query looks further

static uint32_t bucket_max(uint32_t item_max)
{
    uint32_t count = 64;
    while (count < item_max) {
        count *= 2;
    }
    return count;
}

size_t interest_bytes(uint32_t item_max)
{
    return 2 * arena_need(heap_array_bytes(item_max, sizeof(InterestItem))) +
           arena_need(heap_array_bytes(bucket_max(item_max), sizeof(uint32_t))) +
           arena_need(LARGE_MAX * sizeof(InterestItem));
}

Status interest_init(Interest *interest, Arena *arena, uint32_t item_max, float cell_m)
{
    ASSERT(cell_m > 0);
    *interest = (Interest){.cell_m = cell_m, .item_max = item_max};
    interest->added = arena_array(arena, item_max, sizeof(InterestItem));
    interest->items = arena_array(arena, item_max, sizeof(InterestItem));
    interest->bucket_end = arena_array(arena, bucket_max(item_max), sizeof(uint32_t));
    interest->large = arena_array(arena, LARGE_MAX, sizeof(InterestItem));
    const bool full = interest->added == NULL || interest->items == NULL ||
                      interest->bucket_end == NULL || interest->large == NULL;
    interest_begin(interest);
    return full ? STATUS_LIMIT : STATUS_OK;
}

static int32_t cell_of(const Interest *interest, float coordinate)
{
    return math_floor_i32(coordinate / interest->cell_m);
}

static uint32_t bucket_of(const Interest *interest, int32_t x, int32_t z)
{
    const uint32_t mixed = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)z * 0x85ebca77u;
    return (mixed ^ mixed >> 15) & interest->bucket_mask;
}

void interest_begin(Interest *interest)
{
    interest->item_count = 0;
    interest->large_count = 0;
    interest->reach_max = 0;
}

void interest_add(Interest *interest, uint32_t entry, Vec3 position, float reach)
{
    InterestItem item = {.position = position, .reach = reach, .entry = entry};
    if (reach > interest->cell_m && interest->large_count < LARGE_MAX) {
        interest->large[interest->large_count++] = item;
        return;
    }
    ASSERT(interest->item_count < interest->item_max);
    item.cell_x = cell_of(interest, position.x);
    item.cell_z = cell_of(interest, position.z);
    interest->reach_max = math_max(interest->reach_max, reach);
    interest->added[interest->item_count++] = item;
}

void interest_end(Interest *interest)
{
    uint32_t buckets = 64;
    while (buckets < interest->item_count) {
        buckets *= 2;
    }
    interest->bucket_mask = buckets - 1;
    uint32_t *ends = interest->bucket_end;
    memset(ends, 0, buckets * sizeof *ends);
    for (uint32_t i = 0; i < interest->item_count; i++) {
        const InterestItem *item = &interest->added[i];
        ends[bucket_of(interest, item->cell_x, item->cell_z)] += 1;
    }
    // First the beginning of each bucket; filling moves it to the end.
    uint32_t sum = 0;
    for (uint32_t i = 0; i < buckets; i++) {
        const uint32_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < interest->item_count; i++) {
        const InterestItem *item = &interest->added[i];
        const uint32_t bucket = bucket_of(interest, item->cell_x, item->cell_z);
        interest->items[ends[bucket]++] = *item;
    }
}

float interest_key(Vec3 eye, Vec3 position, float reach)
{
    const float squared = vec3_length_squared(vec3_sub(position, eye));
    if (reach == 0) {
        return squared;
    }
    const float distance = math_max(math_sqrt(squared) - reach, 0);
    return distance * distance;
}

static uint32_t look_at(const InterestItem *item, Vec3 eye, float key_max, InterestHit *out)
{
    const float key = interest_key(eye, item->position, item->reach);
    *out = (InterestHit){key, item->entry};
    return key <= key_max ? 1 : 0;
}

static uint32_t query_cell(const Interest *interest, int32_t x, int32_t z, Vec3 eye, float key_max,
                           InterestHit *out)
{
    const uint32_t bucket = bucket_of(interest, x, z);
    const uint32_t begin = bucket == 0 ? 0 : interest->bucket_end[bucket - 1];
    const uint32_t end = interest->bucket_end[bucket];
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; i++) {
        const InterestItem *item = &interest->items[i];
        if (item->cell_x == x && item->cell_z == z) {
            count += look_at(item, eye, key_max, &out[count]);
        }
    }
    return count;
}

uint32_t interest_query(const Interest *interest, Vec3 eye, float radius, InterestHit *out)
{
    const float key_max = radius * radius;
    const float wide = radius + interest->reach_max;
    uint32_t count = 0;
    for (uint32_t i = 0; i < interest->large_count; i++) {
        count += look_at(&interest->large[i], eye, key_max, &out[count]);
    }
    const int32_t x_last = cell_of(interest, eye.x + wide);
    const int32_t z_last = cell_of(interest, eye.z + wide);
    for (int32_t z = cell_of(interest, eye.z - wide); z <= z_last; z++) {
        for (int32_t x = cell_of(interest, eye.x - wide); x <= x_last; x++) {
            count += query_cell(interest, x, z, eye, key_max, &out[count]);
        }
    }
    return count;
}

static bool is_before(InterestHit a, InterestHit b, InterestId id, const void *user)
{
    return a.key != b.key ? a.key < b.key : id(user, a.entry) < id(user, b.entry);
}

// Quickselect with the median of three as the pivot. The result depends only on keys and ids.
void interest_nearest(InterestHit *hits, uint32_t count, uint32_t keep, InterestId id,
                      const void *user)
{
    uint32_t low = 0;
    uint32_t high = count; // the border lies between these
    while (high - low > 1 && keep > low && keep < high) {
        InterestHit a = hits[low];
        InterestHit b = hits[low + (high - low) / 2];
        const InterestHit c = hits[high - 1];
        if (is_before(b, a, id, user)) {
            const InterestHit swap = a;
            a = b;
            b = swap;
        }
        const InterestHit pivot = is_before(c, a, id, user) ? a : is_before(c, b, id, user) ? c : b;
        uint32_t i = low;
        uint32_t j = high - 1;
        for (;;) {
            while (is_before(hits[i], pivot, id, user)) {
                i += 1;
            }
            while (is_before(pivot, hits[j], id, user)) {
                j -= 1;
            }
            if (i >= j) {
                break;
            }
            const InterestHit swap = hits[i];
            hits[i] = hits[j];
            hits[j] = swap;
            i += 1;
            j -= 1;
        }
        // All before i are at most the pivot, all from i on at least.
        if (keep <= i) {
            high = i > low ? i : low + 1;
        } else {
            low = i;
        }
    }
}
