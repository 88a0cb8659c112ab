// JSON into Lua values and back: parameters of scripts, Json.Decode and Json.Encode. The tree of a
// text is in scratch memory of the system until the call returns; the reader limits depth and size,
// and scripts are charged for their own calls.
#include "core/base/json.h"
#include "core/base/json_write.h"
#include "core/script/runtime/script_inside.h"
#include "core/script/runtime/value.h"

#include <stdio.h>
#include <string.h>

// Walks the tree without recursion: a node's table waits on the stack while its children are
// pushed.
static void push_node(lua_State *lua, const JsonNode *node)
{
    switch (node->kind) {
    case JSON_BOOL:
        lua_pushboolean(lua, node->boolean);
        break;
    case JSON_NUMBER:
        if (node->is_integer) {
            lua_pushinteger(lua, node->integer);
        } else {
            lua_pushnumber(lua, node->number);
        }
        break;
    case JSON_STRING:
        lua_pushlstring(lua, node->text, node->count);
        break;
    case JSON_ARRAY:
        lua_createtable(lua, (int)node->count, 0);
        break;
    case JSON_OBJECT:
        lua_createtable(lua, 0, (int)node->count);
        break;
    default:
        lua_pushnil(lua);
        break;
    }
}

// Puts the finished value on top of the stack into the table below it.
static void store_in_parent(lua_State *lua, const JsonNode *node)
{
    if (node->name != NULL) {
        lua_pushlstring(lua, node->name, node->name_bytes);
        lua_insert(lua, -2);
        lua_rawset(lua, -3);
    } else {
        lua_rawseti(lua, -2, (lua_Integer)node->index + 1);
    }
}

static bool has_children(const JsonNode *node)
{
    return (node->kind == JSON_ARRAY || node->kind == JSON_OBJECT) && node->count > 0;
}

static void push_tree(lua_State *lua, const JsonNode *root)
{
    const JsonNode *node = root;
    push_node(lua, node);
    while (has_children(node)) {
        node = node->first;
        push_node(lua, node);
        while (!has_children(node)) {
            // This one is finished: store it in its parent, then go to the next sibling, or up.
            while (node != root) {
                store_in_parent(lua, node);
                if (node->next != NULL) {
                    break;
                }
                node = node->parent;
            }
            if (node == root) {
                return;
            }
            node = node->next;
            push_node(lua, node);
        }
    }
}

static Status parse_parameters(ScriptSystem *system, const char *json, size_t bytes,
                               const JsonNode **root, char *error, size_t capacity)
{
    arena_reset(&system->json_arena);
    JsonConfig config = json_config_default(&system->json_arena);
    JsonError failure = {0};
    const Status status = json_parse(&config, json, bytes, root, &failure);
    if (status != STATUS_OK) {
        snprintf(error, capacity, "line %u, column %u: %s %s", failure.line, failure.column,
                 failure.path, failure.message);
    }
    return status;
}

Status params_push_value(lua_State *lua, const char *json, size_t bytes, char *error,
                         size_t capacity)
{
    const JsonNode *root = NULL;
    const Status status = parse_parameters(script_of(lua), json, bytes, &root, error, capacity);
    if (status == STATUS_OK) {
        luaL_checkstack(lua, JSON_DEPTH_MAX + 8, NULL);
        push_tree(lua, root);
    }
    return status;
}

bool params_push(lua_State *lua, const char *json, size_t bytes, char *error, size_t capacity)
{
    const JsonNode *root = NULL;
    if (parse_parameters(script_of(lua), json, bytes, &root, error, capacity) != STATUS_OK) {
        return false;
    }
    if (root->kind != JSON_OBJECT) {
        snprintf(error, capacity, "parameters must be an object, not %s",
                 json_kind_text((JsonKind)root->kind));
        return false;
    }
    luaL_checkstack(lua, JSON_DEPTH_MAX + 8, NULL);
    push_tree(lua, root);
    return true;
}

// --- writing ------------------------------------------------------------------------------------

// Steps that it takes to write them, as tests/script/api_cost.txt measures it.
#define VALUE_STEPS   20
#define INTEGER_STEPS 50
#define FLOAT_STEPS   80 // its shortest text
#define ESCAPE_STEPS  6

// A text's bytes are looked at one by one, and some become several.
static void charge_text(lua_State *lua, const char *text, size_t bytes)
{
    uint64_t steps = 0;
    vm_charge(lua, bytes);
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)text[i];
        steps += byte < 0x20 || byte == '"' || byte == '\\' ? ESCAPE_STEPS : byte >= 0x80;
    }
    vm_charge(lua, steps);
}

static void write_value(lua_State *lua, int index, JsonWriter *writer, uint32_t depth);

static void write_table(lua_State *lua, int index, JsonWriter *writer, uint32_t depth)
{
    uint64_t length = 0;
    luaL_checkstack(lua, 8, "too deep");
    if (value_is_list(lua, index, &length)) {
        json_write_array_begin(writer);
        for (uint64_t i = 1; i <= length; i++) {
            lua_rawgeti(lua, index, (lua_Integer)i);
            write_value(lua, lua_gettop(lua), writer, depth + 1);
            lua_pop(lua, 1);
        }
        json_write_array_end(writer);
        return;
    }
    json_write_object_begin(writer);
    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {
        if (lua_type(lua, -2) != LUA_TSTRING) {
            luaL_error(lua, "Json.Encode: a table with names cannot also have a %s as key",
                       luaL_typename(lua, -2));
        }
        size_t bytes = 0;
        const char *name = lua_tolstring(lua, -2, &bytes);
        charge_text(lua, name, bytes);
        json_write_name_bytes(writer, name, bytes);
        write_value(lua, lua_gettop(lua), writer, depth + 1);
        lua_pop(lua, 1);
    }
    json_write_object_end(writer);
}

// The depth is bounded by JSON_DEPTH_MAX, and so is the recursion.
static void write_value(lua_State *lua, int index, JsonWriter *writer, uint32_t depth)
{
    if (depth >= JSON_DEPTH_MAX) {
        luaL_error(lua, "Json.Encode: more than %d tables inside each other", JSON_DEPTH_MAX);
    }
    size_t bytes = 0;
    const char *text = NULL;
    vm_charge(lua, VALUE_STEPS);
    switch (lua_type(lua, index)) {
    case LUA_TNIL:
        json_write_null(writer);
        break;
    case LUA_TBOOLEAN:
        json_write_bool(writer, lua_toboolean(lua, index) != 0);
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(lua, index)) {
            vm_charge(lua, INTEGER_STEPS);
            json_write_integer(writer, lua_tointeger(lua, index));
        } else {
            vm_charge(lua, FLOAT_STEPS);
            json_write_number(writer, lua_tonumber(lua, index));
        }
        break;
    case LUA_TSTRING:
        text = lua_tolstring(lua, index, &bytes);
        charge_text(lua, text, bytes);
        json_write_text_bytes(writer, text, bytes);
        break;
    case LUA_TTABLE:
        write_table(lua, index, writer, depth);
        break;
    default:
        luaL_error(lua, "Json.Encode: a %s has no JSON", luaL_typename(lua, index));
    }
    if (writer->out->status == STATUS_RANGE) {
        luaL_error(lua, "Json.Encode: NaN and infinity have no JSON");
    } else if (writer->out->status != STATUS_OK) {
        luaL_error(lua, "Json.Encode: %s", status_text(writer->out->status));
    }
}

void params_encode(lua_State *lua, int index)
{
    ScriptSystem *system = script_of(lua);
    arena_reset(&system->json_arena);
    uint8_t *bytes = arena_alloc_raw(&system->json_arena, VM_STRING_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter out = byte_writer(bytes, VM_STRING_BYTES_MAX);
    JsonWriter writer = json_writer(&out, 0);
    write_value(lua, lua_absindex(lua, index), &writer, 0);
    lua_pushlstring(lua, (const char *)bytes, out.at);
}
