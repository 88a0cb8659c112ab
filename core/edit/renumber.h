// Ids that were taken. Two people may have drawn the same random id: what the session gets second
// is given another one, everywhere in its transaction.
#pragma once

#include "core/edit/op.h"

typedef struct EditRenumber {
    EditKind kind;
    uint32_t from, to;
} EditRenumber;

typedef struct EditRenumbers {
    const EditRenumber *items;
    uint32_t count;
} EditRenumbers;

uint32_t edit_renumber(EditRenumbers pairs, EditKind kind, uint32_t id); // the id itself if none
// Writes the transaction with other ids. STATUS_MALFORMED and the like: it cannot be read.
MUST_USE Status edit_renumber_ops(Heap *heap, const uint8_t *bytes, size_t count,
                                  EditRenumbers pairs, EditBuffer *out);
// The id that an operation creates and of which kind; 0: it creates none by that way (paste numbers
// its own).
uint32_t edit_op_created(Heap *heap, const EditOp *op);
