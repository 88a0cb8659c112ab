// Saves one script of a place from an editor: `POST /api/script/save {id, code, knownHash}`. The
// editor sends the hash of the text it started from. If the file has changed since, nothing is
// written, and the editor gets both hashes and the current text, so that a person decides.
#pragma once

#include "server/build/job/job.h"

typedef struct SaveRequest {
    const char *place; // folder
    const char *path;  // "Workspace/Door.ts"
    const char *code;
    size_t code_bytes;
    const char *known_hash; // 64 hex digits; NULL: it is new
    uint64_t account;       // who saves; 0: nobody
    bool writes;            // the build's artifacts too, see JobWish
} SaveRequest;

typedef struct SaveAnswer {
    char path[SCRIPT_PATH_BYTES];
    char hash[65];             // of the file on disk now; "": it does not exist any more
    char job_id[JOB_ID_BYTES]; // "": too many jobs wait; the script is saved all the same
    char *current;             // after a conflict: the text on disk; free with free()
    size_t current_bytes;
} SaveAnswer;

// STATUS_OK: saved, and a build was started. STATUS_MISMATCH: a conflict, nothing was written.
// STATUS_MALFORMED: invalid id or code; STATUS_LIMIT: too long; STATUS_DENIED: a link is in the
// way; STATUS_BLOCKED: the disk refuses. `reason` has the details. Thread-safe.
MUST_USE Status save_script(JobQueue *queue, const SaveRequest *request, SaveAnswer *out,
                            char reason[WORKER_REASON_BYTES]);

// Reads the script on disk: path, hash and `current`, which must be freed. STATUS_NOT_FOUND;
// otherwise as above.
MUST_USE Status save_read(const char *place, const char *path, SaveAnswer *out,
                          char reason[WORKER_REASON_BYTES]);
