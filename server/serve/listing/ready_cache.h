// Answers that are kept ready, as bytes: most people ask for the same first pages of the listing,
// and those are given out on the HTTP thread without asking the database.
//
// An answer is as good as new for READY_FRESH_MS, if what it was made from has not changed since
// (the generation). After that one request has it made anew, and all get the old one meanwhile, for
// READY_STALE_MS at most. What was changed is never shown old.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READY_FRESH_MS  1000
#define READY_STALE_MS  2000
#define READY_TAG_BYTES 24

typedef struct ReadyCache ReadyCache;

typedef struct ReadyAnswer {
    uint8_t *bytes; // from malloc; the caller's
    size_t count;
    const char *tag; // with its quotes; in the same memory
    bool is_old;     // whoever gets this has it made anew, for others
} ReadyAnswer;

MUST_USE Status ready_cache_create(ReadyCache **out);
void ready_cache_destroy(ReadyCache *cache); // NULL is allowed
// False: it has to be made. From any thread, as all of these.
bool ready_cache_find(ReadyCache *cache, const char *key, uint64_t generation, uint64_t now_ms,
                      ReadyAnswer *out);
// Copies the bytes; those that are too many, or whose key is too long, are not kept.
void ready_cache_put(ReadyCache *cache, const char *key, uint64_t generation, uint64_t now_ms,
                     const uint8_t *bytes, size_t count, const char *tag);
// The tag of such bytes.
void ready_tag(const uint8_t *bytes, size_t count, char out[READY_TAG_BYTES]);
