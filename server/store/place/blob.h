// Files named by what is in them: <folder>/ab/cdef… by SHA-256. A blob appears whole or not at all
// (written aside, fsync, renamed, fsync of the folder) and never changes; what is read is compared
// with its name. A name that is not 64 lower-case hex digits leads nowhere.
#pragma once

#include "core/base/sha256.h"
#include "core/base/status.h"
#include "server/store/place/blob_remote.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOB_BYTES_MAX (256u << 20)

typedef struct BlobStore BlobStore;

// Makes <data_folder>/blobs if it is missing, and removes what a crash left half written.
MUST_USE Status blob_open(const char *data_folder, BlobStore **out);
// The same, kept elsewhere (blob_remote.h), which is closed with it, also if this fails. What is in
// <data_folder>/blob-cache then is a copy, of at most cache_bytes_max: what was used longest ago
// goes first, and what is damaged is fetched again. Every function below may wait for the network.
#define BLOB_CACHE_FOLDER "blob-cache"
MUST_USE Status blob_open_remote(const char *data_folder, const BlobRemote *remote,
                                 uint64_t cache_bytes_max, BlobStore **out);
void blob_close(BlobStore *blobs);

// What is kept elsewhere cannot be had, or is not what was put: for the log. From any thread, at
// most once in ten seconds for each kind. The hash is NULL but for BLOB_WRONG.
typedef enum BlobTrouble {
    BLOB_AWAY,  // it does not answer, or refuses
    BLOB_BACK,  // it answers again
    BLOB_WRONG, // other bytes than the name says; it is asked three times in all
    BLOB_TROUBLE_COUNT
} BlobTrouble;
typedef void (*BlobTroubled)(void *user, BlobTrouble trouble, const uint8_t *hash);
void blob_watch(BlobStore *blobs, BlobTroubled troubled, void *user); // before it is used
// Did the last question to where it is kept elsewhere fail? What was STATUS_BLOCKED then, was so
// because of that, and not of the disk.
bool blob_is_away(const BlobStore *blobs);

// On disk when it returns STATUS_OK. STATUS_BLOCKED: the disk refuses. Any thread may call.
MUST_USE Status blob_put(BlobStore *blobs, const void *data, size_t bytes,
                         uint8_t hash[SHA256_BYTES]);

// One that arrives in parts, hashed while it does; its size costs no memory. One thread at a time.
typedef struct BlobWriter BlobWriter;
// STATUS_BLOCKED: the disk refuses.
MUST_USE Status blob_begin(BlobStore *blobs, size_t bytes_max, BlobWriter **out);
// STATUS_LIMIT: with these it has more than bytes_max. STATUS_BLOCKED. Nothing but blob_abort helps
// after either of them.
MUST_USE Status blob_append(BlobWriter *writer, const void *data, size_t bytes);
// On disk under its name when it returns STATUS_OK. The writer is gone in any case.
MUST_USE Status blob_commit(BlobWriter *writer, uint8_t hash[SHA256_BYTES], uint64_t *bytes);
void blob_abort(BlobWriter *writer); // leaves nothing behind; NULL is fine

bool blob_exists(BlobStore *blobs, const uint8_t hash[SHA256_BYTES]);
// The whole blob; free it with free(). STATUS_NOT_FOUND; STATUS_LIMIT above bytes_max;
// STATUS_MISMATCH: the file is not what its name says. STATUS_BLOCKED: it cannot be had now; also
// if what comes from elsewhere is not what its name says.
MUST_USE Status blob_read(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], size_t bytes_max,
                          uint8_t **data, size_t *bytes);
// For an answer that is sent while it is read: the file, which the caller closes. It is not
// compared with its name. STATUS_NOT_FOUND.
MUST_USE Status blob_file(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], int *file,
                          uint64_t *bytes);
// Removes blobs that nobody uses. `is_used` is asked about each of them, and may wait. One that was
// put less than kept_ms ago stays whatever it says: whoever put it will write the row that names
// it. A new use of an older one can only follow from another use, which was there when `is_used`
// was asked, or from putting it again. STATUS_BLOCKED: the disk, or is_used failed; the rest stays.
#define BLOB_KEPT_MS (60u * 60 * 1000)
typedef Status (*BlobUsed)(void *user, const uint8_t hash[SHA256_BYTES], bool *is_used);
typedef struct BlobCollected {
    uint32_t seen, removed;
    uint64_t bytes; // of those that were removed
} BlobCollected;
MUST_USE Status blob_collect(BlobStore *blobs, BlobUsed is_used, void *user, uint32_t kept_ms,
                             BlobCollected *out);
// Exactly 64 of 0-9 and a-f: STATUS_MALFORMED otherwise.
MUST_USE Status blob_parse(const char *name, size_t bytes, uint8_t hash[SHA256_BYTES]);
