// Undo of one transaction, also when others have worked since: what it changed is changed back,
// except for members that somebody else changed afterwards, things that somebody else built upon,
// the script of a thing that is left, and what is not there any more. These are skipped and
// counted.
#pragma once

#include "core/edit/apply.h"

typedef struct EditUndone {
    uint32_t changed; // targets
    uint32_t skipped;
} EditUndone;

// Changes the document by what takes `done` back. The operations that do it are written to `out` as
// a transaction, and what takes those back is appended to `inverse`, so an undo can itself be
// undone. STATUS_LIMIT: it was not done, and the document is as it was.
MUST_USE Status edit_undo(EditDoc *doc, const EditInverse *done, EditBuffer *out,
                          EditInverse *inverse, EditUndone *undone);
