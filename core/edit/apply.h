// Applies transactions (op.h) to a document. Checked are types, ranges, ids, parents and limits,
// and nothing else: whether the place as a whole can be played is for problem.h.
#pragma once

#include "core/edit/inverse.h"

// All of it or nothing. What takes it back is appended to the inverse, which must be empty. On
// failure the document and the inverse are as they were, and the error says why.
MUST_USE Status edit_apply(EditDoc *doc, const uint8_t *bytes, size_t count, EditInverse *inverse,
                           EditError *error);
// Takes back what was applied last. The document must be as it was then.
void edit_take_back(EditDoc *doc, const EditInverse *inverse);

// One operation alone, for undo.h; the same rules.
MUST_USE Status edit_apply_op(EditDoc *doc, const EditOp *op, EditInverse *inverse,
                              EditError *error);

// Guards: what somebody else's change is noticed by.
uint64_t edit_guard_value(EditDoc *doc, EditKind kind, uint32_t id, uint32_t member);
uint64_t edit_guard_record(EditDoc *doc, EditKind kind, uint32_t id);
// What builds write into an entity: nobody has changed it by that.
void edit_forget_built(EditObject *entity);
