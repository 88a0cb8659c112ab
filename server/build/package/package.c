// Packages outside the jail: asks the worker and checks its answers by the same rules, because a
// worker that was taken over can answer anything. See package.h.
#define _GNU_SOURCE
#include "server/build/package/package_reply.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *package_format_name(PackageFormat format)
{
    static const char *const names[PACKAGE_FORMAT_COUNT] = {"zip", "tar", "tar.gz", "tar.zst"};
    return format < PACKAGE_FORMAT_COUNT ? names[format] : "?";
}

void package_info_free(PackageInfo *info)
{
    place_folder_free(&info->folder);
    free(info->files);
    free(info->thumbnail);
    *info = (PackageInfo){0};
}

void package_hash_files(PackageInfo *info)
{
    for (uint32_t i = 0; i < info->folder.file_count; i++) {
        const PlaceFile *file = &info->folder.files[i];
        ASSERT(file->data != NULL);
        sha256_of(file->data, file->bytes, info->files[i].hash);
    }
}

// --- what the worker says -----------------------------------------------------------------------

static Status reply_invalid(char reason[WORKER_REASON_BYTES])
{
    snprintf(reason, WORKER_REASON_BYTES, "the build worker's answer is invalid");
    return STATUS_MALFORMED;
}

// Reads a block of at most bytes_max; NULL: the reader has failed.
static const uint8_t *read_block(ByteReader *reader, size_t bytes_max, size_t *bytes)
{
    *bytes = byte_read_u32(reader);
    if (reader->status == STATUS_OK && *bytes > bytes_max) {
        byte_reader_fail(reader, STATUS_LIMIT);
    }
    return byte_read_bytes(reader, *bytes);
}

// Reads a name to show to people; one with unusual characters is dropped.
static void read_name(ByteReader *reader, char out[PACKAGE_PLACE_NAME_BYTES])
{
    size_t bytes;
    const uint8_t *name = read_block(reader, PACKAGE_PLACE_NAME_BYTES - 1, &bytes);
    out[0] = '\0';
    if (name == NULL || !utf8_is_valid(name, bytes)) {
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        // U+0080 to U+009F are the bytes c2 80 to c2 9f.
        if (name[i] < 0x20 || name[i] == 0x7f ||
            (name[i] == 0xc2 && i + 1 < bytes && name[i + 1] < 0xa0)) {
            return;
        }
    }
    memcpy(out, name, bytes);
    out[bytes] = '\0';
}

static void read_thumbnail(ByteReader *reader, PackageInfo *info)
{
    size_t bytes;
    const uint8_t *png = read_block(reader, ASSET_THUMBNAIL_BYTES, &bytes);
    if (png == NULL || bytes < 8 || memcmp(png, "\x89PNG\r\n\x1a\n", 8) != 0) {
        return;
    }
    info->thumbnail = malloc(bytes);
    if (info->thumbnail != NULL) {
        memcpy(info->thumbnail, png, bytes);
        info->thumbnail_bytes = bytes;
    }
}

static Status check_path(const char *path, size_t bytes, PackageKind *kind,
                         char reason[WORKER_REASON_BYTES])
{
    const Status status = package_path_check(path, bytes, reason);
    if (status != STATUS_OK) {
        return status;
    }
    if (bytes >= PACKAGE_PATH_BYTES) {
        return package_refuse(reason, path, bytes, RULE_LONG, "a path has at most %d bytes",
                              PACKAGE_PATH_BYTES - 1);
    }
    char text[PACKAGE_PATH_BYTES];
    memcpy(text, path, bytes);
    text[bytes] = '\0';
    if (package_path_is_skipped(text)) {
        return reply_invalid(reason);
    }
    const Status fits = package_path_fits(text, reason);
    return fits == STATUS_OK ? package_kind_of(text, kind, reason) : fits;
}

// Reads one file into a free slot; data is copied if it is there.
static Status read_file(ByteReader *reader, bool with_contents, PackageInfo *info,
                        char reason[WORKER_REASON_BYTES])
{
    PackageFile file = {0};
    size_t path_bytes;
    const uint8_t *path = read_block(reader, PACKAGE_PATH_BYTES - 1, &path_bytes);
    file.packed_bytes = byte_read_u64(reader);
    file.asset = asset_info_read(reader);
    file.bytes = byte_read_u64(reader);
    if (reader->status != STATUS_OK) {
        return reply_invalid(reason);
    }
    Status status = check_path((const char *)path, path_bytes, &file.kind, reason);
    if (status != STATUS_OK) {
        return status;
    }
    if (file.bytes > package_kind_bytes_max(file.kind) || file.asset.kind != file.kind ||
        file.bytes > PLACE_FOLDER_BYTES_MAX - info->folder.bytes) {
        return reply_invalid(reason);
    }
    const uint8_t *data = with_contents ? byte_read_bytes(reader, (size_t)file.bytes) : NULL;
    if (reader->status != STATUS_OK) {
        return reply_invalid(reason);
    }
    char *own_path = strndup((const char *)path, path_bytes);
    uint8_t *own_data = with_contents ? malloc((size_t)file.bytes + 1) : NULL;
    if (own_path == NULL || (with_contents && own_data == NULL)) {
        free(own_path);
        free(own_data);
        return package_refuse(reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_MEMORY,
                              "out of memory");
    }
    if (with_contents) {
        memcpy(own_data, data, (size_t)file.bytes);
        own_data[file.bytes] = 0;
    }
    const uint32_t at = info->folder.file_count++;
    info->folder.files[at] =
        (PlaceFile){.path = own_path, .data = own_data, .bytes = (size_t)file.bytes};
    info->folder.bytes += (size_t)file.bytes;
    info->files[at] = file;
    return STATUS_OK;
}

static Status check_together(const PlaceFolder *folder, char reason[WORKER_REASON_BYTES])
{
    const char *paths[PLACE_FILES_MAX];
    bool has_place = false, has_scene = false;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        paths[i] = folder->files[i].path;
        if (i > 0 && strcmp(paths[i - 1], paths[i]) >= 0) {
            return reply_invalid(reason);
        }
        has_place = has_place || strcmp(paths[i], "place.json") == 0;
        has_scene = has_scene || strcmp(paths[i], "scene.json") == 0;
    }
    if (!has_place || !has_scene) {
        return reply_invalid(reason);
    }
    return package_paths_differ(paths, folder->file_count, reason);
}

static Status read_files(ByteReader *reader, bool with_contents, PackageInfo *info,
                         char reason[WORKER_REASON_BYTES])
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > PLACE_FILES_MAX) {
        return reply_invalid(reason);
    }
    info->folder.files = calloc((size_t)count + 1, sizeof *info->folder.files);
    info->files = calloc((size_t)count + 1, sizeof *info->files);
    if (info->folder.files == NULL || info->files == NULL) {
        return package_refuse(reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_MEMORY,
                              "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        const Status status = read_file(reader, with_contents, info, reason);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return byte_reader_finish(reader) == STATUS_OK ? check_together(&info->folder, reason)
                                                   : reply_invalid(reason);
}

static Status read_all(ByteReader *reader, bool with_contents, PackageInfo *info,
                       DiagnosticList *warnings, char reason[WORKER_REASON_BYTES])
{
    const uint32_t format = byte_read_u32(reader);
    read_name(reader, info->name);
    size_t used = 0;
    if (reader->status != STATUS_OK || format >= PACKAGE_FORMAT_COUNT ||
        diagnostic_list_read(reader->data + reader->at, reader->size - reader->at, &used,
                             warnings) != STATUS_OK) {
        return reply_invalid(reason);
    }
    info->format = (PackageFormat)format;
    (void)byte_read_bytes(reader, used);
    read_thumbnail(reader, info);
    return read_files(reader, with_contents, info, reason);
}

Status package_reply_read(const uint8_t *bytes, size_t count, bool with_contents, PackageInfo *out,
                          DiagnosticList *warnings, char reason[WORKER_REASON_BYTES])
{
    ByteReader reader = byte_reader(bytes, count);
    PackageInfo info = {0};
    DiagnosticList list = {0};
    const Status status = read_all(&reader, with_contents, &info, &list, reason);
    if (status == STATUS_OK) {
        diagnostic_list_append(warnings, &list);
        *out = info;
    } else {
        package_info_free(&info);
    }
    diagnostic_list_free(&list);
    return status;
}

// --- the face -----------------------------------------------------------------------------------

typedef struct Opening {
    bool with_contents;
    PackageInfo *out;
    const BuildContext *context;
} Opening;

static Status read_package(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Opening *opening = user;
    return package_reply_read(reply->data, reply->bytes, opening->with_contents, opening->out,
                              opening->context->diagnostics, opening->context->reason);
}

Status package_open(const BuildContext *context, const uint8_t *bytes, size_t count,
                    bool with_contents, PackageInfo *out)
{
    if (count > PACKAGE_BYTES_MAX) {
        return package_refuse(context->reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_SIZE,
                              "a package has at most %u MiB", PACKAGE_BYTES_MAX >> 20);
    }
    Opening opening = {with_contents, out, context};
    WorkerQuestion question = {.op = with_contents ? WORKER_UNPACK : WORKER_JUDGE,
                               .request = bytes,
                               .request_bytes = count,
                               .read = read_package,
                               .user = &opening};
    return context_ask(context, &question);
}

Status package_read(const BuildContext *context, const uint8_t *bytes, size_t count,
                    PlaceFolder *out)
{
    PackageInfo info;
    const Status status = package_open(context, bytes, count, true, &info);
    if (status == STATUS_OK) {
        *out = info.folder;
        info.folder = (PlaceFolder){0};
        package_info_free(&info);
    }
    return status;
}

// --- one asset ----------------------------------------------------------------------------------

void package_asset_request(const char *path, const void *data, size_t bytes, uint32_t edge_px,
                           Buffer *out)
{
    buffer_put_block(out, path, strlen(path));
    buffer_put_u32(out, edge_px);
    buffer_put(out, data, bytes);
}

Status package_asset_read(const Buffer *reply, PackageKind kind, AssetInfo *out, Buffer *png)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    const AssetInfo info = asset_info_read(&reader);
    size_t png_bytes;
    const uint8_t *thumbnail = read_block(&reader, ASSET_THUMBNAIL_BYTES, &png_bytes);
    if (byte_reader_finish(&reader) != STATUS_OK || !asset_info_fits(&info, kind)) {
        return STATUS_MALFORMED;
    }
    *out = info;
    if (png != NULL) {
        buffer_put(png, thumbnail, png_bytes);
    }
    return STATUS_OK;
}
