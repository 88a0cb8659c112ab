// Entering Lua: the one place where script code is run, its cost is counted, and its faults are
// caught. Every entry is a coroutine of its own, taken from a pool, so that any of them may pause.
#include "core/script/runtime/script_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const hook_names[] = {
    [HOOK_LOAD] = "load",
    [HOOK_START] = "onStart",
    [HOOK_UPDATE] = "onUpdate",
    [HOOK_DESTROY] = "onDestroy",
    [HOOK_ENABLE] = "onEnable",
    [HOOK_DISABLE] = "onDisable",
    [HOOK_RELOAD] = "onReload",
    [HOOK_TRIGGER_ENTER] = "OnTriggerEnter",
    [HOOK_TRIGGER_LEAVE] = "OnTriggerLeave",
    [HOOK_TOUCH] = "OnTouch",
    [HOOK_HANDLER] = "handler",
};
_Static_assert(sizeof hook_names / sizeof hook_names[0] == HOOK_COUNT, "one name per hook");
// The path has one character before it. Editors jump to the file in a message.
_Static_assert(SCRIPT_PATH_BYTES + 1 <= LUA_IDSIZE, "Lua shows the longest path whole");

const char *hook_name(ScriptHook hook)
{
    return (unsigned)hook < HOOK_COUNT ? hook_names[hook] : "?";
}

static inline Handle take_slot(ScriptSystem *system, Instance *instance, Handle handle,
                               Script *script, ScriptHook hook)
{
    ScriptShare *share = &script->share;
    if (!share_take(&share->thread_count, &system->threads_shared, SCRIPT_COROUTINES_OWN,
                    SCRIPT_COROUTINES_PER_SCRIPT, SCRIPT_COROUTINES_SHARED)) {
        return HANDLE_NONE;
    }
    const Handle made = pool_acquire(&system->threads);
    if (handle_is_none(made)) {
        share_give(&share->thread_count, &system->threads_shared, SCRIPT_COROUTINES_OWN);
        return HANDLE_NONE;
    }
    instance->thread_count += 1;
    Thread *thread = thread_at(system, made.index);
    thread->instance = handle;
    thread->script = instance->script;
    thread->hook = hook;
    thread->cause = system->cause;
    thread->begun_by = system->cause;
    return made;
}

Handle hook_slot(ScriptSystem *system, Handle handle, ScriptHook hook)
{
    Instance *instance = instance_at(system, handle);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    return script != NULL ? take_slot(system, instance, handle, script, hook) : HANDLE_NONE;
}

static void release_slot(ScriptSystem *system, uint32_t slot)
{
    Thread *thread = thread_at(system, slot);
    Script *script = script_at(system, thread->script);
    if (script != NULL) {
        share_give(&script->share.thread_count, &system->threads_shared, SCRIPT_COROUTINES_OWN);
    }
    Instance *instance = instance_at(system, thread->instance);
    if (instance != NULL) {
        instance->thread_count -= 1;
    }
    (void)pool_release(&system->threads, pool_handle(&system->threads, slot));
}

static Coroutine make_coroutine(ScriptSystem *system, Handle script)
{
    lua_State *lua = vm_running(system->vm);
    const uint32_t owner = memory_enter(system, script);
    Coroutine made = {.lua = lua_newthread(lua)};
    made.ref = luaL_ref(lua, LUA_REGISTRYINDEX);
    memory_leave(system, owner);
    return made;
}

// Making one may raise.
static inline Coroutine take_coroutine(ScriptSystem *system, Handle script)
{
    return system->idle_count > 0 ? system->idle[--system->idle_count]
                                  : make_coroutine(system, script);
}

static void keep_coroutine(ScriptSystem *system, Coroutine coroutine)
{
    if (system->idle_count < SCRIPT_IDLE_MAX) {
        system->idle[system->idle_count++] = coroutine;
    } else {
        luaL_unref(system->lua, LUA_REGISTRYINDEX, coroutine.ref);
    }
}

static inline uint32_t fill_slot(ScriptSystem *system, Handle handle, Coroutine coroutine)
{
    Thread *thread = thread_at(system, handle.index);
    thread->ref = coroutine.ref;
    thread->lua = coroutine.lua;
    ASSERT(lua_gettop(thread->lua) == 0);
    thread->pooled = true;
    thread->state = THREAD_READY;
    return handle.index;
}

uint32_t hook_thread(ScriptSystem *system, Handle handle, ScriptHook hook)
{
    const Instance *instance = instance_at(system, handle);
    const Coroutine coroutine =
        take_coroutine(system, instance != NULL ? instance->script : HANDLE_NONE);
    const Handle made = hook_slot(system, handle, hook); // after what may raise
    if (handle_is_none(made)) {
        keep_coroutine(system, coroutine);
        return 0;
    }
    return fill_slot(system, made, coroutine);
}

uint32_t hook_event_thread(ScriptSystem *system, Handle handle, ScriptHook hook)
{
    Instance *instance = instance_at(system, handle);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (script == NULL || !account_may_run(system, script)) {
        return 0;
    }
    if (blame_is_barred(system, instance->script)) {
        share_use(system, script, SCRIPT_DROP_STEPS);
        system->totals.events_dropped += 1;
        return 0;
    }
    const bool has_room = script->share.ready_count < SCRIPT_QUEUED_PER_SCRIPT;
    const Handle made = has_room ? take_slot(system, instance, handle, script, hook) : HANDLE_NONE;
    if (handle_is_none(made)) {
        share_use(system, script, SCRIPT_DROP_STEPS);
        account_dropped(system, script, hook_name(hook));
        return 0;
    }
    return fill_slot(system, made, take_coroutine(system, instance->script));
}

// Frees the slot; a coroutine that ended normally is kept for the next entry.
static void give_back(ScriptSystem *system, uint32_t slot, bool reusable)
{
    Thread *thread = thread_at(system, slot);
    if (thread->state == THREAD_QUEUED) {
        share_unqueue(system, slot);
    }
    schedule_forget(system, thread);
    script_forget_ref(system, &thread->timer_ref);
    if (reusable && thread->pooled && !thread->shown) {
        lua_settop(thread->lua, 0);
        keep_coroutine(system, (Coroutine){thread->lua, thread->ref});
    } else {
        luaL_unref(system->lua, LUA_REGISTRYINDEX, thread->ref);
    }
    release_slot(system, slot);
}

// A text field of the table on top, read raw; "" otherwise. The table keeps it alive.
static const char *text_field(lua_State *thread, const char *name)
{
    lua_pushstring(thread, name);
    const char *text = lua_rawget(thread, -2) == LUA_TSTRING ? lua_tostring(thread, -1) : "";
    lua_pop(thread, 1);
    return text;
}

// The error on top of the thread's stack as text, without calling code of the script. An error
// thrown by TypeScript is a table with a name and a message.
static void error_text(lua_State *thread, char *out, size_t capacity)
{
    if (lua_type(thread, -1) == LUA_TSTRING) {
        snprintf(out, capacity, "%s", lua_tostring(thread, -1));
        return;
    }
    // A number is what assert(count == 3, count) has as its message.
    if (lua_isinteger(thread, -1)) {
        snprintf(out, capacity, "%lld", (long long)lua_tointeger(thread, -1));
        return;
    }
    if (lua_type(thread, -1) == LUA_TNUMBER) {
        snprintf(out, capacity, "%.14g", lua_tonumber(thread, -1));
        return;
    }
    if (lua_type(thread, -1) == LUA_TTABLE && lua_checkstack(thread, 2)) {
        const char *name = text_field(thread, "name");
        const char *message = text_field(thread, "message");
        if (name[0] != 0 || message[0] != 0) {
            snprintf(out, capacity, "%s%s%s", name, name[0] != 0 && message[0] != 0 ? ": " : "",
                     message);
            return;
        }
    }
    snprintf(out, capacity, "(error object is a %s value)", luaL_typename(thread, -1));
}

// Whether this is the error of a function of the other side, and not one that was caught before.
static bool says_side(const ScriptSystem *system, const char *message)
{
    const size_t bytes = strlen(message);
    const size_t text_bytes = strlen(system->capability_text);
    return text_bytes > 0 && bytes >= text_bytes &&
           strcmp(message + bytes - text_bytes, system->capability_text) == 0;
}

static uint32_t read_number(const char *digits)
{
    uint32_t number = 0;
    while (*digits >= '0' && *digits <= '9' && number < UINT32_MAX / 10 - 1) {
        number = number * 10 + (uint32_t)(*digits++ - '0');
    }
    return number;
}

// "Workspace/Door.ts:12…" → 12; 0: it is not a place in that file.
static uint32_t line_in(const char *place, const char *file)
{
    const size_t bytes = strlen(file);
    const bool is_place = bytes > 0 && strncmp(place, file, bytes) == 0 && place[bytes] == ':';
    return is_place ? read_number(place + bytes + 1) : 0;
}

// Where an error came from, if it says so: a text begins with it, and an error of TypeScript has it
// in its stack ("at Workspace/Door.ts:12"). It may have been caught and raised again since.
static const char *error_place(lua_State *thread)
{
    if (lua_type(thread, -1) == LUA_TSTRING) {
        return lua_tostring(thread, -1);
    }
    const bool is_object = lua_type(thread, -1) == LUA_TTABLE && lua_checkstack(thread, 2);
    const char *stack = is_object ? text_field(thread, "stack") : "";
    return strncmp(stack, "at ", 3) == 0 ? stack + 3 : "";
}

// The innermost line of the script itself. A module or TypeScript's library may have raised the
// error, but the fault names the script, so the line must be its own. 0 if no function of it is on
// the stack, as in a callback from a library.
static uint32_t own_line(const ScriptSystem *system, Handle handle, const char *place,
                         const char *traceback, uint32_t otherwise)
{
    const Instance *instance = instance_at(system, handle);
    const Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    const size_t bytes = script != NULL ? strlen(script->file) : 0;
    const uint32_t line = script != NULL ? line_in(place, script->file) : 0;
    if (line > 0) {
        return line;
    }
    for (const char *at = traceback; bytes > 0 && (at = strstr(at, script->file)) != NULL; at++) {
        const bool begins = at > traceback && (at[-1] == '\t');
        if (begins && at[bytes] == ':' && at[bytes + 1] >= '0' && at[bytes + 1] <= '9') {
            return read_number(at + bytes + 1);
        }
    }
    return bytes > 0 && traceback[0] != '\0' ? 0 : otherwise;
}

// Adds what to do to Lua's own words.
static void explain(char *message, size_t capacity)
{
    static const struct {
        const char *end, *advice;
    } known[] = {
        {"(for iterator 'for iterator')",
         ": write for i, value in ipairs(list) do, or for key, value in pairs(map) do"},
        {"attempt to index a nil value", ": what stands before the dot or colon returned nil"},
        {"attempt to call a nil value", ": what is called here is nil"},
        {"attempt to concatenate a nil value", ": write tostring(value) if it may be nil"},
    };
    const size_t bytes = strlen(message);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t end = strlen(known[i].end);
        if (bytes >= end && strcmp(message + bytes - end, known[i].end) == 0) {
            snprintf(message + bytes, capacity - bytes, "%s", known[i].advice);
            return;
        }
    }
}

static void record_fault(ScriptSystem *system, const Thread *thread, VmOutcome outcome)
{
    char message[SCRIPT_MESSAGE_BYTES];
    char traceback[SCRIPT_TRACEBACK_BYTES];
    const char *place = "";
    FaultKind kind = FAULT_ERROR;
    if (outcome == VM_OVER_BUDGET) {
        kind = FAULT_BUDGET;
        snprintf(
            message, sizeof message,
            "ran for more than %u ms (%llu steps): put task.wait() into the loop, or do less at a "
            "time",
            (unsigned)system->config.call_ms, (unsigned long long)vm_steps_used(system->vm));
    } else if (outcome == VM_OVER_MEMORY || outcome == VM_DEAD) {
        kind = FAULT_MEMORY;
        snprintf(message, sizeof message, "the scripts of this world use more than %zu MiB",
                 vm_memory(system->vm).soft_bytes >> 20);
    } else {
        error_text(thread->lua, message, sizeof message);
        place = error_place(thread->lua);
        explain(message, sizeof message);
        kind = says_side(system, message) ? FAULT_CAPABILITY : FAULT_ERROR;
    }
    (void)vm_traceback(system->vm, traceback, sizeof traceback);
    account_fault(system, thread->instance, thread->hook, kind,
                  own_line(system, thread->instance, place, traceback, vm_fault_line(system->vm)),
                  message, traceback);
}

void hook_fault_of(ScriptSystem *system, lua_State *coroutine, lua_State *thread)
{
    char message[SCRIPT_MESSAGE_BYTES];
    char traceback[SCRIPT_TRACEBACK_BYTES] = "";
    size_t used = 0;
    lua_Debug frame;
    // A coroutine that failed still has its stack.
    for (int level = 0; lua_getstack(coroutine, level, &frame) == 1; level++) {
        lua_getinfo(coroutine, "Sl", &frame);
        const int bytes = frame.currentline > 0
                              ? snprintf(traceback + used, sizeof traceback - used,
                                         "\n\t%s:%d:", frame.short_src, frame.currentline)
                              : 0;
        if (bytes < 0 || (size_t)bytes >= sizeof traceback - used) {
            traceback[used] = '\0';
            break;
        }
        used += (size_t)bytes;
    }
    error_text(thread, message, sizeof message);
    account_fault(system, system->current_instance, HOOK_HANDLER, FAULT_ERROR,
                  own_line(system, system->current_instance, error_place(thread), traceback, 0),
                  message, traceback);
}

static void settle(ScriptSystem *system, uint32_t slot, VmOutcome outcome, int result_count)
{
    Thread *thread = thread_at(system, slot);
    switch (outcome) {
    case VM_DONE:
        if (thread->load_script.index != 0) {
            script_loaded(system, thread->load_script, thread->lua, result_count);
        }
        if (thread->invoke_id != 0) {
            system->config.api->answer(system, thread, true, result_count);
        }
        give_back(system, slot, true);
        return;
    case VM_YIELDED:
        lua_pop(thread->lua, result_count);
        if (thread->load_script.index != 0) {
            script_load_waits(system, thread);
        }
        if (thread->state == THREAD_RUNNING) {
            thread->state = THREAD_PARKED;
        }
        return;
    default:
        record_fault(system, thread, outcome);
        if (thread->load_script.index != 0) {
            script_load_failed(system, thread->load_script);
        }
        if (thread->invoke_id != 0) {
            system->config.api->answer(system, thread, false, 0);
        }
        system->is_dead = system->is_dead || outcome == VM_DEAD;
        if (!system->is_dead) {
            const Handle instance = thread->instance;
            const int timer_ref = thread->timer_ref;
            thread->timer_ref = 0;
            give_back(system, slot, false);
            timer_failed(system, instance, timer_ref);
        }
        return;
    }
}

// The script of a thread, or NULL if the thread may not run any more.
static Script *runnable_script(ScriptSystem *system, const Thread *thread)
{
    const Instance *instance = instance_at(system, thread->instance);
    if (instance == NULL || (instance->ending && thread->hook != HOOK_DESTROY)) {
        return NULL;
    }
    Script *script = script_at(system, instance->script);
    return script != NULL && account_may_run(system, script) ? script : NULL;
}

void hook_run(ScriptSystem *system, uint32_t slot, int argument_count)
{
    Thread *thread = thread_at(system, slot);
    ASSERT(system->current_thread == 0); // entries of scripts never nest
    Script *script = system->is_dead ? NULL : runnable_script(system, thread);
    if (script == NULL) {
        give_back(system, slot, false);
        return;
    }
    if (!share_may_run(system, script)) {
        thread->depth = system->current_depth;
        share_queue(system, script, slot, argument_count);
        return;
    }
    script->share.has_called = script->share.has_called || thread->hook != HOOK_LOAD;
    thread->state = THREAD_RUNNING;
    system->current_thread = slot;
    system->current_instance = thread->instance;
    system->capability_text[0] = 0;
    const Cause outer = system->cause;
    system->cause = thread->cause;
    int result_count = 0;
    account_enter(system, thread->script.index);
    const uint32_t owner = vm_set_owner(system->vm, thread->script.index);
    const uint64_t steps_max = (uint64_t)system->call_ms_now * VM_STEPS_PER_MS;
    const double began_ms = script_now_ms(system);
    const VmOutcome outcome =
        vm_resume(system->vm, thread->lua, argument_count, steps_max, &result_count);
    thread->shown = thread->shown || vm_entry_was_shown(system->vm);
    const uint64_t steps = vm_steps_used(system->vm) + (thread->shown ? SCRIPT_COROUTINE_STEPS : 0);
    system->current_thread = 0;
    while (system->require_count > 0) {
        script_module_failed(system); // the time of the entry ran out inside it
    }
    account_call(system, instance_at(system, thread->instance), steps);
    account_time(system, thread->instance, began_ms, steps);
    account_leave(system);
    settle(system, slot, outcome, result_count);
    memory_leave(system, owner);
    system->current_instance = HANDLE_NONE;
    system->cause = outer;
    memory_settle(system);
}

void hook_call(ScriptSystem *system, Handle instance, ScriptHook hook, int function_ref,
               int argument_count)
{
    const uint32_t slot = function_ref != 0 ? hook_event_thread(system, instance, hook) : 0;
    if (slot == 0) {
        lua_pop(system->lua, argument_count);
        return;
    }
    Thread *thread = thread_at(system, slot);
    lua_rawgeti(system->lua, LUA_REGISTRYINDEX, function_ref);
    lua_insert(system->lua, -argument_count - 1);
    lua_xmove(system->lua, thread->lua, argument_count + 1);
    hook_run(system, slot, argument_count);
}

void hook_give_back(ScriptSystem *system, uint32_t slot)
{
    give_back(system, slot, false);
}
