// The differences between two texts, line by line, as a unified diff: shown by `sandlot soul
// accept`. If the texts differ too much, the whole of one is removed and the whole of the other
// added.
#pragma once

#include "server/build/base/buffer.h"

#define SOUL_DIFF_EDITS_MAX \
    1024 // removed and added lines; if there are more, both texts are shown whole
#define SOUL_DIFF_CONTEXT    3
#define SOUL_DIFF_LINES_MAX  4000 // of the diff; a note says how many more there are
#define SOUL_DIFF_OUTPUT_MAX (2u << 20)
#define SOUL_DIFF_NAME_BYTES 192

typedef struct SoulDiffText {
    const char *name; // "Door.soul.lua (reviewed)"
    const char *text;
    size_t bytes;
} SoulDiffText;

// Writes nothing if they are equal. Characters that could control a terminal are shown as `?`.
// STATUS_LIMIT: out of memory, or `out` is full.
MUST_USE Status soul_diff_write(const SoulDiffText *before, const SoulDiffText *after, Buffer *out);
