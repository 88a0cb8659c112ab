// Where blobs are kept if not in files of this machine (blob.h): a table of functions, for S3
// (blob_s3.h) or a database. A BlobStore with one has files too, as a cache by hash. All of these
// may wait, on any thread. Nothing here is believed: what comes back is hashed again.
#pragma once

#include "core/base/sha256.h"
#include "core/base/status.h"

#include <stdint.h>

// A blob that is there, and how long it has been since it was put.
typedef Status (*BlobListed)(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes,
                             uint64_t age_ms);

typedef struct BlobRemote {
    void *user;
    // Durable when it returns STATUS_OK. Of one that is there already its age begins anew.
    Status (*put)(void *user, const uint8_t hash[SHA256_BYTES], int file, uint64_t bytes);
    // Into the file, from its begin on. STATUS_NOT_FOUND; STATUS_LIMIT above bytes_max;
    // STATUS_BLOCKED: it cannot be had now.
    Status (*fetch)(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes_max, int file);
    Status (*find)(void *user, const uint8_t hash[SHA256_BYTES], uint64_t *bytes, uint64_t *age_ms);
    Status (*remove)(void *user, const uint8_t hash[SHA256_BYTES]);
    // All of them; ends early if the sink says anything but STATUS_OK.
    Status (*list)(void *user, BlobListed sink, void *sink_user);
    void (*close)(void *user);
} BlobRemote;
