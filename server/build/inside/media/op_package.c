// Unpacking a package, inside the worker: from an archive's bytes to files that are all judged, by
// name, size and content. Two requests: WORKER_UNPACK, and WORKER_JUDGE, which sends no file back.
//
//   request   the archive
//   reply     u32 format, block name of the place, diagnostics (warnings), block thumbnail,
//             u32 files; each: block path, u64 packed bytes, AssetInfo, u64 bytes, and from UNPACK
//             the data
//
// On a refusal the reason is the whole answer.
#include "core/base/check.h"
#include "core/base/json_read.h"
#include "server/build/inside/media/asset.h"
#include "server/build/inside/worker_op.h"
#include "server/build/package/package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ARENA_BYTES_MAX (24u << 20)

static Status read_archive(const uint8_t *bytes, size_t count, PackageList *list,
                           PackageFormat *format)
{
    if (count > PACKAGE_BYTES_MAX) {
        return package_list_refuse(list, RULE_SIZE, "a package has at most 256 MiB");
    }
    list->archive_bytes = count;
    if (package_is_zip(bytes, count)) {
        *format = PACKAGE_ZIP;
        return package_zip_read(bytes, count, list);
    }
    if (package_is_gzip(bytes, count) || package_is_zstd(bytes, count) ||
        package_is_tar(bytes, count)) {
        *format = package_is_gzip(bytes, count)   ? PACKAGE_TAR_GZ
                  : package_is_zstd(bytes, count) ? PACKAGE_TAR_ZST
                                                  : PACKAGE_TAR;
        return package_tar_read(bytes, count, list);
    }
    return package_list_refuse(list, RULE_FORMAT,
                               "is neither zip nor tar (plain, gz, zst), from its first byte on");
}

// --- contents -----------------------------------------------------------------------------------

static void warn_of(PackageList *list, const PackageItem *item, const AssetInfo *info)
{
    if (info->has_place_data) {
        diagnostic_addf(&list->warnings, DIAGNOSTIC_WARNING, item->path, 0, 0, "exif",
                        "holds EXIF data, which may say where and when it was taken; players can "
                        "read it");
    }
}

// A .bin has no format of its own: one that no model names could contain anything.
static Status check_bins(PackageList *list, const bool *used)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const PackageItem *item = &list->items[i];
        if (item->kind == KIND_BIN && !used[i]) {
            return package_refuse(list->reason, item->path, strlen(item->path), RULE_CONTENT,
                                  "no .gltf of the package names it");
        }
    }
    return STATUS_OK;
}

static Status check_contents(PackageList *list, AssetInfo *infos, bool *used)
{
    AssetPackage package = {.list = list, .used = used};
    for (uint32_t i = 0; i < list->count; i++) {
        const PackageItem *item = &list->items[i];
        const AssetJob job = {.path = item->path,
                              .data = item->data,
                              .bytes = item->bytes,
                              .package = &package,
                              .reason = list->reason};
        worker_progress(list->count + i, list->count * 2);
        const Status status = asset_check(&job, item->kind, &infos[i]);
        if (status != STATUS_OK) {
            return status;
        }
        warn_of(list, item, &infos[i]);
    }
    return check_bins(list, used);
}

// Reads the name in place.json, to show it to people. The build checks the file; here a file that
// cannot be read is only a warning.
static void read_name(PackageList *list, char name[PACKAGE_PLACE_NAME_BYTES])
{
    const PackageItem *item = package_list_find(list, "place.json");
    ASSERT(item != NULL);
    const size_t wanted =
        item->bytes * 128 + 4096; // enough for a value per byte, more than any JSON has
    const size_t arena_bytes = wanted < NAME_ARENA_BYTES_MAX ? wanted : NAME_ARENA_BYTES_MAX;
    void *block = calloc(1, arena_bytes);
    Arena arena;
    const JsonNode *root = NULL;
    JsonError error = {0};
    name[0] = '\0';
    if (block == NULL) {
        return;
    }
    arena_init_zeroed(&arena, block, arena_bytes);
    const JsonConfig config = json_config_default(&arena);
    if (json_parse(&config, (const char *)item->data, item->bytes, &root, &error) == STATUS_OK) {
        const char *text = json_read_text(json_read_member(root, "name", &error),
                                          PACKAGE_PLACE_NAME_BYTES - 1, &error);
        snprintf(name, PACKAGE_PLACE_NAME_BYTES, "%s", text);
    }
    if (error.status != STATUS_OK) {
        char words[JSON_ERROR_TEXT_BYTES];
        json_error_words(&error, words);
        diagnostic_addf(&list->warnings, DIAGNOSTIC_WARNING, item->path, error.line, error.column,
                        "json", "%s", words);
    }
    free(block);
}

// --- the reply ----------------------------------------------------------------------------------

static void write_thumbnail(PackageList *list, Buffer *reply)
{
    const PackageItem *item = asset_place_picture(list);
    Buffer png = buffer_of(ASSET_THUMBNAIL_BYTES);
    if (item != NULL) {
        const AssetJob job = {
            .path = item->path, .data = item->data, .bytes = item->bytes, .reason = list->reason};
        if (asset_thumbnail(&job, item->kind, ASSET_THUMBNAIL_PX, &png) != STATUS_OK) {
            buffer_free(&png); // it was decoded before, so this fails only without memory; a
                               // missing thumbnail is no reason to fail
        }
    }
    buffer_put_block(reply, png.data, png.bytes);
    buffer_free(&png);
}

// Each file's memory is freed once it is copied, so that a large place is in memory only once.
static void write_files(PackageList *list, const AssetInfo *infos, bool with_contents,
                        Buffer *reply)
{
    buffer_put_u32(reply, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        PackageItem *item = &list->items[i];
        buffer_put_block(reply, item->path, strlen(item->path));
        buffer_put_u64(reply, item->packed_bytes);
        asset_info_write(&infos[i], reply);
        buffer_put_u64(reply, item->bytes);
        if (with_contents) {
            buffer_put(reply, item->data, item->bytes);
        }
        free(item->data);
        item->data = NULL;
        worker_progress(list->count * 2, list->count * 2);
    }
}

static Status write_reply(WorkerCall *call, bool with_contents, PackageList *list,
                          PackageFormat format)
{
    AssetInfo *infos = calloc((size_t)list->count + 1, sizeof *infos);
    bool *used = calloc((size_t)list->count + 1, sizeof *used);
    Status status = infos == NULL || used == NULL
                        ? package_list_refuse(list, RULE_MEMORY, "out of memory")
                        : check_contents(list, infos, used);
    if (status == STATUS_OK) {
        char name[PACKAGE_PLACE_NAME_BYTES];
        read_name(list, name);
        diagnostic_list_sort(&list->warnings);
        buffer_put_u32(&call->reply, (uint32_t)format);
        buffer_put_block(&call->reply, name, strlen(name));
        diagnostic_list_write(&list->warnings, &call->reply);
        write_thumbnail(list, &call->reply);
        write_files(list, infos, with_contents, &call->reply);
        status = call->reply.status == STATUS_OK
                     ? STATUS_OK
                     : package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    free(infos);
    free(used);
    return status;
}

static Status read_package(WorkerCall *call, bool with_contents)
{
    PackageList list = {.reason = call->reason};
    PackageFormat format = PACKAGE_ZIP;
    const size_t count = byte_reader_left(&call->request);
    const uint8_t *bytes = byte_read_bytes(&call->request, count);
    ASSERT(bytes != NULL || count == 0);
    Status status = read_archive(bytes, count, &list, &format);
    status = status == STATUS_OK ? write_reply(call, with_contents, &list, format) : status;
    package_list_free(&list);
    return status;
}

Status worker_unpack(WorkerCall *call)
{
    return read_package(call, true);
}

Status worker_judge(WorkerCall *call)
{
    return read_package(call, false);
}
