// Any bytes as a package, through all of WORKER_UNPACK as in the worker, but without the jail. A
// rejection names the entry and the rule in one printable line; a reply passes the checks outside;
// and libarchive reads an accepted zip as the same files, both from the front and by the directory.
#include "core/base/check.h"
#include "server/build/inside/media/package_list.h"
#include "server/build/inside/worker_op.h"
#include "server/build/package/package_reply.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const PlaceFile *find(const PackageInfo *info, const char *path)
{
    for (uint32_t i = 0; i < info->folder.file_count; i++) {
        if (strcmp(info->folder.files[i].path, path) == 0) {
            return &info->folder.files[i];
        }
    }
    return NULL;
}

// The same file, under its own path or in the folder that was taken off.
static void compare_entry(struct archive *zip, struct archive_entry *entry, const PackageInfo *info,
                          uint32_t *found)
{
    const char *name = archive_entry_pathname(entry);
    if (name == NULL || archive_entry_filetype(entry) == AE_IFDIR) {
        return; // no ASCII: libarchive does not know it in this locale
    }
    while (strncmp(name, "./", 2) == 0) {
        name += 2;
    }
    if (package_path_is_skipped(name)) {
        return;
    }
    const PlaceFile *file = find(info, name);
    const char *slash = strchr(name, '/');
    if (file == NULL && slash != NULL) {
        file = find(info, slash + 1);
    }
    ASSERT(file != NULL);
    uint8_t *data = malloc(file->bytes + 1);
    ASSERT(data != NULL);
    size_t at = 0;
    la_ssize_t got;
    while (at <= file->bytes &&
           (got = archive_read_data(zip, data + at, file->bytes + 1 - at)) > 0) {
        at += (size_t)got;
    }
    ASSERT(at == file->bytes && memcmp(data, file->data, at) == 0);
    free(data);
    *found += 1;
}

static void compare_with_libarchive(const uint8_t *bytes, size_t count, const PackageInfo *info,
                                    bool by_directory)
{
    struct archive *zip = archive_read_new();
    struct archive_entry *entry;
    uint32_t found = 0;
    ASSERT(zip != NULL);
    const int supported = by_directory ? archive_read_support_format_zip_seekable(zip)
                                       : archive_read_support_format_zip_streamable(zip);
    const int opened = archive_read_open_memory(zip, (void *)(uintptr_t)bytes, count);
    ASSERT(supported == ARCHIVE_OK && opened == ARCHIVE_OK);
    int result;
    while ((result = archive_read_next_header(zip, &entry)) == ARCHIVE_OK ||
           result == ARCHIVE_WARN) {
        compare_entry(zip, entry, info, &found);
    }
    archive_read_free(zip);
    for (uint32_t i = 0; i < info->folder.file_count; i++) {
        for (const char *c = info->folder.files[i].path; *c != '\0'; c++) {
            if ((uint8_t)*c >= 0x80) {
                return;
            }
        }
    }
    ASSERT(found == info->folder.file_count);
}

static void check_answer(const uint8_t *bytes, size_t count, const WorkerCall *call)
{
    char reason[WORKER_REASON_BYTES] = "";
    PackageInfo info;
    DiagnosticList warnings = {0};
    const Status status =
        package_reply_read(call->reply.data, call->reply.bytes, true, &info, &warnings, reason);
    ASSERT(status == STATUS_OK);
    if (package_is_zip(bytes, count)) {
        compare_with_libarchive(bytes, count, &info, true);
        compare_with_libarchive(bytes, count, &info, false);
    }
    package_info_free(&info);
    diagnostic_list_free(&warnings);
}

static void check_refusal(const char *reason)
{
    size_t colons = 0;
    for (const char *at = reason; *at != '\0'; at++) {
        ASSERT((uint8_t)*at >= 0x20 && *at != 0x7f);
        colons += at[0] == ':' && at[1] == ' ';
    }
    ASSERT(colons >= 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    WorkerCall call = {.request = byte_reader(bytes, count), .reply = buffer_of(WORKER_REPLY_MAX)};
    const Status status = worker_unpack(&call);
    if (status == STATUS_OK) {
        check_answer(bytes, count, &call);
    } else {
        check_refusal(call.reason);
    }
    buffer_free(&call.reply);
    return 0;
}
