// Passes events from the authority to its scripts; apart from authority.c so that an authority can
// be used without a script system.
#include "core/script/bridge/authority_inside.h"

static void bind_spawned(Authority *authority, ScriptSystem *system)
{
    for (uint32_t i = 0; i < authority->bind_count; i++) {
        const AuthorityBind *bind = &authority->binds[i];
        WorldThing thing;
        if (!authority_find(authority, bind->net_id, &thing)) {
            continue; // destroyed meanwhile
        }
        const InstanceDesc desc = {.script_id = bind->prefab->script_path,
                                   .entity = bind->net_id,
                                   .enabled = true,
                                   .parameters = bind->prefab->parameters,
                                   .parameters_bytes = bind->prefab->parameters_bytes};
        uint32_t instance = 0;
        if (script_bind(system, &desc, &instance) != STATUS_OK) {
            authority->counters.binds_failed += 1;
        }
    }
    authority_binds_clear(authority);
}

// Charges each script for the last step's work on its entities; once, however often this is called.
static void charge_work(Authority *authority, ScriptSystem *system)
{
    const Sim *sim = authority->sim;
    if (authority->charged_tick == sim_tick(sim)) {
        return;
    }
    authority->charged_tick = sim_tick(sim);
    for (uint32_t i = 1; i <= sim_maker_highest(sim); i++) {
        const SimMaker maker = sim_maker(sim, i);
        if (maker.steps != 0) {
            script_charge_work(system, i, &maker);
        }
    }
}

void authority_feed(Authority *authority, ScriptSystem *system)
{
    charge_work(authority, system);
    authority_collect(authority);
    bind_spawned(authority, system);
    uint32_t taken = 0;
    while (taken < authority->event_count &&
           script_event(system, &authority->events[taken]) == STATUS_OK) {
        taken += 1;
    }
    authority_events_take(authority, taken);
}
