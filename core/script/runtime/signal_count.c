// How many signals and connections a script has. Each is counted when it is made. A connection is
// taken off when it ends; a signal has no end, it is gone once nothing holds it. When Lua notices
// that depends on the build, so nothing is decided by it. Instead a script that comes near its
// limit makes everything be counted anew at the end of the tick, after a full collection: what is
// still held then is the same in every build. That takes time, so it is done at most once a second,
// and the scripts that were near their limits pay for it.
#include "core/script/runtime/script_inside.h"

#define COUNT_STEPS 2000000 // a collection of 16 MiB, and two walks over what is left

static bool is_near(const SignalCount *things, uint32_t most)
{
    return things->was_refused || (things->count > most - most / 4 && things->count > things->held);
}

static bool share_is_near(const ScriptShare *share)
{
    return is_near(&share->signals, SCRIPT_SIGNALS_MAX) ||
           is_near(&share->connections, SCRIPT_CONNECTIONS_MAX);
}

void signal_count_take(lua_State *lua, bool is_signal)
{
    ScriptSystem *system = script_of(lua);
    const Instance *instance = instance_at(system, system->current_instance);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (script == NULL) {
        return;
    }
    SignalCount *things = is_signal ? &script->share.signals : &script->share.connections;
    const uint32_t most = is_signal ? SCRIPT_SIGNALS_MAX : SCRIPT_CONNECTIONS_MAX;
    if (things->count >= most) {
        things->was_refused = system->count_is_due = true;
        luaL_error(lua,
                   "this script has %d %s, and may have %d; those that nothing holds any more are "
                   "taken off within a second",
                   (int)things->count, is_signal ? "signals" : "connections", (int)most);
    }
    things->count += 1;
    system->count_is_due = system->count_is_due || is_near(things, most);
}

void signal_count_give(ScriptSystem *system, Handle handle)
{
    Script *script = script_at(system, handle);
    if (script != NULL && script->share.connections.count > 0) {
        script->share.connections.count -= 1;
    }
}

static void count_one(ScriptSystem *system, Handle handle, bool is_signal)
{
    Script *script = script_at(system, handle);
    if (script != NULL) {
        SignalCount *things = is_signal ? &script->share.signals : &script->share.connections;
        things->count += 1;
        things->held += 1;
    }
}

// Starts all counts again from nothing; those who made it necessary pay the same each.
static void forget_counts(ScriptSystem *system)
{
    uint32_t near_count = 0;
    for (uint32_t i = pool_next(&system->scripts, 1); i != 0;
         i = pool_next(&system->scripts, i + 1)) {
        near_count += share_is_near(&((Script *)pool_at(&system->scripts, i))->share);
    }
    for (uint32_t i = pool_next(&system->scripts, 1); i != 0;
         i = pool_next(&system->scripts, i + 1)) {
        ScriptShare *share = &((Script *)pool_at(&system->scripts, i))->share;
        if (share_is_near(share)) {
            account_charge_work(system, pool_handle(&system->scripts, i), COUNT_STEPS / near_count);
        }
        share->signals = share->connections = (SignalCount){0};
    }
}

void signal_count_again(ScriptSystem *system)
{
    const uint64_t next = system->counted_tick + system->config.tick_rate;
    if (!system->count_is_due || system->is_dead ||
        (system->counted_tick != 0 && system->tick < next)) {
        return;
    }
    system->counted_tick = system->tick;
    system->count_is_due = false;
    forget_counts(system);
    signal_visit(system, count_one);
}
