// Asks the worker what a model is told of the scene around a plain soul (WORKER_SOUL_CONTEXT).
//
//   request   block path, u8 replicate, block text, u32 files; each: block path, block data
//   reply     u8 SoulTextState, then the text
#pragma once

#include "core/wire/place.h"
#include "server/build/base/buffer.h"

#include <stdbool.h>

#define SOUL_CONTEXT_BYTES_MAX (16u << 10)
#define SOUL_TEXT_BYTES_MAX    (16u << 10) // of a .soul

// Is the soul's own text something to be sent to a model?
typedef enum SoulTextState {
    SOUL_TEXT_GOOD,
    SOUL_TEXT_EMPTY,
    SOUL_TEXT_BINARY,
    SOUL_TEXT_STATE_COUNT
} SoulTextState;

typedef struct SoulContextAsk {
    const char *path; // "Workspace/Door"
    bool replicate;
    const char *text; // of the soul
    size_t text_bytes;
} SoulContextAsk;

void soul_context_request(const PlaceFile *files, uint32_t file_count, const SoulContextAsk *ask,
                          Buffer *out);
