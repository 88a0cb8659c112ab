// See op.h for the bytes.
#include "core/edit/op.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORMAT 1

enum { MOVE_PARENT = 1, MOVE_WHERE = 2, MOVE_ALL = 3 };

Status edit_error(EditError *error, Status status, uint32_t id, const char *format, ...)
{
    error->status = status;
    error->id = id;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    text_repair(error->message, strlen(error->message)); // it may be cut within a character
    return status;
}

// --- reading ------------------------------------------------------------------------------------

Status edit_ops_open(ByteReader *reader, EditError *error)
{
    *error = (EditError){0};
    const uint8_t format = byte_read_u8(reader);
    const uint64_t mark = byte_read_varint(reader);
    if (reader->status == STATUS_OK && (format != FORMAT || mark != edit_member_mark())) {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
        return edit_error(error, STATUS_UNSUPPORTED, 0,
                          "is from another version of the program; reload the page");
    }
    return reader->status == STATUS_OK ? STATUS_OK
                                       : edit_error(error, reader->status, 0, "has no head: %s",
                                                    status_text(reader->status));
}

static uint32_t read_id(ByteReader *reader)
{
    const uint64_t id = byte_read_varint(reader);
    if (id > UINT32_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return (uint32_t)id;
}

static EditWhere read_where(ByteReader *reader)
{
    EditWhere where = {0};
    const uint8_t spot = byte_read_u8(reader);
    if (spot >= EDIT_SPOT_COUNT) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return where;
    }
    where.spot = (EditSpot)spot;
    where.id = where.spot == EDIT_AFTER ? read_id(reader) : 0;
    return where;
}

static EditKind read_kind(ByteReader *reader, EditKind lowest)
{
    const uint8_t kind = byte_read_u8(reader);
    if (kind < (uint8_t)lowest || kind >= EDIT_KIND_COUNT) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return EDIT_ENTITY;
    }
    return (EditKind)kind;
}

static void read_targets(ByteReader *reader, EditOp *op, bool has_values)
{
    op->target_count = byte_read_count(reader, EDIT_TARGETS_MAX);
    const size_t from = reader->at;
    for (uint32_t i = 0; i < op->target_count && reader->status == STATUS_OK; i++) {
        (void)read_id(reader);
        size_t bytes;
        if (has_values) {
            (void)edit_read_block(reader, &bytes);
        }
    }
    if (reader->status == STATUS_OK) {
        op->targets = byte_reader(reader->data + from, reader->at - from);
    }
}

static void read_set(ByteReader *reader, EditOp *op)
{
    op->kind = read_kind(reader, EDIT_SETTINGS);
    op->member = byte_read_count(reader, UINT16_MAX);
    op->is_shared = byte_read_bool(reader);
    if (op->is_shared) {
        op->value = edit_read_block(reader, &op->value_bytes);
    }
    read_targets(reader, op, !op->is_shared);
}

static void read_move(ByteReader *reader, EditOp *op)
{
    const uint8_t flags = byte_read_u8(reader);
    if (flags == 0 || flags > MOVE_ALL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    op->kind = EDIT_ENTITY;
    op->has_parent = (flags & MOVE_PARENT) != 0;
    op->has_where = (flags & MOVE_WHERE) != 0;
    op->parent = op->has_parent ? read_id(reader) : 0;
    if (op->has_where) {
        op->where = read_where(reader);
    }
    read_targets(reader, op, false);
}

static void read_paste(ByteReader *reader, EditOp *op)
{
    op->hash = byte_read_bytes(reader, SHA256_BYTES);
    op->seed = read_id(reader);
    op->parent = read_id(reader);
    float offset[3];
    for (uint32_t i = 0; i < 3; i++) {
        offset[i] = byte_read_f32(reader);
    }
    op->offset = vec3(offset[0], offset[1], offset[2]);
}

static Text read_path(ByteReader *reader)
{
    size_t bytes;
    const uint8_t *path = edit_read_block(reader, &bytes);
    const Text text = {(const char *)path, bytes};
    if (path == NULL || !edit_path_is_valid(text)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return PLACE_TEXT_NONE;
    }
    return text;
}

static void read_body(ByteReader *reader, EditOp *op)
{
    switch (op->type) {
    case EDIT_CREATE:
        op->kind = EDIT_ENTITY;
        op->where = read_where(reader);
        op->record = edit_read_block(reader, &op->record_bytes);
        break;
    case EDIT_DELETE:
        op->kind = read_kind(reader, EDIT_TERRAIN);
        read_targets(reader, op, false);
        break;
    case EDIT_SET:
        read_set(reader, op);
        break;
    case EDIT_MOVE:
        read_move(reader, op);
        break;
    case EDIT_FILL:
        op->kind = EDIT_TERRAIN;
        op->id = read_id(reader);
        op->where = read_where(reader);
        op->record = edit_read_block(reader, &op->record_bytes);
        break;
    case EDIT_PASTE:
        read_paste(reader, op);
        break;
    case EDIT_FILE:
        op->path = read_path(reader);
        op->hash = byte_read_bytes(reader, SHA256_BYTES);
        op->known_hash = byte_read_bytes(reader, SHA256_BYTES);
        break;
    case EDIT_RENAME:
        op->path = read_path(reader);
        op->path_to = read_path(reader);
        op->known_hash = byte_read_bytes(reader, SHA256_BYTES);
        break;
    default:
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
        break;
    }
}

bool edit_op_read(ByteReader *reader, EditOp *out, EditError *error)
{
    if (byte_reader_left(reader) == 0) {
        return false;
    }
    *out = (EditOp){.type = (EditOpType)byte_read_u8(reader)};
    read_body(reader, out);
    if (reader->status != STATUS_OK) {
        (void)edit_error(error, reader->status, 0, "has an operation that cannot be read: %s",
                         status_text(reader->status));
        return false;
    }
    return true;
}

uint32_t edit_op_target(const EditOp *op, ByteReader *targets, const uint8_t **value,
                        size_t *value_bytes)
{
    const uint32_t id = (uint32_t)byte_read_varint(targets);
    *value = op->value;
    *value_bytes = op->value_bytes;
    if (op->type == EDIT_SET && !op->is_shared) {
        *value = edit_read_block(targets, value_bytes);
    }
    ASSERT(targets->status == STATUS_OK); // edit_op_read has walked over them
    return id;
}

// --- writing ------------------------------------------------------------------------------------

void edit_ops_begin(EditBuffer *out)
{
    edit_buffer_u8(out, FORMAT);
    edit_buffer_varint(out, edit_member_mark());
}

static void write_where(EditBuffer *out, EditWhere where)
{
    edit_buffer_u8(out, (uint8_t)where.spot);
    if (where.spot == EDIT_AFTER) {
        edit_buffer_varint(out, where.id);
    }
}

static void write_targets(EditBuffer *out, const uint32_t *ids, uint32_t count)
{
    edit_buffer_varint(out, count);
    for (uint32_t i = 0; i < count; i++) {
        edit_buffer_varint(out, ids[i]);
    }
}

void edit_op_create(EditBuffer *out, EditWhere where, const uint8_t *record, size_t bytes)
{
    edit_buffer_u8(out, EDIT_CREATE);
    write_where(out, where);
    edit_buffer_block(out, record, bytes);
}

void edit_op_delete(EditBuffer *out, EditKind kind, const uint32_t *ids, uint32_t count)
{
    edit_buffer_u8(out, EDIT_DELETE);
    edit_buffer_u8(out, (uint8_t)kind);
    write_targets(out, ids, count);
}

void edit_op_set(EditBuffer *out, EditKind kind, uint32_t member, uint32_t count)
{
    edit_buffer_u8(out, EDIT_SET);
    edit_buffer_u8(out, (uint8_t)kind);
    edit_buffer_varint(out, member);
    edit_buffer_u8(out, 0);
    edit_buffer_varint(out, count);
}

void edit_op_set_target(EditBuffer *out, uint32_t id, const uint8_t *value, size_t bytes)
{
    edit_buffer_varint(out, id);
    edit_buffer_block(out, value, bytes);
}

void edit_op_set_all(EditBuffer *out, EditKind kind, uint32_t member, const uint32_t *ids,
                     uint32_t count, const uint8_t *value, size_t bytes)
{
    edit_buffer_u8(out, EDIT_SET);
    edit_buffer_u8(out, (uint8_t)kind);
    edit_buffer_varint(out, member);
    edit_buffer_u8(out, 1);
    edit_buffer_block(out, value, bytes);
    write_targets(out, ids, count);
}

void edit_op_move(EditBuffer *out, const uint32_t *parent, const EditWhere *where,
                  const uint32_t *ids, uint32_t count)
{
    edit_buffer_u8(out, EDIT_MOVE);
    edit_buffer_u8(
        out, (uint8_t)((parent != NULL ? MOVE_PARENT : 0) | (where != NULL ? MOVE_WHERE : 0)));
    if (parent != NULL) {
        edit_buffer_varint(out, *parent);
    }
    if (where != NULL) {
        write_where(out, *where);
    }
    write_targets(out, ids, count);
}

void edit_op_fill(EditBuffer *out, uint32_t id, EditWhere where, const uint8_t *record,
                  size_t bytes)
{
    edit_buffer_u8(out, EDIT_FILL);
    edit_buffer_varint(out, id);
    write_where(out, where);
    edit_buffer_block(out, record, bytes);
}

void edit_op_paste(EditBuffer *out, const uint8_t hash[SHA256_BYTES], uint32_t seed,
                   uint32_t parent, Vec3 offset)
{
    uint8_t numbers[12];
    ByteWriter writer = byte_writer(numbers, sizeof numbers);
    byte_write_f32(&writer, offset.x);
    byte_write_f32(&writer, offset.y);
    byte_write_f32(&writer, offset.z);
    edit_buffer_u8(out, EDIT_PASTE);
    edit_buffer_append(out, hash, SHA256_BYTES);
    edit_buffer_varint(out, seed);
    edit_buffer_varint(out, parent);
    edit_buffer_append(out, numbers, sizeof numbers);
}

static void write_hash(EditBuffer *out, const uint8_t *hash)
{
    static const uint8_t none[SHA256_BYTES];
    edit_buffer_append(out, hash != NULL ? hash : none, SHA256_BYTES);
}

void edit_op_file(EditBuffer *out, Text path, const uint8_t *hash, const uint8_t *known_hash)
{
    edit_buffer_u8(out, EDIT_FILE);
    edit_buffer_block(out, path.data, path.bytes);
    write_hash(out, hash);
    write_hash(out, known_hash);
}

void edit_op_rename(EditBuffer *out, Text from, Text to, const uint8_t known_hash[SHA256_BYTES])
{
    edit_buffer_u8(out, EDIT_RENAME);
    edit_buffer_block(out, from.data, from.bytes);
    edit_buffer_block(out, to.data, to.bytes);
    edit_buffer_append(out, known_hash, SHA256_BYTES);
}
