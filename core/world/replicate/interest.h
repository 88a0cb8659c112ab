// Which entities are near which session: positions sorted into cells of the ground, once per
// capture, and queried for each session. A large shape is near if its bounding sphere is.
#pragma once

#include "core/base/arena.h"
#include "core/base/heap.h"
#include "core/base/math.h"
#include "core/base/status.h"

typedef struct InterestItem {
    Vec3 position;
    float reach;
    int32_t cell_x, cell_z;
    uint32_t entry;
} InterestItem;

typedef struct InterestHit {
    float key; // square of the distance to its bounding sphere; the owner may scale it
    uint32_t entry;
} InterestHit;

typedef struct Interest {
    float cell_m;
    uint32_t item_max;
    InterestItem *added;  // in the order of interest_add
    InterestItem *items;  // by bucket, within one in the order of interest_add
    uint32_t *bucket_end; // of each bucket
    uint32_t bucket_mask;
    uint32_t item_count;
    InterestItem *large; // larger than a cell: every query checks them
    uint32_t large_count;
    float reach_max; // of the others
} Interest;

size_t interest_bytes(uint32_t item_max);
// cell_m: about half the radius that is asked for.
MUST_USE Status interest_init(Interest *interest, Arena *arena, uint32_t item_max, float cell_m);

void interest_begin(Interest *interest);
void interest_add(Interest *interest, uint32_t entry, Vec3 position, float reach);
void interest_end(Interest *interest);

float interest_key(Vec3 eye, Vec3 position, float reach);
// Everything within the radius, each once; the same order for the same adds. There is room for
// item_max.
uint32_t interest_query(const Interest *interest, Vec3 eye, float radius, InterestHit *out);
// Moves the `keep` items with the smallest keys to the front, in no particular order; equal keys
// are ordered by `ids` of the entry.
typedef uint64_t (*InterestId)(const void *user, uint32_t entry);
void interest_nearest(InterestHit *hits, uint32_t count, uint32_t keep, InterestId id,
                      const void *user);
