// Souls that a model could not turn into Lua, by the hashes of their prompts, for the life of the
// process. A build that runs again and again (--watch, saving in the studio) would otherwise ask,
// and pay, for the same failure each time some other file changes.
#pragma once

#include "core/base/sha256.h"
#include "server/build/base/diagnostic.h"

#define SOUL_FAILED_KEPT 64 // the oldest is dropped

typedef struct SoulFailure {
    uint8_t prompt[SHA256_BYTES];
    char code[DIAGNOSTIC_CODE_BYTES];
    char message[DIAGNOSTIC_MESSAGE_BYTES];
} SoulFailure;

// Thread-safe.
void soul_failed_note(const SoulFailure *failure);
bool soul_failed_find(const uint8_t prompt[SHA256_BYTES], SoulFailure *out);
