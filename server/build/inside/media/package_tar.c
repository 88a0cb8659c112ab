// Tar, plain or inside gzip or zstd. The compression is removed here, with our limits; the tar
// itself, of which there are many dialects, is read by libarchive, from memory, with that one
// format allowed and no filter. After the end of each layer only zeros are allowed.
#include "server/build/inside/media/package_list.h"

#include "core/base/check.h"
#include "server/build/inside/worker_op.h"
#include "server/sys/library.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define TAR_BLOCK 512
// Headers, long names and padding come on top of the files: three blocks for each entry.
#define TAR_BYTES_MAX  (PLACE_FOLDER_BYTES_MAX + PACKAGE_ENTRIES_MAX * 3u * TAR_BLOCK + (1u << 20))
#define STEP_BYTES     (1u << 20)
#define WINDOW_LOG_MAX 23 // 8 MiB, what zstd's levels up to 19 use

#define ARCHIVE_FUNCTIONS(X)      \
    X(archive_entry_filetype)     \
    X(archive_entry_hardlink)     \
    X(archive_entry_is_encrypted) \
    X(archive_entry_pathname)     \
    X(archive_entry_size)         \
    X(archive_entry_size_is_set)  \
    X(archive_entry_sparse_count) \
    X(archive_entry_symlink)      \
    X(archive_error_string)       \
    X(archive_filter_bytes)       \
    X(archive_read_data)          \
    X(archive_read_free)          \
    X(archive_read_new)           \
    X(archive_read_next_header)   \
    X(archive_read_open_memory)   \
    X(archive_read_set_options)   \
    X(archive_read_support_format_tar)

static struct {
    ARCHIVE_FUNCTIONS(LIBRARY_FIELD)
} lib;

bool package_tar_open(void)
{
#define ARCHIVE_ROW(function) {#function, &lib.function},
    static const LibraryFunction functions[] = {ARCHIVE_FUNCTIONS(ARCHIVE_ROW)};
#undef ARCHIVE_ROW
    const size_t count = sizeof functions / sizeof functions[0];
    return lib.archive_read_new != NULL ||
           library_open("libarchive.so.13", functions, count) == STATUS_OK;
}

bool package_is_gzip(const uint8_t *bytes, size_t count)
{
    return count >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

bool package_is_zstd(const uint8_t *bytes, size_t count)
{
    return count >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0;
}

bool package_is_tar(const uint8_t *bytes, size_t count)
{
    return count >= TAR_BLOCK && memcmp(bytes + 257, "ustar", 5) == 0;
}

// --- the outer layer ----------------------------------------------------------------------------

typedef struct Unpacked {
    uint8_t *bytes;
    size_t count, capacity;
} Unpacked;

// Makes room for one more step, within the limits.
static Status grow(PackageList *list, Unpacked *out)
{
    if (out->count > PACKAGE_RATIO_FLOOR_BYTES &&
        out->count > list->archive_bytes * PACKAGE_RATIO_MAX) {
        return package_list_refuse(list, RULE_RATIO,
                                   "becomes more than 100 times as large when unpacked");
    }
    if (out->count > TAR_BYTES_MAX - STEP_BYTES) {
        return package_list_refuse(list, RULE_SIZE, "becomes larger than 256 MiB when unpacked");
    }
    if (out->capacity - out->count >= STEP_BYTES) {
        return STATUS_OK;
    }
    size_t capacity = out->capacity * 2 + 4 * STEP_BYTES;
    capacity = capacity < TAR_BYTES_MAX ? capacity : TAR_BYTES_MAX;
    uint8_t *bytes = realloc(out->bytes, capacity);
    if (bytes == NULL) {
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    out->bytes = bytes;
    out->capacity = capacity;
    worker_progress(0, 0);
    return STATUS_OK;
}

static Status gunzip(const uint8_t *bytes, size_t count, PackageList *list, Unpacked *out)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)count};
    if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) {
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    int result = Z_OK;
    Status status = STATUS_OK;
    while (status == STATUS_OK && result == Z_OK) {
        status = grow(list, out);
        if (status == STATUS_OK) {
            stream.next_out = out->bytes + out->count;
            stream.avail_out = STEP_BYTES;
            result = inflate(&stream, Z_NO_FLUSH);
            out->count += STEP_BYTES - stream.avail_out;
        }
    }
    const size_t left = stream.avail_in;
    inflateEnd(&stream);
    if (status != STATUS_OK) {
        return status;
    }
    if (result != Z_STREAM_END) {
        return package_list_refuse(list, result == Z_BUF_ERROR ? RULE_TRUNCATED : RULE_CHECKSUM,
                                   result == Z_BUF_ERROR ? "the gzip is cut off"
                                                         : "the gzip is damaged");
    }
    if (left > 0) {
        return package_list_refuse(list, RULE_TRAILING, "something stands behind the gzip");
    }
    return STATUS_OK;
}

static Status unzstd(const uint8_t *bytes, size_t count, PackageList *list, Unpacked *out)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (stream == NULL ||
        ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        ZSTD_freeDStream(stream);
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    ZSTD_inBuffer in = {bytes, count, 0};
    size_t left = 1;
    Status status = STATUS_OK;
    bool is_stuck = false;
    while (status == STATUS_OK && left != 0 && !ZSTD_isError(left) && !is_stuck) {
        status = grow(list, out);
        if (status == STATUS_OK) {
            ZSTD_outBuffer piece = {out->bytes + out->count, STEP_BYTES, 0};
            const size_t before = in.pos;
            left = ZSTD_decompressStream(stream, &piece, &in);
            out->count += piece.pos;
            is_stuck = piece.pos == 0 && in.pos == before;
        }
    }
    ZSTD_freeDStream(stream);
    if (status != STATUS_OK) {
        return status;
    }
    if (ZSTD_isError(left)) {
        return package_refuse(list->reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_FORMAT,
                              "the zstd cannot be unpacked: %s", ZSTD_getErrorName(left));
    }
    if (left != 0) {
        return package_list_refuse(list, RULE_TRUNCATED, "the zstd is cut off");
    }
    if (in.pos < in.size) {
        return package_list_refuse(list, RULE_TRAILING, "something stands behind the zstd");
    }
    return STATUS_OK;
}

// --- the tar ------------------------------------------------------------------------------------

static Status check_entry(PackageList *list, struct archive_entry *about, const char *name)
{
    const size_t bytes = strlen(name);
    if (lib.archive_entry_hardlink(about) != NULL || lib.archive_entry_symlink(about) != NULL ||
        lib.archive_entry_filetype(about) == AE_IFLNK) {
        return package_refuse(list->reason, name, bytes, RULE_LINK, "a package holds no links");
    }
    if (lib.archive_entry_filetype(about) != AE_IFREG &&
        lib.archive_entry_filetype(about) != AE_IFDIR) {
        return package_refuse(list->reason, name, bytes, RULE_SPECIAL,
                              "is neither file nor folder");
    }
    if (lib.archive_entry_sparse_count(about) > 0) {
        return package_refuse(list->reason, name, bytes, RULE_SPECIAL,
                              "is a file with holes; pack it whole (tar without -S)");
    }
    if (lib.archive_entry_is_encrypted(about)) {
        return package_refuse(list->reason, name, bytes, RULE_ENCRYPTED,
                              "pack it without a password");
    }
    if (!lib.archive_entry_size_is_set(about) || lib.archive_entry_size(about) < 0) {
        return package_refuse(list->reason, name, bytes, RULE_HEADER, "has no size");
    }
    return STATUS_OK;
}

static Status read_data(PackageList *list, struct archive *tar, PackageItem *item)
{
    item->data = malloc(item->bytes + 1);
    if (item->data == NULL) {
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    item->data[item->bytes] = 0;
    size_t at = 0;
    while (at < item->bytes) {
        const la_ssize_t got = lib.archive_read_data(tar, item->data + at, item->bytes - at);
        if (got <= 0) {
            return package_refuse(list->reason, item->path, strlen(item->path), RULE_TRUNCATED,
                                  "the archive ends inside it");
        }
        at += (size_t)got;
    }
    uint8_t more;
    const la_ssize_t got = lib.archive_read_data(tar, &more, 1);
    if (got != 0) {
        return package_refuse(
            list->reason, item->path, strlen(item->path), got > 0 ? RULE_SIZE : RULE_TRUNCATED,
            "%s", got > 0 ? "unpacks to more than its header says" : "the archive ends inside it");
    }
    return STATUS_OK;
}

// In the C locale, in which servers run, libarchive warns about every name that is not ASCII and
// returns its bytes, which is what we want. Any other warning is about a header that programs read
// in different ways.
static bool is_harmless(struct archive *tar)
{
    const char *text = lib.archive_error_string(tar);
    return text != NULL && strstr(text, "can't be converted") != NULL;
}

static Status read_entry(PackageList *list, struct archive *tar, struct archive_entry *about)
{
    const char *name = lib.archive_entry_pathname(about);
    if (name == NULL) {
        return package_list_refuse(list, RULE_UTF8, "an entry's name cannot be read");
    }
    Status status = check_entry(list, about, name);
    if (status != STATUS_OK) {
        return status;
    }
    const PackageEntry entry = {.name = name,
                                .name_bytes = strlen(name),
                                .is_folder = lib.archive_entry_filetype(about) == AE_IFDIR,
                                .bytes = (uint64_t)lib.archive_entry_size(about)};
    PackageItem *item;
    status = package_list_add(list, &entry, &item);
    return status == STATUS_OK && item != NULL ? read_data(list, tar, item) : status;
}

// A header with an impossible size is an error of libarchive's own.
static Status refuse_tar(PackageList *list, struct archive *tar)
{
    const char *text = lib.archive_error_string(tar);
    const bool is_cut = text != NULL && strstr(text, "runcated") != NULL;
    return package_refuse(list->reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE),
                          is_cut ? RULE_TRUNCATED : RULE_HEADER, "the tar cannot be read: %s",
                          text != NULL ? text : "no reason known");
}

static Status read_entries(PackageList *list, struct archive *tar)
{
    for (;;) {
        struct archive_entry *about = NULL;
        const int result = lib.archive_read_next_header(tar, &about);
        if (result == ARCHIVE_EOF) {
            return STATUS_OK;
        }
        if (result != ARCHIVE_OK && (result != ARCHIVE_WARN || !is_harmless(tar))) {
            return refuse_tar(list, tar);
        }
        worker_progress(list->count, 0);
        const Status status = read_entry(list, tar, about);
        if (status != STATUS_OK) {
            return status;
        }
    }
}

// The end is two blocks of zeros, and zeros up to a whole record.
static Status check_end(PackageList *list, struct archive *tar, const uint8_t *bytes, size_t count)
{
    const int64_t end = lib.archive_filter_bytes(tar, 0);
    const size_t used = end < 0 || (uint64_t)end > count ? count : (size_t)end;
    if (used < 2 * TAR_BLOCK) {
        return package_list_refuse(list, RULE_TRUNCATED, "the tar has no end");
    }
    for (size_t i = used - TAR_BLOCK; i < count; i++) {
        if (bytes[i] != 0) {
            return package_list_refuse(list, i < used ? RULE_TRUNCATED : RULE_TRAILING,
                                       i < used ? "the tar has no end"
                                                : "something stands behind the tar");
        }
    }
    return STATUS_OK;
}

static Status read_tar(PackageList *list, const uint8_t *bytes, size_t count)
{
    if (!package_is_tar(bytes, count)) {
        return package_list_refuse(list, RULE_FORMAT, "there is no tar in it");
    }
    if (!package_tar_open()) {
        return package_list_refuse(list, RULE_FORMAT,
                                   "tar needs libarchive, which is missing on this machine: "
                                   "install the package libarchive13, or send a zip");
    }
    struct archive *tar = lib.archive_read_new();
    if (tar == NULL) {
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    Status status = STATUS_OK;
    if (lib.archive_read_support_format_tar(tar) != ARCHIVE_OK ||
        lib.archive_read_set_options(tar, "!mac-ext") != ARCHIVE_OK ||
        lib.archive_read_open_memory(tar, (void *)(uintptr_t)bytes, count) != ARCHIVE_OK) {
        status = refuse_tar(list, tar);
    }
    status = status == STATUS_OK ? read_entries(list, tar) : status;
    status = status == STATUS_OK ? check_end(list, tar, bytes, count) : status;
    lib.archive_read_free(tar);
    return status == STATUS_OK ? package_list_settle(list) : status;
}

Status package_tar_read(const uint8_t *bytes, size_t count, PackageList *list)
{
    Unpacked inside = {0};
    Status status = STATUS_OK;
    const bool is_gzip = package_is_gzip(bytes, count);
    if (is_gzip) {
        status = gunzip(bytes, count, list, &inside);
    } else if (package_is_zstd(bytes, count)) {
        status = unzstd(bytes, count, list, &inside);
    } else {
        return read_tar(list, bytes, count);
    }
    if (status == STATUS_OK) {
        status = read_tar(list, inside.bytes, inside.count);
    }
    free(inside.bytes);
    return status;
}
