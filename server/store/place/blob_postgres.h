// Blobs in the store's PostgreSQL server, for several hosts without a bucket: rows of 512 KiB,
// written one by one with rests between them, so that the commits of worlds are not delayed by an
// upload.
#pragma once

#include "server/store/place/blob_remote.h"

#include <stddef.h>

// The tables are there: store_open has made them. STATUS_BLOCKED; `reason` says why.
MUST_USE Status blob_postgres_open(const char *url, BlobRemote *out, char *reason,
                                   size_t reason_bytes);
