// The files of an archive while it is being read, inside the worker: every reader adds what it
// finds, and the rules that hold for all formats are asked here, before a byte is unpacked.
#pragma once

#include "server/build/base/diagnostic.h"
#include "server/build/package/package_rules.h"

typedef struct PackageItem {
    char *path; // the item's own
    PackageKind kind;
    uint8_t *data; // the item's own; NULL until it is unpacked
    size_t bytes;
    uint64_t packed_bytes; // in the archive; 0: it cannot be said (tar)
    uint64_t source;       // for the reader that added it
} PackageItem;

typedef struct PackageList {
    PackageItem *items; // sorted by path once it is settled
    uint32_t count, capacity;
    uint32_t entry_count;   // folders and skipped ones too
    uint32_t skipped_count; // not a place's own
    uint64_t bytes;         // unpacked
    uint64_t archive_bytes; // packed, for the ratio
    DiagnosticList warnings;
    char *reason; // WORKER_REASON_BYTES
} PackageList;

void package_list_free(PackageList *list);
// Judges an entry by name and sizes. *out is NULL for a folder and for what is skipped.
typedef struct PackageEntry {
    const char *name; // as it stands in the archive, a folder's with the slash
    size_t name_bytes;
    bool is_folder;
    uint64_t bytes, packed_bytes;
    uint64_t source;
} PackageEntry;
MUST_USE Status package_list_add(PackageList *list, const PackageEntry *entry, PackageItem **out);
// When all are there: a folder around everything is taken off, paths are judged as they will be,
// and against each other, and what a place needs must be there.
MUST_USE Status package_list_settle(PackageList *list);
// For a refusal that concerns no entry.
MUST_USE Status package_list_refuse(PackageList *list, PackageRule rule, const char *explanation);
// With that path, of a settled list; NULL: none.
PackageItem *package_list_find(const PackageList *list, const char *path);

// The readers: list and unpack everything.
MUST_USE Status package_zip_read(const uint8_t *bytes, size_t count, PackageList *list);
// Opens libarchive, which reads tars; false where it is missing, and in the jail, where a library
// must have been opened before.
bool package_tar_open(void);
// A plain tar, or one inside gzip or zstd.
MUST_USE Status package_tar_read(const uint8_t *bytes, size_t count, PackageList *list);
bool package_is_zip(const uint8_t *bytes, size_t count);
bool package_is_gzip(const uint8_t *bytes, size_t count);
bool package_is_zstd(const uint8_t *bytes, size_t count);
bool package_is_tar(const uint8_t *bytes, size_t count);
