// The folder of a revision, as the build reads it: <data>/unpacked/<hash of the .game>. It is a
// cache: it may be removed when nobody uses it, and is made again from the blob. It appears whole
// or not at all.
#pragma once

#include "server/build/base/reason.h"
#include "server/build/place/place_folder.h"
#include "server/serve/serve_inside.h"
#include "server/store/place/store_package.h"

// Only the jailed worker reads the package. Waits; for threads of the pool and of builds.
// STATUS_MALFORMED: the package breaks a rule, and `reason` names the file and the rule.
// STATUS_NOT_FOUND: the blob is gone. STATUS_DENIED: cancelled (`cancel` may be NULL).
MUST_USE Status revision_folder_make(Serve *serve, const StoreRevision *revision,
                                     const atomic_bool *cancel, char out[SERVE_PATH_BYTES],
                                     char reason[WORKER_REASON_BYTES]);
// The folder <data>/unpacked/<hash> with these files, which that blob stands for.
MUST_USE Status revision_folder_fill(Serve *serve, const uint8_t hash[SHA256_BYTES],
                                     const PlaceFolder *files, char out[SERVE_PATH_BYTES],
                                     char reason[WORKER_REASON_BYTES]);
MUST_USE Status revision_folder_open(Serve *serve, const StoreRevision *revision,
                                     char out[SERVE_PATH_BYTES], char reason[WORKER_REASON_BYTES]);
