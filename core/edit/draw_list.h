// What a page draws of a document: a row for each entity with its place in the world, worked out
// from its parents. The list remembers what it has told, so that a page learns what changed since
// and works as much as there was change.
#pragma once

#include "core/edit/doc.h"
#include "core/edit/pick.h"

// Bits of EditDrawRow.flags beside those of PartFlags (core/sim).
enum {
    EDIT_DRAW_VISIBLE = 1 << 16,
    EDIT_DRAW_ANCHORED = 1 << 17,
    EDIT_DRAW_SCRIPT = 1 << 18,
    EDIT_DRAW_MOTION = 1 << 19,
};

// 84 bytes, as a page reads them.
typedef struct EditDrawRow {
    uint32_t id, parent;
    uint32_t type;  // PlaceType
    uint32_t shape; // ShapeKind
    uint32_t flags;
    uint32_t colour;
    uint32_t material;       // PaintMaterial
    uint32_t texture, model; // 1 + the number among the assets, sorted by path; 0: none
    float transparency, glow;
    float position[3];
    float rotation[4];
    float half[3];
} EditDrawRow;

typedef struct EditDrawList EditDrawList;

MUST_USE Status edit_draw_list_create(Heap *heap, EditDrawList **out);
void edit_draw_list_destroy(EditDrawList *list); // NULL is allowed
// The document is another object: everything is told again.
void edit_draw_list_forget(EditDrawList *list);

typedef struct EditDrawChanges {
    const EditDrawRow *rows; // new or changed
    uint32_t row_count;
    const uint32_t *gone; // ids
    uint32_t gone_count;
    bool has_order; // something was added, removed or put elsewhere in the tree or in the order
} EditDrawChanges;
// What changed since the last call; valid until the next. STATUS_LIMIT: no memory, and nothing was
// told.
MUST_USE Status edit_draw_list_update(EditDrawList *list, EditDoc *doc, EditDrawChanges *out);
// Solids of everything as of the last update, for pick.h. Groups have none.
const EditSolid *edit_draw_list_solids(const EditDrawList *list, uint32_t *count);
