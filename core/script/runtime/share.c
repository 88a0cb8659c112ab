// Who may run in a tick. All scripts share the steps of a tick. As long as everything fits, all run
// in the order that script.h gives, and nothing here changes anything. A tick that ends while
// something still waits makes time short for a second, and then:
//
//   - A tick has rounds, each in the order of script.h. First run the scripts with the longest
//     record of ticks in which they kept to their share, then those with shorter ones. What cannot
//     run is queued with its script and runs in a later round or tick.
//   - A script runs while it has credit. Each tick adds its share; what it runs takes from it. One
//     call may take more than is left: the debt is carried, so the script runs less often.
//   - When all that wait are in debt and there is time left, all of them get the same amount on
//     top, so that no time is lost (deficit round robin).
//
// The share is the most that every script could have got in the last tick: those that needed less
// had what they needed, and the rest is divided evenly among the others.
//
// Everything is decided by steps and ticks, so all machines decide alike.
#include "core/script/runtime/script_inside.h"

#define TRUST_MAX     4
#define TRUSTED_TICKS 64 // good ticks for the highest trust
#define ROUNDS_MAX    16
// Debt beyond this many ticks is forgotten; nothing runs for a script that is that deep in it, not
// even onDestroy.
#define DEBT_TICKS_MAX 8
// A script is said to be throttled when it has used too much in so many ticks without a good one
// between: a load and a start are dear for once.
#define OVER_TICKS 5

static int64_t tick_budget(const ScriptSystem *system)
{
    return (int64_t)system->config.tick_ms * VM_STEPS_PER_MS;
}

static bool time_is_short(const ScriptSystem *system)
{
    return system->short_until > system->tick;
}

// From 0, nothing known or used too much, in powers of four to TRUST_MAX.
static uint32_t trust_of(const ScriptShare *share)
{
    uint32_t trust = 0;
    for (uint32_t ticks = share->good_ticks; ticks > 0; ticks /= 4) {
        trust += 1;
    }
    return trust < TRUST_MAX ? trust : TRUST_MAX;
}

// The last call of a tick may begin with one step left and take all that a call may. Later ticks
// pay for that with time that is left to nobody, so that a tick takes no longer than it should on
// average. Up to half of a tick is reserved for it.
static void reserve_overrun(ScriptSystem *system)
{
    const int64_t budget = tick_budget(system);
    system->overrun_steps -= system->tick_steps_left;
    if (system->overrun_steps < 0) {
        system->overrun_steps = 0;
    } else if (system->overrun_steps > DEBT_TICKS_MAX * budget) {
        system->overrun_steps = DEBT_TICKS_MAX * budget;
    }
    system->reserved_steps =
        system->overrun_steps < budget / 2 ? system->overrun_steps : budget / 2;
}

// Those that keep to their share do not pay for those that do not.
static bool has_time(const ScriptSystem *system, const ScriptShare *share)
{
    const bool pays = time_is_short(system) && share->good_ticks == 0;
    return system->tick_steps_left > (pays ? system->reserved_steps : 0);
}

void share_begin(ScriptSystem *system)
{
    reserve_overrun(system);
    system->tick_steps_left = tick_budget(system);
    system->charge_steps_left = tick_budget(system) / 2;
    system->in_tick = true;
    system->active_count = 0;
    system->round_count = 0;
    system->trust_floor = time_is_short(system) ? TRUST_MAX : 0;
    if (!time_is_short(system)) {
        system->share_steps = tick_budget(system);
    }
}

// Gives a script its share for the ticks since it last ran.
static void begin_tick(ScriptSystem *system, Script *script)
{
    ScriptShare *share = &script->share;
    const uint64_t ticks = system->tick - share->used_tick;
    const int64_t many = ticks < 1000 ? (int64_t)ticks : 1000;
    share->credit_steps += many * system->share_steps;
    if (share->credit_steps > system->share_steps) {
        share->credit_steps = system->share_steps;
    }
    share->used_tick = system->tick;
    share->used_steps = share->charged_steps;
    share->charged_steps = 0;
    share->has_called = false;
    // What was done for one script leaves half of the tick for the others at least.
    const int64_t charged = (int64_t)share->used_steps < system->charge_steps_left
                                ? (int64_t)share->used_steps
                                : system->charge_steps_left;
    system->charge_steps_left -= charged;
    system->tick_steps_left -= charged;
    share->waits = false;
    ASSERT(system->active_count < system->scripts.slot_count);
    system->active[system->active_count++] = script_slot(system, script);
}

// Notes that the script is there in this tick.
static inline void activate(ScriptSystem *system, Script *script)
{
    if (script->share.used_tick != system->tick) {
        begin_tick(system, script);
    }
}

bool share_decide(ScriptSystem *system, Script *script)
{
    activate(system, script);
    ScriptShare *share = &script->share;
    if (system->ignores_share) {
        return share->credit_steps > -DEBT_TICKS_MAX * tick_budget(system);
    }
    if (share->ready_count > 0 && system->serving != script_slot(system, script)) {
        return false; // after what waits already; whether that had to wait is noted with it
    }
    if (has_time(system, share) &&
        (!time_is_short(system) ||
         (share->credit_steps > 0 && trust_of(share) >= system->trust_floor))) {
        return true;
    }
    share->waits = true;
    return false;
}

static void take_credit(ScriptSystem *system, Script *script, int64_t steps)
{
    const int64_t least = -DEBT_TICKS_MAX * tick_budget(system);
    script->share.credit_steps -= steps;
    if (script->share.credit_steps < least) {
        script->share.credit_steps = least;
    }
}

void share_use(ScriptSystem *system, Script *script, uint64_t steps)
{
    const int64_t used = (int64_t)(steps < INT32_MAX ? steps : INT32_MAX);
    system->tick_steps_left -= used;
    if (script != NULL) {
        activate(system, script);
        script->share.used_steps += (uint64_t)used;
        take_credit(system, script, used);
    }
}

// Between ticks there is nothing to take it from yet: it counts in the script's next one.
void share_charge(ScriptSystem *system, Script *script, uint64_t steps)
{
    const uint64_t used = steps < INT32_MAX ? steps : INT32_MAX;
    if (system->in_tick) {
        share_use(system, script, used);
        return;
    }
    script->share.charged_steps += used;
    take_credit(system, script, (int64_t)used);
}

// --- rounds -------------------------------------------------------------------------------------

// Gives those that wait the same amount on top, so that one of them at least can go on.
static void lift(ScriptSystem *system, int64_t highest, uint32_t count)
{
    const int64_t each = system->tick_steps_left / count + 1 - highest;
    for (uint32_t i = 0; i < system->active_count; i++) {
        Script *script = pool_at(&system->scripts, system->active[i]);
        if (script->share.waits) {
            script->share.credit_steps += each;
        }
    }
}

bool share_next_round(ScriptSystem *system)
{
    if (!time_is_short(system) || system->tick_steps_left <= 0 || system->is_dead ||
        system->round_count == ROUNDS_MAX) {
        return false;
    }
    system->round_count += 1;
    uint32_t count = 0;
    uint32_t trust = 0;
    int64_t highest = INT64_MIN;
    for (uint32_t i = 0; i < system->active_count; i++) {
        const Script *script = pool_at(&system->scripts, system->active[i]);
        const ScriptShare *share = &script->share;
        if (share->waits && has_time(system, share)) {
            count += 1;
            highest = share->credit_steps > highest ? share->credit_steps : highest;
            trust = share->credit_steps > 0 && trust_of(share) > trust ? trust_of(share) : trust;
        }
    }
    if (count == 0) {
        return false;
    }
    system->trust_floor = trust;
    if (highest <= 0) {
        lift(system, highest, count);
    }
    for (uint32_t i = 0; i < system->active_count; i++) {
        ((Script *)pool_at(&system->scripts, system->active[i]))->share.waits = false;
    }
    return true;
}

// --- the end of a tick --------------------------------------------------------------------------

// The most that each script could have had: what those below it did not need is divided among those
// above. One that waits needs more than it got, whatever that was.
static int64_t fair_share(const ScriptSystem *system)
{
    int64_t level = tick_budget(system) / system->active_count;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        int64_t left = tick_budget(system);
        uint32_t count = 0;
        for (uint32_t i = 0; i < system->active_count; i++) {
            const Script *script = pool_at(&system->scripts, system->active[i]);
            const int64_t used = (int64_t)script->share.used_steps;
            const bool wants_more = script->share.waits || used > level;
            count += wants_more;
            left -= wants_more ? 0 : used;
        }
        const int64_t next = count > 0 ? left / count : tick_budget(system);
        if (next <= level) {
            break;
        }
        level = next;
    }
    return level;
}

static void judge(ScriptSystem *system, Script *script, bool is_short)
{
    ScriptShare *share = &script->share;
    if ((int64_t)share->used_steps > system->share_steps) {
        share->good_ticks = 0;
        const bool was_over = share->over_until > system->tick;
        share->over_count += is_short;
        if (share->over_count >= OVER_TICKS) {
            share->over_until = system->tick + system->config.tick_rate;
            if (!was_over) {
                account_over_share(system, script);
            }
        }
    } else if (share->has_called && !share->waits) {
        // A top level says nothing about what comes after it.
        share->good_ticks += share->good_ticks < TRUSTED_TICKS;
        share->over_count = 0;
    } else if (share->waits && share->over_until > system->tick) {
        share->over_until = system->tick + system->config.tick_rate;
    }
}

void share_end(ScriptSystem *system)
{
    system->in_tick = false;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < system->active_count; i++) {
        waiting += ((Script *)pool_at(&system->scripts, system->active[i]))->share.waits;
    }
    system->share_steps = tick_budget(system);
    if (waiting > 0) {
        system->short_until = system->tick + 1 + system->config.tick_rate;
        system->share_steps = fair_share(system);
    }
    for (uint32_t i = 0; i < system->active_count; i++) {
        Script *script = pool_at(&system->scripts, system->active[i]);
        judge(system, script, waiting > 0 && system->active_count > 1); // alone it may use all
    }
}

// --- queues -------------------------------------------------------------------------------------

void share_queue(ScriptSystem *system, Script *script, uint32_t slot, int argument_count)
{
    ScriptShare *share = &script->share;
    Thread *thread = thread_at(system, slot);
    thread->state = THREAD_QUEUED;
    thread->argument_count = argument_count;
    thread->ready_before = share->ready_last;
    thread->ready_after = 0;
    if (share->ready_last != 0) {
        thread_at(system, share->ready_last)->ready_after = slot;
    } else {
        share->ready_first = slot;
    }
    share->ready_last = slot;
    share->ready_count += 1;
    if (!share->is_listed) {
        share->is_listed = true;
        ASSERT(system->ready_script_count < system->scripts.slot_count);
        system->ready_scripts[system->ready_script_count++] = script_slot(system, script);
    }
}

void share_unqueue(ScriptSystem *system, uint32_t slot)
{
    Thread *thread = thread_at(system, slot);
    ASSERT(thread->state == THREAD_QUEUED);
    ScriptShare *share = &script_at(system, thread->script)->share;
    if (thread->ready_before != 0) {
        thread_at(system, thread->ready_before)->ready_after = thread->ready_after;
    } else {
        share->ready_first = thread->ready_after;
    }
    if (thread->ready_after != 0) {
        thread_at(system, thread->ready_after)->ready_before = thread->ready_before;
    } else {
        share->ready_last = thread->ready_before;
    }
    share->ready_count -= 1;
    thread->state = THREAD_READY;
}

// --- the end of a script ------------------------------------------------------------------------

static void list_remove(uint32_t *list, uint32_t *count, uint32_t slot)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        if (list[i] != slot) {
            list[kept++] = list[i];
        }
    }
    *count = kept;
}

void share_forget(ScriptSystem *system, Handle handle)
{
    ScriptShare *share = &script_at(system, handle)->share;
    list_remove(system->active, &system->active_count, handle.index);
    list_remove(system->ready_scripts, &system->ready_script_count, handle.index);
    while (share->thread_count > 0) {
        share_give(&share->thread_count, &system->threads_shared, SCRIPT_COROUTINES_OWN);
    }
    while (share->deferred_count > 0) {
        share_give(&share->deferred_count, &system->deferred_shared, SCRIPT_DEFERRED_OWN);
    }
}
