// Which anchored parts of the scene differ from it, cell by cell, for clients. Such a part takes no
// entity slot of a client: what differs is a row of its cell's patch (wire/patch.h). Only while a
// part moves, and for PATCH_REST_MS after that, it is an entity as others are. Its attributes are
// in a row even then: there is one way in which clients learn of them, and it loses nothing when an
// entity leaves their slots.
//
// A part belongs for ever to the cell of CHUNK_EDGE metres in which the scene has its centre. The
// version of a cell is the tick of the capture in which one of its parts last changed; each group
// of a row has such a tick too, so what a client lacks is everything after the version it has. A
// cell concerns whoever is near its box, which holds all its parts as the scene has them and
// wherever they have been since.
//
// All memory is taken at create; a capture looks at parts that are entities or hidden, at those
// whose paint was set, and at records of attributes that changed, and at no others. The bytes of
// attributes are not kept: a row has them as they are when it is written.
#pragma once

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/id_map.h"
#include "core/script/bridge/attribute_table.h"
#include "core/sim/sim.h"
#include "core/wire/patch.h"

typedef enum PatchMotion {
    PATCH_RESTS,
    PATCH_MOVES,  // it is replicated as an entity
    PATCH_SETTLES // it is no longer; the next capture takes its pose
} PatchMotion;

// A part of the scene, by its index.
typedef struct PatchPart {
    uint64_t ticks[PATCH_GROUP_COUNT]; // when each group last changed, by bit; 0: never
    uint64_t moved_tick;
    uint64_t attributes_hash; // of those that clients know; 0: they never had any
    Pose pose;
    PartData data;
    Paint paint;
    uint8_t motion; // PatchMotion
    bool gone;
    bool paint_due; // it is in the list of those that were painted since the last capture
} PatchPart;

typedef struct PatchCell {
    ChunkCoord at;
    uint64_t version, version_before; // 0: as the scene has it
    uint32_t first, count;            // of its parts in cell_parts
    Aabb box;
} PatchCell;

typedef struct PatchTable {
    const Sim *sim;
    const AttributeTable *attributes;                // NULL: nothing has attributes
    uint64_t attributes_version, attributes_removed; // as last seen
    uint64_t attributes_cut;                         // records that did not fit into a row
    uint8_t *scratch;                                // attributes of one part
    uint32_t part_count, cell_count;
    uint64_t rest_ticks;
    PatchPart *parts;
    uint32_t *part_cells; // the cell of each part
    uint32_t *cell_parts; // scene indices by cell, ascending
    PatchCell *cells;     // in the order of their first parts
    IdMap map;            // from the place of a cell to its number + 1
    uint32_t *changed;    // cells that changed in the last capture
    uint32_t changed_count;
    uint32_t *painted; // parts that were painted since the last capture
    uint32_t painted_count;
    uint32_t *labelled; // parts that have or had attributes, in the order in which they came
    uint32_t labelled_count;
    uint32_t patched_count; // parts that have a row
    uint64_t fold_tick;     // of the last patch_table_fold; 0: none
    uint32_t fresh_count;   // parts that changed since then
} PatchTable;

size_t patch_table_bytes(const Sim *sim);
MUST_USE Status patch_table_init(PatchTable *table, Arena *arena, const Sim *sim,
                                 const AttributeTable *attributes);
// What parts have now is what the scene says of them: clients know it.
void patch_table_attributes_known(PatchTable *table);
// How an anchored part looks from the next capture on. Harmless for what is none.
void patch_table_paint(PatchTable *table, uint64_t net_id, const Paint *paint);
void patch_table_capture(PatchTable *table);

// Whether a net id is of an anchored part that is no entity for clients, whatever the sim has.
static inline bool patch_table_holds(const PatchTable *table, uint64_t net_id)
{
    return net_id >= 1 && net_id <= table->part_count &&
           table->parts[net_id - 1].motion != PATCH_MOVES;
}

// The number of the cell at that place; UINT32_MAX: there is none.
uint32_t patch_table_find(const PatchTable *table, ChunkCoord at);
// Writes the rows of a cell that changed after `version`, from its part `*next` on; sets *next to
// the first part that did not fit, or to the count of the cell. True if all of them are written.
bool patch_table_write(const PatchTable *table, uint32_t cell, uint64_t version, uint32_t *next,
                       ByteWriter *writer);
// Writes all rows, for a scene of its own, and counts from 0 again what changes after it. False if
// they do not fit; then nothing is different.
bool patch_table_fold(PatchTable *table, ByteWriter *writer);
void patch_table_hash(const PatchTable *table, Hash64 *hash);
