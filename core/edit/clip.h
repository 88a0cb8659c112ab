// A clip: entities as they are copied, stored as a blob and named by its hash, so that a paste is
// small however much it brings. As bytes: u8 format 1, varint mark of the tables, varint count, and
// each entity as a block, parents before what is below them. The parent of those at the top is 0.
//
// Pasted entities get ids that follow from the seed in the operation, the same on every page. A
// session stores and tells a paste as the creations that it stands for, so nobody needs the clip
// again.
#pragma once

#include "core/edit/op.h"

// The entities with everything below them. STATUS_NOT_FOUND: one of them is not there.
MUST_USE Status edit_clip_write(EditDoc *doc, const uint32_t *ids, uint32_t count, EditBuffer *out);

// Writes the transaction with creations instead of its paste; `out` stays empty if it has none, or
// if its bytes cannot be read, which is for edit_apply to say. The document, which has to find the
// clip, does not change. At most one paste is allowed: the ids of a second could be those of the
// first.
MUST_USE Status edit_paste_expand(EditDoc *doc, const uint8_t *ops, size_t bytes, EditBuffer *out,
                                  EditError *error);
