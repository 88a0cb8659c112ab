// The artifacts of a place on disk: .sandlot/server/soul and .sandlot/client/soul, each a folder
// that is replaced whole, and the list .sandlot/client/assets.json. A new one is written aside,
// brought to disk, and takes the old one's place in one step; what a crash left aside goes with the
// next build. Links are not followed: .sandlot came with the place, perhaps from a stranger.
#pragma once

#include "server/build/ask/worker.h"
#include "server/build/place/place_folder.h"

typedef enum ArtifactSide { ARTIFACT_SERVER, ARTIFACT_CLIENT, ARTIFACT_SIDES } ArtifactSide;
const char *artifact_folder(ArtifactSide side); // ".sandlot/server/soul"
#define ARTIFACT_LIST ".sandlot/client/assets.json"

typedef struct Artifacts Artifacts;

// Waits until no other build of this place writes. STATUS_DENIED: cancelled while waiting.
MUST_USE Status artifacts_open(const char *place, const atomic_bool *cancel, Artifacts **out,
                               char reason[WORKER_REASON_BYTES]);
// For reading only: nothing is created in the place, which may be read-only.
MUST_USE Status artifacts_open_read(const char *place, Artifacts **out,
                                    char reason[WORKER_REASON_BYTES]);
void artifacts_close(Artifacts *artifacts); // NULL is allowed
// Reads the current artifacts; STATUS_NOT_FOUND: there are none. Paths are relative to the folder,
// sorted.
MUST_USE Status artifacts_read(const Artifacts *artifacts, ArtifactSide side, PlaceFolder *out,
                               char reason[WORKER_REASON_BYTES]);
// Writes these files to the temporary folder and syncs them. Files that are the same in `before`,
// which was read from disk, are only linked. Paths are sorted and contain no "..".
MUST_USE Status artifacts_prepare(Artifacts *artifacts, ArtifactSide side,
                                  const PlaceFolder *before, const PlaceFile *files,
                                  uint32_t file_count, char reason[WORKER_REASON_BYTES]);
// Whether the list of assets on disk has exactly these bytes.
bool artifacts_has_list(const Artifacts *artifacts, const void *data, size_t bytes);
MUST_USE Status artifacts_prepare_list(Artifacts *artifacts, const void *data, size_t bytes,
                                       char reason[WORKER_REASON_BYTES]);
// Puts what was prepared in place: the server's side first, the list last.
MUST_USE Status artifacts_switch(Artifacts *artifacts, char reason[WORKER_REASON_BYTES]);
const PlaceFile *artifact_named(const PlaceFolder *folder, const char *path); // NULL: none
