// The files of assets/ on disk: a list of them, and whether one has changed. A stamp is what the
// file system says of a file without reading it (size, times, inode); as long as it is the same,
// the file was not written. (A program that has mapped the file could change it; its stamp follows
// a moment later.)
#pragma once

#include "core/base/sha256.h"
#include "server/build/base/diagnostic.h"
#include "server/build/package/package_rules.h"

#define ASSET_FOLDER "assets"

typedef struct AssetStamp {
    uint64_t device, inode, bytes;
    int64_t modified_ns, changed_ns;
} AssetStamp;

typedef struct AssetFile {
    char path[PACKAGE_PATH_BYTES]; // "assets/door.png"
    PackageKind kind;
    AssetStamp stamp;
} AssetFile;

typedef struct AssetFileList {
    AssetFile *items; // sorted by path
    uint32_t count, capacity;
    uint64_t bytes;
} AssetFileList;

// Lists every asset without reading any; other files (notes, scripts) are skipped. A file that is
// not allowed there (a link, a name or kind that packing would reject) becomes a diagnostic with
// its rule. `file_max` and `bytes_max` are what the rest of the place leaves. Fails only if memory
// ran out.
MUST_USE Status asset_files_list(const char *place, uint32_t file_max, uint64_t bytes_max,
                                 AssetFileList *out, DiagnosticList *diagnostics);
void asset_files_free(AssetFileList *list);
// Turns a rejection, "path: rule: explanation", into a diagnostic.
void asset_file_refused(DiagnosticList *diagnostics, const char *path, const char *reason);

// The stamp of an open file. STATUS_DENIED: not a regular file.
MUST_USE Status asset_stamp_of(int file, AssetStamp *out);
bool asset_stamp_equal(const AssetStamp *a, const AssetStamp *b);
// Whether the file was left alone for so long that a new write would change the stamp. File system
// clocks are coarse: the stamp of a file that was written just now proves nothing yet.
bool asset_stamp_is_settled(const AssetStamp *stamp);

// The hash of an open file with that stamp. STATUS_MISMATCH: it changed while it was read.
MUST_USE Status asset_file_hash(int file, const AssetStamp *stamp, uint8_t hash[SHA256_BYTES]);
