// A place as one file. `.game` is a zip with sources, assets and scene, never runes; tar (plain,
// gz, zst) is read too. Writing gives the same bytes for the same folder. Reading happens in the
// worker (inside/media/op_package.c), by rules of our own; each refusal names entry and rule:
//
//   absolute dotdot backslash nul control utf8 name long depth duplicate case link special count
//   size ratio kind content dimensions triangles truncated trailing checksum encrypted nested
//   header format missing memory
//
// docs/SECURITY.md says what each means (package_rules.h has them as a list).
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/asset/asset_info.h"
#include "server/build/place/place_folder.h"

#define PACKAGE_BYTES_MAX        (256u << 20) // packed; unpacked: PLACE_FOLDER_BYTES_MAX
#define PACKAGE_PLACE_NAME_BYTES 65           // "name" of place.json

typedef enum PackageFormat {
    PACKAGE_ZIP,
    PACKAGE_TAR,
    PACKAGE_TAR_GZ,
    PACKAGE_TAR_ZST,
    PACKAGE_FORMAT_COUNT
} PackageFormat;
const char *package_format_name(PackageFormat format);

// STATUS_MALFORMED with the refusal in `reason` ("assets/a.png: dimensions: 70000 × 1, at most
// 4096"). *out is in memory (free with place_folder_free) and holds every file, assets included.
MUST_USE Status package_read(const BuildContext *context, const uint8_t *bytes, size_t count,
                             PlaceFolder *out);
// Reads the folder (assets included), checks it as a reader would, and packs it.
MUST_USE Status package_write(const BuildContext *context, const char *folder, Buffer *out);
// The same of files in memory, in the order of their paths.
MUST_USE Status package_write_files(const BuildContext *context, const PlaceFolder *files,
                                    Buffer *out);
// Into a folder that must not exist or be empty; all or nothing.
MUST_USE Status package_unpack(const PlaceFolder *files, const char *folder,
                               char reason[WORKER_REASON_BYTES]);

// --- more than the files ------------------------------------------------------------------------

// Facts about one file; in the order of PlaceFolder's files.
typedef struct PackageFile {
    PackageKind kind;
    AssetInfo asset;       // what a picture, sound or model is
    uint64_t packed_bytes; // in the archive; 0: unknown (tar)
    uint64_t bytes;
    uint8_t hash[32]; // of its bytes, an asset's name: zero until package_hash_files made it
} PackageFile;

typedef struct PackageInfo {
    PackageFormat format;
    char name[PACKAGE_PLACE_NAME_BYTES]; // from place.json; "": it could not be read
    PlaceFolder folder;                  // without contents: data is NULL
    PackageFile *files;
    uint8_t *thumbnail; // PNG of at most 256 px; NULL: the place has no picture
    size_t thumbnail_bytes;
} PackageInfo;

// Like package_read, and returns all facts. Without contents the package is only checked, and no
// file is sent back.
MUST_USE Status package_open(const BuildContext *context, const uint8_t *bytes, size_t count,
                             bool with_contents, PackageInfo *out);
void package_info_free(PackageInfo *info);
// Hashes every file, outside the jail; needs a package that was opened with contents. Apart from
// package_open because it takes longer than everything else.
void package_hash_files(PackageInfo *info);
// Like package_write, and returns all facts; files have no contents.
MUST_USE Status package_pack(const BuildContext *context, const char *folder, Buffer *out,
                             PackageInfo *info);
// --- one asset alone ----------------------------------------------------------------------------

// Requests and replies about one asset, for a build, which caches the answers by the hashes of the
// files. WORKER_ASSET: with a thumbnail of `edge_px` (0: none).
void package_asset_request(const char *path, const void *data, size_t bytes, uint32_t edge_px,
                           Buffer *out);
// Reads a reply, which may be any bytes. STATUS_MALFORMED: it does not fit an asset of that kind.
// `png` may be NULL.
MUST_USE Status package_asset_read(const Buffer *reply, PackageKind kind, AssetInfo *out,
                                   Buffer *png);

// WORKER_MODEL_FILES: the files that a .gltf names, because it is checked together with them. Only
// the worker reads the .gltf. A file may be missing or be listed twice.
typedef struct PackageModelFiles {
    char paths[ASSET_MODEL_FILES_MAX][PACKAGE_PATH_BYTES];
    uint32_t count;
} PackageModelFiles;
// Reads the worker's answer, which may be any bytes. False: it is invalid, and `out` is empty.
bool package_model_files_read(const uint8_t *bytes, size_t count, PackageModelFiles *out);
// WORKER_MODEL: a .gltf and those files.
void package_model_request(const PlaceFile *model, const PlaceFile *files, uint32_t file_count,
                           Buffer *out);
MUST_USE Status package_model_read(const Buffer *reply, AssetInfo *out);
