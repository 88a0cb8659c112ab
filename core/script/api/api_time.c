// task, Timer, Signal: everything that happens later.
#include "core/script/api/api.h"

#define FAULT_STEPS 3000 // describing a fault, keeping and logging it
#define DELAY_STEPS 500  // a coroutine that waits, beside making it
#define DEFER_STEPS 60

static int wait_is_over(lua_State *thread, int status, lua_KContext context)
{
    (void)status;
    lua_settop(thread, (int)context + 1);
    return 1; // the time that has really passed
}

int api_task_wait(lua_State *thread)
{
    schedule_sleep(thread, api_is_given(thread, 1) ? luaL_checknumber(thread, 1) : 0);
    lua_settop(thread, 0);
    return lua_yieldk(thread, 0, 0, wait_is_over);
}

// Starts a coroutine in a later tick, and returns it.
static int start(lua_State *thread, int function_index, uint64_t due_tick)
{
    ScriptSystem *system = script_of(thread);
    const int argument_count = lua_gettop(thread) - function_index;
    vm_charge(thread, DELAY_STEPS);
    const uint32_t slot = schedule_call(thread, function_index, argument_count, due_tick);
    thread_at(system, slot)->shown = true;
    schedule_list(system, slot);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, thread_at(system, slot)->ref);
    return 1;
}

// A coroutine that waits belongs to the script that put it to sleep: no other one goes on with it
// or ends it, however it came by it.
static void check_own(lua_State *thread, lua_State *coroutine, const char *name)
{
    ScriptSystem *system = script_of(thread);
    const Instance *instance = instance_at(system, system->current_instance);
    uint32_t slot = 0;
    const Thread *waiting = coroutine != NULL ? schedule_find(system, coroutine, &slot) : NULL;
    if (waiting != NULL && instance != NULL && !handle_equal(waiting->script, instance->script)) {
        luaL_error(thread, "%s: this coroutine belongs to another script", name);
    }
}

void api_check_resume(lua_State *thread, lua_State *coroutine)
{
    check_own(thread, coroutine, "coroutine.resume");
}

// Runs within the caller's own entry and budget, like coroutine.resume; an error in it is a fault
// of its own and does not reach the caller.
int api_task_spawn(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const int argument_count = lua_gettop(thread) - 1;
    lua_State *coroutine = lua_tothread(thread, 1);
    check_own(thread, coroutine, "task.spawn");
    if (coroutine == NULL) {
        coroutine = lua_newthread(thread);
        lua_insert(thread, 1); // coroutine, function, arguments
        lua_pushvalue(thread, 2);
        lua_xmove(thread, coroutine, 1);
        lua_remove(thread, 2);
    }
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->resume_ref);
    lua_insert(thread, 2);
    lua_pushvalue(thread, 1);
    lua_insert(thread, 3); // coroutine, resume, coroutine, arguments
    lua_call(thread, argument_count + 1, LUA_MULTRET);
    if (!lua_toboolean(thread, 2)) {
        vm_charge(thread, FAULT_STEPS);
        lua_settop(thread, 3); // coroutine, false, error
        hook_fault_of(system, coroutine, thread);
    }
    lua_settop(thread, 1);
    return 1;
}

int api_task_delay(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    return start(thread, 2, system->tick + script_ticks(system, luaL_checknumber(thread, 1)));
}

int api_task_defer(lua_State *thread)
{
    vm_charge(thread, DEFER_STEPS);
    return signal_raise(thread, signal_defer_function(thread, 1, lua_gettop(thread) - 1));
}

int api_task_cancel(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    lua_State *target = lua_tothread(thread, 1);
    uint32_t slot = 0;
    check_own(thread, target, "task.cancel");
    if (target != NULL && schedule_find(system, target, &slot) != NULL) {
        schedule_cancel(system, slot);
    }
    return 0;
}

int api_Timer_After(lua_State *thread)
{
    return timer_after(thread);
}

int api_Timer_Every(lua_State *thread)
{
    return timer_every(thread);
}

int api_Signal_new(lua_State *thread)
{
    signal_push_new(thread);
    return 1;
}

int api_Signal_Connect(lua_State *thread)
{
    return signal_connect(thread);
}

int api_Signal_Once(lua_State *thread)
{
    return signal_once(thread);
}

int api_Signal_Wait(lua_State *thread)
{
    return signal_wait(thread);
}

int api_Signal_Fire(lua_State *thread)
{
    return signal_fire(thread);
}

int api_Signal_DisconnectAll(lua_State *thread)
{
    return signal_disconnect_all(thread);
}

int api_Connection_Disconnect(lua_State *thread)
{
    return connection_disconnect(thread);
}

int api_get_Connection_Connected(lua_State *thread)
{
    lua_pushboolean(thread, connection_is_connected(thread, 1));
    return 1;
}
