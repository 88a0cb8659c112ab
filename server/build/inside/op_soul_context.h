// What a model is told of the scene around a plain soul: the entities its script is bound to, those
// and the prefabs that its text names, and what stands near. Nothing else of a scene reaches the
// prompt, so nothing else can make a soul stale.
//
// A creator's JSON is read in the worker alone (WORKER_SOUL_CONTEXT); the text that comes back is
// one JSON object per line under a few headings, at most SOUL_CONTEXT_BYTES_MAX.
//
// What is replicated may be read by every player, so such a script is told neither of server-only
// entities nor of private attributes; no script is told the value of a private one.
#pragma once

#include "server/build/ask/ask_soul_context.h"
#include "server/build/base/reason.h"

#define SOUL_CONTEXT_SELF_MAX  8  // entities it is bound to
#define SOUL_CONTEXT_NAMED_MAX 16 // entities, and as many prefabs
#define SOUL_CONTEXT_NEAR_MAX  12
#define SOUL_CONTEXT_NEAR_M    12.0f

// The files are scene.json and the prefabs; others are skipped. Appends to `out`. STATUS_MALFORMED
// with a reason: the scene compiler would reject the file too.
MUST_USE Status soul_context_write(const PlaceFile *files, uint32_t file_count,
                                   const SoulContextAsk *ask, Buffer *out,
                                   char reason[WORKER_REASON_BYTES]);
