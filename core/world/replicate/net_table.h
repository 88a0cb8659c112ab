// The states of all entities as clients may know them, version by version. A capture compares every
// entity of the sim with its last version and makes a new one where it differs: a mover only when
// the truth has left its curve, or when it looks or fares differently; a shape when its bytes would
// differ; both when their public attributes do.
//
// An entity in the sim's slot n is entry n here, unless it is an anchored part of the scene that
// changed and rests (patch_table.h). The attributes of a part of the scene are never here. A serial
// number tells two entities in one entry apart. Only characters have a ring of past
// versions: what else moves keeps to its curve, and is sent whole when it does not.
// Versions that differ in their paint alone need no ring, because a paint is written the same for
// every base.
#pragma once

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/script/bridge/attribute_table.h"
#include "core/wire/delta.h"
#include "core/world/replicate/patch_table.h"

#define NET_TABLE_JUMP_M 8.0f // further between two captures: it may be in other interests

// The fields that every session reads in every frame.
typedef struct NetEntry {
    uint32_t serial;  // 0: free
    uint32_t version; // the current one, from 1
    Vec3 position;
    float reach;     // of its bounding sphere; 0 for movers
    float speed;     // when the version was made
    uint32_t jumped; // the last capture in which it jumped
} NetEntry;
_Static_assert(sizeof(NetEntry) == 32, "two in a cache line");

// Enough to decide about a record without reading the states.
typedef struct NetSpan {
    uint32_t oldest;       // version that is kept to encode from, or that differs in paint alone
    uint32_t detail_since; // version in which shape or attributes last changed
    uint32_t public_since; // version in which anything changed that not only its owner may see
} NetSpan;

typedef struct NetDetail {
    uint64_t net_id, owner_id;
    NetKind kind;
    uint32_t stamp; // the last capture that found it
    uint32_t ring;  // 1 + its ring; 0: none
    NetState now;
    Vec3 step; // between the last two captures
    // A small change of the look is sent once it has stayed.
    uint8_t look_yaw;
    int8_t look_pitch;
    uint8_t look_rest;
    bool attributes_stale; // these, or the paint, may have changed
    bool is_scene_part;
    uint32_t shape_bytes, attributes_bytes;
    uint32_t owner_bytes; // of all attributes that its owner sees; 0: the same as everybody
    uint64_t attributes_hash, owner_hash;
} NetDetail;

// Whether clients must never learn of an entity; asked when it is new.
typedef bool (*NetSecret)(void *user, const Entity *entity);
// How something looks; asked when it is new and when its record has changed.
typedef Paint (*NetPaintOf)(void *user, uint64_t net_id);

typedef struct NetTableConfig {
    const Sim *sim;                   // kept
    const AttributeTable *attributes; // kept; may be NULL
    const PatchTable *patches;        // kept; captured before this one; may be NULL
    float tolerance_m;
    NetSecret is_secret; // may be NULL
    void *secret_user;
    NetPaintOf paint_of; // NULL: nothing is painted
    void *paint_user;
} NetTableConfig;

typedef struct NetTable {
    const Sim *sim;
    const AttributeTable *attributes;
    const PatchTable *patches;
    NetSecret is_secret;
    void *secret_user;
    NetPaintOf paint_of;
    void *paint_user;
    uint32_t tick_rate;
    int32_t tolerance; // in units of a position
    uint32_t entity_max;
    uint64_t tick;     // of the last capture
    uint32_t capture;  // their number
    uint32_t serial;   // of the newest entry
    NetEntry *entries; // by entry, 0 is none
    NetSpan *spans;
    NetDetail *details;
    NetShape *shapes; // by entry; entities only
    NetState (*rings)[NET_RING];
    uint32_t *ring_free;
    uint32_t ring_free_count;
    IdMap map;
    uint32_t *active; // entries in use, entities in slot order first
    uint32_t active_count;
    uint32_t *active_before;
    uint32_t *offers; // entities that are new or have jumped in the last capture
    uint32_t offer_count;
    uint64_t attributes_version, attributes_removed; // as last seen
    uint8_t *scratch;                                // shape and attributes of one entity
    uint64_t versions_made, attributes_cut;
} NetTable;

size_t net_table_bytes(const NetTableConfig *config);
MUST_USE Status net_table_init(NetTable *table, Arena *arena, const NetTableConfig *config);
void net_table_capture(NetTable *table);

uint32_t net_table_find(const NetTable *table, uint64_t net_id); // 0: not there
// The number of versions since `base`; 0: there is none, or it is no longer kept, and the record is
// a full one.
static inline uint32_t net_table_age(const NetTable *table, uint32_t entry, uint32_t base)
{
    return base < table->spans[entry].oldest ? 0 : table->entries[entry].version - base;
}
// A past version of an entry; NULL if it is not kept.
const NetState *net_table_past(const NetTable *table, uint32_t entry, uint32_t version);
// Whether records for that player hold more than those for others. Such a record is for that
// player's client alone.
static inline bool net_table_is_owner(const NetTable *table, uint32_t entry, uint64_t player)
{
    const NetDetail *detail = &table->details[entry];
    return player != 0 && detail->owner_id == player && detail->now.owner_version != 0;
}
// Whether a client with version `base` lacks anything that it may see.
static inline bool net_table_has_news(const NetTable *table, uint32_t entry, uint32_t base,
                                      uint64_t player)
{
    return table->entries[entry].version != base &&
           (base < table->spans[entry].public_since || net_table_is_owner(table, entry, player));
}
// Encodes the record of an entry for a client that has version `base` (0: none): at most
// net_table_bound bytes. `is_owner`: as net_table_is_owner says of the client's player.
void net_table_encode(NetTable *table, uint32_t entry, uint32_t base, bool is_owner,
                      BitWriter *writer);
uint32_t net_table_bound(const NetTable *table, uint32_t entry, uint32_t base);
void net_table_hash(const NetTable *table, Hash64 *hash);
