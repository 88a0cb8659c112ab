// What nobody needs any more, in the data folder: places that were in the trash for long, blobs
// without a use, folders of revisions whose packages are gone. Once an hour, and when an operator
// asks. A backup that runs keeps all of it.
#pragma once

#include "server/serve/serve_inside.h"

typedef struct Collected {
    uint32_t places;
    BlobCollected blobs;
} Collected;
// Waits for the disk. STATUS_EXISTS: a backup runs, and no blob was removed.
MUST_USE Status serve_collect(Serve *serve, Collected *out);
void serve_collect_step(Serve *serve); // on the main thread: once an hour
