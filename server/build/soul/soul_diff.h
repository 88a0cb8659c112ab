// What changed between two texts, line by line, as a unified diff for people: what `sandlot soul
// accept` shows. Bounded: texts that differ too much are shown as one taken away and one put there.
//
//   request   twice: block name, block text
//   reply     the diff
//
// It is asked of a process that has seen nothing else: what a person accepts is what was compared.
#pragma once

#include "server/build/ask/worker.h"

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

// Has the worker compare them; nothing is written when they are equal. What could speak to a
// terminal is shown as `?`.
MUST_USE Status soul_diff_ask(Worker *worker, const SoulDiffText *before, const SoulDiffText *after,
                              Buffer *out, char reason[WORKER_REASON_BYTES]);
// What the worker said, which may be any bytes: what could speak to a terminal is a `?` then.
MUST_USE Status soul_diff_read_reply(const Buffer *reply, Buffer *out);
// The same in the worker.
MUST_USE Status soul_diff_write(const SoulDiffText *before, const SoulDiffText *after, Buffer *out);
