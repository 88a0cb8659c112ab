// Pictures, sounds and models of a place: what they are is read from what is in them, never from a
// name alone, and all of it inside the worker. An asset that passes is whole (magic, structure,
// checksums, nothing behind its end), bounded (pixels, triangles, seconds), and reaches nothing but
// files of its own package. Pictures are decoded completely, by libpng and libjpeg.
//
// Assets are known by the SHA-256 of their bytes, which is made outside.
#pragma once

#include "server/build/asset/asset_info.h"
#include "server/build/inside/media/package_list.h"

// The other files of the package, for models that name them; `used` marks those they did.
typedef struct AssetPackage {
    const PackageList *list; // NULL: the asset comes alone
    bool *used;              // by the index of the item; may be NULL
    uint64_t pixels;         // of all pictures so far
} AssetPackage;

typedef struct AssetJob {
    const char *path;
    const uint8_t *data;
    size_t bytes;
    AssetPackage *package;
    char *reason; // WORKER_REASON_BYTES
} AssetJob;

// Checks any file of a package by its kind; *out is all zero if it is not an asset.
MUST_USE Status asset_check(const AssetJob *job, PackageKind kind, AssetInfo *out);
// "path: rule: …"
MUST_USE Status asset_refuse(const AssetJob *job, PackageRule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// --- pictures -----------------------------------------------------------------------------------

// RGBA, 8 bits each, not premultiplied, rows from the top.
typedef struct Picture {
    uint32_t width, height;
    uint8_t *pixels; // free with free()
} Picture;

// With `picture` NULL the result is thrown away.
MUST_USE Status asset_png(const AssetJob *job, AssetInfo *out, Picture *picture);
MUST_USE Status asset_jpeg(const AssetJob *job, AssetInfo *out, Picture *picture);
// Whether a picture may have this size, alone and together with the others.
MUST_USE Status asset_check_size(const AssetJob *job, uint64_t width, uint64_t height);
// A PNG of at most `edge_max` pixels: the mean of what each of its pixels covers. The same picture
// gives the same bytes.
MUST_USE Status asset_thumbnail(const AssetJob *job, PackageKind kind, uint32_t edge_max,
                                Buffer *png);
// What a place shows of itself: assets/thumbnail.png, .jpg or .jpeg, or else the first picture in
// assets/; NULL: there is none.
const PackageItem *asset_place_picture(const PackageList *list);

// --- sounds and models --------------------------------------------------------------------------

MUST_USE Status asset_ogg(const AssetJob *job, AssetInfo *out);
MUST_USE Status asset_wav(const AssetJob *job, AssetInfo *out);
MUST_USE Status asset_glb(const AssetJob *job, AssetInfo *out);
MUST_USE Status asset_gltf(const AssetJob *job, AssetInfo *out);
// Lists the files of the package that a .gltf names, as blocks; a file may be missing or be listed
// twice.
MUST_USE Status asset_gltf_files(const AssetJob *job, Buffer *out);
