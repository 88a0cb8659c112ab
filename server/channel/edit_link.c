// See edit_link.h.
#include "server/channel/edit_link.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "server/channel/printable.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_HEADER 2
#define FLAG_MORE    1

_Static_assert(EDIT_LINK_PIECE + PIECE_HEADER <= CHANNEL_MESSAGE_BYTES, "a piece fits a message");

// --- pieces -------------------------------------------------------------------------------------

Status edit_link_put(Channel *channel, EditLinkType type, const void *bytes, size_t count,
                     int descriptor)
{
    ASSERT(type > EDIT_LINK_NONE && type < EDIT_LINK_TYPE_COUNT && count <= EDIT_LINK_BYTES_MAX);
    // What framing takes is far less than a packet's worth for each packet.
    const size_t needed = count + (count / CHANNEL_PACKET_BYTES + 2) * 64;
    if (needed > channel_free(channel)) {
        return STATUS_LIMIT;
    }
    uint8_t *piece = malloc(PIECE_HEADER + EDIT_LINK_PIECE);
    if (piece == NULL) {
        return STATUS_LIMIT;
    }
    const uint8_t *from = bytes;
    Status status = STATUS_OK;
    for (bool more = true; more && status == STATUS_OK;) {
        const size_t part = count < EDIT_LINK_PIECE ? count : EDIT_LINK_PIECE;
        more = count > part;
        piece[0] = (uint8_t)type;
        piece[1] = more ? FLAG_MORE : 0;
        if (part > 0) {
            memcpy(piece + PIECE_HEADER, from, part);
            from += part;
        }
        count -= part;
        status =
            channel_put(channel, CHANNEL_EDIT, piece, PIECE_HEADER + part, more ? -1 : descriptor);
    }
    free(piece);
    ASSERT(status == STATUS_OK); // there was room for all of them
    return status;
}

void edit_link_reader_free(EditLinkReader *reader)
{
    free(reader->bytes);
    *reader = (EditLinkReader){0};
}

static Status reader_add(EditLinkReader *reader, const uint8_t *bytes, size_t count)
{
    if (count > EDIT_LINK_BYTES_MAX - reader->count) {
        return STATUS_LIMIT;
    }
    const size_t needed = reader->count + count;
    if (needed > reader->capacity) {
        const size_t twice = reader->capacity * 2;
        const size_t capacity = twice > needed ? twice : needed;
        uint8_t *grown = realloc(reader->bytes, capacity);
        if (grown == NULL) {
            return STATUS_LIMIT;
        }
        reader->bytes = grown;
        reader->capacity = capacity;
    }
    if (count > 0) {
        memcpy(reader->bytes + reader->count, bytes, count);
    }
    reader->count = needed;
    return STATUS_OK;
}

static Status reader_piece(EditLinkReader *reader, const ChannelMessage *message)
{
    const uint8_t *bytes = message->bytes;
    if (message->type != CHANNEL_EDIT || message->count < PIECE_HEADER ||
        bytes[0] == EDIT_LINK_NONE || bytes[0] >= EDIT_LINK_TYPE_COUNT || bytes[1] > FLAG_MORE ||
        (reader->more && bytes[0] != reader->type)) {
        return STATUS_MALFORMED;
    }
    if (!reader->more) {
        reader->count = 0;
        reader->type = bytes[0];
    }
    reader->more = bytes[1] == FLAG_MORE;
    if (reader->more && message->descriptor >= 0) {
        return STATUS_MALFORMED;
    }
    return reader_add(reader, bytes + PIECE_HEADER, message->count - PIECE_HEADER);
}

Status edit_link_take(Channel *channel, EditLinkReader *reader, EditLinkMessage *out)
{
    for (;;) {
        ChannelMessage message;
        Status status = channel_take(channel, &message);
        if (status != STATUS_OK) {
            return status;
        }
        status = reader_piece(reader, &message);
        if (status != STATUS_OK) {
            if (message.descriptor >= 0) {
                close(message.descriptor);
            }
            return status;
        }
        if (!reader->more) {
            *out = (EditLinkMessage){.type = (EditLinkType)reader->type,
                                     .bytes = reader->bytes,
                                     .count = reader->count,
                                     .descriptor = message.descriptor};
            return STATUS_OK;
        }
    }
}

// --- texts --------------------------------------------------------------------------------------

static void append_cut(EditBuffer *out, const char *text, size_t bytes_max)
{
    edit_buffer_block(out, text, utf8_cut(text, strlen(text), bytes_max));
}

static Text read_text(ByteReader *reader)
{
    size_t bytes = 0;
    const uint8_t *data = edit_read_block(reader, &bytes);
    return (Text){data != NULL ? (const char *)data : "", data != NULL ? bytes : 0};
}

// --- to the process -----------------------------------------------------------------------------

void edit_start_write(const EditStart *start, ByteWriter *writer)
{
    byte_write_u64(writer, start->memory_bytes_max);
    byte_write_bool(writer, start->allow_weak_jail);
}

Status edit_start_read(const uint8_t *bytes, size_t count, EditStart *out)
{
    ByteReader reader = byte_reader(bytes, count);
    EditStart start = {.memory_bytes_max = byte_read_u64(&reader)};
    start.allow_weak_jail = byte_read_bool(&reader);
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = start;
    }
    return status;
}

void edit_disk_file_write(Text path, const uint8_t hash[SHA256_BYTES], EditBuffer *out)
{
    edit_buffer_block(out, path.data, path.bytes);
    edit_buffer_append(out, hash, SHA256_BYTES);
}

bool edit_disk_file_read(ByteReader *reader, Text *path, const uint8_t **hash)
{
    *path = read_text(reader);
    *hash = byte_read_bytes(reader, SHA256_BYTES);
    return reader->status == STATUS_OK;
}

void edit_disk_write(const EditDisk *disk, EditBuffer *out)
{
    edit_buffer_block(out, disk->settings.data, disk->settings.bytes);
    edit_buffer_block(out, disk->scene.data, disk->scene.bytes);
    edit_buffer_varint(out, disk->file_count);
    edit_buffer_block(out, disk->files, disk->file_bytes);
}

Status edit_disk_read(ByteReader *reader, EditDisk *out)
{
    EditDisk disk = {.settings = read_text(reader)};
    disk.scene = read_text(reader);
    disk.file_count = byte_read_count(reader, PLACE_FILES_MAX);
    disk.files = edit_read_block(reader, &disk.file_bytes);
    ByteReader files = byte_reader(disk.files, reader->status == STATUS_OK ? disk.file_bytes : 0);
    for (uint32_t i = 0; i < disk.file_count && reader->status == STATUS_OK; i++) {
        Text path;
        const uint8_t *hash;
        if (!edit_disk_file_read(&files, &path, &hash)) {
            byte_reader_fail(reader, files.status);
        }
    }
    if (reader->status == STATUS_OK && byte_reader_left(&files) > 0) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    if (reader->status == STATUS_OK) {
        *out = disk;
    }
    return reader->status;
}

void edit_beginning_write(const EditBeginning *beginning, EditBuffer *out)
{
    edit_buffer_varint(out, beginning->epoch);
    edit_buffer_varint(out, beginning->log);
    edit_buffer_u64(out, beginning->seed);
    edit_buffer_u8(out, beginning->has_log ? 1 : 0);
    if (beginning->has_log) {
        edit_buffer_varint(out, beginning->checkpoint_seq);
        edit_buffer_varint(out, beginning->newest_seq);
        edit_buffer_varint(out, beginning->written_seq);
        edit_buffer_block(out, beginning->checkpoint.data, beginning->checkpoint.bytes);
        edit_buffer_block(out, beginning->base_settings.data, beginning->base_settings.bytes);
        edit_buffer_block(out, beginning->base_scene.data, beginning->base_scene.bytes);
        edit_buffer_varint(out, beginning->row_count);
        edit_buffer_block(out, beginning->rows, beginning->row_bytes);
    }
    edit_disk_write(&beginning->disk, out);
}

Status edit_beginning_read(const uint8_t *bytes, size_t count, EditBeginning *out)
{
    ByteReader reader = byte_reader(bytes, count);
    EditBeginning beginning = {.epoch = byte_read_varint(&reader)};
    beginning.log = byte_read_varint(&reader);
    beginning.seed = byte_read_u64(&reader);
    beginning.has_log = byte_read_bool(&reader);
    if (beginning.has_log) {
        beginning.checkpoint_seq = byte_read_varint(&reader);
        beginning.newest_seq = byte_read_varint(&reader);
        beginning.written_seq = byte_read_varint(&reader);
        beginning.checkpoint = read_text(&reader);
        beginning.base_settings = read_text(&reader);
        beginning.base_scene = read_text(&reader);
        beginning.row_count = byte_read_count(&reader, UINT32_MAX);
        beginning.rows = edit_read_block(&reader, &beginning.row_bytes);
    }
    const Status disk = edit_disk_read(&reader, &beginning.disk);
    const Status status = disk == STATUS_OK ? byte_reader_finish(&reader) : disk;
    if (status == STATUS_OK) {
        *out = beginning;
    }
    return status;
}

void edit_admit_write(const EditAdmit *admit, ByteWriter *writer)
{
    byte_write_varint(writer, admit->connection);
    byte_write_varint(writer, admit->editor);
    byte_write_bool(writer, admit->can_write);
    printable_write(writer, admit->name, sizeof admit->name - 1);
    printable_write(writer, admit->text, sizeof admit->text - 1);
}

Status edit_admit_read(const uint8_t *bytes, size_t count, EditAdmit *out)
{
    ByteReader reader = byte_reader(bytes, count);
    EditAdmit admit = {.connection = byte_read_varint(&reader)};
    admit.editor = byte_read_count(&reader, EDIT_EDITORS_MAX);
    admit.can_write = byte_read_bool(&reader);
    printable_read(&reader, admit.name, sizeof admit.name);
    printable_read(&reader, admit.text, sizeof admit.text);
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = admit;
    }
    return status;
}

// --- to the host --------------------------------------------------------------------------------

static void write_rows(const EditReport *report, EditBuffer *out)
{
    edit_buffer_varint(out, report->row_count);
    for (uint32_t i = 0; i < report->row_count; i++) {
        const EditReportRow *row = &report->rows[i];
        edit_buffer_varint(out, row->seq);
        edit_buffer_varint(out, row->editor);
        edit_buffer_block(out, row->label.data, row->label.bytes);
        edit_buffer_block(out, row->row, row->row_bytes);
    }
}

static void write_text_if(bool is_there, Text text, EditBuffer *out)
{
    edit_buffer_u8(out, is_there ? 1 : 0);
    if (is_there) {
        edit_buffer_block(out, text.data, text.bytes);
    }
}

void edit_report_write(const EditReport *report, EditBuffer *out)
{
    switch (report->type) {
    case EDIT_LINK_READY:
        edit_buffer_varint(out, report->layers);
        break;
    case EDIT_LINK_FAILED:
        append_cut(out, report->text, sizeof report->text - 1);
        append_cut(out, report->name, sizeof report->name - 1);
        edit_buffer_varint(out, report->line);
        break;
    case EDIT_LINK_ASK:
        edit_buffer_varint(out, report->connection);
        append_cut(out, report->text, sizeof report->text - 1);
        append_cut(out, report->name, sizeof report->name - 1);
        break;
    case EDIT_LINK_LEFT:
        edit_buffer_varint(out, report->connection);
        break;
    case EDIT_LINK_OVER:
    case EDIT_LINK_HELD:
        edit_buffer_u64(out, report->number);
        break;
    case EDIT_LINK_ROWS:
        write_rows(report, out);
        break;
    case EDIT_LINK_CHECKPOINT:
        edit_buffer_varint(out, report->seq);
        edit_buffer_u8(out, report->flag ? 1 : 0);
        edit_buffer_append(out, report->bytes, report->byte_count);
        break;
    case EDIT_LINK_WRITE:
        edit_buffer_varint(out, report->seq);
        write_text_if(report->has_settings, report->settings, out);
        write_text_if(report->has_scene, report->scene, out);
        edit_buffer_append(out, report->settings_known, SHA256_BYTES);
        edit_buffer_append(out, report->scene_known, SHA256_BYTES);
        edit_buffer_varint(out, report->file_count);
        break;
    case EDIT_LINK_LOOK:
        break;
    case EDIT_LINK_NEED:
        edit_buffer_append(out, report->hash, SHA256_BYTES);
        edit_buffer_u8(out, report->flag ? 1 : 0);
        break;
    case EDIT_LINK_COUNTS:
#define EDIT_COUNT_WRITE(name, help) edit_buffer_varint(out, report->counts.name);
        EDIT_COUNTS(EDIT_COUNT_WRITE)
#undef EDIT_COUNT_WRITE
        break;
    default:
        ASSERT(false); // nothing else goes to the host
    }
}

static void write_hash_if(const uint8_t *hash, EditBuffer *out)
{
    edit_buffer_u8(out, hash != NULL ? 1 : 0);
    if (hash != NULL) {
        edit_buffer_append(out, hash, SHA256_BYTES);
    }
}

void edit_report_file_write(const EditReportFile *file, EditBuffer *out)
{
    edit_buffer_block(out, file->path.data, file->path.bytes);
    write_hash_if(file->hash, out);
    write_hash_if(file->known, out);
}

void edit_report_file(ByteReader *files, EditReportFile *out)
{
    out->path = read_text(files);
    out->hash = byte_read_bool(files) ? byte_read_bytes(files, SHA256_BYTES) : NULL;
    out->known = byte_read_bool(files) ? byte_read_bytes(files, SHA256_BYTES) : NULL;
}

static void read_rows(ByteReader *reader, EditReport *report)
{
    report->row_count = byte_read_count(reader, EDIT_BATCH_MAX);
    for (uint32_t i = 0; i < report->row_count && reader->status == STATUS_OK; i++) {
        EditReportRow *row = &report->rows[i];
        row->seq = byte_read_varint(reader);
        row->editor = byte_read_count(reader, EDIT_EDITORS_MAX);
        row->label = read_text(reader);
        row->row = edit_read_block(reader, &row->row_bytes);
        if (row->label.bytes > EDIT_LABEL_BYTES_MAX || row->row_bytes > EDIT_MESSAGE_BYTES_MAX ||
            !utf8_is_valid(row->label.data, row->label.bytes)) {
            byte_reader_fail(reader, STATUS_RANGE);
        }
    }
}

static bool read_text_if(ByteReader *reader, Text *out)
{
    const bool is_there = byte_read_bool(reader);
    *out = is_there ? read_text(reader) : (Text){"", 0};
    if (out->bytes > EDIT_TEXT_BYTES_MAX) {
        byte_reader_fail(reader, STATUS_LIMIT);
    }
    return is_there;
}

static void read_write(ByteReader *reader, EditReport *report)
{
    report->seq = byte_read_varint(reader);
    report->has_settings = read_text_if(reader, &report->settings);
    report->has_scene = read_text_if(reader, &report->scene);
    report->settings_known = byte_read_bytes(reader, SHA256_BYTES);
    report->scene_known = byte_read_bytes(reader, SHA256_BYTES);
    report->file_count = byte_read_count(reader, 2 * PLACE_FILES_MAX);
    report->files = *reader;
    for (uint32_t i = 0; i < report->file_count && reader->status == STATUS_OK; i++) {
        EditReportFile file;
        edit_report_file(reader, &file);
        if (file.path.bytes == 0 || file.path.bytes > EDIT_PATH_BYTES_MAX ||
            memchr(file.path.data, '\0', file.path.bytes) != NULL) {
            byte_reader_fail(reader, STATUS_RANGE);
        }
    }
}

static void read_body(ByteReader *reader, EditReport *report)
{
    switch (report->type) {
    case EDIT_LINK_READY:
        report->layers = byte_read_count(reader, UINT32_MAX);
        break;
    case EDIT_LINK_FAILED:
        printable_read(reader, report->text, sizeof report->text);
        printable_read(reader, report->name, sizeof report->name);
        report->line = byte_read_count(reader, UINT32_MAX);
        break;
    case EDIT_LINK_ASK:
        report->connection = byte_read_varint(reader);
        printable_read(reader, report->text, sizeof report->text);
        printable_read(reader, report->name, sizeof report->name);
        break;
    case EDIT_LINK_LEFT:
        report->connection = byte_read_varint(reader);
        break;
    case EDIT_LINK_OVER:
    case EDIT_LINK_HELD:
        report->number = byte_read_u64(reader);
        break;
    case EDIT_LINK_ROWS:
        read_rows(reader, report);
        break;
    case EDIT_LINK_CHECKPOINT:
        report->seq = byte_read_varint(reader);
        report->flag = byte_read_bool(reader);
        report->byte_count = byte_reader_left(reader);
        report->bytes = byte_read_bytes(reader, report->byte_count);
        break;
    case EDIT_LINK_WRITE:
        read_write(reader, report);
        break;
    case EDIT_LINK_LOOK:
        break;
    case EDIT_LINK_NEED:
        report->hash = byte_read_bytes(reader, SHA256_BYTES);
        report->flag = byte_read_bool(reader);
        break;
    case EDIT_LINK_COUNTS:
#define EDIT_COUNT_READ(name, help) report->counts.name = byte_read_varint(reader);
        EDIT_COUNTS(EDIT_COUNT_READ)
#undef EDIT_COUNT_READ
        break;
    default: // something that only a host says
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
}

Status edit_report_read(EditLinkType type, const uint8_t *bytes, size_t count, EditReport *out)
{
    ByteReader reader = byte_reader(bytes, count);
    *out = (EditReport){.type = type};
    read_body(&reader, out);
    const Status status = byte_reader_finish(&reader);
    if (status != STATUS_OK) {
        *out = (EditReport){0};
    }
    return status;
}
