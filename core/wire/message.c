// Messages: the table made from schema.def, and the binary encoding as one interpreter over it. A
// new message is a row in schema.def and needs nothing here.
// There is exactly one encoding of every message: varints are shortest, a bool is 0 or 1, nothing
// may follow the last field. So bytes that decode are the bytes that encoding gives again.
#include "core/wire/message.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/wire/message_inside.h"

#include <string.h>

#define CLIENT_TIME_MAX_MS ((double)SIM_NET_ID_MAX)

// --- the table ----------------------------------------------------------------------------------
#define FIELD(kind, field_name, json_name, most, float_most, doc) \
    {.type = FIELD_##kind,                                        \
     .offset = (uint16_t)offsetof(Owner, field_name),             \
     .limit = (most),                                             \
     .magnitude = (float_most),                                   \
     .name = #field_name,                                         \
     .json = (json_name),                                         \
     .text = (doc)},

// One case for each group. The typedef is what lets a row know the struct it is in.
#define BEGIN_FIELDS(group, struct_name) \
    case group: {                        \
        typedef struct_name Owner;       \
        static const MessageField fields[] = {
// The end has the size of the struct, which also uses the typedef where there is no row.
#define END_FIELDS                                           \
    {                                                        \
        .type = FIELD_END, .offset = (uint16_t)sizeof(Owner) \
    }                                                        \
    }                                                        \
    ;                                                        \
    return fields;                                           \
    }

const MessageField *message_fields(MessageGroup group)
{
    switch (group) {
#define STRUCT(name)     BEGIN_FIELDS(GROUP_Wire##name, Wire##name)
#define END_STRUCT(name) END_FIELDS
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) \
    BEGIN_FIELDS(GROUP_##name, Message##name)
#define END_MESSAGE(name)              END_FIELDS
#define UINT(name, json, limit, text)  FIELD(UINT, name, json, limit, 0, text)
#define SINT(name, json, limit, text)  FIELD(SINT, name, json, limit, 0, text)
#define BOOL(name, json, limit, text)  FIELD(BOOL, name, json, limit, 0, text)
#define F32(name, json, limit, text)   FIELD(F32, name, json, 0, limit, text)
#define TEXT(name, json, limit, text)  FIELD(TEXT, name, json, limit, 0, text)
#define BYTES(name, json, limit, text) FIELD(BYTES, name, json, limit, 0, text)
#define HASH(name, json, limit, text)  FIELD(HASH, name, json, limit, 0, text)
#define VEC3(name, json, limit, text)  FIELD(VEC3, name, json, 0, limit, text)
#define COORD(name, json, limit, text) FIELD(COORD, name, json, limit, 0, text)
#define LIST(field_name, json_name, item_name, most, doc)           \
    {.type = FIELD_LIST,                                            \
     .offset = (uint16_t)offsetof(Owner, field_name),               \
     .count_offset = (uint16_t)offsetof(Owner, field_name##_count), \
     .item = GROUP_Wire##item_name,                                 \
     .limit = (most),                                               \
     .name = #field_name,                                           \
     .json = (json_name),                                           \
     .text = (doc)},
#include "core/wire/schema.def"
    case MESSAGE_GROUP_COUNT:
        break;
    }
    ASSERT(false);
    return NULL;
}

typedef struct GroupRow {
    uint32_t bytes;
    bool is_struct;
    const char *name;
} GroupRow;

static const GroupRow group_rows[MESSAGE_GROUP_COUNT] = {
#define STRUCT(name) [GROUP_Wire##name] = {sizeof(Wire##name), true, #name},
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) \
    [GROUP_##name] = {sizeof(Message##name), false, #name},
#include "core/wire/schema.def"
};

size_t message_group_bytes(MessageGroup group)
{
    ASSERT(group < MESSAGE_GROUP_COUNT);
    return group_rows[group].bytes;
}

const char *message_group_name(MessageGroup group)
{
    ASSERT(group < MESSAGE_GROUP_COUNT);
    return group_rows[group].name;
}

bool message_group_is_struct(MessageGroup group)
{
    ASSERT(group < MESSAGE_GROUP_COUNT);
    return group_rows[group].is_struct;
}

typedef enum RowIndex {
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) ROW_##name,
#include "core/wire/schema.def"
    ROW_COUNT
} RowIndex;

static const MessageRow rows[ROW_COUNT] = {
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) \
    {number, MESSAGE_##direction, #number_name, kind, feature, action, text, sizeof(Message##name)},
#include "core/wire/schema.def"
};

static const MessageGroup row_groups[ROW_COUNT] = {
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) GROUP_##name,
#include "core/wire/schema.def"
};

// One more than the place in `rows`; 0 for none. A number that is used twice does not compile.
static const uint8_t row_of_number[256] = {
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) \
    [number] = ROW_##name + 1,
#include "core/wire/schema.def"
};
_Static_assert(ROW_COUNT < 255, "row_of_number has a byte each");

const MessageRow *message_row(uint32_t number)
{
    if (number >= sizeof row_of_number || row_of_number[number] == 0) {
        return NULL;
    }
    return &rows[row_of_number[number] - 1];
}

const MessageRow *message_row_at(uint32_t index)
{
    return index < ROW_COUNT ? &rows[index] : NULL;
}

const MessageRow *message_row_find(const char *kind, const char *feature, const char *action)
{
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].action, action) == 0 && strcmp(rows[i].feature, feature) == 0 &&
            strcmp(rows[i].kind, kind) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

MessageGroup message_row_group(const MessageRow *row)
{
    return row_groups[row - rows];
}

// --- what is valid ------------------------------------------------------------------------------
static bool is_sint(int32_t value, uint64_t limit)
{
    return value >= -(int64_t)limit && value <= (int64_t)limit;
}

static bool is_f32(float value, float magnitude)
{
    return value >= -magnitude && value <= magnitude; // false for NaN
}

bool message_text_is_valid(Text text, uint32_t bytes_max)
{
    return text.bytes <= bytes_max && text_is_valid(text.data, text.bytes);
}

static bool is_group_valid(MessageGroup group, const uint8_t *body)
{
    for (const MessageField *field = message_fields(group); field->type != FIELD_END; field++) {
        if (!message_field_is_valid(field, body + field->offset)) {
            return false;
        }
    }
    return true;
}

// The count of a list stands behind the pointer, at an offset from the group's beginning.
static uint32_t list_count(const MessageField *field, const void *value)
{
    const uint8_t *body = (const uint8_t *)value - field->offset;
    return *(const uint32_t *)(const void *)(body + field->count_offset);
}

static bool is_list_valid(const MessageField *field, const void *value)
{
    const uint8_t *item = *(const uint8_t *const *)value;
    const uint32_t count = list_count(field, value);
    if (count > field->limit || (item == NULL && count != 0)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++, item += message_group_bytes(field->item)) {
        if (!is_group_valid(field->item, item)) {
            return false;
        }
    }
    return true;
}

bool message_field_is_valid(const MessageField *field, const void *value)
{
    switch (field->type) {
    case FIELD_UINT:
        return *(const uint64_t *)value <= field->limit;
    case FIELD_SINT:
        return is_sint(*(const int32_t *)value, field->limit);
    case FIELD_BOOL:
    case FIELD_HASH:
        return true;
    case FIELD_F32:
        return is_f32(*(const float *)value, field->magnitude);
    case FIELD_TEXT:
        return message_text_is_valid(*(const Text *)value, (uint32_t)field->limit);
    case FIELD_BYTES:
        return ((const WireBytes *)value)->bytes <= field->limit;
    case FIELD_VEC3: {
        const Vec3 *v = value;
        return is_f32(v->x, field->magnitude) && is_f32(v->y, field->magnitude) &&
               is_f32(v->z, field->magnitude);
    }
    case FIELD_COORD: {
        const WireCoord *at = value;
        return is_sint(at->x, field->limit) && is_sint(at->y, field->limit) &&
               is_sint(at->z, field->limit);
    }
    case FIELD_LIST:
        return is_list_valid(field, value);
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
    ASSERT(false);
    return false;
}

Status message_check(uint32_t number, const void *body)
{
    const MessageRow *row = message_row(number);
    if (row == NULL) {
        return STATUS_UNSUPPORTED;
    }
    return is_group_valid(message_row_group(row), body) ? STATUS_OK : STATUS_RANGE;
}

// --- encode -------------------------------------------------------------------------------------
static uint64_t zigzag(int32_t value)
{
    const uint64_t twice = (uint64_t)(int64_t)value << 1;
    return value < 0 ? ~twice : twice;
}

static void write_varint(ByteWriter *writer, uint64_t value)
{
    if (value < 0x80) {
        byte_write_u8(writer, (uint8_t)value);
    } else {
        byte_write_varint(writer, value);
    }
}

static void write_sized(ByteWriter *writer, const void *data, size_t bytes)
{
    write_varint(writer, bytes);
    byte_write_bytes(writer, data, bytes);
}

static void encode_group(MessageGroup group, const uint8_t *body, ByteWriter *writer);

static void encode_list(const MessageField *field, const void *value, ByteWriter *writer)
{
    const uint8_t *item = *(const uint8_t *const *)value;
    const uint32_t count = list_count(field, value);
    ASSERT(count <= field->limit);
    ASSERT(item != NULL || count == 0);
    write_varint(writer, count);
    for (uint32_t i = 0; i < count; i++, item += message_group_bytes(field->item)) {
        encode_group(field->item, item, writer);
    }
}

static void encode_field(const MessageField *field, const void *value, ByteWriter *writer)
{
    switch (field->type) {
    case FIELD_UINT:
        write_varint(writer, *(const uint64_t *)value);
        return;
    case FIELD_SINT:
        write_varint(writer, zigzag(*(const int32_t *)value));
        return;
    case FIELD_BOOL:
        byte_write_bool(writer, *(const bool *)value);
        return;
    case FIELD_F32:
        byte_write_f32(writer, *(const float *)value);
        return;
    case FIELD_TEXT:
        write_sized(writer, ((const Text *)value)->data, ((const Text *)value)->bytes);
        return;
    case FIELD_BYTES:
        write_sized(writer, ((const WireBytes *)value)->data, ((const WireBytes *)value)->bytes);
        return;
    case FIELD_HASH:
        byte_write_bytes(writer, ((const WireHash *)value)->bytes, sizeof(WireHash));
        return;
    case FIELD_VEC3:
        byte_write_f32(writer, ((const Vec3 *)value)->x);
        byte_write_f32(writer, ((const Vec3 *)value)->y);
        byte_write_f32(writer, ((const Vec3 *)value)->z);
        return;
    case FIELD_COORD:
        write_varint(writer, zigzag(((const WireCoord *)value)->x));
        write_varint(writer, zigzag(((const WireCoord *)value)->y));
        write_varint(writer, zigzag(((const WireCoord *)value)->z));
        return;
    case FIELD_LIST:
        encode_list(field, value, writer);
        return;
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
    ASSERT(false);
}

static void encode_group(MessageGroup group, const uint8_t *body, ByteWriter *writer)
{
    for (const MessageField *field = message_fields(group); field->type != FIELD_END; field++) {
        // The items of a list are checked in their turn.
        ASSERT(field->type == FIELD_LIST || message_field_is_valid(field, body + field->offset));
        encode_field(field, body + field->offset, writer);
    }
}

void message_encode(const Message *message, ByteWriter *writer)
{
    const MessageRow *row = message_row(message->number);
    ASSERT(row != NULL && row->direction != MESSAGE_EVENT);
    ASSERT(message->body != NULL);
    byte_write_u8(writer, row->number);
    write_varint(writer, message->seq);
    if (row->direction == MESSAGE_UP) {
        ASSERT(message->client_time_ms >= 0 && message->client_time_ms <= CLIENT_TIME_MAX_MS);
        write_varint(writer, (uint64_t)message->client_time_ms);
    }
    encode_group(message_row_group(row), message->body, writer);
}

bool message_is_of_other_schema(const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    const uint8_t number = byte_read_u8(&reader);
    (void)byte_read_varint(&reader); // seq
    if (number == MESSAGE_HANDSHAKE) {
        (void)byte_read_varint(&reader); // clientTime
        (void)byte_read_varint(&reader); // version
    } else if (number != MESSAGE_WELCOME) {
        return false;
    }
    const uint64_t schema = byte_read_varint(&reader);
    return reader.status == STATUS_OK && schema != PROTOCOL_SCHEMA;
}

void message_encode_event(uint8_t number, const void *body, ByteWriter *writer)
{
    const MessageRow *row = message_row(number);
    ASSERT(row != NULL && row->direction == MESSAGE_EVENT);
    ASSERT(body != NULL);
    byte_write_u8(writer, number);
    encode_group(message_row_group(row), body, writer);
}

// --- decode -------------------------------------------------------------------------------------
typedef struct Decoder {
    ByteReader in;
    Arena *arena;
} Decoder;

static uint64_t read_varint(ByteReader *reader, uint64_t most)
{
    uint64_t value;
    if (reader->status == STATUS_OK && reader->at < reader->size &&
        reader->data[reader->at] < 0x80) {
        value = reader->data[reader->at++];
    } else {
        value = byte_read_varint(reader);
    }
    if (value > most) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return value;
}

// Zigzag: 2 * limit is the limit itself, 2 * limit - 1 its negative.
static int32_t read_sint(ByteReader *reader, uint64_t limit)
{
    const uint64_t value = read_varint(reader, 2 * limit);
    const int64_t half = (int64_t)(value >> 1);
    return (int32_t)((value & 1) != 0 ? -half - 1 : half);
}

static float read_f32(ByteReader *reader, float magnitude)
{
    const float value = byte_read_f32(reader);
    if (!is_f32(value, magnitude)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return value;
}

static WireBytes read_sized(ByteReader *reader, uint64_t limit)
{
    const uint32_t bytes = (uint32_t)read_varint(reader, limit);
    const uint8_t *data = byte_read_bytes(reader, bytes);
    return data == NULL ? (WireBytes){0} : (WireBytes){data, bytes};
}

static Text read_message_text(ByteReader *reader, uint64_t limit)
{
    const WireBytes bytes = read_sized(reader, limit);
    const Text text = {(const char *)bytes.data, bytes.bytes};
    if (!message_text_is_valid(text, (uint32_t)limit)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return (Text){0};
    }
    return text;
}

static void decode_group(Decoder *decoder, MessageGroup group, uint8_t *body);

static void decode_list(Decoder *decoder, const MessageField *field, uint8_t *body)
{
    const uint32_t count = byte_read_count(&decoder->in, (uint32_t)field->limit);
    // An item has at least one byte: a count is refused before it costs memory.
    if (count > byte_reader_left(&decoder->in)) {
        byte_reader_fail(&decoder->in, STATUS_TRUNCATED);
        return;
    }
    const size_t item_bytes = message_group_bytes(field->item);
    uint8_t *items = NULL;
    if (count != 0) {
        items = arena_array(decoder->arena, count, item_bytes);
        if (items == NULL) {
            byte_reader_fail(&decoder->in, STATUS_LIMIT);
            return;
        }
    }
    *(const void **)(void *)(body + field->offset) = items;
    *(uint32_t *)(void *)(body + field->count_offset) = count;
    for (uint32_t i = 0; i < count && decoder->in.status == STATUS_OK; i++) {
        decode_group(decoder, field->item, items + i * item_bytes);
    }
}

static void decode_field(Decoder *decoder, const MessageField *field, uint8_t *body)
{
    ByteReader *in = &decoder->in;
    void *value = body + field->offset;
    switch (field->type) {
    case FIELD_UINT:
        *(uint64_t *)value = read_varint(in, field->limit);
        return;
    case FIELD_SINT:
        *(int32_t *)value = read_sint(in, field->limit);
        return;
    case FIELD_BOOL:
        *(bool *)value = byte_read_bool(in);
        return;
    case FIELD_F32:
        *(float *)value = read_f32(in, field->magnitude);
        return;
    case FIELD_TEXT:
        *(Text *)value = read_message_text(in, field->limit);
        return;
    case FIELD_BYTES:
        *(WireBytes *)value = read_sized(in, field->limit);
        return;
    case FIELD_HASH: {
        const uint8_t *bytes = byte_read_bytes(in, sizeof(WireHash));
        if (bytes != NULL) {
            memcpy(value, bytes, sizeof(WireHash));
        }
        return;
    }
    case FIELD_VEC3:
        ((Vec3 *)value)->x = read_f32(in, field->magnitude);
        ((Vec3 *)value)->y = read_f32(in, field->magnitude);
        ((Vec3 *)value)->z = read_f32(in, field->magnitude);
        return;
    case FIELD_COORD:
        ((WireCoord *)value)->x = read_sint(in, field->limit);
        ((WireCoord *)value)->y = read_sint(in, field->limit);
        ((WireCoord *)value)->z = read_sint(in, field->limit);
        return;
    case FIELD_LIST:
        decode_list(decoder, field, body);
        return;
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
    ASSERT(false);
}

static void decode_group(Decoder *decoder, MessageGroup group, uint8_t *body)
{
    for (const MessageField *field = message_fields(group); field->type != FIELD_END; field++) {
        decode_field(decoder, field, body);
    }
}

// The fields of a row until the end of the bytes; on success the body of `message` is set.
static Status decode_body(Decoder *decoder, const MessageRow *row, Message *message)
{
    if (decoder->in.status != STATUS_OK) {
        return decoder->in.status;
    }
    const size_t mark = arena_mark(decoder->arena);
    uint8_t *body = arena_alloc(decoder->arena, row->body_bytes);
    if (body == NULL) {
        return STATUS_LIMIT;
    }
    decode_group(decoder, message_row_group(row), body);
    const Status status = byte_reader_finish(&decoder->in);
    if (status != STATUS_OK) {
        arena_rewind(decoder->arena, mark);
        return status;
    }
    message->body = body;
    CHECK_SLOW(message_check(row->number, body) == STATUS_OK);
    return STATUS_OK;
}

// Events have neither a sequence number nor a time.
static Status decode(const uint8_t *bytes, size_t count, MessageDirection direction, Arena *arena,
                     Message *out)
{
    if (count > MESSAGE_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    Decoder decoder = {.in = byte_reader(bytes, count), .arena = arena};
    Message message = {.number = byte_read_u8(&decoder.in)};
    if (decoder.in.status != STATUS_OK) {
        return decoder.in.status;
    }
    const MessageRow *row = message_row(message.number);
    if (row == NULL || row->direction != direction) {
        return STATUS_UNSUPPORTED;
    }
    if (direction != MESSAGE_EVENT) {
        message.seq = (uint32_t)read_varint(&decoder.in, UINT32_MAX);
    }
    if (direction == MESSAGE_UP) {
        message.client_time_ms = (double)read_varint(&decoder.in, SIM_NET_ID_MAX);
    }
    const Status status = decode_body(&decoder, row, &message);
    if (status == STATUS_OK) {
        *out = message;
    }
    return status;
}

Status message_decode(const uint8_t *bytes, size_t count, MessageDirection direction, Arena *arena,
                      Message *out)
{
    ASSERT(direction == MESSAGE_UP || direction == MESSAGE_DOWN);
    return decode(bytes, count, direction, arena, out);
}

Status message_decode_event(const uint8_t *bytes, size_t count, Arena *arena, Message *out)
{
    return decode(bytes, count, MESSAGE_EVENT, arena, out);
}
