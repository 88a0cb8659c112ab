// A clip: entities as they are copied, stored as a blob and named by its hash, so that a paste is
// small however much it brings. As bytes: u8 format 1, varint mark of the tables, varint count, and
// each entity as a block, parents before what is below them. The parent of those at the top is 0.
//
// Pasted entities get ids that follow from the seed in the operation, the same on every page.
#pragma once

#include "core/edit/doc.h"

// The entities with everything below them. STATUS_NOT_FOUND: one of them is not there.
MUST_USE Status edit_clip_write(EditDoc *doc, const uint32_t *ids, uint32_t count, EditBuffer *out);
