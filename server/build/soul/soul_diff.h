// What changed between two texts, line by line, as a unified diff for people: what `sandlot soul
// accept` shows. Bounded: texts that differ too much are shown as one taken away and one put there.
#pragma once

#include "server/build/base/buffer.h"

#define SOUL_DIFF_EDITS_MAX  1024 // lines taken and put; more: the whole of both
#define SOUL_DIFF_CONTEXT    3
#define SOUL_DIFF_LINES_MAX  4000 // of the diff; a note says how many more there are
#define SOUL_DIFF_OUTPUT_MAX (2u << 20)
#define SOUL_DIFF_NAME_BYTES 192

typedef struct SoulDiffText {
    const char *name; // "Door.soul.lua (reviewed)"
    const char *text;
    size_t bytes;
} SoulDiffText;

// Nothing is written when they are equal. What could speak to a terminal is shown as `?`.
// STATUS_LIMIT: out of memory, or `out` is full.
MUST_USE Status soul_diff_write(const SoulDiffText *before, const SoulDiffText *after, Buffer *out);
