// Checks that client/assets.json fits the place's assets. Paths, sizes and hashes are compared with
// the files; pixels, seconds, triangles and the thumbnail are not computed again, so only their
// form is checked.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/build/ask/ask_artifact.h"
#include "server/build/pipeline/artifact.h"
#include "server/build/pipeline/build_stages.h"
#include "server/build/place/place_file.h"

#include "server/sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE "verify"

typedef struct Look {
    const BuildContext *context;
    const char *place;
    Arena arena;
    AssetList list;
    bool has_list;
    AssetFileList files;
} Look;

static void tell_asset(Look *look, const char *file, const char *what)
{
    diagnostic_addf(look->context->diagnostics, DIAGNOSTIC_ERROR, file, 0, 0, CODE, "%s", what);
}

// Reads the list on disk and reports what is wrong with it. STATUS_BLOCKED with a reason: the
// worker could not read it.
static Status read_list(Look *look)
{
    char path[BUILD_PATH_BYTES];
    uint8_t *text = NULL;
    size_t bytes = 0;
    const int length = snprintf(path, sizeof path, "%s/%s", look->place, ARTIFACT_LIST);
    Status status = length < 0 || (size_t)length >= sizeof path
                        ? STATUS_RANGE
                        : file_read(path, ASSET_LIST_BYTES_MAX, &text, &bytes);
    if (status != STATUS_OK) {
        tell_asset(look, ARTIFACT_LIST,
                   status == STATUS_NOT_FOUND ? "is missing; build again"
                   : status == STATUS_LIMIT   ? "is larger than a build makes it; build again"
                                              : "cannot be read, or is a link; build again");
        return STATUS_OK;
    }
    const PlaceFile file = {.path = ARTIFACT_LIST, .data = text, .bytes = bytes};
    status = asset_list_ask(look->context, &look->arena, &file, &look->list);
    free(text);
    look->has_list = status == STATUS_OK;
    if (status == STATUS_OK || status == STATUS_BLOCKED) {
        return status;
    }
    diagnostic_addf(look->context->diagnostics, DIAGNOSTIC_ERROR, ARTIFACT_LIST, 0, 0, CODE,
                    "is damaged: %s; build again", look->context->reason);
    look->context->reason[0] = '\0'; // it was reported
    return STATUS_OK;
}

static bool is_same(const Look *look, const BuildAsset *asset)
{
    AssetStamp stamp;
    uint8_t hash[SHA256_BYTES];
    int file = -1;
    if (place_file_open(look->place, asset->path, &file) != STATUS_OK) {
        return false;
    }
    const bool same = asset_stamp_of(file, &stamp) == STATUS_OK && stamp.bytes == asset->bytes &&
                      asset_file_hash(file, &stamp, hash) == STATUS_OK &&
                      memcmp(hash, asset->hash, sizeof hash) == 0;
    close(file);
    return same;
}

// Walks two sorted lists in parallel.
static void compare(Look *look)
{
    uint32_t at = 0, have = 0;
    while (at < look->list.count || have < look->files.count) {
        const BuildAsset *asset = at < look->list.count ? &look->list.assets[at] : NULL;
        const AssetFile *file = have < look->files.count ? &look->files.items[have] : NULL;
        const int order = asset == NULL ? 1 : file == NULL ? -1 : strcmp(asset->path, file->path);
        if (order < 0) {
            tell_asset(look, asset->path,
                       "was there when the place was built, and is not now; build again");
        } else if (order > 0) {
            tell_asset(look, file->path, "is not in the list of assets; build again");
        } else if (!is_same(look, asset)) {
            tell_asset(look, asset->path, "has changed since the place was built; build again");
        }
        at += order <= 0;
        have += order >= 0;
    }
}

static void check_thumbnail(Look *look)
{
    bool has_picture = false;
    for (uint32_t i = 0; i < look->list.count; i++) {
        const PackageKind kind = look->list.assets[i].info.kind;
        has_picture |= kind == KIND_PNG || kind == KIND_JPEG;
    }
    if (has_picture != (look->list.thumbnail != NULL)) {
        tell_asset(look, ARTIFACT_LIST,
                   has_picture
                       ? "names no thumbnail although the place has a picture; build again"
                       : "names a thumbnail although the place has no picture; build again");
    }
}

Status build_verify_assets(const BuildContext *context, const char *place)
{
    Look look = {.context = context, .place = place};
    void *block = malloc(ASSET_LIST_ARENA_BYTES);
    if (block == NULL) {
        return context_fail(context, STATUS_LIMIT, "out of memory");
    }
    arena_init(&look.arena, block, ASSET_LIST_ARENA_BYTES);
    // Files that are not allowed in assets/ are reported as in a build.
    Status status = asset_files_list(place, PLACE_FILES_MAX, PLACE_FOLDER_BYTES_MAX, &look.files,
                                     context->diagnostics);
    status =
        status != STATUS_OK ? context_fail(context, status, "out of memory") : read_list(&look);
    if (look.has_list) {
        compare(&look);
        check_thumbnail(&look);
    }
    asset_files_free(&look.files);
    free(block);
    return status;
}
