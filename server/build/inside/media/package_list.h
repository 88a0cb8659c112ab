// The files of an archive while it is being read, inside the worker: every reader adds the entries
// it finds, and the rules for all formats are checked here, before anything is unpacked.
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
    uint32_t entry_count;   // including folders and skipped entries
    uint32_t skipped_count; // not a place's own files
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
// When all entries are added: removes a folder around everything, checks the final paths by
// themselves and against each other, and that the files a place needs are there.
MUST_USE Status package_list_settle(PackageList *list);
// A rejection of the whole archive.
MUST_USE Status package_list_refuse(PackageList *list, PackageRule rule, const char *explanation);
// The order of items, for qsort and bsearch: by path.
int package_item_compare(const void *a, const void *b);
// The item with that path in a settled list, or NULL.
PackageItem *package_list_find(const PackageList *list, const char *path);

// The readers: list and unpack everything.
MUST_USE Status package_zip_read(const uint8_t *bytes, size_t count, PackageList *list);
// Loads libarchive, which reads tars. False if it is missing. Must be called before the process
// enters the jail, where no library can be opened.
bool package_tar_open(void);
// A plain tar, or one inside gzip or zstd.
MUST_USE Status package_tar_read(const uint8_t *bytes, size_t count, PackageList *list);
bool package_is_zip(const uint8_t *bytes, size_t count);
bool package_is_gzip(const uint8_t *bytes, size_t count);
bool package_is_zstd(const uint8_t *bytes, size_t count);
bool package_is_tar(const uint8_t *bytes, size_t count);
