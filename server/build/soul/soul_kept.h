// The Lua that is kept beside a plain soul, `Door.soul.lua`, after the line that says what it was
// made from (soul_header.h): whether it is still up to date, and what a person has accepted.
#pragma once

#include "core/wire/place.h"
#include "server/build/base/reason.h"
#include "server/build/soul/soul_header.h"

// The hash of what follows the header; line ends count as \n, so that an editor or git that changes
// them has no effect.
void soul_body_hash(const char *body, size_t bytes, uint8_t hash[SHA256_BYTES]);

typedef enum SoulState {
    SOUL_MISSING, // there is no file
    SOUL_FOREIGN, // there is one without our header
    SOUL_FITS,    // made from exactly what would be asked now
    SOUL_OLDER,   // the creator's part is the same; our API or our prompt has changed since
    SOUL_STALE,   // the text, the service or the entities have changed since
    SOUL_STATE_COUNT
} SoulState;
const char *soul_state_name(SoulState state); // "fits"

typedef struct SoulKept {
    SoulState state;
    bool is_edited;   // by hand, since the model wrote it
    bool is_reviewed; // a person accepted exactly this
    SoulHeader header;
    const char *body; // into the file
    size_t body_bytes;
    uint8_t body_hash[SHA256_BYTES];
} SoulKept;

// `file` is the whole file, or NULL. `header` was read from it and takes `header_bytes` (0: none).
SoulKept soul_kept_check(const PlaceFile *file, const SoulHeader *header, size_t header_bytes,
                         const uint8_t prompt[SHA256_BYTES], const uint8_t source[SHA256_BYTES]);

// --- on disk ------------------------------------------------------------------------------------
// Puts a file into a place: whole or not at all, no link followed. What is there now must be
// `before` (NULL: nothing), because somebody may have saved while a model was thinking:
// STATUS_MISMATCH otherwise. `path` is "SoulService/Workspace/Door.soul.lua".
typedef struct SoulFile {
    const char *place, *path;
    const uint8_t *before;
    size_t before_bytes;
} SoulFile;
MUST_USE Status soul_file_write(const SoulFile *file, const void *data, size_t bytes,
                                char reason[WORKER_REASON_BYTES]);

// What was accepted is kept in <place>/.sandlot/data/reviewed by its hash, so that the next review
// shows what changed. It is a convenience of this machine: the header alone says what was reviewed.
// But it decides what a person is shown, so it is believed only in a data folder of our own.
MUST_USE Status soul_reviewed_write(const char *place, const SoulKept *kept);
// Free with free(). STATUS_NOT_FOUND: nothing was accepted on this machine.
MUST_USE Status soul_reviewed_read(const char *place, const SoulHeader *header, uint8_t **out,
                                   size_t *bytes);
