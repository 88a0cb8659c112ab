// Charges scripts for the work of the world: what they request while they run, and what their
// entities do in every tick.
#include "core/base/limits.h"
#include "core/script/runtime/script_inside.h"

#include <stdio.h>

#define LOST_SECONDS 10 // between two faults for messages that are dropped

void account_enter(ScriptSystem *system, uint32_t slot)
{
    ScriptWorld *world = system->config.world;
    world->caller = slot <= SIM_MAKERS_MAX ? slot : SIM_MAKERS_MAX;
    world->actor = system->cause.is_message ? system->cause.player_id : 0;
    system->work_seen = system->methods->work(world);
}

void account_leave(ScriptSystem *system)
{
    ScriptWorld *world = system->config.world;
    const uint64_t left = system->methods->work(world) - system->work_seen;
    system->work_seen += left;
    if (left > 0 && pool_is_live(&system->scripts, world->caller)) {
        Script *script = pool_at(&system->scripts, world->caller);
        account_charge_work(system, pool_handle(&system->scripts, world->caller), left);
        script->account.work_step_count += left;
    }
    world->caller = 0;
    world->actor = 0;
}

void script_charge_work(ScriptSystem *system, uint32_t slot, const SimMaker *work)
{
    if (!pool_is_live(&system->scripts, slot)) {
        return; // it is gone, and its entities will be
    }
    Script *script = pool_at(&system->scripts, slot);
    script->account.work_step_count += work->steps;
    script->account.work_skipped_count += work->skipped;
    // Below its share it was not at fault: others took too much in one tick, and the next one is
    // fair again.
    const bool is_over =
        work->skipped > 0 && work->steps >= work->share && script->state != SCRIPT_OFF;
    if (!is_over || (script->work_fault_tick != 0 &&
                     system->tick < script->work_fault_tick + system->config.tick_rate)) {
        return;
    }
    script->work_fault_tick = system->tick;
    char message[SCRIPT_MESSAGE_BYTES];
    snprintf(message, sizeof message,
             "its projectiles, NPCs and parts took %llu steps in one tick and its share was %llu: "
             "%u of them stood still",
             (unsigned long long)work->steps, (unsigned long long)work->share,
             (unsigned)work->skipped);
    account_budget_fault(system, script, message);
}

void script_effects_lost(ScriptSystem *system, uint32_t slot, uint64_t count)
{
    if (!pool_is_live(&system->scripts, slot)) {
        return;
    }
    Script *script = pool_at(&system->scripts, slot);
    script->account.dropped_count += count;
    if (script->lost_tick != 0 &&
        system->tick < script->lost_tick + (uint64_t)LOST_SECONDS * system->config.tick_rate) {
        return;
    }
    script->lost_tick = system->tick;
    account_budget_fault(
        system, script,
        "sends more messages, chat or sounds than players can be sent: a script has "
        "at most half of what fits, and the rest is dropped");
}
