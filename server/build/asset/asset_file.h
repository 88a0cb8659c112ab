// The files of assets/ on disk: which there are, and whether one is still what it was. A stamp is
// what the system says of a file without reading it; while it stays the same, nobody has written to
// the file since. (A program that has it mapped could: its stamp follows a moment later.)
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

// Every asset, none of them read; files that are none (notes, scripts) are skipped. What no place
// may hold there (a link, a name or kind that packing would refuse) is a diagnostic with its rule.
// `file_max` and `bytes_max` are what the rest of the place leaves. Fails only if memory ran out.
MUST_USE Status asset_files_list(const char *place, uint32_t file_max, uint64_t bytes_max,
                                 AssetFileList *out, DiagnosticList *diagnostics);
void asset_files_free(AssetFileList *list);
// Turns a refusal, "path: rule: explanation", into a diagnostic.
void asset_file_refused(DiagnosticList *diagnostics, const char *path, const char *reason);

// Of an open file. STATUS_DENIED: no plain file.
MUST_USE Status asset_stamp_of(int file, AssetStamp *out);
bool asset_stamp_equal(const AssetStamp *a, const AssetStamp *b);
// Was the file left alone for so long that another write would have to show? Clocks of file systems
// are coarse: of a file that was written just now a stamp says nothing yet.
bool asset_stamp_is_settled(const AssetStamp *stamp);

// The hash of an open file of that stamp. STATUS_MISMATCH: it changed meanwhile.
MUST_USE Status asset_file_hash(int file, const AssetStamp *stamp, uint8_t hash[SHA256_BYTES]);
