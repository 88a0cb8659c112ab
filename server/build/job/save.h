// Saving one script of a place from an editor: `POST /api/script/save {id, code, knownHash}`. The
// editor says which text it began from; if the file has changed meanwhile nothing is written and it
// gets both hashes and the current text, so that a person decides.
#pragma once

#include "server/build/job/job.h"

typedef struct SaveRequest {
    const char *place; // folder
    const char *path;  // "Workspace/Door.ts"
    const char *code;
    size_t code_bytes;
    const char *known_hash; // 64 hex digits; NULL: it is new
} SaveRequest;

typedef struct SaveAnswer {
    char path[SCRIPT_PATH_BYTES];
    char hash[65];             // of what is on disk now; "": there is nothing any more
    char job_id[JOB_ID_BYTES]; // "": too many wait; it is saved all the same
    char *current;             // after a conflict: the text on disk; free with free()
    size_t current_bytes;
} SaveAnswer;

// STATUS_OK: written whole, and a build is on its way. STATUS_MISMATCH: a conflict, nothing was
// written. STATUS_MALFORMED: no such id or code; STATUS_LIMIT: too long; STATUS_DENIED: a link is
// in the way; STATUS_BLOCKED: the disk refuses. `reason` says more. Any thread may call.
MUST_USE Status save_script(JobQueue *queue, const SaveRequest *request, SaveAnswer *out,
                            char reason[WORKER_REASON_BYTES]);

// The script as it is on disk: path, hash and `current`, which is to be freed. STATUS_NOT_FOUND;
// else as above.
MUST_USE Status save_read(const char *place, const char *path, SaveAnswer *out,
                          char reason[WORKER_REASON_BYTES]);
