// Packs a folder as a `.game`. The zip is written by this code alone, so that its bytes depend on
// the files only: names sorted, one date for all, one user, no extra fields. The worker deflates
// the files and checks the result like a stranger's package: what this program packs, it can read.
#define _GNU_SOURCE
#include "server/build/package/package.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DATE_1980       0x0021u // the first that zip knows: 1980-01-01
#define MADE_BY_UNIX    (3u << 8 | 20)
#define NEEDED          20u
#define FLAG_UTF8       (1u << 11)
#define MODE_FILE       (0100644u << 16)
#define METHOD_STORED   0u
#define METHOD_DEFLATED 8u

// What the two headers of a file have in common.
typedef struct Entry {
    const PlaceFile *file;
    uint32_t crc, packed_bytes, offset;
    uint32_t method;
} Entry;

static void put_u16(Buffer *out, uint32_t value)
{
    const uint8_t bytes[2] = {(uint8_t)value, (uint8_t)(value >> 8)};
    buffer_put(out, bytes, sizeof bytes);
}

static void put_common(Buffer *out, const Entry *entry)
{
    put_u16(out, NEEDED);
    put_u16(out, FLAG_UTF8);
    put_u16(out, entry->method);
    put_u16(out, 0); // midnight
    put_u16(out, DATE_1980);
    buffer_put_u32(out, entry->crc);
    buffer_put_u32(out, entry->packed_bytes);
    buffer_put_u32(out, (uint32_t)entry->file->bytes);
    put_u16(out, (uint32_t)strlen(entry->file->path));
    put_u16(out, 0); // extra fields
}

static void put_central(Buffer *out, const Entry *entry)
{
    buffer_put_u32(out, 0x02014b50u);
    put_u16(out, MADE_BY_UNIX);
    put_common(out, entry);
    put_u16(out, 0); // comment
    put_u16(out, 0); // disk
    put_u16(out, 0); // text or not
    buffer_put_u32(out, MODE_FILE);
    buffer_put_u32(out, entry->offset);
    buffer_put(out, entry->file->path, strlen(entry->file->path));
}

// --- one file -----------------------------------------------------------------------------------

// Pictures and OGG are compressed already.
static bool is_packed_kind(PackageKind kind)
{
    return kind == KIND_PNG || kind == KIND_JPEG || kind == KIND_OGG;
}

// The file deflated; empty: it is to be stored as it is. The bytes depend on the file and zlib
// alone.
typedef struct Compressing {
    const PlaceFile *file;
    Buffer *out;
} Compressing;

static Status read_compressed(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Compressing *compressing = user;
    if (reply->bytes > 0 && reply->bytes >= compressing->file->bytes) {
        return STATUS_MALFORMED;
    }
    buffer_put(compressing->out, reply->data, reply->bytes);
    return compressing->out->status;
}

static Status compress_file(const BuildContext *context, const PlaceFile *file, Buffer *out)
{
    Compressing compressing = {file, out};
    WorkerQuestion question = {.op = WORKER_DEFLATE,
                               .request = file->data,
                               .request_bytes = file->bytes,
                               .read = read_compressed,
                               .user = &compressing};
    return context_ask(context, &question);
}

static Status put_file(const BuildContext *context, PackageKind kind, Entry *entry, Buffer *out)
{
    const PlaceFile *file = entry->file;
    Buffer packed = buffer_of(WORKER_REPLY_MAX);
    if (file->bytes > 0 && !is_packed_kind(kind)) {
        const Status status = compress_file(context, file, &packed);
        if (status != STATUS_OK) {
            buffer_free(&packed);
            return status;
        }
    }
    const bool is_deflated = packed.bytes > 0;
    entry->packed_bytes = (uint32_t)(is_deflated ? packed.bytes : file->bytes);
    entry->method = is_deflated ? METHOD_DEFLATED : METHOD_STORED;
    entry->offset = (uint32_t)out->bytes;
    entry->crc = (uint32_t)crc32_z(0, file->data, file->bytes);
    buffer_put_u32(out, 0x04034b50u);
    put_common(out, entry);
    buffer_put(out, file->path, strlen(file->path));
    buffer_put(out, is_deflated ? packed.data : file->data, entry->packed_bytes);
    buffer_free(&packed);
    return STATUS_OK;
}

// --- the whole ----------------------------------------------------------------------------------

static void put_end(Buffer *out, uint32_t count, size_t directory_at)
{
    const size_t end = out->bytes;
    buffer_put_u32(out, 0x06054b50u);
    put_u16(out, 0);
    put_u16(out, 0);
    put_u16(out, count);
    put_u16(out, count);
    buffer_put_u32(out, (uint32_t)(end - directory_at));
    buffer_put_u32(out, (uint32_t)directory_at);
    put_u16(out, 0); // comment
}

static Status write_zip(const BuildContext *context, const PlaceFolder *folder, Buffer *out)
{
    Entry *entries = calloc((size_t)folder->file_count + 1, sizeof *entries);
    Status status = entries != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; status == STATUS_OK && i < folder->file_count; i++) {
        PackageKind kind;
        entries[i].file = &folder->files[i];
        status = package_kind_of(folder->files[i].path, &kind, context->reason);
        status = status == STATUS_OK ? put_file(context, kind, &entries[i], out) : status;
    }
    const size_t directory_at = out->bytes;
    for (uint32_t i = 0; status == STATUS_OK && i < folder->file_count; i++) {
        put_central(out, &entries[i]);
    }
    put_end(out, folder->file_count, directory_at);
    if (entries == NULL || (status == STATUS_OK && out->status != STATUS_OK)) {
        status = package_refuse(context->reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_SIZE,
                                "does not fit into a package of %u MiB, or into memory",
                                PACKAGE_BYTES_MAX >> 20);
    }
    free(entries);
    return status;
}

// Leaves out the files that a reader would skip.
static void leave_out_skipped(PlaceFolder *folder)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        PlaceFile *file = &folder->files[i];
        if (package_path_is_skipped(file->path)) {
            folder->bytes -= file->bytes;
            free((void *)(uintptr_t)file->path);
            free((void *)(uintptr_t)file->data);
        } else {
            folder->files[kept++] = *file;
        }
    }
    folder->file_count = kept;
}

// Checks names and sizes; the worker checks the contents.
static Status check_folder(const PlaceFolder *folder, char reason[WORKER_REASON_BYTES])
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        PackageKind kind;
        Status status = package_path_check(file->path, strlen(file->path), reason);
        status = status == STATUS_OK ? package_path_fits(file->path, reason) : status;
        status = status == STATUS_OK ? package_kind_of(file->path, &kind, reason) : status;
        status = status == STATUS_OK ? package_size_check(file->path, kind, file->bytes, reason)
                                     : status;
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static Status pack_files(const BuildContext *context, const PlaceFolder *files, Buffer *out,
                         PackageInfo *info)
{
    Buffer zip = buffer_of(PACKAGE_BYTES_MAX);
    Status status = check_folder(files, context->reason);
    status = status == STATUS_OK ? write_zip(context, files, &zip) : status;
    if (status == STATUS_OK) {
        status = package_open(context, zip.data, zip.bytes, false, info);
    }
    if (status != STATUS_OK) {
        buffer_free(&zip);
        return status;
    }
    *out = zip;
    return STATUS_OK;
}

Status package_pack(const BuildContext *context, const char *folder, Buffer *out, PackageInfo *info)
{
    PlaceFolder files = {0};
    Status status = place_folder_read_all(folder, &files, context->reason);
    if (status != STATUS_OK) {
        return status;
    }
    leave_out_skipped(&files);
    status = pack_files(context, &files, out, info);
    place_folder_free(&files);
    return status;
}

Status package_write_files(const BuildContext *context, const PlaceFolder *files, Buffer *out)
{
    PackageInfo info;
    const Status status = pack_files(context, files, out, &info);
    if (status == STATUS_OK) {
        package_info_free(&info);
    }
    return status;
}

Status package_write(const BuildContext *context, const char *folder, Buffer *out)
{
    PackageInfo info;
    const Status status = package_pack(context, folder, out, &info);
    if (status == STATUS_OK) {
        package_info_free(&info);
    }
    return status;
}
