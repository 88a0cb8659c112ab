// Messages as JSON: the same table, another interpreter. The envelope is the room document's; the
// members of the payload are the fields of the row, in its order when written, in any when read.
//
// What may be left out is what is zero; what is not known is refused with its path, because a
// misspelt member that is ignored is a bug that nobody sees. Only inputs have members beside their
// rows: people write them by hand (docs/PROTOCOL.md, "Inputs").
#include "core/base/base64.h"
#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/sha256.h"
#include "core/wire/message.h"
#include "core/wire/message_inside.h"

#include <string.h>

#define HASH_PREFIX     "sha256:"
#define HASH_TEXT_BYTES (sizeof HASH_PREFIX - 1 + 2 * SHA256_BYTES)
#define CLIENT_TIME_MAX ((double)SIM_NET_ID_MAX)

// A struct with one field stands as the value of that field: script_paths is a list of strings.
static bool is_bare(MessageGroup group)
{
    const MessageField *fields = message_fields(group);
    return fields[0].type != FIELD_END && fields[1].type == FIELD_END;
}

// --- write --------------------------------------------------------------------------------------
static void write_hash(const WireHash *hash, JsonWriter *writer)
{
    char text[HASH_TEXT_BYTES + 1] = HASH_PREFIX;
    sha256_hex(hash->bytes, text + sizeof HASH_PREFIX - 1);
    json_write_text(writer, text);
}

static void write_vec3(const Vec3 *v, JsonWriter *writer)
{
    json_write_array_begin(writer);
    json_write_f32(writer, v->x);
    json_write_f32(writer, v->y);
    json_write_f32(writer, v->z);
    json_write_array_end(writer);
}

static void write_coord(const WireCoord *at, JsonWriter *writer)
{
    json_write_array_begin(writer);
    json_write_integer(writer, at->x);
    json_write_integer(writer, at->y);
    json_write_integer(writer, at->z);
    json_write_array_end(writer);
}

static void write_text(Text text, JsonWriter *writer)
{
    json_write_text_bytes(writer, text.bytes == 0 ? "" : text.data, text.bytes);
}

static void write_group(MessageGroup group, const uint8_t *body, JsonWriter *writer);
static void write_field(const MessageField *field, const uint8_t *body, JsonWriter *writer);

static void write_list(const MessageField *field, const uint8_t *body, JsonWriter *writer)
{
    const uint8_t *item = *(const uint8_t *const *)(const void *)(body + field->offset);
    const uint32_t count = *(const uint32_t *)(const void *)(body + field->count_offset);
    json_write_array_begin(writer);
    for (uint32_t i = 0; i < count; i++, item += message_group_bytes(field->item)) {
        if (is_bare(field->item)) {
            write_field(message_fields(field->item), item, writer);
        } else {
            write_group(field->item, item, writer);
        }
    }
    json_write_array_end(writer);
}

static void write_field(const MessageField *field, const uint8_t *body, JsonWriter *writer)
{
    const void *value = body + field->offset;
    switch (field->type) {
    case FIELD_UINT:
        json_write_integer(writer, (int64_t)(*(const uint64_t *)value));
        return;
    case FIELD_SINT:
        json_write_integer(writer, *(const int32_t *)value);
        return;
    case FIELD_BOOL:
        json_write_bool(writer, *(const bool *)value);
        return;
    case FIELD_F32:
        json_write_f32(writer, *(const float *)value);
        return;
    case FIELD_TEXT:
        write_text(*(const Text *)value, writer);
        return;
    case FIELD_BYTES:
        json_write_base64(writer, ((const WireBytes *)value)->data,
                          ((const WireBytes *)value)->bytes);
        return;
    case FIELD_HASH:
        write_hash(value, writer);
        return;
    case FIELD_VEC3:
        write_vec3(value, writer);
        return;
    case FIELD_COORD:
        write_coord(value, writer);
        return;
    case FIELD_LIST:
        write_list(field, body, writer);
        return;
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
    ASSERT(false);
}

static void write_group(MessageGroup group, const uint8_t *body, JsonWriter *writer)
{
    json_write_object_begin(writer);
    for (const MessageField *field = message_fields(group); field->type != FIELD_END; field++) {
        json_write_name(writer, field->json);
        write_field(field, body, writer);
    }
    json_write_object_end(writer);
}

void message_write_payload(uint8_t number, const void *body, JsonWriter *writer)
{
    const MessageRow *row = message_row(number);
    ASSERT(row != NULL);
    ASSERT(message_check(number, body) == STATUS_OK);
    write_group(message_row_group(row), body, writer);
}

void message_to_json(const Message *message, ByteWriter *writer)
{
    const MessageRow *row = message_row(message->number);
    ASSERT(row != NULL);
    JsonWriter json = json_writer(writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "v");
    json_write_integer(&json, PROTOCOL_VERSION);
    json_write_name(&json, "kind");
    json_write_text(&json, row->kind);
    json_write_name(&json, "seq");
    json_write_integer(&json, message->seq);
    json_write_name(&json, "feature");
    json_write_text(&json, row->feature);
    json_write_name(&json, "action");
    json_write_text(&json, row->action);
    if (row->direction == MESSAGE_UP) {
        ASSERT(message->client_time_ms >= 0 && message->client_time_ms <= CLIENT_TIME_MAX);
        json_write_name(&json, "clientTime");
        json_write_number(&json, message->client_time_ms);
    }
    json_write_name(&json, "payload");
    message_write_payload(row->number, message->body, &json);
    json_write_object_end(&json);
}

// --- read: values -------------------------------------------------------------------------------
typedef struct Reader {
    Arena *arena;
    JsonError *error;
} Reader;

static WireHash read_wire_hash(const Reader *reader, const JsonNode *node)
{
    WireHash hash = {0};
    const char *text = json_read_text(node, HASH_TEXT_BYTES, reader->error);
    if (reader->error->status != STATUS_OK) {
        return hash;
    }
    const size_t prefix = sizeof HASH_PREFIX - 1;
    if (node->count != HASH_TEXT_BYTES || memcmp(text, HASH_PREFIX, prefix) != 0 ||
        !bytes_from_hex(text + prefix, HASH_TEXT_BYTES - prefix, hash.bytes, SHA256_BYTES)) {
        json_fail(reader->error, STATUS_MALFORMED, node,
                  "must be \"" HASH_PREFIX "\" and 64 digits 0-9a-f");
        return (WireHash){0};
    }
    return hash;
}

static WireBytes read_bytes(const Reader *reader, const JsonNode *node, uint64_t limit)
{
    const uint32_t text_max = (uint32_t)base64_text_bytes((size_t)limit);
    const char *text = json_read_text(node, text_max, reader->error);
    if (reader->error->status != STATUS_OK || node->count == 0) {
        return (WireBytes){0};
    }
    const size_t capacity = node->count / 4 * 3;
    uint8_t *data = arena_alloc(reader->arena, capacity);
    if (data == NULL) {
        json_fail(reader->error, STATUS_LIMIT, node, "does not fit into memory");
        return (WireBytes){0};
    }
    size_t bytes = 0;
    if (base64_decode(text, node->count, data, capacity, &bytes) != STATUS_OK) {
        json_fail(reader->error, STATUS_MALFORMED, node, "must be base64");
        return (WireBytes){0};
    }
    if (bytes > limit) {
        json_fail(reader->error, STATUS_RANGE, node, "must be at most %u bytes", (unsigned)limit);
        return (WireBytes){0};
    }
    return (WireBytes){data, (uint32_t)bytes};
}

static int32_t read_sint(const JsonNode *node, uint64_t limit, JsonError *error)
{
    return (int32_t)json_read_integer(node, -(int64_t)limit, (int64_t)limit, error);
}

static WireCoord read_coord(const JsonNode *node, uint64_t limit, JsonError *error)
{
    int32_t values[3] = {0};
    const JsonNode *item = json_read_array(node, 3, 3, error);
    for (uint32_t i = 0; i < 3 && item != NULL; i++, item = item->next) {
        values[i] = read_sint(item, limit, error);
    }
    return (WireCoord){values[0], values[1], values[2]};
}

static Text read_text_node(const JsonNode *node, uint64_t limit, JsonError *error)
{
    const char *text = json_read_text(node, (uint32_t)limit, error);
    return error->status == STATUS_OK ? (Text){text, node->count} : (Text){0};
}

// --- read: inputs -------------------------------------------------------------------------------
// Alternative members of an input. Giving the same value in two ways in one input is an error,
// because it is not clear which one counts.
typedef enum InputMember {
    INPUT_MEMBER_UP,
    INPUT_MEMBER_DOWN,
    INPUT_MEMBER_LEFT,
    INPUT_MEMBER_RIGHT,
    INPUT_MEMBER_MOVE,
    INPUT_MEMBER_YAW,
    INPUT_MEMBER_PITCH,
    INPUT_MEMBER_JUMP,
    INPUT_MEMBER_RUN,
    INPUT_MEMBER_FIRE,
    INPUT_MEMBER_USE,
    INPUT_MEMBER_CROUCH,
    INPUT_MEMBER_COUNT
} InputMember;

static const char *const input_members[INPUT_MEMBER_COUNT] = {
    "up",           "down", "left", "right", "move", "yawRadians",
    "pitchRadians", "jump", "run",  "fire",  "use",  "crouch",
};

static bool is_input_member(const JsonNode *member)
{
    for (uint32_t i = 0; i < INPUT_MEMBER_COUNT; i++) {
        if (strcmp(member->name, input_members[i]) == 0 &&
            strlen(input_members[i]) == member->name_bytes) {
            return true;
        }
    }
    return false;
}

// To the nearest whole number, halves away from zero, so that left and right are alike.
static int32_t nearest(float x)
{
    return x < 0 ? -math_floor_i32(0.5f - x) : math_floor_i32(x + 0.5f);
}

static int32_t read_key(const JsonNode *object, InputMember member, JsonError *error)
{
    const JsonNode *node = json_find(object, input_members[member]);
    return node != NULL && json_read_bool(node, error) ? 1 : 0;
}

static bool has_keys(const JsonNode *object)
{
    for (uint32_t i = INPUT_MEMBER_UP; i <= INPUT_MEMBER_RIGHT; i++) {
        if (json_find(object, input_members[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void read_input_move(const JsonNode *object, WireInputFrame *input, JsonError *error)
{
    const JsonNode *move = json_find(object, input_members[INPUT_MEMBER_MOVE]);
    const bool numbers = json_find(object, "moveX") != NULL || json_find(object, "moveZ") != NULL;
    const bool keys = has_keys(object);
    if (numbers + keys + (move != NULL) > 1) {
        json_fail(error, STATUS_MALFORMED, object,
                  "must say its movement in one way: moveX and moveZ, move, or up, down, …");
        return;
    }
    if (keys) {
        const int32_t right = read_key(object, INPUT_MEMBER_RIGHT, error);
        const int32_t left = read_key(object, INPUT_MEMBER_LEFT, error);
        const int32_t up = read_key(object, INPUT_MEMBER_UP, error);
        const int32_t down = read_key(object, INPUT_MEMBER_DOWN, error);
        input->move_x = 127 * (right - left);
        input->move_z = 127 * (up - down);
    }
    if (move != NULL) {
        const JsonNode *x = json_read_array(move, 2, 2, error);
        if (x != NULL) {
            input->move_x = nearest(127 * json_read_f32(x, -1, 1, error));
            input->move_z = nearest(127 * json_read_f32(x->next, -1, 1, error));
        }
    }
}

static float read_radians(const JsonNode *object, InputMember member, const char *other,
                          JsonError *error)
{
    const JsonNode *node = json_find(object, input_members[member]);
    if (node == NULL) {
        return 0;
    }
    if (json_find(object, other) != NULL) {
        json_fail(error, STATUS_MALFORMED, node, "must not stand beside %s", other);
        return 0;
    }
    return json_read_f32(node, -1e6f, 1e6f, error);
}

// Turns are 1/65536; 65536 / 2 pi of them are a radian.
#define TURNS_PER_RADIAN 10430.3783505f

static void read_input_view(const JsonNode *object, WireInputFrame *input, JsonError *error)
{
    if (json_find(object, input_members[INPUT_MEMBER_YAW]) != NULL) {
        const float yaw = read_radians(object, INPUT_MEMBER_YAW, "yaw", error);
        input->yaw = (uint32_t)nearest(math_wrap_angle(yaw) * TURNS_PER_RADIAN) & 0xffff;
    }
    if (json_find(object, input_members[INPUT_MEMBER_PITCH]) != NULL) {
        const float pitch = read_radians(object, INPUT_MEMBER_PITCH, "pitch", error);
        input->pitch = nearest(math_clamp(pitch * TURNS_PER_RADIAN, -16384, 16384));
    }
}

static void read_input(const JsonNode *object, WireInputFrame *input, JsonError *error)
{
    read_input_move(object, input, error);
    read_input_view(object, input, error);
    input->buttons |= read_key(object, INPUT_MEMBER_JUMP, error) != 0 ? INPUT_JUMP : 0u;
    input->buttons |= read_key(object, INPUT_MEMBER_RUN, error) != 0 ? INPUT_RUN : 0u;
    input->buttons |= read_key(object, INPUT_MEMBER_FIRE, error) != 0 ? INPUT_FIRE : 0u;
    input->buttons |= read_key(object, INPUT_MEMBER_USE, error) != 0 ? INPUT_USE : 0u;
    input->buttons |= read_key(object, INPUT_MEMBER_CROUCH, error) != 0 ? INPUT_CROUCH : 0u;
}

// --- read: groups -------------------------------------------------------------------------------
static void read_group(const Reader *reader, MessageGroup group, const JsonNode *object,
                       uint8_t *body);
static void read_field(const Reader *reader, const MessageField *field, const JsonNode *node,
                       uint8_t *body);

static void read_list(const Reader *reader, const MessageField *field, const JsonNode *node,
                      uint8_t *body)
{
    const JsonNode *child = json_read_array(node, 0, (uint32_t)field->limit, reader->error);
    if (child == NULL) {
        return;
    }
    const size_t item_bytes = message_group_bytes(field->item);
    uint8_t *item = arena_array(reader->arena, node->count, item_bytes);
    if (item == NULL) {
        json_fail(reader->error, STATUS_LIMIT, node, "does not fit into memory");
        return;
    }
    *(const void **)(void *)(body + field->offset) = item;
    *(uint32_t *)(void *)(body + field->count_offset) = node->count;
    for (; child != NULL && reader->error->status == STATUS_OK; child = child->next) {
        if (is_bare(field->item)) {
            read_field(reader, message_fields(field->item), child, item);
        } else {
            read_group(reader, field->item, child, item);
        }
        item += item_bytes;
    }
}

static void read_field(const Reader *reader, const MessageField *field, const JsonNode *node,
                       uint8_t *body)
{
    void *value = body + field->offset;
    JsonError *error = reader->error;
    switch (field->type) {
    case FIELD_UINT:
        *(uint64_t *)value = (uint64_t)json_read_integer(node, 0, (int64_t)field->limit, error);
        return;
    case FIELD_SINT:
        *(int32_t *)value = read_sint(node, field->limit, error);
        return;
    case FIELD_BOOL:
        *(bool *)value = json_read_bool(node, error);
        return;
    case FIELD_F32:
        *(float *)value = json_read_f32(node, -field->magnitude, field->magnitude, error);
        return;
    case FIELD_TEXT:
        *(Text *)value = read_text_node(node, field->limit, error);
        return;
    case FIELD_BYTES:
        *(WireBytes *)value = read_bytes(reader, node, field->limit);
        return;
    case FIELD_HASH:
        *(WireHash *)value = read_wire_hash(reader, node);
        return;
    case FIELD_VEC3:
        *(Vec3 *)value = json_read_vec3(node, -field->magnitude, field->magnitude, error);
        return;
    case FIELD_COORD:
        *(WireCoord *)value = read_coord(node, field->limit, error);
        return;
    case FIELD_LIST:
        read_list(reader, field, node, body);
        return;
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
    ASSERT(false);
}

static const MessageField *field_of_member(MessageGroup group, const JsonNode *member)
{
    const MessageField *field = message_fields(group);
    while (field->type != FIELD_END && (strlen(field->json) != member->name_bytes ||
                                        memcmp(field->json, member->name, member->name_bytes))) {
        field++;
    }
    return field;
}

static void read_group(const Reader *reader, MessageGroup group, const JsonNode *object,
                       uint8_t *body)
{
    const JsonNode *member = json_read_object(object, reader->error);
    for (; member != NULL && reader->error->status == STATUS_OK; member = member->next) {
        const MessageField *field = field_of_member(group, member);
        if (field->type != FIELD_END) {
            read_field(reader, field, member, body);
        } else if (group != GROUP_WireInputFrame || !is_input_member(member)) {
            json_fail(reader->error, STATUS_MALFORMED, member,
                      "is not a member that is known here");
        }
    }
    if (group == GROUP_WireInputFrame && reader->error->status == STATUS_OK) {
        read_input(object, (WireInputFrame *)(void *)body, reader->error);
    }
}

// --- read: the envelope -------------------------------------------------------------------------
static bool is_direction(const MessageRow *row, MessageDirection direction)
{
    // A JSON session gets its events as messages of their own.
    return row->direction == direction ||
           (row->direction == MESSAGE_EVENT && direction == MESSAGE_DOWN);
}

// The only row of a kind: it may be named by the kind alone. NULL if there are several.
static const MessageRow *row_of_kind(const char *kind)
{
    const MessageRow *found = NULL;
    for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
        if (strcmp(message_row_at(i)->kind, kind) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = message_row_at(i);
        }
    }
    return found;
}

static const MessageRow *find_row(const JsonNode *root, MessageDirection direction,
                                  MessageJsonError *error)
{
    const char *names[3] = {NULL, NULL, NULL};
    static const char *const members[3] = {"kind", "feature", "action"};
    for (uint32_t i = 0; i < 3; i++) {
        const JsonNode *node = json_find(root, members[i]);
        if (node != NULL || i == 0) {
            names[i] =
                json_read_text(i == 0 ? json_read_member(root, members[0], &error->where) : node,
                               64, &error->where);
        }
    }
    if (error->where.status != STATUS_OK) {
        return NULL;
    }
    const MessageRow *row = NULL;
    if (strcmp(names[0], "ping") == 0 && names[1] == NULL && names[2] == NULL) {
        row = message_row(MESSAGE_PING); // the room document's ping loop
    } else if (names[1] == NULL && names[2] == NULL) {
        row = row_of_kind(names[0]);
    } else if (names[1] != NULL && names[2] != NULL) {
        row = message_row_find(names[0], names[1], names[2]);
    }
    if (row == NULL || !is_direction(row, direction)) {
        error->code = ERROR_UNKNOWN_ACTION;
        json_fail(&error->where, STATUS_UNSUPPORTED, root,
                  "has a kind, feature and action that are not known");
        return NULL;
    }
    return row;
}

static void read_version(const JsonNode *root, MessageJsonError *error)
{
    const JsonNode *v = json_find(root, "v");
    if (v == NULL) {
        json_fail_member(&error->where, STATUS_UNSUPPORTED, root, "v", "must be 2");
    } else if (v->kind != JSON_NUMBER || !v->is_integer || v->integer != PROTOCOL_VERSION) {
        json_fail(&error->where, STATUS_UNSUPPORTED, v, "must be 2");
    }
    if (error->where.status != STATUS_OK) {
        error->code = ERROR_UNSUPPORTED_VERSION;
    }
}

static void read_envelope(const Reader *reader, const JsonNode *root, MessageDirection direction,
                          Message *message, MessageJsonError *error)
{
    static const char *const members[] = {"v",      "kind",    "seq",       "feature",
                                          "action", "payload", "clientTime"};
    if (json_read_object(root, &error->where) == NULL && error->where.status != STATUS_OK) {
        return;
    }
    read_version(root, error);
    const MessageRow *row =
        error->where.status == STATUS_OK ? find_row(root, direction, error) : NULL;
    if (row == NULL) {
        return;
    }
    json_read_only(root, members, row->direction == MESSAGE_UP ? 7 : 6, &error->where);
    if (error->where.status != STATUS_OK) {
        error->where.status = STATUS_MALFORMED; // the unsupported part is the version or the action
        return;
    }
    const JsonNode *seq = json_find(root, "seq");
    const JsonNode *time = json_find(root, "clientTime");
    const JsonNode *payload = json_find(root, "payload");
    message->number = row->number;
    message->seq = seq == NULL ? 0 : (uint32_t)json_read_integer(seq, 0, UINT32_MAX, &error->where);
    message->client_time_ms =
        time == NULL ? 0 : json_read_number(time, 0, CLIENT_TIME_MAX, &error->where);
    uint8_t *body = arena_alloc(reader->arena, row->body_bytes);
    if (body == NULL) {
        json_fail(&error->where, STATUS_LIMIT, root, "does not fit into memory");
        return;
    }
    if (payload != NULL) {
        read_group(reader, message_row_group(row), payload, body);
    }
    message->body = body;
}

Status message_from_json(const char *text, size_t bytes, MessageDirection direction, Arena *arena,
                         Message *out, MessageJsonError *error)
{
    *error = (MessageJsonError){0};
    const size_t mark = arena_mark(arena);
    JsonConfig config = json_config_default(arena);
    config.bytes_max = direction == MESSAGE_UP ? MESSAGE_BYTES_MAX : MESSAGE_JSON_DOWN_BYTES_MAX;
    config.node_count_max = MESSAGE_JSON_NODES_MAX;
    config.depth_max = MESSAGE_JSON_DEPTH_MAX;
    Message message = {0};
    const JsonNode *root = NULL;
    if (json_parse(&config, text, bytes, &root, &error->where) == STATUS_OK) {
        const Reader reader = {arena, &error->where};
        read_envelope(&reader, root, direction, &message, error);
    }
    if (error->where.status != STATUS_OK) {
        error->code = error->code == ERROR_NONE ? ERROR_MALFORMED : error->code;
        arena_rewind(arena, mark);
        return error->where.status;
    }
    CHECK_SLOW(message_check(message.number, message.body) == STATUS_OK);
    *out = message;
    return STATUS_OK;
}
