// The scripts that TypeScript can import though they are in another language, as declarations for
// editors: .sandlot/types/modules.d.ts. To the build what comes from such a module is `any`
// (typescript/host.mjs), and so it is here.
#pragma once

#include "core/base/status.h"
#include "server/build/base/buffer.h"

#define EDITOR_MODULES_FILE  "modules.d.ts"
#define EDITOR_MODULES_BYTES (8u << 20) // more than 1024 scripts, 12 folders deep, take

// The whole file, for the scripts that are in the place now; `out` is to be freed in any case.
// STATUS_LIMIT: out of memory; else what reading the folder says.
MUST_USE Status editor_modules_write(const char *place, Buffer *out);
