// DataStore: requests to the owner that pause the caller until the answer is durable.
#include "core/script/api/api.h"
#include "core/script/runtime/value.h"

#define UPDATE_TRIES 8

typedef struct StoreObject {
    char name[WORLD_NAME_BYTES_MAX + 1];
    uint32_t name_bytes;
    bool ordered;
} StoreObject;

static int open_store(lua_State *thread, bool ordered)
{
    const Text name = api_valid_text(thread, 1, 1, WORLD_NAME_BYTES_MAX);
    StoreObject *store = lua_newuserdatauv(thread, sizeof *store, 0);
    *store = (StoreObject){.name_bytes = (uint32_t)name.bytes, .ordered = ordered};
    for (size_t i = 0; i < name.bytes; i++) {
        store->name[i] = name.data[i];
    }
    luaL_setmetatable(thread, "DataStore");
    return 1;
}

int api_DataStore_GetDataStore(lua_State *thread)
{
    return open_store(thread, false);
}

int api_DataStore_GetOrderedDataStore(lua_State *thread)
{
    return open_store(thread, true);
}

static StoreRequest request_of(lua_State *thread, StoreOperation operation)
{
    const StoreObject *store = luaL_checkudata(thread, 1, "DataStore");
    return (StoreRequest){.operation = operation,
                          .ordered = store->ordered,
                          .store = {store->name, store->name_bytes}};
}

static void set_key(lua_State *thread, StoreRequest *request)
{
    request->key = api_valid_text(thread, 2, 1, STORE_KEY_BYTES_MAX);
}

// The values from one stack index to another become the value of the request, as a list.
static void set_values(lua_State *thread, StoreRequest *request, int first, int last,
                       const ValueUse *use)
{
    ScriptSystem *system = script_of(thread);
    arena_reset(&system->json_arena);
    uint8_t *bytes = arena_alloc_raw(&system->json_arena, VALUE_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, VALUE_BYTES_MAX);
    char error[VALUE_ERROR_BYTES];
    if (value_write_for(thread, first, last, use, &writer, error) != STATUS_OK) {
        luaL_error(thread, "DataStore: %s", error);
    }
    request->value = bytes;
    request->value_bytes = writer.at;
}

static void set_value(lua_State *thread, StoreRequest *request, int index, const ValueUse *use)
{
    if (request->ordered && !lua_isinteger(thread, index)) {
        luaL_error(thread, "an ordered store keeps integers; math.floor makes one of a number, and "
                           "GetDataStore gives a store for other values");
    }
    set_values(thread, request, index, index, use);
}

static void submit(lua_State *thread, StoreRequest *request)
{
    request->request_id = schedule_request(thread);
    const Status status = api_methods(thread)->store(api_world(thread), request);
    if (status == STATUS_LIMIT && api_world(thread)->refusal == NULL) {
        luaL_error(thread, "DataStore: too many requests at once; put task.wait() between them, or "
                           "store one table instead of many keys");
    }
    api_check_change(thread, status, "DataStore");
}

static int ask(lua_State *thread, StoreRequest *request)
{
    submit(thread, request);
    return lua_yieldk(thread, 0, lua_gettop(thread), api_answered);
}

// The answer to a read is (value, version); scripts see the value.
static int read_is_over(lua_State *thread, int status, lua_KContext context)
{
    (void)api_answered(thread, status, context);
    lua_settop(thread, (int)context + 2);
    return 1;
}

int api_DataStore_GetAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_GET);
    set_key(thread, &request);
    submit(thread, &request);
    return lua_yieldk(thread, 0, lua_gettop(thread), read_is_over);
}

int api_DataStore_SetAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_SET);
    set_key(thread, &request);
    static const ValueUse use = {"argument", 2, "stored"};
    set_value(thread, &request, 3, &use);
    return ask(thread, &request);
}

int api_DataStore_IncrementAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_INCREMENT);
    set_key(thread, &request);
    request.number = api_is_given(thread, 3) ? (double)luaL_checkinteger(thread, 3) : 1;
    return ask(thread, &request);
}

int api_DataStore_RemoveAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_REMOVE);
    set_key(thread, &request);
    return ask(thread, &request);
}

static int field_of(lua_State *thread, int table, const char *name)
{
    lua_pushstring(thread, name);
    return lua_rawget(thread, table);
}

// The entry after which the page begins, at index 6: its number goes to 6, its key into the
// request.
static void set_after(lua_State *thread, StoreRequest *request)
{
    lua_settop(thread, 6);
    if (lua_isnil(thread, 6)) {
        return;
    }
    const bool has_key = field_of(thread, 6, "key") == LUA_TSTRING;
    const bool has_value = field_of(thread, 6, "value") == LUA_TNUMBER && lua_isinteger(thread, 8);
    const Text key = has_key ? api_text(thread, 7) : (Text){NULL, 0};
    if (!has_value || key.bytes < 1 || key.bytes > STORE_KEY_BYTES_MAX ||
        text_error(key.data, key.bytes) != NULL) {
        luaL_error(thread, "GetSortedAsync: after is an entry of the page before: page[#page]");
    }
    request->key = key; // which stays on the stack
    lua_copy(thread, 8, 6);
}

int api_DataStore_GetSortedAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_SORTED);
    if (!request.ordered) {
        return luaL_error(thread, "GetSortedAsync works on a store from GetOrderedDataStore");
    }
    request.ascending = lua_toboolean(thread, 2) != 0;
    request.number = (double)luaL_checkinteger(thread, 3);
    if (!(request.number >= 1 && request.number <= 100)) {
        return luaL_error(thread, "GetSortedAsync: count is between 1 and 100; read more with a "
                                  "second page, after the last entry of the first");
    }
    set_after(thread, &request);
    if (lua_isinteger(thread, 4) && lua_isinteger(thread, 5) &&
        lua_tointeger(thread, 4) > lua_tointeger(thread, 5)) {
        return luaL_error(thread, "GetSortedAsync: min is greater than max");
    }
    static const ValueUse use = {"argument", 3, "compared"};
    set_values(thread, &request, 4, 6, &use);
    return ask(thread, &request);
}

int api_DataStore_ListVersionsAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_VERSIONS);
    set_key(thread, &request);
    return ask(thread, &request);
}

int api_DataStore_GetVersionAsync(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_GET_VERSION);
    set_key(thread, &request);
    const lua_Integer version = luaL_checkinteger(thread, 3);
    if (version < 1) {
        return luaL_error(thread, "GetVersionAsync: versions count from 1; ListVersionsAsync says "
                                  "which there are");
    }
    request.version = (uint64_t)version;
    return ask(thread, &request);
}

// --- UpdateAsync: read, transform, write if nobody else did -------------------------------------
//
// The stack meanwhile: 1 store, 2 key, 3 transform, 4 tries left, 5 version, 6 old value, 7 new
// value.

static int update_read(lua_State *thread);
static int update_transformed(lua_State *thread, int status, lua_KContext context);

static int update_was_read(lua_State *thread, int status, lua_KContext context)
{
    (void)api_answered(thread, status, context); // 4 tries, 5 true, 6 value, 7 version
    lua_settop(thread, 7);
    lua_pushvalue(thread, 7);
    lua_replace(thread, 5);
    lua_settop(thread, 6);
    lua_pushvalue(thread, 3);
    lua_pushvalue(thread, 6);
    lua_callk(thread, 1, 1, 0, update_transformed);
    return update_transformed(thread, LUA_OK, 0);
}

static int update_was_written(lua_State *thread, int status, lua_KContext context)
{
    (void)api_answered(thread, status, context); // 8 true, 9 whether it was still that version
    if (lua_toboolean(thread, 9)) {
        lua_settop(thread, 7);
        return 1;
    }
    const lua_Integer left = lua_tointeger(thread, 4) - 1;
    if (left <= 0) {
        return luaL_error(thread, "UpdateAsync: others keep writing this key; try again later");
    }
    lua_settop(thread, 3);
    lua_pushinteger(thread, left);
    return update_read(thread);
}

static int update_transformed(lua_State *thread, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    lua_settop(thread, 7);
    if (lua_isnil(thread, 7)) {
        lua_pushvalue(thread, 6);
        return 1;
    }
    StoreRequest request = request_of(thread, STORE_COMPARE_AND_SET);
    set_key(thread, &request);
    static const ValueUse use = {"the transform's result", 1, "stored"};
    set_value(thread, &request, 7, &use);
    request.version = (uint64_t)lua_tointeger(thread, 5);
    submit(thread, &request);
    return lua_yieldk(thread, 0, 7, update_was_written);
}

static int update_read(lua_State *thread)
{
    StoreRequest request = request_of(thread, STORE_GET);
    set_key(thread, &request);
    submit(thread, &request);
    return lua_yieldk(thread, 0, 4, update_was_read);
}

int api_DataStore_UpdateAsync(lua_State *thread)
{
    lua_settop(thread, 3);
    lua_pushinteger(thread, UPDATE_TRIES);
    return update_read(thread);
}
