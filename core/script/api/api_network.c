// Network: messages between the sides. A handler is a connection to the signal of the message's
// name; a call (Invoke) pauses the caller until the answer with its number comes back.
// Declare describes a message; one that does not fit is refused before any handler sees it, and the
// creator sees each reason once (remote_refused.c).
#include "core/script/api/api.h"

#include "core/base/nearest.h"
#include "core/script/runtime/value.h"

#include <stdio.h>
#include <string.h>

#define RATE_MOST  1000 // of Declare; ten times what the world accepts from one client
#define SEND_STEPS 150  // to pack a message, beside its bytes

static Text check_name(lua_State *thread, int index)
{
    return api_valid_text(thread, index, 1, WORLD_NAME_BYTES_MAX);
}

// The arguments after `name_index` as bytes in scratch memory, good until the next call.
static ScriptMessage pack(lua_State *thread, int name_index, bool reliable)
{
    ScriptSystem *system = script_of(thread);
    const Text name = check_name(thread, name_index);
    vm_charge(thread, SEND_STEPS);
    arena_reset(&system->json_arena);
    uint8_t *bytes = arena_alloc_raw(&system->json_arena, VALUE_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, VALUE_BYTES_MAX);
    char error[VALUE_ERROR_BYTES];
    if (value_write(thread, name_index + 1, lua_gettop(thread), &writer, error) != STATUS_OK) {
        luaL_error(thread, "%s: %s", lua_tostring(thread, name_index), error);
    }
    vm_charge_bytes(thread, 2 * writer.at); // it is copied again
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

// The running script listens to the message, or has declared it: what is wrong with it is shown
// there.
static void note_name(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const Instance *instance = instance_at(system, system->current_instance);
    const uint32_t row = remote_cost_add(&system->remotes, check_name(thread, 1));
    if (row != REMOTE_COST_OTHERS && instance != NULL) {
        system->remotes.rows[row].script = instance->script;
    }
}

// Connects the function at 2 to the signal of the message named at 1.
static int listen(lua_State *thread)
{
    char key[WORLD_NAME_BYTES_MAX + 32];
    note_name(thread);
    snprintf(key, sizeof key, "Message:%s", lua_tostring(thread, 1));
    (void)signal_push_named(script_of(thread), thread, key, true);
    lua_replace(thread, 1);
    return signal_connect(thread);
}

int api_Network_On(lua_State *thread)
{
    return listen(thread);
}

int api_Network_OnClientEvent(lua_State *thread)
{
    return listen(thread);
}

int api_Network_OnServerEvent(lua_State *thread)
{
    return listen(thread);
}

int api_Network_OnInvoke(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    note_name(thread);
    // Only one handler answers: the last one that was set.
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
    signal_push_new(thread); // its connection removes the handler
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

// --- declarations -------------------------------------------------------------------------------
//
// By the name of the message: {types = list of names or nil, rate = number or nil, used = player →
// second * 2^20 + count, [2] = slot of the instance that declared it}.

// What a declared argument can be; "A | B" takes either.
static const char *const argument_types[] = {"any",    "nil",   "boolean", "number", "integer",
                                             "string", "table", "Vector3", "Entity", "Player"};
#define ARGUMENT_TYPE_COUNT (sizeof argument_types / sizeof argument_types[0])
#define EXAMPLE             " (as in {types = {\"Vector3\", \"number\"}, rate = 10})"
#define ARGUMENT_TYPE_LIST \
    "any, nil, boolean, number, integer, string, table, Vector3, Entity and Player"

static void check_type_word(lua_State *thread, int number, const char *word, size_t bytes)
{
    Nearest nearest = nearest_begin(word, bytes);
    for (size_t i = 0; i < ARGUMENT_TYPE_COUNT; i++) {
        if (strlen(argument_types[i]) == bytes && memcmp(argument_types[i], word, bytes) == 0) {
            return;
        }
        (void)nearest_consider(&nearest, argument_types[i], strlen(argument_types[i]));
    }
    char quote[API_QUOTE_BYTES];
    (void)api_quote((Text){word, bytes}, quote);
    if (nearest.found != NULL) {
        luaL_error(
            thread,
            "Network.Declare: types[%d]: there is no type \"%s\"; did you mean \"%s\"?" EXAMPLE,
            number, quote, nearest.found);
    }
    luaL_error(
        thread,
        "Network.Declare: types[%d]: there is no type \"%s\"; the types are " ARGUMENT_TYPE_LIST
            EXAMPLE,
        number, quote);
}

// The type on top of the stack, word by word.
static void check_type(lua_State *thread, int number)
{
    if (lua_type(thread, -1) != LUA_TSTRING) {
        luaL_error(thread, "Network.Declare: types[%d] must be a string, got %s" EXAMPLE, number,
                   luaL_typename(thread, -1));
    }
    const Text type = api_text(thread, -1);
    vm_charge(thread, 100 + type.bytes);
    for (const char *word = type.data;;) {
        const char *bar = strstr(word, " | ");
        const char *end = bar != NULL ? bar : type.data + type.bytes;
        check_type_word(thread, number, word, (size_t)(end - word));
        if (bar == NULL) {
            return;
        }
        word = bar + 3;
    }
}

// Pushes a copy of the list of types on top, each of them checked.
static void copy_types(lua_State *thread)
{
    const int types = lua_gettop(thread);
    uint64_t count = 0;
    if (!value_is_list(thread, types, &count) || count > VALUE_LIST_MAX) {
        luaL_error(thread, "Network.Declare: types must be a list of at most %d names" EXAMPLE,
                   VALUE_LIST_MAX);
    }
    lua_createtable(thread, (int)count, 0);
    for (int i = 1; i <= (int)count; i++) {
        lua_rawgeti(thread, types, i);
        check_type(thread, i);
        lua_rawseti(thread, -2, i);
    }
}

int api_Network_Declare(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    note_name(thread);
    lua_settop(thread, 2);
    lua_createtable(thread, 0, 3);
    if (api_option(thread, 2, "types")) {
        copy_types(thread);
        lua_setfield(thread, 3, "types");
    }
    if (api_option(thread, 2, "rate")) {
        const double rate = luaL_checknumber(thread, -1);
        if (!(rate >= 1 && rate <= RATE_MOST)) { // rejects NaN too
            return luaL_error(thread, "Network.Declare: rate is between 1 and %d a second" EXAMPLE,
                              RATE_MOST);
        }
        lua_setfield(thread, 3, "rate");
    }
    lua_settop(thread, 3);
    lua_pushinteger(thread, (lua_Integer)system->current_instance.index);
    lua_rawseti(thread, 3, 2);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->declares_ref);
    lua_pushvalue(thread, 1);
    if (lua_rawget(thread, 4) == LUA_TNIL) {
        if (system->declare_count == REMOTE_DECLARED_MAX) {
            return luaL_error(thread, "Network.Declare: at most %d messages can be declared",
                              REMOTE_DECLARED_MAX);
        }
        system->declare_count += 1;
    }
    lua_pushvalue(thread, 1);
    lua_pushvalue(thread, 3);
    lua_rawset(thread, 4);
    return 0;
}

// --- what is refused ----------------------------------------------------------------------------

#define REASON_BYTES 160

// Pushes the declaration of a message on the main stack, or nil.
static bool push_declaration(ScriptSystem *system, const char *name)
{
    lua_rawgeti(system->lua, LUA_REGISTRYINDEX, system->declares_ref);
    const bool declared = lua_getfield(system->lua, -1, name) == LUA_TTABLE;
    lua_remove(system->lua, -2);
    return declared;
}

static void type_reason(lua_State *thread, int number, const char *type, int index,
                        char reason[REASON_BYTES])
{
    const char *got = object_is_vector(thread, index)   ? "Vector3"
                      : object_is_entity(thread, index) ? "Entity"
                      : object_is_player(thread, index) ? "Player"
                                                        : luaL_typename(thread, index);
    snprintf(reason, REASON_BYTES, "argument %d must be of type %.64s, got %s", number, type, got);
}

// Whether the top `count` values of the main stack fit what was declared for a message; if not,
// why.
static bool fits_declaration(ScriptSystem *system, const char *name, int count,
                             char reason[REASON_BYTES])
{
    lua_State *thread = system->lua;
    const int first = lua_gettop(thread) - count + 1;
    const int top = lua_gettop(thread);
    bool fits = true;
    if (push_declaration(system, name) && lua_getfield(thread, -1, "types") == LUA_TTABLE) {
        const lua_Unsigned declared = lua_rawlen(thread, -1);
        fits = (lua_Unsigned)count == declared;
        if (!fits) {
            snprintf(reason, REASON_BYTES, "it has %d arguments, and %d are declared", count,
                     (int)declared);
        }
        for (int i = 0; i < count && fits; i++) {
            lua_rawgeti(thread, -1, i + 1);
            const char *type = lua_tostring(thread, -1);
            fits = api_has_type(thread, first + i, type);
            if (!fits) {
                type_reason(thread, i + 1, type, first + i, reason);
            }
            lua_pop(thread, 1);
        }
    }
    lua_settop(thread, top);
    return fits;
}

// Whether one more message from this player is within its declared rate, counted by whole seconds.
// Checked last, so that messages dropped for another reason do not count.
static bool within_rate(ScriptSystem *system, const char *name, uint64_t player_id,
                        char reason[REASON_BYTES])
{
    lua_State *thread = system->lua;
    const int top = lua_gettop(thread);
    bool within = true;
    if (push_declaration(system, name) && lua_getfield(thread, -1, "rate") == LUA_TNUMBER) {
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
        snprintf(reason, REASON_BYTES, "it came more often than %g times a second", rate);
        lua_pop(thread, 1);
        lua_pushinteger(thread, (lua_Integer)(second << 20 | (count < 0xfffff ? count : 0xfffff)));
        lua_rawseti(thread, -2, (lua_Integer)player_id);
    }
    lua_settop(thread, top);
    return within;
}

// Removes the entries of a table behind `ref` that an instance has made; gives how many.
static uint32_t forget_entries(ScriptSystem *system, int ref, Handle handle)
{
    lua_State *thread = system->lua;
    const int top = lua_gettop(thread);
    uint32_t count = 0;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, ref);
    for (lua_pushnil(thread); lua_next(thread, top + 1) != 0; lua_settop(thread, top + 2)) {
        lua_rawgeti(thread, -1, 2);
        if ((uint32_t)lua_tointeger(thread, -1) == handle.index) {
            lua_pushvalue(thread, top + 2);
            lua_pushnil(thread);
            lua_rawset(thread, top + 1);
            count += 1;
        }
    }
    lua_settop(thread, top);
    return count;
}

void api_forget_handlers(ScriptSystem *system, Handle handle)
{
    api_forget_shown(system->lua, instance_at(system, handle));
    (void)forget_entries(system, system->invokes_ref, handle);
    system->declare_count -= forget_entries(system, system->declares_ref, handle);
}

// The values of a message belong to the receiver.
static Status read_values(ScriptSystem *system, const ScriptEvent *event, Handle receiver,
                          int *count)
{
    const uint32_t owner = memory_enter(system, receiver);
    const Status status = value_read(system->lua, event->payload, event->payload_bytes, count);
    memory_leave(system, owner);
    return status;
}

static bool is_answered(ScriptSystem *system, const char *name)
{
    lua_rawgeti(system->lua, LUA_REGISTRYINDEX, system->invokes_ref);
    const bool is = lua_getfield(system->lua, -1, name) == LUA_TTABLE;
    lua_pop(system->lua, 2);
    return is;
}

// Nobody listens to the message: which one may have been meant.
static void nobody_reason(ScriptSystem *system, const char *name, bool is_call,
                          char reason[REASON_BYTES])
{
    if (!is_call && is_answered(system, name)) {
        snprintf(reason, REASON_BYTES,
                 "Network.OnInvoke answers it: ask with Network.Invoke, not with FireServer");
        return;
    }
    Nearest nearest = nearest_begin(name, strlen(name));
    for (uint32_t i = 1; i < system->remotes.count; i++) {
        const RemoteCost *row = &system->remotes.rows[i];
        if (!handle_is_none(row->script) && strcmp(row->name, name) != 0) {
            (void)nearest_consider(&nearest, row->name, row->name_bytes);
        }
    }
    snprintf(reason, REASON_BYTES, "no script of the server %s it%s%.64s%s",
             is_call ? "answers" : "listens to", nearest.found != NULL ? " (did you mean \"" : "",
             nearest.found != NULL ? nearest.found : "", nearest.found != NULL ? "\"?)" : "");
}

// Counts a message that no handler gets, shows the creator why, and answers if it was a call.
static void refuse(ScriptSystem *system, const ScriptEvent *event, RemoteRefusal refusal,
                   const char *reason)
{
    script_remote_refused(system, event->name, event->player_id, refusal, reason);
    if (event->invoke_id != 0) {
        api_refuse_invoke(system, event, reason);
    }
}

// --- calls --------------------------------------------------------------------------------------

// The line where the function at the bottom of a new thread begins, if it is in its script's own
// file.
static uint32_t handler_line(const ScriptSystem *system, const Thread *made)
{
    const Script *script = script_at(system, made->script);
    lua_Debug info;
    lua_pushvalue(made->lua, 1);
    (void)lua_getinfo(made->lua, ">S", &info);
    const bool is_own = script != NULL && strcmp(info.short_src, script->file) == 0;
    return is_own && info.linedefined > 0 ? (uint32_t)info.linedefined : 0;
}

// Calls the handler of a remote call; its results become the answer.
static void run_invoke(ScriptSystem *system, const ScriptEvent *event, const char *name, int count)
{
    lua_State *thread = system->lua;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->invokes_ref);
    if (lua_getfield(thread, -1, name) != LUA_TTABLE) {
        char reason[REASON_BYTES];
        lua_pop(thread, 2 + count);
        nobody_reason(system, name, true, reason);
        script_remote_refused(system, event->name, event->player_id, REMOTE_REFUSED_NOBODY, reason);
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
    made->invoke_line = handler_line(system, made);
    hook_run(system, slot, count);
}

// Whether the values of a message, on top of the stack, may go to its handler; if not, why.
static bool may_deliver(ScriptSystem *system, const ScriptEvent *event, const char *name, int count,
                        RemoteRefusal *refusal, char reason[REASON_BYTES])
{
    *refusal = REMOTE_REFUSED_TYPES;
    if (!fits_declaration(system, name, count, reason)) {
        return false;
    }
    *refusal = REMOTE_REFUSED_RATE;
    return within_rate(system, name, event->player_id, reason);
}

void api_message(ScriptSystem *system, const ScriptEvent *event)
{
    lua_State *thread = system->lua;
    const bool is_server = system->methods->side == SCRIPT_SERVER;
    char name[WORLD_NAME_BYTES_MAX + 1];
    char reason[REASON_BYTES] = "it is no list of values";
    RemoteRefusal refusal = REMOTE_REFUSED_MALFORMED;
    if (event->name.bytes == 0 || event->name.bytes > WORLD_NAME_BYTES_MAX ||
        !text_is_valid(event->name.data, event->name.bytes)) {
        system->totals.messages_dropped += 1;
        return;
    }
    memcpy(name, event->name.data, event->name.bytes);
    name[event->name.bytes] = 0;
    char key[WORLD_NAME_BYTES_MAX + 32];
    snprintf(key, sizeof key, "Message:%s", name);
    const Handle receiver = signal_listener(system, key);
    if (event->invoke_id == 0 && handle_is_none(receiver)) {
        if (is_server) { // a client may leave out what it does not need
            nobody_reason(system, name, false, reason);
            refuse(system, event, REMOTE_REFUSED_NOBODY, reason);
        } else {
            api_hear_remote(system, event);
        }
        return;
    }
    int count = 0;
    const int before = lua_gettop(thread);
    if (is_server) {
        object_push_player(thread, event->player_id);
    }
    const int extra = lua_gettop(thread) - before;
    if (read_values(system, event, receiver, &count) != STATUS_OK ||
        !may_deliver(system, event, name, count, &refusal, reason)) {
        lua_settop(thread, before);
        refuse(system, event, refusal, reason);
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
        system->totals.messages_dropped += 1;
    }
}

void api_refuse_invoke(ScriptSystem *system, const ScriptEvent *event, const char *why)
{
    send_answer(system, event->invoke_id, event->player_id, false, (const uint8_t *)why,
                strlen(why));
}

// A handler whose results cannot be sent has failed, although it returned.
static void answer_fault(ScriptSystem *system, const Thread *made, const char *error)
{
    char message[SCRIPT_MESSAGE_BYTES];
    snprintf(message, sizeof message, "Network.OnInvoke: the handler's %s", error);
    account_fault(system, made->instance, made->hook, FAULT_ERROR, made->invoke_line, message, "");
}

void api_answer(ScriptSystem *system, Thread *made, bool ok, int result_count)
{
    static const char failed[] = "the handler failed";
    static const ValueUse use = {"result", 1, "sent"};
    arena_reset(&system->json_arena);
    uint8_t *bytes = arena_alloc_raw(&system->json_arena, VALUE_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, VALUE_BYTES_MAX);
    char error[VALUE_ERROR_BYTES];
    const int top = ok ? lua_gettop(made->lua) : 0;
    if (ok && value_write_for(made->lua, top - result_count + 1, top, &use, &writer, error) !=
                  STATUS_OK) {
        answer_fault(system, made, error);
        ok = false;
    }
    if (!ok) {
        send_answer(system, made->invoke_id, made->invoke_player, false, (const uint8_t *)failed,
                    sizeof failed - 1);
        return;
    }
    send_answer(system, made->invoke_id, made->invoke_player, true, bytes, writer.at);
}
