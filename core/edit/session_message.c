// See session_message.h.
#include "core/edit/session_message.h"

#include "core/base/limits.h"

static Text read_text(ByteReader *reader, size_t bytes_max)
{
    size_t bytes;
    const uint8_t *data = edit_read_block(reader, &bytes);
    if (data == NULL) {
        return (Text){"", 0};
    }
    if (bytes > bytes_max || !text_is_valid(data, bytes)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    return (Text){(const char *)data, bytes};
}

void edit_up_write(const EditUp *up, EditBuffer *out)
{
    edit_buffer_u8(out, (uint8_t)up->type);
    edit_buffer_varint(out, up->n);
    edit_buffer_varint(out, up->seq);
    if (up->type == EDIT_UP_UNDO) {
        edit_buffer_varint(out, up->undo);
        return;
    }
    edit_buffer_block(out, up->label.data, up->label.bytes);
    edit_buffer_block(out, up->ops, up->ops_bytes);
}

Status edit_up_read(const uint8_t *bytes, size_t count, EditUp *out)
{
    ByteReader reader = byte_reader(bytes, count);
    EditUp up = {.type = (EditUpType)byte_read_u8(&reader)};
    if (up.type != EDIT_UP_OPS && up.type != EDIT_UP_UNDO) {
        byte_reader_fail(&reader, STATUS_UNSUPPORTED);
    }
    up.n = byte_read_varint(&reader);
    up.seq = byte_read_varint(&reader);
    if (up.type == EDIT_UP_UNDO) {
        up.undo = byte_read_varint(&reader);
    } else {
        up.label = read_text(&reader, EDIT_LABEL_BYTES_MAX);
        up.ops = edit_read_block(&reader, &up.ops_bytes);
        if (up.ops_bytes > EDIT_TRANSACTION_BYTES_MAX) {
            byte_reader_fail(&reader, STATUS_LIMIT);
        }
    }
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = up;
    }
    return status;
}

void edit_down_write(const EditDown *down, EditBuffer *out)
{
    edit_buffer_u8(out, (uint8_t)down->type);
    switch (down->type) {
    case EDIT_DOWN_TOLD:
        edit_buffer_varint(out, down->seq);
        edit_buffer_varint(out, down->editor);
        edit_buffer_varint(out, down->n);
        edit_buffer_varint(out, down->undone);
        edit_buffer_block(out, down->text.data, down->text.bytes);
        edit_buffer_block(out, down->ops, down->ops_bytes);
        break;
    case EDIT_DOWN_REFUSED:
        edit_buffer_varint(out, down->n);
        edit_buffer_u8(out, (uint8_t)down->status);
        edit_buffer_block(out, down->text.data, down->text.bytes);
        break;
    case EDIT_DOWN_WELCOME:
        edit_buffer_varint(out, down->seq);
        edit_buffer_varint(out, down->n);
        break;
    case EDIT_DOWN_HASH:
        edit_buffer_varint(out, down->seq);
        edit_buffer_u64(out, down->hash);
        break;
    case EDIT_DOWN_RELOAD:
        break;
    }
}

static void read_told(ByteReader *reader, EditDown *down)
{
    down->seq = byte_read_varint(reader);
    down->editor = byte_read_count(reader, EDIT_EDITORS_MAX);
    down->n = byte_read_varint(reader);
    down->undone = byte_read_varint(reader);
    down->text = read_text(reader, EDIT_LABEL_BYTES_MAX);
    down->ops = edit_read_block(reader, &down->ops_bytes);
}

uint64_t edit_told_undone(const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    const uint8_t type = byte_read_u8(&reader);
    (void)byte_read_varint(&reader);
    (void)byte_read_count(&reader, EDIT_EDITORS_MAX);
    (void)byte_read_varint(&reader);
    const uint64_t undone = byte_read_varint(&reader);
    return type == EDIT_DOWN_TOLD && reader.status == STATUS_OK ? undone : 0;
}

static void read_refused(ByteReader *reader, EditDown *down)
{
    down->n = byte_read_varint(reader);
    const uint8_t status = byte_read_u8(reader);
    if (status == STATUS_OK || status >= STATUS_COUNT) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    down->status = (Status)status;
    down->text = read_text(reader, 256);
}

Status edit_down_read(const uint8_t *bytes, size_t count, EditDown *out)
{
    ByteReader reader = byte_reader(bytes, count);
    EditDown down = {.type = (EditDownType)byte_read_u8(&reader)};
    switch (down.type) {
    case EDIT_DOWN_TOLD:
        read_told(&reader, &down);
        break;
    case EDIT_DOWN_REFUSED:
        read_refused(&reader, &down);
        break;
    case EDIT_DOWN_WELCOME:
        down.seq = byte_read_varint(&reader);
        down.n = byte_read_varint(&reader);
        break;
    case EDIT_DOWN_HASH:
        down.seq = byte_read_varint(&reader);
        down.hash = byte_read_u64(&reader);
        break;
    case EDIT_DOWN_RELOAD:
        break;
    default:
        byte_reader_fail(&reader, STATUS_UNSUPPORTED);
        break;
    }
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = down;
    }
    return status;
}
