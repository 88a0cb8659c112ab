// Blobs in a bucket of S3, or of a server that speaks like it: <prefix>/ab/cdef…, the same names as
// files have, so that a folder of blobs can be copied there by any tool. Requests are signed by
// libcurl (AWS Signature Version 4) and tried three times.
#pragma once

#include "server/store/place/blob_remote.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOB_S3_REASON_BYTES 256

typedef struct BlobS3Config {
    const char *address; // "s3://bucket/prefix?endpoint=https://s3.example&region=eu"
    const char *key_id, *secret_key;
} BlobS3Config;

// Is it an address of that form? `reason` says what is wrong.
bool blob_s3_is_valid(const char *address, char reason[BLOB_S3_REASON_BYTES]);
// Asks the bucket once, so that a wrong key or name is noticed at the start. STATUS_MALFORMED,
// STATUS_DENIED, STATUS_NOT_FOUND (no such bucket), STATUS_BLOCKED; `reason` says why.
MUST_USE Status blob_s3_open(const BlobS3Config *config, BlobRemote *out,
                             char reason[BLOB_S3_REASON_BYTES]);

// One page of a list of objects, as S3 writes it (XML): for each key `sink`, in order. `last` is
// the last key of the page, "" without any. STATUS_MALFORMED.
#define BLOB_S3_KEY_BYTES 512
typedef Status (*BlobS3Object)(void *user, const char *key, uint64_t bytes, uint64_t unix_s);
MUST_USE Status blob_s3_read_list(const char *text, size_t bytes, BlobS3Object sink, void *user,
                                  bool *is_more, char last[BLOB_S3_KEY_BYTES]);
