// Values as bytes; the format is in value.h.
#include "core/script/runtime/value.h"

#include "core/base/byte_values.h"
#include "core/script/runtime/object.h"

#include <stdio.h>
#include <string.h>

enum {
    TAG_NIL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INTEGER,
    TAG_FLOAT,
    TAG_TEXT,
    TAG_LIST,
    TAG_MAP,
    TAG_VECTOR,
    TAG_ENTITY,
    TAG_PLAYER
};

// Steps, as tests/script/api_cost.txt measures them.
#define VALUE_STEPS       20 // a value or a key
#define OBJECT_STEPS      10 // besides, if it is a vector, an entity or a player
#define KEY_STEPS         4  // a key that is put into the list to sort
#define KEY_COMPARE_STEPS 15 // comparing two keys, and moving them
#define KEY_COMPARE_BYTES 32 // for one step more

#define MAP_KEYS_MAX  4096
#define MAP_KEYS_TEXT "more than 4096 keys in one table"

typedef struct Path {
    char text[96];
    size_t bytes;
} Path;

typedef struct Encoder {
    lua_State *lua;
    const ValueUse *use;
    ByteWriter *writer;
    Path path;
    char *error;
    Status status;
} Encoder;

static Status encoder_fail(Encoder *encoder, Status status, const char *what)
{
    if (encoder->status == STATUS_OK) {
        encoder->status = status;
        snprintf(encoder->error, VALUE_ERROR_BYTES, "%s: %s", encoder->path.text, what);
    }
    return status;
}

static void refuse_kind(Encoder *encoder, const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "%s cannot be %s", what, encoder->use->verb);
    (void)encoder_fail(encoder, STATUS_MALFORMED, text);
}

// Each appends, and returns the length before, for path_cut.
static size_t path_add(Path *path, const char *text)
{
    const size_t before = path->bytes;
    const size_t left = sizeof path->text - 1 - before;
    size_t bytes = strlen(text);
    bytes = bytes < left ? bytes : left;
    memcpy(path->text + before, text, bytes);
    path->bytes = before + bytes;
    path->text[path->bytes] = 0;
    return before;
}

// Written for each item of each list, so without snprintf.
static size_t path_add_index(Path *path, long long index)
{
    char text[24];
    size_t at = sizeof text - 2;
    text[at] = ']';
    text[at + 1] = 0;
    uint64_t left = index < 0 ? 0 - (uint64_t)index : (uint64_t)index;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (index < 0) {
        text[--at] = '-';
    }
    text[--at] = '[';
    return path_add(path, text + at);
}

// The key on top of the stack.
static size_t path_add_key(Path *path, lua_State *lua)
{
    if (lua_type(lua, -1) != LUA_TSTRING) {
        return path_add_index(path, (long long)lua_tointeger(lua, -1));
    }
    const size_t before = path_add(path, ".");
    (void)path_add(path, lua_tostring(lua, -1));
    return before;
}

static void path_cut(Path *path, size_t bytes)
{
    path->bytes = bytes;
    path->text[bytes] = 0;
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static bool encode(Encoder *encoder, int index, uint32_t depth);

static bool encode_list(Encoder *encoder, int index, uint64_t count, uint32_t depth)
{
    byte_write_u8(encoder->writer, TAG_LIST);
    byte_write_varint(encoder->writer, count);
    for (uint64_t i = 1; i <= count; i++) {
        const size_t before = path_add_index(&encoder->path, (long long)i);
        lua_rawgeti(encoder->lua, index, (lua_Integer)i);
        const bool ok = encode(encoder, lua_gettop(encoder->lua), depth + 1);
        lua_pop(encoder->lua, 1);
        if (!ok) {
            return false;
        }
        path_cut(&encoder->path, before);
    }
    return true;
}

// Integers, then other numbers, then texts; each ascending. Both keys are on the stack.
static bool key_is_before(lua_State *lua, int a, int b)
{
    vm_charge(lua, KEY_COMPARE_STEPS);
    const bool a_text = lua_type(lua, a) == LUA_TSTRING;
    const bool b_text = lua_type(lua, b) == LUA_TSTRING;
    if (a_text != b_text) {
        return b_text;
    }
    if (!a_text) {
        return lua_tonumber(lua, a) < lua_tonumber(lua, b);
    }
    size_t a_bytes = 0;
    size_t b_bytes = 0;
    const char *a_data = lua_tolstring(lua, a, &a_bytes);
    const char *b_data = lua_tolstring(lua, b, &b_bytes);
    const size_t least = a_bytes < b_bytes ? a_bytes : b_bytes;
    vm_charge(lua, least / KEY_COMPARE_BYTES);
    const int order = memcmp(a_data, b_data, least);
    return order != 0 ? order < 0 : a_bytes < b_bytes;
}

// Sorts the list of keys at the top of the stack by a heap sort: no recursion, no heap.
static void sift(lua_State *lua, int keys, lua_Integer from, lua_Integer count)
{
    lua_Integer at = from;
    for (;;) {
        lua_Integer child = 2 * at;
        if (child > count) {
            return;
        }
        lua_rawgeti(lua, keys, child);
        if (child < count) {
            lua_rawgeti(lua, keys, child + 1);
            if (key_is_before(lua, -2, -1)) {
                lua_remove(lua, -2);
                child += 1;
            } else {
                lua_pop(lua, 1);
            }
        }
        lua_rawgeti(lua, keys, at);
        if (!key_is_before(lua, -1, -2)) {
            lua_pop(lua, 2);
            return;
        }
        lua_rawseti(lua, keys, child);
        lua_rawseti(lua, keys, at);
        at = child;
    }
}

static void sort_keys(lua_State *lua, int keys, lua_Integer count)
{
    for (lua_Integer i = count / 2; i >= 1; i--) {
        sift(lua, keys, i, count);
    }
    for (lua_Integer i = count; i > 1; i--) {
        lua_rawgeti(lua, keys, 1);
        lua_rawgeti(lua, keys, i);
        lua_rawseti(lua, keys, 1);
        lua_rawseti(lua, keys, i);
        sift(lua, keys, 1, i - 1);
    }
}

// Pushes a sorted list of the table's keys; false if one is not allowed.
static bool push_sorted_keys(Encoder *encoder, int index, lua_Integer *count)
{
    lua_State *lua = encoder->lua;
    lua_newtable(lua);
    const int keys = lua_gettop(lua);
    *count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {
        lua_pop(lua, 1);
        vm_charge(lua, KEY_STEPS);
        const int type = lua_type(lua, -1);
        if ((type != LUA_TSTRING && type != LUA_TNUMBER) || *count == MAP_KEYS_MAX) {
            lua_settop(lua, keys - 1);
            if (*count == MAP_KEYS_MAX) {
                encoder_fail(encoder, STATUS_LIMIT, MAP_KEYS_TEXT);
            } else {
                encoder_fail(encoder, STATUS_MALFORMED, "keys must be texts or numbers");
            }
            return false;
        }
        lua_pushvalue(lua, -1);
        lua_rawseti(lua, keys, ++*count);
    }
    sort_keys(lua, keys, *count);
    return true;
}

static bool encode_map(Encoder *encoder, int index, uint32_t depth)
{
    lua_State *lua = encoder->lua;
    lua_Integer count = 0;
    if (!push_sorted_keys(encoder, index, &count)) {
        return false;
    }
    const int keys = lua_gettop(lua);
    byte_write_u8(encoder->writer, TAG_MAP);
    byte_write_varint(encoder->writer, (uint64_t)count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(lua, keys, i);
        const size_t before = path_add_key(&encoder->path, lua);
        bool ok = encode(encoder, lua_gettop(lua), depth + 1);
        lua_rawget(lua, index);
        ok = ok && encode(encoder, lua_gettop(lua), depth + 1);
        lua_pop(lua, 1);
        if (!ok) {
            return false;
        }
        path_cut(&encoder->path, before);
    }
    lua_pop(lua, 1);
    return true;
}

bool value_is_list(lua_State *lua, int index, uint64_t *count)
{
    *count = lua_rawlen(lua, index);
    uint64_t seen = 0;
    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {
        lua_pop(lua, 1);
        vm_charge(lua, 1);
        const bool in_list = lua_isinteger(lua, -1) && lua_tointeger(lua, -1) >= 1 &&
                             (uint64_t)lua_tointeger(lua, -1) <= *count;
        if (!in_list) {
            lua_pop(lua, 1);
            return false;
        }
        seen += 1;
    }
    return seen == *count;
}

static bool encode_userdata(Encoder *encoder, int index)
{
    lua_State *lua = encoder->lua;
    vm_charge(lua, OBJECT_STEPS);
    if (object_is_vector(lua, index)) {
        const Vec3 vector = object_vector(lua, index);
        if (!vec3_is_finite(vector)) {
            refuse_kind(encoder, "a Vector3 with NaN or infinity");
            return false;
        }
        byte_write_u8(encoder->writer, TAG_VECTOR);
        byte_write_f32(encoder->writer, vector.x);
        byte_write_f32(encoder->writer, vector.y);
        byte_write_f32(encoder->writer, vector.z);
    } else if (object_is_entity(lua, index)) {
        byte_write_u8(encoder->writer, TAG_ENTITY);
        byte_write_varint(encoder->writer, object_entity(lua, index));
    } else if (object_is_player(lua, index)) {
        byte_write_u8(encoder->writer, TAG_PLAYER);
        byte_write_varint(encoder->writer, object_player(lua, index));
    } else {
        refuse_kind(encoder, "this kind of object");
        return false;
    }
    return true;
}

static bool encode_number(Encoder *encoder, int index)
{
    lua_State *lua = encoder->lua;
    if (lua_isinteger(lua, index)) {
        byte_write_u8(encoder->writer, TAG_INTEGER);
        byte_write_varint(encoder->writer, zigzag(lua_tointeger(lua, index)));
        return true;
    }
    const double number = lua_tonumber(lua, index);
    if (!(number - number == 0)) {
        refuse_kind(encoder, "NaN and infinity");
        return false;
    }
    byte_write_u8(encoder->writer, TAG_FLOAT);
    byte_write_double(encoder->writer, number);
    return true;
}

static bool encode_table(Encoder *encoder, int index, uint32_t depth)
{
    if (depth >= VALUE_DEPTH_MAX) {
        encoder_fail(encoder, STATUS_LIMIT, "more than 8 tables inside each other");
        return false;
    }
    luaL_checkstack(encoder->lua, 12, "value");
    uint64_t count = 0;
    return value_is_list(encoder->lua, index, &count) ? encode_list(encoder, index, count, depth)
                                                      : encode_map(encoder, index, depth);
}

// Recursion is bounded by VALUE_DEPTH_MAX.
static bool encode(Encoder *encoder, int index, uint32_t depth)
{
    lua_State *lua = encoder->lua;
    bool ok = true;
    vm_charge(lua, VALUE_STEPS);
    switch (lua_type(lua, index)) {
    case LUA_TNIL:
        byte_write_u8(encoder->writer, TAG_NIL);
        break;
    case LUA_TBOOLEAN:
        byte_write_u8(encoder->writer, lua_toboolean(lua, index) ? TAG_TRUE : TAG_FALSE);
        break;
    case LUA_TNUMBER:
        ok = encode_number(encoder, index);
        break;
    case LUA_TSTRING: {
        size_t bytes = 0;
        const char *text = lua_tolstring(lua, index, &bytes);
        vm_charge_bytes(lua, bytes);
        byte_write_u8(encoder->writer, TAG_TEXT);
        byte_write_varint(encoder->writer, bytes);
        byte_write_bytes(encoder->writer, text, bytes);
        break;
    }
    case LUA_TTABLE:
        ok = encode_table(encoder, index, depth);
        break;
    case LUA_TUSERDATA:
        ok = encode_userdata(encoder, index);
        break;
    default:
        refuse_kind(encoder, "functions and coroutines");
        ok = false;
        break;
    }
    if (ok && encoder->writer->status != STATUS_OK) {
        char text[96];
        snprintf(text, sizeof text, "too large: what is %s has at most %zu bytes",
                 encoder->use->verb, encoder->writer->capacity);
        encoder_fail(encoder, STATUS_LIMIT, text);
        ok = false;
    }
    return ok;
}

Status value_write(lua_State *lua, int first, int last, ByteWriter *writer,
                   char error[VALUE_ERROR_BYTES])
{
    static const ValueUse sent = {"argument", 1, "sent"};
    return value_write_for(lua, first, last, &sent, writer, error);
}

Status value_write_for(lua_State *lua, int first, int last, const ValueUse *use, ByteWriter *writer,
                       char error[VALUE_ERROR_BYTES])
{
    Encoder encoder = {.lua = lua, .use = use, .writer = writer, .error = error};
    const int top = lua_gettop(lua);
    byte_write_u8(writer, TAG_LIST);
    byte_write_varint(writer, last >= first ? (uint64_t)(last - first + 1) : 0);
    for (int i = first; i <= last; i++) {
        path_cut(&encoder.path, 0);
        char name[32];
        snprintf(name, sizeof name, "%s %d", use->noun, i - first + use->number);
        (void)path_add(&encoder.path, name);
        if (!encode(&encoder, i, 0)) {
            lua_settop(lua, top);
            return encoder.status;
        }
    }
    return writer->status;
}

// --- reading ------------------------------------------------------------------------------------

// One reader for both uses: with lua NULL it only checks.
static void decode(lua_State *lua, ByteReader *reader, uint32_t depth);

static uint32_t decode_count(ByteReader *reader, uint32_t depth, uint32_t bytes_each)
{
    const uint64_t count = byte_read_varint(reader);
    if (depth >= VALUE_DEPTH_MAX || count > byte_reader_left(reader) / bytes_each) {
        byte_reader_fail(reader, depth >= VALUE_DEPTH_MAX ? STATUS_LIMIT : STATUS_TRUNCATED);
        return 0;
    }
    return (uint32_t)count;
}

static void decode_list(lua_State *lua, ByteReader *reader, uint32_t depth)
{
    const uint32_t count = decode_count(reader, depth, 1);
    if (lua != NULL) {
        luaL_checkstack(lua, 8, "value");
        lua_createtable(lua, (int)count, 0);
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        decode(lua, reader, depth + 1);
        if (lua != NULL) {
            lua_rawseti(lua, -2, (lua_Integer)i + 1);
        }
    }
}

static void decode_map(lua_State *lua, ByteReader *reader, uint32_t depth)
{
    const uint32_t count = decode_count(reader, depth, 2);
    if (lua != NULL) {
        luaL_checkstack(lua, 8, "value");
        lua_createtable(lua, 0, (int)count);
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        const uint8_t tag = reader->at < reader->size ? reader->data[reader->at] : TAG_NIL;
        if (tag != TAG_INTEGER && tag != TAG_FLOAT && tag != TAG_TEXT) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
        decode(lua, reader, depth + 1);
        decode(lua, reader, depth + 1);
        if (lua != NULL) {
            lua_rawset(lua, -3);
        }
    }
}

static double decode_double(ByteReader *reader)
{
    const uint64_t bits = byte_read_u64(reader);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!(value - value == 0)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return value;
}

static void decode_text(lua_State *lua, ByteReader *reader)
{
    const uint64_t bytes = byte_read_varint(reader);
    if (bytes > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
    }
    const uint8_t *text = byte_read_bytes(reader, reader->status == STATUS_OK ? (size_t)bytes : 0);
    if (lua != NULL) {
        lua_pushlstring(lua, text != NULL ? (const char *)text : "",
                        text != NULL ? (size_t)bytes : 0);
    }
}

static void decode_vector(lua_State *lua, ByteReader *reader)
{
    Vec3 vector;
    vector.x = byte_read_f32(reader);
    vector.y = byte_read_f32(reader);
    vector.z = byte_read_f32(reader);
    if (lua != NULL) {
        object_push_vector(lua, vector);
    }
}

// Always pushes exactly one value (nil after a failure), so that containers stay balanced.
static void decode(lua_State *lua, ByteReader *reader, uint32_t depth)
{
    const uint8_t tag = byte_read_u8(reader);
    const size_t before = lua != NULL ? (size_t)lua_gettop(lua) : 0;
    switch (reader->status == STATUS_OK ? tag : TAG_NIL) {
    case TAG_FALSE:
    case TAG_TRUE:
        if (lua != NULL) {
            lua_pushboolean(lua, tag == TAG_TRUE);
        }
        break;
    case TAG_INTEGER: {
        const int64_t integer = unzigzag(byte_read_varint(reader));
        if (lua != NULL) {
            lua_pushinteger(lua, integer);
        }
        break;
    }
    case TAG_FLOAT: {
        const double number = decode_double(reader);
        if (lua != NULL) {
            lua_pushnumber(lua, number);
        }
        break;
    }
    case TAG_TEXT:
        decode_text(lua, reader);
        break;
    case TAG_LIST:
        decode_list(lua, reader, depth);
        break;
    case TAG_MAP:
        decode_map(lua, reader, depth);
        break;
    case TAG_VECTOR:
        decode_vector(lua, reader);
        break;
    case TAG_ENTITY:
    case TAG_PLAYER: {
        const uint64_t id = byte_read_varint(reader);
        if (lua != NULL && tag == TAG_ENTITY) {
            object_push_entity(lua, id);
        } else if (lua != NULL) {
            object_push_player(lua, id);
        }
        break;
    }
    case TAG_NIL:
        break;
    default:
        byte_reader_fail(reader, STATUS_MALFORMED);
        break;
    }
    if (lua != NULL && (size_t)lua_gettop(lua) == before) {
        lua_pushnil(lua);
    }
}

Status value_check(const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    if (count > VALUE_BYTES_MAX || count == 0 || bytes[0] != TAG_LIST) {
        return count > VALUE_BYTES_MAX ? STATUS_LIMIT : STATUS_MALFORMED;
    }
    (void)byte_read_u8(&reader);
    const uint32_t values = decode_count(&reader, 0, 1);
    for (uint32_t i = 0; i < values && reader.status == STATUS_OK; i++) {
        decode(NULL, &reader, 0);
    }
    return values > VALUE_LIST_MAX ? STATUS_LIMIT : byte_reader_finish(&reader);
}

bool value_first_text(const uint8_t *bytes, size_t count, Text *out)
{
    if (value_check(bytes, count) != STATUS_OK) {
        return false;
    }
    ByteReader reader = byte_reader(bytes, count);
    (void)byte_read_u8(&reader);
    if (byte_read_varint(&reader) == 0 || byte_read_u8(&reader) != TAG_TEXT) {
        return false;
    }
    const size_t length = (size_t)byte_read_varint(&reader);
    *out = (Text){(const char *)byte_read_bytes(&reader, length), length};
    return true;
}

Status value_read(lua_State *lua, const uint8_t *bytes, size_t count, int *pushed)
{
    const Status status = value_check(bytes, count);
    if (status != STATUS_OK) {
        return status;
    }
    ByteReader reader = byte_reader(bytes, count);
    (void)byte_read_u8(&reader);
    const uint32_t values = (uint32_t)byte_read_varint(&reader);
    luaL_checkstack(lua, (int)values + 8, "value");
    for (uint32_t i = 0; i < values; i++) {
        decode(lua, &reader, 0);
    }
    *pushed = (int)values;
    return STATUS_OK;
}

// --- attributes ---------------------------------------------------------------------------------

static void write_attribute_number(ByteWriter *writer, double number)
{
    // As api_push_value: a number that was an integer stays one.
    if (number >= -9007199254740992.0 && number <= 9007199254740992.0 &&
        (double)(int64_t)number == number) {
        byte_write_u8(writer, TAG_INTEGER);
        byte_write_varint(writer, zigzag((int64_t)number));
        return;
    }
    byte_write_u8(writer, TAG_FLOAT);
    byte_write_double(writer, number);
}

static void write_attribute(ByteWriter *writer, const ScriptValue *value)
{
    switch (value->type) {
    case SCRIPT_BOOL:
        byte_write_u8(writer, value->boolean ? TAG_TRUE : TAG_FALSE);
        break;
    case SCRIPT_NUMBER:
        write_attribute_number(writer, value->number);
        break;
    case SCRIPT_TEXT:
        byte_write_u8(writer, TAG_TEXT);
        byte_write_varint(writer, value->text.bytes);
        byte_write_bytes(writer, value->text.data, value->text.bytes);
        break;
    case SCRIPT_VECTOR:
        byte_write_u8(writer, TAG_VECTOR);
        byte_write_f32(writer, value->vector.x);
        byte_write_f32(writer, value->vector.y);
        byte_write_f32(writer, value->vector.z);
        break;
    case SCRIPT_ENTITY:
        byte_write_u8(writer, TAG_ENTITY);
        byte_write_varint(writer, value->entity);
        break;
    default:
        byte_write_u8(writer, TAG_NIL);
        break;
    }
}

void value_write_attributes(const ScriptValue *values, uint32_t count, ByteWriter *writer)
{
    byte_write_u8(writer, TAG_LIST);
    byte_write_varint(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        write_attribute(writer, &values[i]);
    }
}
