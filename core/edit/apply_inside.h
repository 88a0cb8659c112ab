// What the files that apply operations share.
#pragma once

#include "core/edit/apply.h"

typedef struct EditApply {
    EditDoc *doc;
    PlaceScratch scratch;
    EditInverse *inverse; // NULL: nobody wants to take it back
    EditError *error;
} EditApply;

// Reads a record as it came in, brings it into the one form, and leaves that in doc->work.
MUST_USE Status edit_apply_record(EditApply *apply, EditKind kind, const uint8_t *bytes,
                                  size_t count, EditObject *object);
// Adds an entity whose record is in doc->work; its inverse is the deletion.
MUST_USE Status edit_apply_add(EditApply *apply, EditKind kind, uint32_t id, uint32_t parent,
                               EditWhere where);
MUST_USE Status edit_apply_paste(EditApply *apply, const EditOp *op);
MUST_USE Status edit_apply_parent(EditApply *apply, uint32_t id, uint32_t parent);
