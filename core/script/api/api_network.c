// Network: messages between the sides. A handler is a connection to the signal of the message's
// name; a call (Invoke) pauses the caller until the answer comes back by its number.
//
// Declare says what a message looks like; what does not fit is dropped and counted before any
// handler sees it.
#include "core/script/api/api.h"
#include "core/script/runtime/value.h"

#include <stdio.h>
#include <string.h>

#define RATE_MOST 1000 // of Declare; ten times what the world takes from one client

static Text check_name(lua_State *thread, int index)
{
    return api_valid_text(thread, index, 1, WORLD_NAME_BYTES_MAX);
}

// The arguments after `name_index` as bytes in scratch memory, good until the next call.
static ScriptMessage pack(lua_State *thread, int name_index, bool reliable)
{
    ScriptSystem *system = script_of(thread);
    const Text name = check_name(thread, name_index);
    arena_reset(&system->json_arena);
    uint8_t *bytes = arena_alloc(&system->json_arena, VALUE_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, VALUE_BYTES_MAX);
    char error[VALUE_ERROR_BYTES];
    if (value_write(thread, name_index + 1, lua_gettop(thread), &writer, error) != STATUS_OK) {
        luaL_error(thread, "%s: %s", lua_tostring(thread, name_index), error);
    }
    return (ScriptMessage){
        .name = name, .payload = bytes, .payload_bytes = writer.at, .reliable = reliable};
}

static int send(lua_State *thread, const ScriptMessage *message)
{
    const Status status = api_methods(thread)->send(api_world(thread), message);
    if (status == STATUS_LIMIT && api_world(thread)->refusal == NULL) {
        return luaL_error(thread, "too many messages, or too large; slow down");
    }
    api_check_change(thread, status, "Network");
    return 0;
}

static int fire_server(lua_State *thread, bool reliable)
{
    const ScriptMessage message = pack(thread, 1, reliable);
    return send(thread, &message);
}

int api_Network_FireServer(lua_State *thread)
{
    return fire_server(thread, true);
}

int api_Network_FireServerUnreliable(lua_State *thread)
{
    return fire_server(thread, false);
}

static int fire_client(lua_State *thread, bool reliable)
{
    ScriptMessage message = pack(thread, 2, reliable);
    message.player_id = object_player(thread, 1);
    return send(thread, &message);
}

int api_Network_FireClient(lua_State *thread)
{
    return fire_client(thread, true);
}

int api_Network_FireClientUnreliable(lua_State *thread)
{
    return fire_client(thread, false);
}

int api_Network_Broadcast(lua_State *thread)
{
    return fire_server(thread, true); // player 0 is everybody
}

int api_Network_BroadcastUnreliable(lua_State *thread)
{
    return fire_server(thread, false);
}

// Connects the function at 2 to the signal of the message named at 1.
static int listen(lua_State *thread, const char *prefix)
{
    char key[WORLD_NAME_BYTES_MAX + 32];
    (void)check_name(thread, 1);
    snprintf(key, sizeof key, "%s:%s", prefix, lua_tostring(thread, 1));
    (void)signal_push_named(script_of(thread), thread, key, true);
    lua_replace(thread, 1);
    return signal_connect(thread);
}

int api_Network_OnClientEvent(lua_State *thread)
{
    return listen(thread, "Message");
}

int api_Network_OnServerEvent(lua_State *thread)
{
    return listen(thread, "Message");
}

int api_Network_OnInvoke(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    (void)check_name(thread, 1);
    // One answers; the last to say so.
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->invokes_ref);
    lua_pushvalue(thread, 1);
    lua_createtable(thread, 2, 0);
    lua_pushvalue(thread, 2);
    lua_rawseti(thread, -2, 1);
    lua_pushinteger(thread, (lua_Integer)system->current_instance.index);
    lua_rawseti(thread, -2, 2);
    lua_pushinteger(thread, (lua_Integer)system->current_instance.generation);
    lua_rawseti(thread, -2, 3);
    lua_rawset(thread, -3);
    lua_settop(thread, 2);
    signal_push_new(thread); // its connection is what ends the handler
    lua_insert(thread, 1);
    lua_settop(thread, 3);
    lua_remove(thread, 2);
    return signal_connect(thread);
}

int api_answered(lua_State *thread, int status, lua_KContext context)
{
    (void)status;
    const int first = (int)context + 1; // (ok, values… or message)
    if (!lua_toboolean(thread, first)) {
        return luaL_error(thread, "%s", lua_tostring(thread, first + 1));
    }
    return lua_gettop(thread) - first;
}

int api_Network_Invoke(lua_State *thread)
{
    ScriptMessage message = pack(thread, 1, true);
    message.invoke_id = schedule_request(thread);
    (void)send(thread, &message);
    return lua_yieldk(thread, 0, lua_gettop(thread), api_answered);
}

int api_Network_Declare(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    (void)check_name(thread, 1);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->declares_ref);
    lua_pushvalue(thread, 1);
    lua_createtable(thread, 0, 2);
    if (api_option(thread, 2, "types")) {
        luaL_checktype(thread, -1, LUA_TTABLE);
        lua_setfield(thread, -2, "types");
    } else {
        lua_pop(thread, 1);
    }
    if (api_option(thread, 2, "rate")) {
        const double rate = luaL_checknumber(thread, -1);
        if (!(rate >= 1 && rate <= RATE_MOST)) { // NaN is refused too
            return luaL_error(thread, "Network.Declare: rate is between 1 and %d a second",
                              RATE_MOST);
        }
        lua_pushnumber(thread, rate);
        lua_setfield(thread, -3, "rate");
    }
    lua_pop(thread, 1);
    lua_rawset(thread, -3);
    return 0;
}

// Whether the top `count` values of the main stack fit what was declared for a message.
static bool fits_declaration(ScriptSystem *system, const char *name, int count)
{
    lua_State *thread = system->lua;
    const int first = lua_gettop(thread) - count + 1;
    const int top = lua_gettop(thread);
    bool fits = true;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->declares_ref);
    if (lua_getfield(thread, -1, name) == LUA_TTABLE &&
        lua_getfield(thread, -1, "types") == LUA_TTABLE) {
        const lua_Unsigned declared = lua_rawlen(thread, -1);
        fits = (lua_Unsigned)count == declared;
        for (int i = 0; i < count && fits; i++) {
            lua_rawgeti(thread, -1, i + 1);
            const char *type = lua_tostring(thread, -1);
            fits = type != NULL && api_has_type(thread, first + i, type);
            lua_pop(thread, 1);
        }
    }
    lua_settop(thread, top);
    return fits;
}

// Whether one more of a message from this player is within its declared rate, counted by whole
// seconds. What was used is kept in the declaration: player → second * 2^20 + count.
static bool within_rate(ScriptSystem *system, const char *name, uint64_t player_id)
{
    lua_State *thread = system->lua;
    const int top = lua_gettop(thread);
    bool within = true;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->declares_ref);
    if (lua_getfield(thread, -1, name) == LUA_TTABLE &&
        lua_getfield(thread, -1, "rate") == LUA_TNUMBER) {
        const double rate = lua_tonumber(thread, -1);
        lua_pop(thread, 1);
        if (lua_getfield(thread, -1, "used") != LUA_TTABLE) {
            lua_pop(thread, 1);
            lua_newtable(thread);
            lua_pushvalue(thread, -1);
            lua_setfield(thread, -3, "used");
        }
        lua_rawgeti(thread, -1, (lua_Integer)player_id);
        const uint64_t used = (uint64_t)lua_tointeger(thread, -1);
        const uint64_t second = system->tick / system->config.tick_rate;
        const uint64_t count = used >> 20 == second ? (used & 0xfffff) + 1 : 1;
        within = (double)count <= rate;
        lua_pop(thread, 1);
        lua_pushinteger(thread, (lua_Integer)(second << 20 | (count < 0xfffff ? count : 0xfffff)));
        lua_rawseti(thread, -2, (lua_Integer)player_id);
    }
    lua_settop(thread, top);
    return within;
}

void api_forget_handlers(ScriptSystem *system, Handle handle)
{
    lua_State *thread = system->lua;
    const int top = lua_gettop(thread);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->ui_ref);
    lua_pushnil(thread);
    lua_rawseti(thread, -2, (lua_Integer)instance_at(system, handle)->number);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->invokes_ref);
    for (lua_pushnil(thread); lua_next(thread, top + 2) != 0; lua_settop(thread, top + 3)) {
        lua_rawgeti(thread, -1, 2);
        if ((uint32_t)lua_tointeger(thread, -1) == handle.index) {
            lua_pushvalue(thread, top + 3);
            lua_pushnil(thread);
            lua_rawset(thread, top + 2);
        }
    }
    lua_settop(thread, top);
}

static void drop(ScriptSystem *system)
{
    system->totals.messages_dropped += 1;
}

// The values of a message belong to who gets them.
static Status read_values(ScriptSystem *system, const ScriptEvent *event, const char *key,
                          int *count)
{
    const uint32_t owner = memory_enter(system, signal_listener(system, key));
    const Status status = value_read(system->lua, event->payload, event->payload_bytes, count);
    memory_leave(system, owner);
    return status;
}

// Calls the handler of a remote call; its results become the answer.
static void run_invoke(ScriptSystem *system, const ScriptEvent *event, const char *name, int count)
{
    lua_State *thread = system->lua;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->invokes_ref);
    if (lua_getfield(thread, -1, name) != LUA_TTABLE) {
        lua_pop(thread, 2 + count);
        api_refuse_invoke(system, event, "nobody answers this call");
        return;
    }
    lua_rawgeti(thread, -1, 2);
    lua_rawgeti(thread, -2, 3);
    const Handle instance = {(uint32_t)lua_tointeger(thread, -2),
                             (uint32_t)lua_tointeger(thread, -1)};
    lua_pop(thread, 2);
    lua_rawgeti(thread, -1, 1);
    lua_insert(thread, -count - 3);
    lua_pop(thread, 2);
    const uint32_t slot = instance_at(system, instance) != NULL
                              ? hook_event_thread(system, instance, HOOK_HANDLER)
                              : 0;
    if (slot == 0) {
        lua_pop(thread, count + 1);
        api_refuse_invoke(system, event, "nobody answers this call");
        return;
    }
    Thread *made = thread_at(system, slot);
    made->invoke_id = event->invoke_id;
    made->invoke_player = event->player_id;
    luaL_checkstack(made->lua, count + 1, NULL);
    lua_xmove(thread, made->lua, count + 1);
    hook_run(system, slot, count);
}

void api_message(ScriptSystem *system, const ScriptEvent *event)
{
    lua_State *thread = system->lua;
    char name[WORLD_NAME_BYTES_MAX + 1];
    if (event->name.bytes == 0 || event->name.bytes > WORLD_NAME_BYTES_MAX ||
        !text_is_valid(event->name.data, event->name.bytes)) {
        drop(system);
        return;
    }
    memcpy(name, event->name.data, event->name.bytes);
    name[event->name.bytes] = 0;
    char key[WORLD_NAME_BYTES_MAX + 32];
    snprintf(key, sizeof key, "Message:%s", name);
    int count = 0;
    const int before = lua_gettop(thread);
    if (system->methods->side == SCRIPT_SERVER) {
        object_push_player(thread, event->player_id);
    }
    const int extra = lua_gettop(thread) - before;
    if (!within_rate(system, name, event->player_id) ||
        read_values(system, event, key, &count) != STATUS_OK ||
        !fits_declaration(system, name, count)) {
        lua_settop(thread, before);
        drop(system);
        if (event->invoke_id != 0) {
            api_refuse_invoke(system, event, "the arguments do not fit, or it is asked too often");
        }
        return;
    }
    if (event->invoke_id != 0) {
        run_invoke(system, event, name, count + extra);
        return;
    }
    api_fire(system, key, count + extra);
}

// --- answers ------------------------------------------------------------------------------------

static void send_answer(ScriptSystem *system, uint64_t invoke_id, uint64_t player_id, bool ok,
                        const uint8_t *bytes, size_t count)
{
    const ScriptMessage message = {.player_id = player_id,
                                   .name = ok ? (Text){"answer", 6} : (Text){"refusal", 7},
                                   .payload = bytes,
                                   .payload_bytes = count,
                                   .reliable = true,
                                   .invoke_id = invoke_id};
    if (system->methods->send(system->config.world, &message) != STATUS_OK) {
        drop(system);
    }
}

void api_refuse_invoke(ScriptSystem *system, const ScriptEvent *event, const char *why)
{
    send_answer(system, event->invoke_id, event->player_id, false, (const uint8_t *)why,
                strlen(why));
}

void api_answer(ScriptSystem *system, Thread *made, bool ok, int result_count)
{
    static const char failed[] = "the handler failed";
    arena_reset(&system->json_arena);
    uint8_t *bytes = arena_alloc(&system->json_arena, VALUE_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, VALUE_BYTES_MAX);
    char error[VALUE_ERROR_BYTES];
    const int top = ok ? lua_gettop(made->lua) : 0;
    if (!ok || value_write(made->lua, top - result_count + 1, top, &writer, error) != STATUS_OK) {
        send_answer(system, made->invoke_id, made->invoke_player, false, (const uint8_t *)failed,
                    sizeof failed - 1);
        return;
    }
    send_answer(system, made->invoke_id, made->invoke_player, true, bytes, writer.at);
}
