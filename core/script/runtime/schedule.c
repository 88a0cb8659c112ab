// Coroutines that sleep or wait. The sleepers are in a heap, sorted by due tick and then by the
// order in which they went to sleep; an entry whose thread was cancelled or woken meanwhile is
// skipped when it is due.
#include "core/script/runtime/script_inside.h"

static bool is_before(const SleepEntry *a, const SleepEntry *b)
{
    return a->due_tick != b->due_tick ? a->due_tick < b->due_tick : a->number < b->number;
}

static void heap_push(ScriptSystem *system, SleepEntry entry)
{
    ASSERT(system->sleeper_count < system->sleeper_max);
    uint32_t at = system->sleeper_count++;
    while (at > 0 && is_before(&entry, &system->sleepers[(at - 1) / 2])) {
        system->sleepers[at] = system->sleepers[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    system->sleepers[at] = entry;
}

static void heap_pop(ScriptSystem *system)
{
    const SleepEntry last = system->sleepers[--system->sleeper_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= system->sleeper_count) {
            break;
        }
        if (child + 1 < system->sleeper_count &&
            is_before(&system->sleepers[child + 1], &system->sleepers[child])) {
            child += 1;
        }
        if (!is_before(&system->sleepers[child], &last)) {
            break;
        }
        system->sleepers[at] = system->sleepers[child];
        at = child;
    }
    system->sleepers[at] = last;
}

// Removes entries of cancelled threads, if there are many.
static void heap_sweep(ScriptSystem *system)
{
    const uint32_t count = system->sleeper_count;
    system->sleeper_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const SleepEntry entry = system->sleepers[i];
        const Thread *thread = pool_find(&system->threads, entry.thread);
        if (thread != NULL && thread->number == entry.number) {
            heap_push(system, entry);
        }
    }
}

void schedule_list(ScriptSystem *system, uint32_t slot)
{
    Thread *thread = thread_at(system, slot);
    if (!thread->listed) {
        thread->listed = true;
        id_map_put(&system->thread_slots, (uint64_t)(uintptr_t)thread->lua, slot);
    }
}

void schedule_forget(ScriptSystem *system, Thread *thread)
{
    if (thread->listed) {
        thread->listed = false;
        id_map_remove(&system->thread_slots, (uint64_t)(uintptr_t)thread->lua);
    }
}

static void put_to_sleep(ScriptSystem *system, uint32_t slot, uint64_t due_tick)
{
    Thread *thread = thread_at(system, slot);
    thread->state = THREAD_SLEEPING;
    thread->due_tick = due_tick;
    thread->began_tick = system->tick;
    thread->number = ++system->next_number;
    if (system->sleeper_count == system->sleeper_max) {
        heap_sweep(system);
    }
    heap_push(system, (SleepEntry){due_tick, thread->number, pool_handle(&system->threads, slot)});
}

Thread *schedule_find(ScriptSystem *system, lua_State *lua, uint32_t *slot)
{
    const uint32_t found = id_map_find(&system->thread_slots, (uint64_t)(uintptr_t)lua);
    *slot = found;
    return found != 0 ? thread_at(system, found) : NULL;
}

static _Noreturn void raise_too_many(lua_State *lua)
{
    const ScriptSystem *system = script_of(lua);
    const Instance *instance = instance_at(system, system->current_instance);
    const Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    luaL_error(lua,
               "too many coroutines and timers are waiting: this script has %d, a script may have "
               "%d, and all together %d; end some with task.cancel or Disconnect",
               script != NULL ? (int)script->share.thread_count : 0, SCRIPT_COROUTINES_PER_SCRIPT,
               SCRIPT_COROUTINES_SHARED);
    ASSERT(false); // luaL_error does not return
}

// The thread of the coroutine that is about to pause: the entry itself, or a coroutine of the
// script, which the scheduler resumes from now on.
static uint32_t pausing_thread(lua_State *lua)
{
    ScriptSystem *system = script_of(lua);
    if (!lua_isyieldable(lua)) {
        luaL_error(lua, system->require_count > 0
                            ? "a module cannot pause while its file runs; pause in a function of "
                              "it, or in task.spawn"
                            : "this function cannot pause here");
    }
    if (thread_at(system, system->current_thread)->lua == lua) {
        schedule_list(system, system->current_thread);
        return system->current_thread;
    }
    uint32_t slot = 0;
    if (schedule_find(system, lua, &slot) != NULL) {
        return slot;
    }
    lua_pushthread(lua);
    const int ref = luaL_ref(lua, LUA_REGISTRYINDEX); // may raise, so before the slot is taken
    const Handle handle = hook_slot(system, system->current_instance, HOOK_HANDLER);
    if (handle_is_none(handle)) {
        luaL_unref(lua, LUA_REGISTRYINDEX, ref);
        raise_too_many(lua);
    }
    Thread *thread = thread_at(system, handle.index);
    thread->ref = ref;
    thread->lua = lua;
    schedule_list(system, handle.index);
    return handle.index;
}

void schedule_sleep(lua_State *lua, double seconds)
{
    ScriptSystem *system = script_of(lua);
    const uint32_t slot = pausing_thread(lua);
    thread_at(system, slot)->argument_count = SCHEDULE_ELAPSED;
    put_to_sleep(system, slot, system->tick + script_ticks(system, seconds));
}

uint64_t schedule_request(lua_State *lua)
{
    ScriptSystem *system = script_of(lua);
    const uint32_t slot = pausing_thread(lua);
    Thread *thread = thread_at(system, slot);
    thread->state = THREAD_WAITING;
    thread->request_id = ++system->next_request;
    thread->number = ++system->next_number;
    return thread->request_id;
}

Handle schedule_wait(lua_State *lua)
{
    ScriptSystem *system = script_of(lua);
    const uint32_t slot = pausing_thread(lua);
    Thread *thread = thread_at(system, slot);
    thread->state = THREAD_WAITING;
    thread->request_id = 0;
    thread->number = ++system->next_number;
    return pool_handle(&system->threads, slot);
}

void schedule_later(ScriptSystem *system, uint32_t slot, int argument_count, uint64_t due_tick)
{
    thread_at(system, slot)->argument_count = argument_count;
    put_to_sleep(system, slot, due_tick);
}

uint32_t schedule_call(lua_State *lua, int function_index, int argument_count, uint64_t due_tick)
{
    ScriptSystem *system = script_of(lua);
    luaL_checkstack(lua, argument_count + 1, NULL);
    const uint32_t slot = hook_thread(system, system->current_instance, HOOK_HANDLER);
    if (slot == 0) {
        raise_too_many(lua);
    }
    Thread *thread = thread_at(system, slot);
    if (!lua_checkstack(thread->lua, argument_count + 1)) { // raises nothing on that thread
        hook_give_back(system, slot);
        luaL_error(lua, "there is no memory for so many arguments");
    }
    lua_pushvalue(lua, function_index);
    for (int i = 1; i <= argument_count; i++) {
        lua_pushvalue(lua, function_index + i);
    }
    lua_xmove(lua, thread->lua, argument_count + 1);
    schedule_later(system, slot, argument_count, due_tick);
    return slot;
}

void schedule_wake(ScriptSystem *system, Handle handle, int argument_count)
{
    Thread *thread = pool_find(&system->threads, handle);
    if (thread == NULL || thread->state != THREAD_WAITING ||
        !lua_checkstack(thread->lua, argument_count)) {
        lua_pop(system->lua, argument_count);
        return;
    }
    lua_xmove(system->lua, thread->lua, argument_count);
    thread->argument_count = argument_count;
    put_to_sleep(system, handle.index, system->tick);
}

void schedule_cancel(ScriptSystem *system, uint32_t slot)
{
    // The running one ends by itself; it just is not resumed.
    if (slot != system->current_thread) {
        hook_give_back(system, slot);
    }
}

void schedule_cancel_instance(ScriptSystem *system, Handle instance)
{
    uint32_t left = instance_at(system, instance)->thread_count;
    for (uint32_t i = pool_next(&system->threads, 1); i != 0 && left > 0;
         i = pool_next(&system->threads, i + 1)) {
        if (handle_equal(thread_at(system, i)->instance, instance)) {
            left -= 1;
            schedule_cancel(system, i);
        }
    }
}

static void resume(ScriptSystem *system, uint32_t slot)
{
    Thread *thread = thread_at(system, slot);
    int argument_count = thread->argument_count;
    if (argument_count == SCHEDULE_ELAPSED) {
        lua_pushnumber(thread->lua, (double)(system->tick - thread->began_tick) /
                                        (double)system->config.tick_rate);
        argument_count = 1;
    }
    system->current_depth = thread->depth;
    hook_run(system, slot, argument_count);
    system->current_depth = 0;
}

// Runs what a script has waiting, in order, as far as its share goes. A script that is paused for
// its faults keeps its queue.
static void run_queue(ScriptSystem *system, uint32_t slot)
{
    const Handle handle = pool_handle(&system->scripts, slot);
    Script *script = script_at(system, handle);
    system->serving = slot;
    while (script != NULL && script->share.ready_count > 0 && !system->is_dead) {
        if ((!account_may_run(system, script) && script->state == SCRIPT_THROTTLED) ||
            !share_may_run(system, script)) {
            break;
        }
        const uint32_t thread = script->share.ready_first;
        share_unqueue(system, thread);
        resume(system, thread);
        script = script_at(system, handle);
    }
    system->serving = 0;
}

static void run_queues(ScriptSystem *system)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < system->ready_script_count && !system->is_dead; i++) {
        const uint32_t slot = system->ready_scripts[i];
        run_queue(system, slot);
        ScriptShare *share = &((Script *)pool_at(&system->scripts, slot))->share;
        share->is_listed = share->ready_count > 0;
        if (share->is_listed) {
            system->ready_scripts[kept++] = slot;
        }
    }
    system->ready_script_count = kept;
}

// A thread is due: run it, or queue it for its script's turn.
static void run_due(ScriptSystem *system, uint32_t slot)
{
    Thread *thread = thread_at(system, slot);
    Script *script = script_at(system, thread->script);
    // A script that is paused for its faults loses time, but keeps its timers.
    if (script != NULL && !account_may_run(system, script) && script->state == SCRIPT_THROTTLED) {
        const uint64_t began_tick = thread->began_tick;
        put_to_sleep(system, slot, script->wake_tick);
        thread->began_tick = began_tick;
        return;
    }
    if (script != NULL && !share_may_run(system, script)) {
        share_queue(system, script, slot, thread->argument_count);
        return;
    }
    resume(system, slot);
}

void schedule_run(ScriptSystem *system)
{
    run_queues(system);
    while (system->sleeper_count > 0 && system->sleepers[0].due_tick <= system->tick &&
           !system->is_dead) {
        const SleepEntry entry = system->sleepers[0];
        heap_pop(system);
        const Thread *thread = pool_find(&system->threads, entry.thread);
        if (thread != NULL && thread->number == entry.number && thread->state == THREAD_SLEEPING) {
            run_due(system, entry.thread.index);
        }
    }
}
