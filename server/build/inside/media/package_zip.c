// A strict reader of zip. A zip says everything twice, in its central directory and before each
// file, and programs differ in which they believe: that is how an archive looks harmless to one and
// not to the next. Here both must say the same, and the file must be nothing but
//
//   local header, name, extra, data [, descriptor]   × n, from the first byte, without a gap
//   central directory                                × n
//   end record, comment                              to the last byte
//
// So nothing overlaps, nothing hides, nothing stands before or after. Stored and deflated entries
// only; zip64 is for what is larger than a package can be. Layouts: APPNOTE.TXT 4.3.
#include "server/build/inside/media/package_list.h"

#include "core/base/check.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LOCAL_BYTES       30
#define CENTRAL_BYTES     46
#define END_BYTES         22
#define COMMENT_BYTES_MAX 1024
#define LOCAL_MAGIC       0x04034b50u
#define CENTRAL_MAGIC     0x02014b50u
#define END_MAGIC         0x06054b50u
#define DESCRIPTOR_MAGIC  0x08074b50u
#define FLAG_ENCRYPTED    (1u << 0 | 1u << 6 | 1u << 13)
#define FLAG_DESCRIPTOR   (1u << 3)
#define FLAG_KNOWN        (1u << 1 | 1u << 2 | FLAG_DESCRIPTOR | 1u << 11) // deflate's speed; UTF-8
#define METHOD_STORED     0
#define METHOD_DEFLATED   8
#define METHOD_AES        99
#define EXTRA_ZIP64       0x0001
#define EXTRA_UTF8_NAME   0x7075
#define UNIX_KIND         0170000u
#define UNIX_FILE         0100000u
#define UNIX_FOLDER       0040000u
#define UNIX_LINK         0120000u
#define DOS_FOLDER        0x10u

typedef struct Record {
    uint32_t offset; // of the local header
    uint32_t central_at;
    uint32_t crc, packed_bytes, bytes;
    uint32_t data_at; // filled by the local header
    uint32_t attributes;
    uint16_t flags, method;
    uint16_t name_bytes;
    const char *name;
} Record;

typedef struct Zip {
    const uint8_t *bytes;
    size_t count;
    Record *records; // in the order of their offsets
    uint32_t record_count;
    size_t directory_at, end_at;
    PackageList *list;
} Zip;

static uint16_t u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t u32(const uint8_t *at)
{
    return u16(at) | (uint32_t)u16(at + 2) << 16;
}

bool package_is_zip(const uint8_t *bytes, size_t count)
{
    return count >= 4 && (u32(bytes) == LOCAL_MAGIC || u32(bytes) == END_MAGIC);
}

static Status refuse_record(const Zip *zip, const Record *record, PackageRule rule,
                            const char *explanation)
{
    return package_refuse(zip->list->reason, record->name, record->name_bytes, rule, "%s",
                          explanation);
}

// --- the end record -----------------------------------------------------------------------------

// The comment must be text: then it cannot contain a second end record, and the first one found
// from the end is the only one.
static Status check_comment(const Zip *zip, size_t at)
{
    for (size_t i = at + END_BYTES; i < zip->count; i++) {
        const uint8_t c = zip->bytes[i];
        if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f) {
            return package_list_refuse(zip->list, RULE_TRAILING,
                                       "the archive's comment is not text");
        }
    }
    return STATUS_OK;
}

static Status find_end(Zip *zip)
{
    if (zip->count < END_BYTES) {
        return package_list_refuse(zip->list, RULE_TRUNCATED, "the zip ends too early");
    }
    const size_t last = zip->count - END_BYTES;
    const size_t first = last > COMMENT_BYTES_MAX ? last - COMMENT_BYTES_MAX : 0;
    for (size_t at = last + 1; at-- > first;) {
        if (u32(zip->bytes + at) != END_MAGIC) {
            continue;
        }
        const size_t comment = u16(zip->bytes + at + 20);
        if (at + END_BYTES + comment != zip->count) {
            return package_list_refuse(
                zip->list, at + END_BYTES + comment > zip->count ? RULE_TRUNCATED : RULE_TRAILING,
                "the zip does not end where its end record says");
        }
        zip->end_at = at;
        return check_comment(zip, at);
    }
    return package_list_refuse(zip->list, RULE_TRUNCATED,
                               "the zip has no end record: it was cut off, or something stands "
                               "behind it");
}

static Status read_end(Zip *zip)
{
    const uint8_t *end = zip->bytes + zip->end_at;
    const uint32_t size = u32(end + 12), offset = u32(end + 16);
    const uint16_t here = u16(end + 8), total = u16(end + 10);
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || here != total) {
        return package_list_refuse(zip->list, RULE_HEADER, "is one part of several");
    }
    if (total == 0xffff || size == 0xffffffffu || offset == 0xffffffffu) {
        return package_list_refuse(zip->list, RULE_HEADER,
                                   "is zip64, which no package needs; pack it without");
    }
    if ((uint64_t)offset + size != zip->end_at) {
        return package_list_refuse(zip->list, RULE_HEADER,
                                   "its directory is not where its end record says");
    }
    if (total > PACKAGE_ENTRIES_MAX) {
        return package_list_refuse(zip->list, RULE_FILES, "has more than 16,000 entries");
    }
    zip->directory_at = offset;
    zip->record_count = total;
    return STATUS_OK;
}

// --- the central directory ----------------------------------------------------------------------

// Extra fields: other readers use some of them, so none may give another name or size.
static Status check_extra(const Zip *zip, const Record *record, const uint8_t *extra, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        // A short rest is padding, which some tools write to align stored entries.
        if (bytes - at < 4) {
            return STATUS_OK;
        }
        const uint16_t id = u16(extra + at), size = u16(extra + at + 2);
        at += 4;
        if (size > bytes - at) {
            return refuse_record(zip, record, RULE_HEADER, "its extra fields are longer than said");
        }
        if (id == EXTRA_ZIP64) {
            return refuse_record(zip, record, RULE_HEADER,
                                 "is zip64, which no package needs; pack it without");
        }
        if (id == EXTRA_UTF8_NAME &&
            (size < 5 || size - 5u != record->name_bytes ||
             memcmp(extra + at + 5, record->name, record->name_bytes) != 0)) {
            return refuse_record(zip, record, RULE_HEADER, "has two names");
        }
        at += size;
    }
    return STATUS_OK;
}

static Status check_attributes(const Zip *zip, const Record *record)
{
    const uint32_t kind = record->attributes >> 16 & UNIX_KIND;
    const bool is_folder = record->name_bytes > 0 && record->name[record->name_bytes - 1] == '/';
    if (kind == UNIX_LINK) {
        return refuse_record(zip, record, RULE_LINK, "a package holds no links");
    }
    if (kind != 0 && kind != UNIX_FILE && kind != UNIX_FOLDER) {
        return refuse_record(zip, record, RULE_SPECIAL, "is neither file nor folder");
    }
    if ((kind == UNIX_FOLDER || (record->attributes & DOS_FOLDER) != 0) != is_folder &&
        (kind != 0 || !is_folder)) {
        return refuse_record(zip, record, RULE_HEADER,
                             "is a file by its name or its kind, and a "
                             "folder by the other");
    }
    return STATUS_OK;
}

static Status check_record(const Zip *zip, const Record *record)
{
    if ((record->flags & FLAG_ENCRYPTED) != 0 || record->method == METHOD_AES) {
        return refuse_record(zip, record, RULE_ENCRYPTED, "pack it without a password");
    }
    if ((record->flags & ~FLAG_KNOWN) != 0) {
        return refuse_record(zip, record, RULE_HEADER, "has flags that no package needs");
    }
    if (record->method != METHOD_STORED && record->method != METHOD_DEFLATED) {
        return refuse_record(zip, record, RULE_FORMAT, "is packed by another method than deflate");
    }
    if (record->packed_bytes == 0xffffffffu || record->bytes == 0xffffffffu ||
        record->offset == 0xffffffffu) {
        return refuse_record(zip, record, RULE_HEADER,
                             "is zip64, which no package needs; pack it without");
    }
    if (record->method == METHOD_STORED && record->packed_bytes != record->bytes) {
        return refuse_record(zip, record, RULE_HEADER, "is stored, but with two sizes");
    }
    return check_attributes(zip, record);
}

// Reads one record of the directory at *at and moves *at behind it.
static Status read_central(Zip *zip, size_t *at, Record *out)
{
    const uint8_t *bytes = zip->bytes + *at;
    const size_t left = zip->end_at - *at;
    if (left < CENTRAL_BYTES || u32(bytes) != CENTRAL_MAGIC) {
        return package_list_refuse(zip->list, RULE_HEADER,
                                   "its directory has fewer entries than it says");
    }
    const size_t name = u16(bytes + 28), extra = u16(bytes + 30), comment = u16(bytes + 32);
    if (left - CENTRAL_BYTES < name + extra + comment) {
        return package_list_refuse(zip->list, RULE_HEADER, "its directory is cut off");
    }
    *out = (Record){.offset = u32(bytes + 42),
                    .central_at = (uint32_t)*at,
                    .crc = u32(bytes + 16),
                    .packed_bytes = u32(bytes + 20),
                    .bytes = u32(bytes + 24),
                    .attributes = u32(bytes + 38),
                    .flags = u16(bytes + 8),
                    .method = u16(bytes + 10),
                    .name_bytes = (uint16_t)name,
                    .name = (const char *)bytes + CENTRAL_BYTES};
    *at += CENTRAL_BYTES + name + extra + comment;
    if (u16(bytes + 34) != 0) {
        return refuse_record(zip, out, RULE_HEADER, "is in another part of several");
    }
    const Status status = check_record(zip, out);
    return status != STATUS_OK ? status
                               : check_extra(zip, out, bytes + CENTRAL_BYTES + name, extra);
}

static int by_offset(const void *a, const void *b)
{
    const Record *left = a, *right = b;
    if (left->offset != right->offset) {
        return left->offset < right->offset ? -1 : 1;
    }
    return left->central_at < right->central_at ? -1 : left->central_at > right->central_at;
}

static Status read_directory(Zip *zip)
{
    size_t at = zip->directory_at;
    zip->records = calloc((size_t)zip->record_count + 1, sizeof *zip->records);
    if (zip->records == NULL) {
        return package_list_refuse(zip->list, RULE_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < zip->record_count; i++) {
        const Status status = read_central(zip, &at, &zip->records[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (at != zip->end_at) {
        return package_list_refuse(zip->list, RULE_HEADER,
                                   "its directory has more entries than it says");
    }
    if (zip->record_count > 1) {
        qsort(zip->records, zip->record_count, sizeof *zip->records, by_offset);
    }
    return STATUS_OK;
}

// --- the local headers --------------------------------------------------------------------------

static bool same_numbers(const Record *record, const uint8_t *at)
{
    return u32(at) == record->crc && u32(at + 4) == record->packed_bytes &&
           u32(at + 8) == record->bytes;
}

// After the data of an entry whose sizes were not known when it was begun; with or without a magic
// number, which is not in the standard but which most tools write.
static Status read_descriptor(const Zip *zip, const Record *record, size_t *at)
{
    const size_t left = zip->directory_at - *at;
    const uint8_t *bytes = zip->bytes + *at;
    if (left >= 16 && u32(bytes) == DESCRIPTOR_MAGIC && same_numbers(record, bytes + 4)) {
        *at += 16;
        return STATUS_OK;
    }
    if (left >= 12 && same_numbers(record, bytes)) {
        *at += 12;
        return STATUS_OK;
    }
    return refuse_record(zip, record, RULE_HEADER,
                         "its data descriptor and the directory disagree");
}

static bool local_agrees(const Record *record, const uint8_t *local)
{
    static const uint8_t nothing[12];
    const bool may_be_zero = (record->flags & FLAG_DESCRIPTOR) != 0;
    return u16(local + 6) == record->flags && u16(local + 8) == record->method &&
           u16(local + 26) == record->name_bytes &&
           memcmp(local + LOCAL_BYTES, record->name, record->name_bytes) == 0 &&
           (same_numbers(record, local + 14) ||
            (may_be_zero && memcmp(local + 14, nothing, sizeof nothing) == 0));
}

// The entry must begin at *at; *at moves behind it.
static Status read_local(Zip *zip, Record *record, size_t *at)
{
    if (record->offset != *at) {
        return refuse_record(zip, record, RULE_HEADER,
                             record->offset < *at ? "overlaps another entry"
                                                  : "something is hidden before it");
    }
    const uint8_t *local = zip->bytes + *at;
    const size_t left = zip->directory_at - *at;
    if (left < LOCAL_BYTES || u32(local) != LOCAL_MAGIC) {
        return refuse_record(zip, record, RULE_HEADER, "is not where the directory says");
    }
    const size_t extra = u16(local + 28);
    if (left - LOCAL_BYTES < (size_t)record->name_bytes + extra || !local_agrees(record, local)) {
        return refuse_record(zip, record, RULE_HEADER, "its own header and the directory disagree");
    }
    const Status status = check_extra(zip, record, local + LOCAL_BYTES + record->name_bytes, extra);
    if (status != STATUS_OK) {
        return status;
    }
    *at += LOCAL_BYTES + record->name_bytes + extra;
    if (record->packed_bytes > zip->directory_at - *at) {
        return refuse_record(zip, record, RULE_HEADER, "its data reaches into the directory");
    }
    record->data_at = (uint32_t)*at;
    *at += record->packed_bytes;
    return (record->flags & FLAG_DESCRIPTOR) != 0 ? read_descriptor(zip, record, at) : STATUS_OK;
}

static Status read_locals(Zip *zip)
{
    size_t at = 0;
    for (uint32_t i = 0; i < zip->record_count; i++) {
        const Status status = read_local(zip, &zip->records[i], &at);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (at != zip->directory_at) {
        return package_list_refuse(zip->list, RULE_HEADER,
                                   "something is hidden before its directory");
    }
    return STATUS_OK;
}

static Status list_records(Zip *zip)
{
    for (uint32_t i = 0; i < zip->record_count; i++) {
        const Record *record = &zip->records[i];
        const bool is_folder =
            record->name_bytes > 0 && record->name[record->name_bytes - 1] == '/';
        const PackageEntry entry = {.name = record->name,
                                    .name_bytes = record->name_bytes,
                                    .is_folder = is_folder,
                                    .bytes = record->bytes,
                                    .packed_bytes = record->packed_bytes,
                                    .source = i};
        PackageItem *item;
        const Status status = package_list_add(zip->list, &entry, &item);
        if (status != STATUS_OK) {
            return status;
        }
        if (is_folder && record->bytes > 0) {
            return refuse_record(zip, record, RULE_HEADER, "is a folder, but with data");
        }
    }
    return STATUS_OK;
}

// --- unpacking ----------------------------------------------------------------------------------

// Into exactly the number of bytes in the headers: a stream that has more or fewer, or that
// continues after its end, is rejected.
static Status inflate_all(const Zip *zip, const Record *record, uint8_t *out)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)(zip->bytes + record->data_at),
                       .avail_in = record->packed_bytes,
                       .next_out = out,
                       .avail_out = record->bytes};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        return package_list_refuse(zip->list, RULE_MEMORY, "out of memory");
    }
    const int result = inflate(&stream, Z_FINISH);
    const bool is_whole =
        result == Z_STREAM_END && stream.avail_in == 0 && stream.total_out == record->bytes;
    const bool is_longer = result != Z_STREAM_END && result != Z_DATA_ERROR &&
                           stream.avail_out == 0 && result != Z_NEED_DICT;
    inflateEnd(&stream);
    if (is_whole) {
        return STATUS_OK;
    }
    return is_longer
               ? refuse_record(zip, record, RULE_SIZE, "unpacks to more than its header says")
               : refuse_record(zip, record, result == Z_STREAM_END ? RULE_HEADER : RULE_TRUNCATED,
                               result == Z_STREAM_END
                                   ? "unpacks to less than its header says, or has data behind it"
                                   : "its packed data is damaged or cut off");
}

static Status unpack(const Zip *zip, PackageItem *item)
{
    const Record *record = &zip->records[item->source];
    uint8_t *data = malloc(item->bytes + 1);
    if (data == NULL) {
        return package_list_refuse(zip->list, RULE_MEMORY, "out of memory");
    }
    item->data = data;
    data[item->bytes] = 0;
    Status status = STATUS_OK;
    if (record->method == METHOD_STORED) {
        memcpy(data, zip->bytes + record->data_at, item->bytes);
    } else {
        status = inflate_all(zip, record, data);
    }
    if (status == STATUS_OK && crc32_z(crc32_z(0, NULL, 0), data, item->bytes) != record->crc) {
        status = refuse_record(zip, record, RULE_CHECKSUM, "its data is not what was packed");
    }
    return status;
}

Status package_zip_read(const uint8_t *bytes, size_t count, PackageList *list)
{
    Zip zip = {.bytes = bytes, .count = count, .list = list};
    Status status = find_end(&zip);
    status = status == STATUS_OK ? read_end(&zip) : status;
    status = status == STATUS_OK ? read_directory(&zip) : status;
    // Names are checked before offsets, so that a packed link is reported as a link.
    status = status == STATUS_OK ? list_records(&zip) : status;
    status = status == STATUS_OK ? read_locals(&zip) : status;
    status = status == STATUS_OK ? package_list_settle(list) : status;
    for (uint32_t i = 0; i < list->count && status == STATUS_OK; i++) {
        worker_progress(i, list->count * 2);
        status = unpack(&zip, &list->items[i]);
    }
    free(zip.records);
    return status;
}
