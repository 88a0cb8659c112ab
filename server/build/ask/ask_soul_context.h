// Asks the worker what a model is told of the scene around a plain soul (WORKER_SOUL_CONTEXT).
//
//   request   block path, u8 replicate, block text, u32 files; each: block path, block data
//   reply     the text
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/place/place_folder.h"

#define SOUL_CONTEXT_BYTES_MAX (16u << 10)
#define SOUL_TEXT_BYTES_MAX    (16u << 10) // of a .soul

typedef struct SoulContextAsk {
    const char *path; // "Workspace/Door"
    bool replicate;
    const char *text; // of the soul
    size_t text_bytes;
} SoulContextAsk;

// Appends the description of the scene to `out`: UTF-8, at most SOUL_CONTEXT_BYTES_MAX.
// STATUS_MALFORMED with a reason: the scene compiler would reject the file too.
MUST_USE Status soul_context_ask(const BuildContext *context, const PlaceFolder *folder,
                                 const SoulContextAsk *ask, Buffer *out);
// Writes the request; files that do not belong to a scene are skipped.
void soul_context_request(const PlaceFile *files, uint32_t file_count, const SoulContextAsk *ask,
                          Buffer *out);
