// From sources and runes to code: compiled or loaded under a path, replacing the previous code; the
// file runs once, on behalf of the first instance that needs it. Everything that the previous code
// created ends with it.
#include "core/script/rune/rune.h"
#include "core/script/runtime/script_inside.h"
#include "core/script/vm/lua_guard.h"
#include "core/wire/script_path.h"

#include <stdio.h>
#include <string.h>

#define EXPORTS_NAME     "____exports" // what TypeScript's compiler calls it
#define HOOKS_LOOK_STEPS 300           // for all names, in globals and exports

// --- paths --------------------------------------------------------------------------------------

Text script_path_plain(Text path)
{
    const ScriptPath plain = script_path_trim(path.data, path.bytes);
    return (Text){plain.data, plain.bytes};
}

Text script_path_whole(Text written, char space[SCRIPT_PATH_BYTES])
{
    const size_t bytes = script_path_spell(written.data, written.bytes, space, SCRIPT_PATH_BYTES);
    return bytes > 0 ? (Text){space, bytes} : written;
}

Handle script_find(const ScriptSystem *system, const char *path)
{
    for (uint32_t i = pool_next(&system->scripts, 1); i != 0;
         i = pool_next(&system->scripts, i + 1)) {
        if (strcmp(((const Script *)pool_at(&system->scripts, i))->path, path) == 0) {
            return pool_handle(&system->scripts, i);
        }
    }
    return HANDLE_NONE;
}

// --- code under a path --------------------------------------------------------------------------

static void forget_code(ScriptSystem *system, Script *script)
{
    script_forget_ref(system, &script->chunk_ref);
    script_forget_ref(system, &script->environment_ref);
    script_forget_ref(system, &script->module_ref);
    script_forget_ref(system, &script->old_ref);
    script_forget_ref(system, &script->old_module_ref);
    for (uint32_t hook = 0; hook < HOOK_COUNT; hook++) {
        script_forget_ref(system, &script->hook_refs[hook]);
    }
}

static bool path_is_module(const char *path)
{
    return strncmp(path, "ReplicatedStorage/", 18) == 0;
}

static CompileResult compile_refused(ScriptSystem *system, const char *path, const char *message)
{
    CompileResult result = {.ok = false};
    snprintf(result.error, sizeof result.error, "%s", message);
    account_say(system, LOG_ERROR, path, message);
    return result;
}

// Adds the API to a fresh environment at `index`.
static void extend_environment(ScriptSystem *system, lua_State *thread, int index)
{
    index = lua_absindex(thread, index);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->api_ref);
    lua_pushnil(thread);
    while (lua_next(thread, -2) != 0) {
        lua_pushvalue(thread, -2);
        lua_insert(thread, -2);
        lua_rawset(thread, index);
    }
    lua_pop(thread, 1);
}

// Pushes a fresh environment; gives its index.
static int push_environment(ScriptSystem *system)
{
    vm_push_environment(system->lua);
    const int environment = lua_gettop(system->lua);
    extend_environment(system, system->lua, environment);
    return environment;
}

// Compiles into a fresh environment; both are left in the registry.
static bool compile_into(ScriptSystem *system, Script *script, const CompileRequest *request,
                         char *error, size_t capacity)
{
    lua_State *lua = system->lua;
    const int environment = push_environment(system);
    system->totals.compile_count += 1;
    if (vm_compile(lua, request->script_id, request->code, request->code_bytes, environment) !=
        STATUS_OK) {
        snprintf(error, capacity, "%s", lua_tostring(lua, -1));
        lua_settop(lua, environment - 1);
        return false;
    }
    script->chunk_ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    script->environment_ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    return true;
}

typedef struct MakeCall {
    ScriptSystem *system;
    const CompileRequest *request;
    void *out;
    size_t capacity;
    size_t *bytes;
    char *error;
    Status status;
} MakeCall;

static void make_rune(void *user)
{
    MakeCall *call = user;
    ScriptSystem *system = call->system;
    const CompileRequest *request = call->request;
    lua_State *lua = system->lua;
    const int environment = push_environment(system);
    system->totals.compile_count += 1;
    Status status =
        vm_compile(lua, request->script_id, request->code, request->code_bytes, environment);
    if (status == STATUS_OK) {
        status = rune_write(lua, request->script_id, call->out, call->capacity, call->bytes);
    } else {
        snprintf(call->error, SCRIPT_MESSAGE_BYTES, "%s", lua_tostring(lua, -1));
        status = STATUS_MALFORMED;
    }
    lua_settop(lua, environment - 1);
    call->status = status;
}

Status script_make_rune(ScriptSystem *system, const CompileRequest *request, void *out,
                        size_t capacity, size_t *bytes, char error[SCRIPT_MESSAGE_BYTES])
{
    MakeCall call = {system, request, out, capacity, bytes, error, STATUS_RANGE};
    error[0] = 0;
    if (strlen(request->script_id) >= SCRIPT_PATH_BYTES) {
        return STATUS_RANGE;
    }
    return memory_protect(system, make_rune, &call) ? call.status : STATUS_RANGE;
}

static bool is_loaded_already(const Script *script, const char *hash)
{
    return script != NULL && hash != NULL && script->hash[0] != 0 &&
           strcmp(script->hash, hash) == 0 && script->load != LOAD_FAILED;
}

// A rune contains the name of its file; a source is named by its path.
static void take_file(ScriptSystem *system, Script *script)
{
    lua_Debug debug;
    lua_rawgeti(system->lua, LUA_REGISTRYINDEX, script->chunk_ref);
    lua_getinfo(system->lua, ">S", &debug);
    snprintf(script->file, sizeof script->file, "%s", debug.short_src);
}

// The slot for a path. The code is created first, because the slot owns its memory, and only then
// is anything changed; a new slot has no path yet.
static Handle take_slot(ScriptSystem *system, const char *path)
{
    const Handle handle = script_find(system, path);
    return handle_is_none(handle) ? pool_acquire(&system->scripts) : handle;
}

static void leave_slot(ScriptSystem *system, Handle handle, uint32_t owner)
{
    memory_leave(system, owner);
    const Script *script = script_at(system, handle);
    if (script != NULL && script->path[0] == 0) {
        (void)pool_release(&system->scripts, handle);
    }
    memory_settle(system);
}

static void move_ref(int *to, int *from)
{
    *to = *from;
    *from = 0;
}

// For onReload: what the version before has, or, if that one never got as far as to have anything,
// what it would have got itself.
static void keep_state(Script *fresh, Script *before)
{
    const bool has_run = !before->has_not_started && before->load != LOAD_PENDING;
    const bool skips = !has_run && before->old_ref != 0;
    move_ref(&fresh->old_ref, skips ? &before->old_ref : &before->environment_ref);
    move_ref(&fresh->old_module_ref, skips ? &before->old_module_ref : &before->module_ref);
}

// Replaces the code under that path, if there is any, by freshly compiled code.
static void install(ScriptSystem *system, Handle handle, Script *fresh, const char *path,
                    const char *hash, bool keep_old)
{
    Script *script = script_at(system, handle);
    fresh->is_module = path_is_module(path);
    fresh->watch_number = system->watch.number;
    snprintf(fresh->path, sizeof fresh->path, "%s", path);
    snprintf(fresh->hash, sizeof fresh->hash, "%s", hash != NULL ? hash : "");
    take_file(system, fresh);
    if (script->path[0] != 0) {
        fresh->account = script->account;
        fresh->times = script->times;
        fresh->share = script->share;
        fresh->share.good_ticks = 0;
        fresh->share.signals = fresh->share.connections = (SignalCount){0};
        blame_forget(system, handle);
        remote_costs_unshow(&system->remotes);
        if (keep_old) {
            keep_state(fresh, script);
        }
        forget_code(system, script);
    }
    *script = *fresh;
}

static CompileResult compile_now(ScriptSystem *system, const CompileRequest *request, bool keep_old)
{
    if (strlen(request->script_id) >= SCRIPT_PATH_BYTES) {
        return compile_refused(system, "?", "the path of a script has at most 127 bytes");
    }
    if (is_loaded_already(script_at(system, script_find(system, request->script_id)),
                          request->code_hash)) {
        system->totals.compile_cached_count += 1;
        return (CompileResult){.ok = true, .cached = true};
    }
    const double began = script_now_ms(system);
    Script fresh = {.load = LOAD_PENDING};
    CompileResult result = {.ok = true};
    const Handle handle = take_slot(system, request->script_id);
    if (handle_is_none(handle)) {
        return compile_refused(system, request->script_id, "too many scripts are loaded");
    }
    const uint32_t owner = memory_enter(system, handle);
    const bool is_compiled =
        compile_into(system, &fresh, request, result.error, sizeof result.error);
    if (is_compiled) {
        install(system, handle, &fresh, request->script_id, request->code_hash, keep_old);
    }
    leave_slot(system, handle, owner);
    if (!is_compiled) {
        return compile_refused(system, request->script_id, result.error);
    }
    result.compile_ms = script_now_ms(system) - began;
    account_compile_time(system, handle, result.compile_ms);
    return result;
}

typedef struct CompileCall {
    ScriptSystem *system;
    const CompileRequest *request;
    bool keep_old;
    CompileResult result;
} CompileCall;

static void run_compile(void *user)
{
    CompileCall *call = user;
    call->result = compile_now(call->system, call->request, call->keep_old);
}

static CompileResult compile(ScriptSystem *system, const CompileRequest *request, bool keep_old)
{
    CompileCall call = {system, request, keep_old, {.ok = false}};
    (void)memory_has_room(system, 0);
    if (!memory_protect(system, run_compile, &call)) {
        return compile_refused(system, request->script_id, "the scripts have no memory left");
    }
    return call.result;
}

// Everything that the instances of a script have created ends with its code.
static void restart_instances(ScriptSystem *system, Handle script, bool reload)
{
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        Instance *instance = pool_at(&system->instances, i);
        if (!handle_equal(instance->script, script)) {
            continue;
        }
        schedule_cancel_instance(system, pool_handle(&system->instances, i));
        system->methods->forget(system->config.world, instance->number);
        script_silence(system, instance);
        instance->generation_number = ++system->next_number;
        instance->reloaded = reload && (instance->started || instance->reloaded);
        instance->started = false;
        instance->start_due = instance->enable_due = true;
    }
}

CompileResult script_compile(ScriptSystem *system, const CompileRequest *request)
{
    const Handle before = script_find(system, request->script_id);
    const CompileResult result = compile(system, request, false);
    if (result.ok && !result.cached && !handle_is_none(before)) {
        restart_instances(system, before, false);
    }
    return result;
}

CompileResult script_reload(ScriptSystem *system, const CompileRequest *request)
{
    const Handle before = script_find(system, request->script_id);
    const CompileResult result = compile(system, request, true);
    if (result.ok && !result.cached && !handle_is_none(before)) {
        restart_instances(system, before, true);
    }
    return result;
}

static Status load_rune_now(ScriptSystem *system, const char *script_id, const void *rune,
                            size_t bytes, bool reload)
{
    Rune checked;
    const Status status = rune_check(rune, bytes, &checked);
    if (status != STATUS_OK || strlen(script_id) >= SCRIPT_PATH_BYTES) {
        return status != STATUS_OK ? status : STATUS_RANGE;
    }
    char hash[2 * SHA256_BYTES + 1];
    sha256_hex(checked.hash, hash);
    const Handle before = script_find(system, script_id);
    if (!reload && is_loaded_already(script_at(system, before), hash)) {
        system->totals.compile_cached_count += 1;
        return STATUS_OK;
    }
    const Handle handle = take_slot(system, script_id);
    if (handle_is_none(handle)) {
        return STATUS_LIMIT;
    }
    const double began = script_now_ms(system);
    Script fresh = {.load = LOAD_PENDING};
    const uint32_t owner = memory_enter(system, handle);
    const int environment = push_environment(system);
    const Status loaded = rune_load(system->lua, rune, bytes, environment);
    if (loaded == STATUS_OK) {
        fresh.chunk_ref = luaL_ref(system->lua, LUA_REGISTRYINDEX);
        fresh.environment_ref = luaL_ref(system->lua, LUA_REGISTRYINDEX);
        install(system, handle, &fresh, script_id, hash, reload);
    }
    lua_settop(system->lua, environment - 1);
    leave_slot(system, handle, owner);
    account_compile_time(system, handle, script_now_ms(system) - began);
    if (loaded == STATUS_OK && !handle_is_none(before)) {
        restart_instances(system, before, reload);
    }
    return loaded;
}

typedef struct RuneCall {
    ScriptSystem *system;
    const char *script_id;
    const void *rune;
    size_t bytes;
    bool reload;
    Status status;
} RuneCall;

static void run_load_rune(void *user)
{
    RuneCall *call = user;
    call->status =
        load_rune_now(call->system, call->script_id, call->rune, call->bytes, call->reload);
}

static Status load_rune(ScriptSystem *system, const char *script_id, const void *rune, size_t bytes,
                        bool reload)
{
    RuneCall call = {system, script_id, rune, bytes, reload, STATUS_LIMIT};
    (void)memory_has_room(system, 0);
    return memory_protect(system, run_load_rune, &call) ? call.status : STATUS_LIMIT;
}

Status script_load_rune(ScriptSystem *system, const char *script_id, const void *rune, size_t bytes)
{
    return load_rune(system, script_id, rune, bytes, false);
}

Status script_reload_rune(ScriptSystem *system, const char *script_id, const void *rune,
                          size_t bytes)
{
    return load_rune(system, script_id, rune, bytes, true);
}

void script_invalidate(ScriptSystem *system, const char *script_id)
{
    const Handle handle = script_find(system, script_id);
    Script *script = script_at(system, handle);
    if (script == NULL) {
        return;
    }
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        if (handle_equal(((Instance *)pool_at(&system->instances, i))->script, handle)) {
            script_unbind(system, i);
        }
    }
    forget_code(system, script);
    share_forget(system, handle);
    (void)pool_release(&system->scripts, handle);
}

// --- running the file itself --------------------------------------------------------------------

// Finds a function of that name in the table behind the reference, without running code of the
// script.
static bool take_function(ScriptSystem *system, int table_ref, const char *name, int *out)
{
    lua_State *lua = vm_running(system->vm);
    const int top = lua_gettop(lua);
    bool found = false;
    if (lua_rawgeti(lua, LUA_REGISTRYINDEX, table_ref) == LUA_TTABLE) {
        lua_pushstring(lua, name);
        found = lua_rawget(lua, -2) == LUA_TFUNCTION;
    }
    if (found) {
        *out = luaL_ref(lua, LUA_REGISTRYINDEX);
    }
    lua_settop(lua, top);
    return found;
}

// Hooks are globals of the file, or fields of the table it returned, which holds TypeScript's
// exports.
static void find_hook(ScriptSystem *system, Script *script, ScriptHook hook)
{
    int *ref = &script->hook_refs[hook];
    script_forget_ref(system, ref);
    if (take_function(system, script->environment_ref, hook_name(hook), ref)) {
        return;
    }
    const bool is_exported = take_function(system, script->module_ref, hook_name(hook), ref);
    script->reload_is_exported = hook == HOOK_RELOAD ? is_exported : script->reload_is_exported;
}

static void find_hooks(ScriptSystem *system, Script *script)
{
    for (uint32_t hook = HOOK_START; hook < HOOK_HANDLER; hook++) {
        find_hook(system, script, (ScriptHook)hook);
    }
}

void script_loaded(ScriptSystem *system, Handle handle, lua_State *thread, int result_count)
{
    Script *script = script_at(system, handle);
    if (script == NULL) {
        return;
    }
    script->load = LOAD_DONE;
    script_forget_ref(system, &script->module_ref);
    if (result_count > 0) {
        lua_pushvalue(thread, -result_count);
    } else {
        lua_pushboolean(thread, 1);
    }
    script->module_ref = luaL_ref(thread, LUA_REGISTRYINDEX);
    if (!script->is_module) {
        find_hooks(system, script);
    }
}

Handle script_module_instance(ScriptSystem *system, Handle script)
{
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        const Instance *instance = pool_at(&system->instances, i);
        if (handle_equal(instance->script, script) && instance->entity == 0) {
            return pool_handle(&system->instances, i);
        }
    }
    const bool is_module = script_at(system, script)->is_module;
    const Handle handle = is_module ? pool_acquire(&system->instances) : HANDLE_NONE;
    Instance *instance = instance_at(system, handle);
    if (instance != NULL) {
        instance->script = script;
        instance->number = instance->generation_number = ++system->next_number;
        instance->enabled = true;
    }
    return handle;
}

void script_module_failed(ScriptSystem *system)
{
    ASSERT(system->require_count > 0);
    const Handle handle = system->require_stack[--system->require_count];
    const Script *script = script_at(system, handle);
    if (script != NULL && script->is_module) {
        restart_instances(system, handle, false);
    }
}

// Exports of TypeScript are in a local table until the file returns it. It is found by its name in
// the outermost frame, which is the file's own.
static void take_exports(Script *script, lua_State *thread)
{
    void *frames[GUARD_FRAMES_MAX];
    size_t count = 0;
    (void)guard_frames(thread, frames, &count);
    if (script->module_ref != 0 || count == 0 || !lua_checkstack(thread, 1)) {
        return;
    }
    lua_Debug debug;
    guard_frame_debug(thread, frames[count - 1], &debug);
    const char *name = NULL;
    for (int i = 1; (name = lua_getlocal(thread, &debug, i)) != NULL; i++) {
        if (strcmp(name, EXPORTS_NAME) == 0 && lua_istable(thread, -1)) {
            script->module_ref = luaL_ref(thread, LUA_REGISTRYINDEX);
            return;
        }
        lua_pop(thread, 1);
    }
}

static bool has_hooks(const Script *script)
{
    for (uint32_t hook = HOOK_START; hook < HOOK_HANDLER; hook++) {
        if (script->hook_refs[hook] != 0) {
            return true;
        }
    }
    return false;
}

// Looked up at every wait, because more may be defined between two. From the first hook on the top
// level is a coroutine like any other: a fault in it does not mean that the script never began.
void script_load_waits(ScriptSystem *system, Thread *thread)
{
    Script *script = script_at(system, thread->load_script);
    if (script == NULL) {
        return;
    }
    take_exports(script, thread->lua);
    find_hooks(system, script);
    share_use(system, script, HOOKS_LOOK_STEPS);
    if (has_hooks(script)) {
        script->load = LOAD_BESIDE;
        thread->hook = HOOK_HANDLER;
    }
}

void script_load_failed(ScriptSystem *system, Handle handle)
{
    Script *script = script_at(system, handle);
    if (script != NULL) {
        script->load = script->load == LOAD_BESIDE ? LOAD_DONE : LOAD_FAILED;
    }
}

void script_end(ScriptSystem *system, Handle handle)
{
    Script *script = script_at(system, handle);
    restart_instances(system, handle, false);
    forget_code(system, script);
    script->load = LOAD_ENDED;
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        if (handle_equal(((Instance *)pool_at(&system->instances, i))->script, handle)) {
            system->config.api->forget_handlers(system, pool_handle(&system->instances, i));
        }
    }
    signal_forget_script(system, handle);
}

void script_run_file(ScriptSystem *system, Handle handle, Handle instance)
{
    Script *script = script_at(system, handle);
    const uint32_t slot = hook_thread(system, instance, HOOK_LOAD);
    if (slot == 0) {
        return; // its coroutines still wait for something
    }
    Thread *thread = thread_at(system, slot);
    thread->load_script = handle;
    lua_rawgeti(thread->lua, LUA_REGISTRYINDEX, script->chunk_ref);
    script->load = LOAD_RUNNING;
    hook_run(system, slot, 0);
}

void script_run_loads(ScriptSystem *system, uint32_t *left)
{
    for (uint32_t i = pool_next(&system->instances, 1); i != 0 && *left > 0 && !system->is_dead;
         i = pool_next(&system->instances, i + 1)) {
        const Instance *instance = pool_at(&system->instances, i);
        Script *script = script_at(system, instance->script);
        if (script == NULL || script->load != LOAD_PENDING || script->is_module ||
            !instance->enabled || !account_may_run(system, script) ||
            !share_may_run(system, script)) {
            continue;
        }
        *left -= 1;
        script_run_file(system, instance->script, pool_handle(&system->instances, i));
    }
}
