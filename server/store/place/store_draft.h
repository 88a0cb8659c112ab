// What the store knows of drafts: the files of each as they were last seen, and their history. The
// contents are blobs; the files themselves are in a folder (server/draft). These wait for the disk.
#pragma once

#include "server/store/place/store_package.h"

#define STORE_DRAFT_PATH_BYTES 128
#define STORE_DRAFT_VERSIONS   100 // kept of each file,
#define STORE_DRAFT_NEWEST     20  // these whatever happens, and those that stood longest
#define STORE_VERSION_ALL      UINT32_MAX

typedef struct StoreDraftFile {
    char path[STORE_DRAFT_PATH_BYTES];
    uint32_t version; // of its history, from 1
    uint8_t hash[32];
    uint64_t bytes;
    uint64_t changed_ns; // as the file system says: whether it was changed since by somebody else
} StoreDraftFile;

typedef struct StoreDraftVersion {
    uint32_t version;
    bool is_deleted; // then there is no hash
    uint8_t hash[32];
    uint64_t bytes;
    uint64_t maker_id; // 0: somebody with access to the folder, or who has left
    uint64_t unix_ms;
} StoreDraftVersion;

typedef struct StoreDraftChange {
    const char *package_id, *path;
    const uint8_t *hash; // NULL: it was deleted
    uint64_t bytes, changed_ns;
    uint64_t maker_id, unix_ms;
    uint64_t bytes_max; // what the owner of the package may use in all, with this
} StoreDraftChange;

// A new version of a file. The same content as before is none; only changed_ns is kept then.
// STATUS_LIMIT: too many bytes; STATUS_NOT_FOUND: no such package, or in the trash.
MUST_USE Status store_draft_change(Store *store, const StoreDraftChange *change, uint32_t *version);
// Forgets the files and their history. STATUS_NOT_FOUND: no such package.
MUST_USE Status store_draft_discard(Store *store, const char *package_id);
// STATUS_NOT_FOUND: there is no such file now.
MUST_USE Status store_draft_file(Store *store, const char *package_id, const char *path,
                                 StoreDraftFile *out);
// All of them by path, at most max.
MUST_USE Status store_draft_files(Store *store, const char *package_id, StoreDraftFile *out,
                                  uint32_t max, uint32_t *count);
// Newest first, those below that version.
MUST_USE Status store_draft_versions(Store *store, const char *package_id, const char *path,
                                     uint32_t below, StoreDraftVersion *out, uint32_t max,
                                     uint32_t *count);
MUST_USE Status store_draft_version(Store *store, const char *package_id, const char *path,
                                    uint32_t version, StoreDraftVersion *out);
