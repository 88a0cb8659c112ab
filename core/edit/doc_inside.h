// The inside of a document, for the files of this folder that change it.
#pragma once

#include "core/base/id_map.h"
#include "core/edit/doc.h"

// A slot; 0 is none, and the list's ends.
typedef struct EditItem {
    uint32_t id; // 0: free
    uint32_t before, after;
    uint32_t parent; // id; 0: none
    uint32_t child_count;
    uint32_t version;
    uint32_t bytes;
    uint32_t text_nodes, text_bytes; // of a document that is measured
    bool is_marked;                  // during one operation
    uint8_t *record;
    uint64_t hash; // of the record
} EditItem;

typedef struct EditList {
    EditItem *items; // slot 0 is not used
    uint32_t slot_count, slot_max;
    uint32_t free; // chained by `after`
    uint32_t count;
    uint32_t first, last;
    IdMap map;
    void *map_block;
    uint32_t map_max;
} EditList;

struct EditDoc {
    Heap *heap;
    EditBlobs blobs;
    EditItem single[2]; // settings and scene
    EditList lists[2];  // terrain and entities
    EditFile *files;
    uint32_t file_count, file_max;
    uint32_t version;
    size_t record_bytes; // of all
    bool is_measured;
    EditSize size;   // of all that is in scene.json
    EditBuffer work; // of one operation
};

// Where something is in the order of its list.
typedef enum EditSpot { EDIT_AT_END, EDIT_AT_BEGIN, EDIT_AFTER, EDIT_SPOT_COUNT } EditSpot;
typedef struct EditWhere {
    EditSpot spot;
    uint32_t id; // EDIT_AFTER; if it is not there, the end
} EditWhere;

EditList *edit_list(EditDoc *doc, EditKind kind);
EditItem *edit_item_find(EditDoc *doc, EditKind kind, uint32_t id); // NULL: none
uint32_t edit_slot_find(const EditDoc *doc, EditKind kind, uint32_t id);
EditWhere edit_where_of(const EditDoc *doc, EditKind kind, uint32_t id);
// The caller has checked that the id is free. The record is copied.
MUST_USE Status edit_item_add(EditDoc *doc, EditKind kind, uint32_t id, uint32_t parent,
                              EditWhere where, const uint8_t *record, size_t bytes);
void edit_item_remove(EditDoc *doc, EditKind kind, uint32_t id); // it has no children
void edit_item_place(EditDoc *doc, EditKind kind, uint32_t id, EditWhere where);
MUST_USE Status edit_item_record(EditDoc *doc, EditKind kind, EditItem *item, const uint8_t *record,
                                 size_t bytes);
void edit_item_parent(EditDoc *doc, EditItem *item, uint32_t parent);
// All zero hash: none. The caller has checked the path.
MUST_USE Status edit_file_put(EditDoc *doc, Text path, const uint8_t hash[SHA256_BYTES]);
bool edit_hash_is_none(const uint8_t hash[SHA256_BYTES]);
// How many are above something that has this parent; more than PLACE_PARENTS_MAX: too many.
uint32_t edit_depth_below(const EditDoc *doc, uint32_t parent);

// Filling a new document: each object as it was read, and when all are there, the parents. `bad` is
// the entity whose parent is missing or is above itself.
MUST_USE Status edit_item_load(EditDoc *doc, EditKind kind, uint32_t id, const EditObject *object);
MUST_USE Status edit_doc_link(EditDoc *doc, uint32_t *bad);
// Other ids for all terrain, in order.
MUST_USE Status edit_doc_renumber_terrain(EditDoc *doc, const uint32_t *ids);
