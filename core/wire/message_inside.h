// The schema as a table, for the files message_*.c, their tests and the programs that print it.
// Other code uses message.h.
// A group is a STRUCT or the body of a MESSAGE. Its fields end with one of type FIELD_END. The
// structs of lists contain no lists, so a walk over the fields is at most two deep; a test checks
// this.
#pragma once

#include "core/wire/message.h"

typedef enum FieldType {
    FIELD_END,
    FIELD_UINT,
    FIELD_SINT,
    FIELD_BOOL,
    FIELD_F32,
    FIELD_TEXT,
    FIELD_BYTES,
    FIELD_HASH,
    FIELD_VEC3,
    FIELD_COORD,
    FIELD_LIST,
    FIELD_TYPE_COUNT
} FieldType;

typedef enum MessageGroup {
#define STRUCT(name)                                                               GROUP_Wire##name,
#define MESSAGE(number_name, name, number, direction, kind, feature, action, text) GROUP_##name,
#include "core/wire/schema.def"
    MESSAGE_GROUP_COUNT
} MessageGroup;
bool message_group_is_struct(MessageGroup group); // a STRUCT, not a MESSAGE

typedef struct MessageField {
    FieldType type;
    uint16_t offset;       // in the struct of its group
    uint16_t count_offset; // FIELD_LIST: of the number of items
    MessageGroup item;     // FIELD_LIST: of what
    uint64_t limit;        // whole numbers, bytes, items
    float magnitude;       // FIELD_F32 and FIELD_VEC3
    const char *name, *json, *text;
} MessageField;

const MessageField *message_fields(MessageGroup group);
size_t message_group_bytes(MessageGroup group);
const char *message_group_name(MessageGroup group); // "InputFrame"
MessageGroup message_row_group(const MessageRow *row);

// Whether the value is inside the limit of its field. Lists: their items too.
bool message_field_is_valid(const MessageField *field, const void *value);
