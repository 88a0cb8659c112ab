// What editors read in a place, beyond what `sandlot new` writes once: types that went with the
// folder .sandlot, or are of another version of the API or of the place's modules, and TypeScript's
// settings.
#pragma once

#include "core/base/status.h"
#include "server/build/ask/worker.h"

#include <stdbool.h>

// Writes .sandlot/types if a file of it is missing or not as this program would write it now.
// *written: it was. STATUS_BLOCKED: `reason` says what cannot be written.
MUST_USE Status editor_files_renew_types(const char *place, bool *written,
                                         char reason[WORKER_REASON_BYTES]);
// Writes tsconfig.json if there is none and the place has scripts in TypeScript, or is `wanted` to.
MUST_USE Status editor_files_write_settings(const char *place, bool wanted, bool *written,
                                            char reason[WORKER_REASON_BYTES]);
