// Signals and connections. A firing is deferred: it is queued with its arguments, and after the one
// who fired has finished, each connected handler runs as an entry of its own. Handlers whose
// instance has ended are forgotten when the signal next fires.
//
// A Signal is a userdata whose user value is the list of its connections, in order; a Connection is
// a userdata whose user value is the handler.
#include "core/script/runtime/script_inside.h"
#include "core/script/vm/lua_guard.h"

#define SIGNAL_CLASS     "Signal"
#define CONNECTION_CLASS "Connection"

#define LOOK_STEPS 10 // to look at one connection

typedef struct SignalObject {
    Handle script; // that made it, or was the first to ask for it; none: the engine
    uint32_t connection_count;
    bool is_firing; // its list is being walked
} SignalObject;

typedef struct ConnectionObject {
    Handle instance;
    uint64_t generation_number; // of the instance's code when it was made
    uint64_t number;            // how many were made before it, and one
    Handle thread;              // of a timer, or of a coroutine in Signal:Wait
    uint32_t period_ticks;      // timers that repeat
    bool connected;
    bool once;
    bool waits;   // a coroutine, not a handler
    bool counted; // among those of its script
} ConnectionObject;

static void push_signal(lua_State *lua)
{
    const ScriptSystem *system = script_of(lua);
    const Instance *instance = instance_at(system, system->current_instance);
    SignalObject *signal = lua_newuserdatauv(lua, sizeof *signal, 1);
    *signal = (SignalObject){.script = instance != NULL ? instance->script : HANDLE_NONE};
    lua_newtable(lua);
    lua_setiuservalue(lua, -2, 1);
    luaL_setmetatable(lua, SIGNAL_CLASS);
}

void signal_push_new(lua_State *lua)
{
    signal_count_take(lua, true);
    push_signal(lua);
}

bool signal_push_named(ScriptSystem *system, lua_State *lua, const char *key, bool make)
{
    lua_rawgeti(lua, LUA_REGISTRYINDEX, system->signals_ref);
    if (lua_getfield(lua, -1, key) != LUA_TNIL) {
        lua_remove(lua, -2);
        return true;
    }
    lua_pop(lua, 1);
    if (!make) {
        lua_pop(lua, 1);
        return false;
    }
    signal_count_take(lua, true);
    const uint32_t owner = memory_enter(system, HANDLE_NONE); // whoever asks first: it is for all
    push_signal(lua);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, key);
    memory_leave(system, owner);
    lua_remove(lua, -2);
    return true;
}

static ConnectionObject *push_connection(lua_State *lua)
{
    ConnectionObject *connection = lua_newuserdatauv(lua, sizeof *connection, 1);
    ScriptSystem *system = script_of(lua);
    const Instance *instance = instance_at(system, system->current_instance);
    *connection =
        (ConnectionObject){.instance = system->current_instance,
                           .generation_number = instance != NULL ? instance->generation_number : 0,
                           .number = ++system->connections_made,
                           .connected = true};
    luaL_setmetatable(lua, CONNECTION_CLASS);
    return connection;
}

static uint32_t tidy(ScriptSystem *system, lua_State *lua, int list, SignalObject *signal);
static bool is_alive(const ScriptSystem *system, const ConnectionObject *connection);

// Too many connections of one script to a signal raise an error. Counted only when there are as
// many in all, because that means to look at each.
static void check_room(lua_State *lua, int index, SignalObject *signal)
{
    ScriptSystem *system = script_of(lua);
    const Instance *instance = instance_at(system, system->current_instance);
    vm_charge(lua, (uint64_t)signal->connection_count * LOOK_STEPS);
    lua_getiuservalue(lua, index, 1);
    const int list = lua_gettop(lua);
    if (!signal->is_firing) {
        (void)tidy(system, lua, list, signal);
    }
    uint32_t own = 0;
    for (uint32_t i = 1; i <= signal->connection_count; i++) {
        lua_rawgeti(lua, list, i);
        const ConnectionObject *connection = lua_touserdata(lua, -1);
        own += is_alive(system, connection) && instance != NULL &&
               handle_equal(instance_at(system, connection->instance)->script, instance->script);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    if (own >= SCRIPT_CONNECTIONS_PER_SCRIPT) {
        luaL_error(lua, "this script has %d connections to this signal, and may have %d", (int)own,
                   SCRIPT_CONNECTIONS_PER_SCRIPT);
    }
}

// Appends the connection on top of the stack to the signal at `index`; it stays on top.
static void append(lua_State *lua, int index)
{
    SignalObject *signal = luaL_checkudata(lua, index, SIGNAL_CLASS);
    if (signal->connection_count >= SCRIPT_CONNECTIONS_PER_SCRIPT) {
        check_room(lua, index, signal);
    }
    if (((const ConnectionObject *)lua_touserdata(lua, -1))->counted) {
        signal_count_take(lua, false);
    }
    lua_getiuservalue(lua, index, 1);
    lua_pushvalue(lua, -2);
    lua_rawseti(lua, -2, ++signal->connection_count);
    lua_pop(lua, 1);
}

static int connect(lua_State *lua, bool once)
{
    luaL_checkudata(lua, 1, SIGNAL_CLASS);
    luaL_checktype(lua, 2, LUA_TFUNCTION);
    ConnectionObject *connection = push_connection(lua);
    connection->once = once;
    connection->counted = true;
    lua_pushvalue(lua, 2);
    lua_setiuservalue(lua, -2, 1);
    append(lua, 1);
    return 1;
}

// Timers and coroutines that wait are counted as coroutines.
static void end_connection(ScriptSystem *system, ConnectionObject *connection)
{
    const Instance *instance = instance_at(system, connection->instance);
    if (connection->counted && instance != NULL) {
        signal_count_give(system, instance->script);
    }
    connection->connected = connection->counted = false;
}

int signal_connect(lua_State *lua)
{
    return connect(lua, false);
}

int signal_once(lua_State *lua)
{
    return connect(lua, true);
}

static int wait_is_over(lua_State *lua, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    return lua_gettop(lua) - 1; // what was fired, above the signal itself
}

int signal_wait(lua_State *lua)
{
    luaL_checkudata(lua, 1, SIGNAL_CLASS);
    lua_settop(lua, 1);
    ConnectionObject *connection = push_connection(lua);
    connection->once = true;
    connection->waits = true;
    connection->thread = schedule_wait(lua);
    append(lua, 1);
    lua_settop(lua, 1);
    return lua_yieldk(lua, 0, 0, wait_is_over);
}

int signal_raise(lua_State *lua, Status status)
{
    const ScriptSystem *system = script_of(lua);
    const Instance *instance = instance_at(system, system->current_instance);
    const Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (status == STATUS_RANGE) {
        return luaL_error(lua, "signals fire signals without end: handlers nest %d deep",
                          SCRIPT_ROUNDS_MAX);
    }
    if (status != STATUS_OK) {
        return luaL_error(lua,
                          "too many signals and deferred calls are waiting: this script has %d, a "
                          "script may have %d, and all together %d",
                          script != NULL ? (int)script->share.deferred_count : 0,
                          SCRIPT_DEFERRED_PER_SCRIPT, SCRIPT_DEFERRED_SHARED);
    }
    return 0;
}

int signal_fire(lua_State *lua)
{
    luaL_checkudata(lua, 1, SIGNAL_CLASS);
    return signal_raise(lua, signal_defer(lua, 1, lua_gettop(lua) - 1));
}

int signal_disconnect_all(lua_State *lua)
{
    SignalObject *signal = luaL_checkudata(lua, 1, SIGNAL_CLASS);
    lua_getiuservalue(lua, 1, 1);
    for (uint32_t i = 1; i <= signal->connection_count; i++) {
        lua_rawgeti(lua, -1, i);
        ConnectionObject *connection = lua_touserdata(lua, -1);
        if (connection != NULL) {
            end_connection(script_of(lua), connection);
        }
        lua_pop(lua, 1);
    }
    return 0;
}

int connection_disconnect(lua_State *lua)
{
    ConnectionObject *connection = luaL_checkudata(lua, 1, CONNECTION_CLASS);
    ScriptSystem *system = script_of(lua);
    end_connection(system, connection);
    if (!connection->waits && pool_find(&system->threads, connection->thread) != NULL) {
        schedule_cancel(system, connection->thread.index);
    }
    return 0;
}

// NULL: the list of a signal was emptied, because whose it was held too much memory.
static bool is_alive(const ScriptSystem *system, const ConnectionObject *connection)
{
    const Instance *instance =
        connection != NULL ? instance_at(system, connection->instance) : NULL;
    return instance != NULL && connection->connected && !instance->ending &&
           instance->generation_number == connection->generation_number;
}

bool connection_is_connected(lua_State *lua, int index)
{
    return is_alive(script_of(lua), luaL_checkudata(lua, index, CONNECTION_CLASS));
}

// --- timers -------------------------------------------------------------------------------------

// Calls the handler of a timer; again and again if it has a period. The connection is the argument.
static int timer_fire(lua_State *lua);

static int timer_again(lua_State *lua, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    ConnectionObject *connection = luaL_checkudata(lua, 1, CONNECTION_CLASS);
    ScriptSystem *system = script_of(lua);
    if (!connection->connected || connection->period_ticks == 0) {
        connection->connected = false;
        return 0;
    }
    lua_settop(lua, 1);
    lua_pushcfunction(lua, timer_fire);
    lua_pushvalue(lua, 1);
    const uint32_t slot = schedule_call(lua, 2, 1, system->tick + connection->period_ticks);
    connection->thread = pool_handle(&system->threads, slot);
    Thread *ended = thread_at(system, system->current_thread);
    thread_at(system, slot)->timer_ref = ended->timer_ref;
    ended->timer_ref = 0;
    return 0;
}

static int timer_fire(lua_State *lua)
{
    ConnectionObject *connection = luaL_checkudata(lua, 1, CONNECTION_CLASS);
    if (!connection->connected) {
        return 0;
    }
    lua_getiuservalue(lua, 1, 1);
    lua_callk(lua, 0, 0, 0, timer_again);
    return timer_again(lua, LUA_OK, 0);
}

// (seconds, function) → Connection
static int timer_start(lua_State *lua, bool repeats)
{
    ScriptSystem *system = script_of(lua);
    const uint64_t ticks = script_ticks(system, luaL_checknumber(lua, 1));
    ConnectionObject *connection = push_connection(lua);
    connection->period_ticks = repeats ? (uint32_t)ticks : 0;
    lua_pushvalue(lua, 2);
    lua_setiuservalue(lua, -2, 1);
    const int made = lua_gettop(lua);
    lua_pushcfunction(lua, timer_fire);
    lua_pushvalue(lua, made);
    const uint32_t slot = schedule_call(lua, made + 1, 1, system->tick + ticks);
    connection->thread = pool_handle(&system->threads, slot);
    lua_pushvalue(lua, made);
    thread_at(system, slot)->timer_ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    lua_settop(lua, made);
    return 1;
}

void timer_failed(ScriptSystem *system, Handle instance, int timer_ref)
{
    lua_State *lua = system->lua;
    if (timer_ref == 0) {
        return;
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, timer_ref);
    ConnectionObject *connection = lua_touserdata(lua, -1);
    const bool goes_on = connection->connected && connection->period_ticks != 0;
    const uint32_t slot = goes_on ? hook_thread(system, instance, HOOK_HANDLER) : 0;
    connection->connected = slot != 0;
    if (slot == 0) {
        lua_pop(lua, 1);
        luaL_unref(lua, LUA_REGISTRYINDEX, timer_ref);
        return;
    }
    Thread *thread = thread_at(system, slot);
    connection->thread = pool_handle(&system->threads, slot);
    thread->timer_ref = timer_ref;
    lua_pushcfunction(thread->lua, timer_fire);
    lua_xmove(lua, thread->lua, 1);
    schedule_later(system, slot, 1, system->tick + connection->period_ticks);
}

int timer_after(lua_State *lua)
{
    return timer_start(lua, false);
}

int timer_every(lua_State *lua)
{
    return timer_start(lua, true);
}

// --- deferred calls -----------------------------------------------------------------------------

// Events of the world have as many as there can be events.
static bool has_room(const ScriptSystem *system, Handle handle)
{
    const Script *script = script_at(system, handle);
    uint32_t own = script != NULL ? script->share.deferred_count : system->deferred_of_world;
    uint32_t shared = system->deferred_shared;
    return system->deferred_count < system->deferred_max &&
           (script != NULL ? share_take(&own, &shared, SCRIPT_DEFERRED_OWN,
                                        SCRIPT_DEFERRED_PER_SCRIPT, SCRIPT_DEFERRED_SHARED)
                           : own < SCRIPT_EVENTS_MAX);
}

// Called when nothing can raise any more, so that nothing is counted that is not there.
static void count_deferred(ScriptSystem *system, Handle handle)
{
    Script *script = script_at(system, handle);
    if (script != NULL) {
        (void)share_take(&script->share.deferred_count, &system->deferred_shared,
                         SCRIPT_DEFERRED_OWN, SCRIPT_DEFERRED_PER_SCRIPT, SCRIPT_DEFERRED_SHARED);
    } else {
        system->deferred_of_world += 1;
    }
}

static Status defer(lua_State *lua, int index, int argument_count, Handle instance)
{
    ScriptSystem *system = script_of(lua);
    index = lua_absindex(lua, index);
    // Handlers that fire signals whose handlers fire signals: not for ever.
    if (system->current_depth >= SCRIPT_ROUNDS_MAX) {
        lua_pop(lua, argument_count);
        return STATUS_RANGE;
    }
    const Instance *owner = instance_at(system, system->current_instance);
    Deferred deferred = {.instance = instance,
                         .script = owner != NULL ? owner->script : HANDLE_NONE,
                         .depth = system->current_depth + 1,
                         .cause = system->cause,
                         .connection_last = owner != NULL ? UINT64_MAX : system->connections_made};
    if (!has_room(system, deferred.script)) {
        lua_pop(lua, argument_count);
        return STATUS_LIMIT;
    }
    if (argument_count > 0) {
        lua_createtable(lua, argument_count, 1);
        lua_insert(lua, -argument_count - 1);
        for (int i = argument_count; i >= 1; i--) {
            lua_rawseti(lua, -i - 1, i);
        }
        lua_pushinteger(lua, argument_count);
        lua_rawseti(lua, -2, 0); // nils inside would hide the length
        deferred.arguments_ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    }
    lua_pushvalue(lua, index);
    deferred.target_ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    count_deferred(system, deferred.script);
    system->deferred[system->deferred_count++] = deferred;
    return STATUS_OK;
}

Status signal_defer(lua_State *lua, int index, int argument_count)
{
    return defer(lua, index, argument_count, HANDLE_NONE);
}

Status signal_defer_function(lua_State *lua, int function_index, int argument_count)
{
    return defer(lua, function_index, argument_count, script_of(lua)->current_instance);
}

// Pushes the packed arguments on the main stack; returns how many.
static int unpack(ScriptSystem *system, int arguments_ref)
{
    lua_State *lua = system->lua;
    if (arguments_ref == 0) {
        return 0;
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, arguments_ref);
    lua_rawgeti(lua, -1, 0);
    const int count = (int)lua_tointeger(lua, -1);
    lua_pop(lua, 1);
    luaL_checkstack(lua, count + 4, NULL);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(lua, -i, i);
    }
    lua_remove(lua, -count - 1);
    return count;
}

// Runs or wakes one connection, found on top of the main stack, which is popped.
static void deliver(ScriptSystem *system, int arguments_ref)
{
    lua_State *lua = system->lua;
    ConnectionObject *connection = lua_touserdata(lua, -1);
    const Instance *instance = instance_at(system, connection->instance);
    if (instance != NULL && blame_is_barred(system, instance->script)) {
        system->totals.events_dropped += 1;
        lua_pop(lua, 1);
        return;
    }
    if (connection->once) {
        end_connection(system, connection);
    }
    if (connection->waits) {
        const Handle thread = connection->thread;
        lua_pop(lua, 1);
        const int count = unpack(system, arguments_ref);
        Thread *waiting = pool_find(&system->threads, thread);
        if (waiting != NULL) {
            // Whoever fires the signal is not to blame for what another player began.
            waiting->cause = waiting->begun_by.player_id != 0 ? waiting->begun_by : system->cause;
        }
        schedule_wake(system, thread, count);
        return;
    }
    const uint32_t slot = hook_event_thread(system, connection->instance, HOOK_HANDLER);
    if (slot == 0) {
        lua_pop(lua, 1);
        return;
    }
    lua_getiuservalue(lua, -1, 1);
    lua_remove(lua, -2);
    const int count = unpack(system, arguments_ref);
    lua_State *thread = thread_at(system, slot)->lua;
    luaL_checkstack(thread, count + 1, NULL);
    lua_xmove(lua, thread, count + 1);
    hook_run(system, slot, count);
}

// Drops dead connections from the list; returns how many are left.
static uint32_t tidy(ScriptSystem *system, lua_State *lua, int list, SignalObject *signal)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i <= signal->connection_count; i++) {
        lua_rawgeti(lua, list, i);
        const ConnectionObject *connection = lua_touserdata(lua, -1);
        if (is_alive(system, connection)) {
            lua_rawseti(lua, list, ++kept);
        } else {
            lua_pop(lua, 1);
        }
    }
    for (uint32_t i = kept + 1; i <= signal->connection_count; i++) {
        lua_pushnil(lua);
        lua_rawseti(lua, list, i);
    }
    signal->connection_count = kept;
    return kept;
}

static void fire(ScriptSystem *system, const Deferred *deferred)
{
    lua_State *lua = system->lua;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, deferred->target_ref);
    SignalObject *signal = lua_touserdata(lua, -1);
    lua_getiuservalue(lua, -1, 1);
    const int list = lua_gettop(lua);
    share_use(system, script_at(system, deferred->script),
              SCRIPT_ENTRY_STEPS + (uint64_t)signal->connection_count * LOOK_STEPS);
    // Those who connect while this firing runs hear the next one.
    const uint32_t count = tidy(system, lua, list, signal);
    signal->is_firing = true;
    for (uint32_t i = 1; i <= count && !system->is_dead; i++) {
        lua_rawgeti(lua, list, i);
        const ConnectionObject *connection = lua_touserdata(lua, -1);
        if (connection != NULL && connection->connected &&
            connection->number <= deferred->connection_last) {
            deliver(system, deferred->arguments_ref);
        } else {
            lua_pop(lua, 1);
        }
    }
    signal->is_firing = false;
    lua_pop(lua, 2);
}

static void call_function(ScriptSystem *system, const Deferred *deferred)
{
    const int count = unpack(system, deferred->arguments_ref);
    hook_call(system, deferred->instance, HOOK_HANDLER, deferred->target_ref, count);
}

static void release(ScriptSystem *system, const Deferred *deferred)
{
    Script *script = script_at(system, deferred->script);
    if (script != NULL) {
        share_give(&script->share.deferred_count, &system->deferred_shared, SCRIPT_DEFERRED_OWN);
    } else if (handle_is_none(deferred->script)) {
        system->deferred_of_world -= 1;
    }
    Deferred done = *deferred;
    script_forget_ref(system, &done.target_ref);
    script_forget_ref(system, &done.arguments_ref);
}

// Its place in the queue stays, with nothing to call.
static void forget_deferred(ScriptSystem *system, Handle script)
{
    for (uint32_t i = 0; i < system->deferred_count; i++) {
        Deferred *deferred = &system->deferred[i];
        const bool is_queued = i < system->deferred_kept || i >= system->deferred_next;
        if (is_queued && handle_equal(deferred->script, script)) {
            script_forget_ref(system, &deferred->target_ref);
            script_forget_ref(system, &deferred->arguments_ref);
        }
    }
}

static int connection_is_over(void *user, const void *memory)
{
    return !is_alive(user, memory);
}

void signal_forget_script(ScriptSystem *system, Handle script)
{
    forget_deferred(system, script);
    luaL_getmetatable(system->lua, CONNECTION_CLASS);
    guard_drop_values(system->lua, connection_is_over, system);
    lua_pop(system->lua, 1);
}

// Those of the engine that nobody listens to or holds are forgotten: their table does not hold them
// during this collection. Another table does, as long as they have connections.
static void collect(ScriptSystem *system)
{
    lua_State *lua = system->lua;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, system->signals_ref);
    lua_newtable(lua); // those that stay
    lua_pushnil(lua);
    for (lua_Integer kept = 0; lua_next(lua, -3) != 0; lua_pop(lua, 1)) {
        lua_getiuservalue(lua, -1, 1);
        const uint32_t count = tidy(system, lua, lua_gettop(lua), lua_touserdata(lua, -2));
        lua_pop(lua, 1);
        if (count > 0) {
            lua_pushvalue(lua, -1);
            lua_rawseti(lua, -4, ++kept);
        }
    }
    lua_createtable(lua, 0, 1);
    lua_pushliteral(lua, "v");
    lua_setfield(lua, -2, "__mode");
    vm_freeze(lua, -1); // only then it counts
    lua_setmetatable(lua, -3);
    (void)vm_collect_all(system->vm);
    lua_pushnil(lua);
    lua_setmetatable(lua, -3);
    lua_pop(lua, 2);
}

typedef struct Visit {
    ScriptSystem *system;
    void (*count_one)(ScriptSystem *system, Handle script, bool is_signal);
} Visit;

static int visit_signal(void *user, const void *memory)
{
    const Visit *visit = user;
    visit->count_one(visit->system, ((const SignalObject *)memory)->script, true);
    return 0; // nothing is dropped
}

static int visit_connection(void *user, const void *memory)
{
    const Visit *visit = user;
    const ConnectionObject *connection = memory;
    if (connection->counted && is_alive(visit->system, connection)) {
        const Instance *instance = instance_at(visit->system, connection->instance);
        visit->count_one(visit->system, instance->script, false);
    }
    return 0;
}

void signal_visit(ScriptSystem *system,
                  void (*count_one)(ScriptSystem *system, Handle script, bool is_signal))
{
    Visit visit = {system, count_one};
    collect(system);
    luaL_getmetatable(system->lua, SIGNAL_CLASS);
    guard_drop_values(system->lua, visit_signal, &visit);
    luaL_getmetatable(system->lua, CONNECTION_CLASS);
    guard_drop_values(system->lua, visit_connection, &visit);
    lua_pop(system->lua, 2);
}

Handle signal_listener(ScriptSystem *system, const char *key)
{
    lua_State *lua = system->lua;
    if (!signal_push_named(system, lua, key, false)) {
        return HANDLE_NONE;
    }
    const SignalObject *signal = lua_touserdata(lua, -1);
    Handle script = HANDLE_NONE;
    lua_getiuservalue(lua, -1, 1);
    for (uint32_t i = 1; i <= signal->connection_count && handle_is_none(script); i++) {
        lua_rawgeti(lua, -1, i);
        const ConnectionObject *connection = lua_touserdata(lua, -1);
        if (is_alive(system, connection)) {
            script = instance_at(system, connection->instance)->script;
        }
        lua_pop(lua, 1);
    }
    lua_pop(lua, 2);
    return script;
}

// A script that has used up its share fires nothing either: the handlers would have to wait, and
// finding them takes time.
static bool may_fire(ScriptSystem *system, const Deferred *deferred)
{
    Script *script = script_at(system, deferred->script);
    return system->tick_steps_left > 0 && !system->is_dead &&
           (script == NULL || share_may_run(system, script));
}

void signal_run(ScriptSystem *system)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < system->deferred_count; i++) {
        const Deferred deferred = system->deferred[i];
        if (!may_fire(system, &deferred)) {
            system->deferred[kept++] = deferred;
            continue;
        }
        system->deferred_kept = kept;
        system->deferred_next = i + 1;
        system->current_depth = deferred.depth;
        system->cause = deferred.cause;
        if (deferred.target_ref == 0) {
            // its script was ended
        } else if (handle_is_none(deferred.instance)) {
            fire(system, &deferred);
        } else {
            call_function(system, &deferred);
        }
        if (!system->is_dead) {
            release(system, &deferred);
        }
    }
    system->current_depth = 0;
    system->cause = (Cause){0};
    system->deferred_kept = system->deferred_next = 0;
    system->deferred_count = kept;
}

bool script_listens(ScriptSystem *system, const char *event)
{
    return !script_is_dead(system) && !handle_is_none(signal_listener(system, event));
}
