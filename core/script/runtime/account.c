// What scripts cost and how they fail. Every fault adds one to what its script has against it, and
// one is forgiven every minute; at three the script is paused, longer each time, at eight it is off
// until it changes.
#include "core/script/runtime/script_inside.h"

#include <stdio.h>
#include <string.h>

#define THROTTLE_FAULTS 3
#define OFF_FAULTS      8
#define FORGIVE_SECONDS 60
#define SAY_SECONDS     10 // between two lines about the same
#define SKIPS_SAID      10 // lines in a second about an onUpdate that was left out, of all scripts
// Frames of a fault that go into the log; all that were kept are in the fault itself.
#define TRACE_LINES_MAX 10

void account_call(ScriptSystem *system, Instance *instance, uint64_t steps)
{
    const double ms = (double)steps / VM_STEPS_PER_MS;
    system->totals.step_count += steps;
    system->totals.exec_ms += ms;
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    share_use(system, script, steps + SCRIPT_ENTRY_STEPS);
    if (instance == NULL) {
        return;
    }
    ScriptAccount *accounts[] = {&instance->account, script != NULL ? &script->account : NULL};
    for (uint32_t i = 0; i < 2; i++) {
        if (accounts[i] != NULL) {
            accounts[i]->call_count += 1;
            accounts[i]->step_count += steps;
            accounts[i]->exec_ms += ms;
        }
    }
}

void account_charge_work(ScriptSystem *system, Handle handle, uint64_t steps)
{
    Script *script = script_at(system, handle);
    if (script != NULL) {
        share_charge(system, script, steps);
        script->account.step_count += steps;
    }
}

void account_dropped(ScriptSystem *system, Script *script, const char *what)
{
    system->totals.events_dropped += 1;
    script->account.dropped_count += 1;
    if (script->share.drop_said == 0 ||
        system->tick >= script->share.drop_said + SAY_SECONDS * system->config.tick_rate) {
        script->share.drop_said = system->tick;
        char text[SCRIPT_MESSAGE_BYTES];
        snprintf(text, sizeof text,
                 "a call of %s was dropped: %u calls and coroutines of this script wait already",
                 what, (unsigned)script->share.thread_count);
        account_say(system, LOG_WARN, script->path, text);
    }
}

// Many scripts may be left out in the same tick, so there are only so many lines in a second. A
// script that is throttled has been told already why it waits.
static bool skip_is_said(ScriptSystem *system, ScriptShare *share)
{
    const uint32_t second = system->config.tick_rate;
    if (system->tick >= system->skip_tick + second) {
        system->skip_tick = system->tick;
        system->skip_lines = 0;
    }
    if (share->over_until > system->tick || system->skip_lines == SKIPS_SAID ||
        (share->skip_said != 0 && system->tick < share->skip_said + SAY_SECONDS * second)) {
        return false;
    }
    system->skip_lines += 1;
    share->skip_said = system->tick;
    return true;
}

void account_update_skipped(ScriptSystem *system, Script *script, Instance *instance)
{
    system->totals.updates_skipped += 1;
    script->account.update_skipped_count += 1;
    instance->account.update_skipped_count += 1;
    if (skip_is_said(system, &script->share)) {
        char text[SCRIPT_MESSAGE_BYTES];
        snprintf(text, sizeof text,
                 "onUpdate was left out (%llu times so far): all scripts together needed more than "
                 "the %u ms of a tick; the next call gets the whole time as dt",
                 (unsigned long long)script->account.update_skipped_count,
                 (unsigned)system->config.tick_ms);
        account_say(system, LOG_WARN, script->path, text);
    }
}

static void forgive(ScriptSystem *system, Script *script)
{
    const uint64_t period = (uint64_t)FORGIVE_SECONDS * system->config.tick_rate;
    while (script->faults_held > 0 && script->forgive_tick + period <= system->tick) {
        script->faults_held -= 1;
        script->forgive_tick += period;
    }
}

static void punish(ScriptSystem *system, Script *script)
{
    forgive(system, script);
    if (script->faults_held == 0) {
        script->forgive_tick = system->tick;
    }
    script->faults_held += 1;
    if (script->faults_held >= OFF_FAULTS) {
        if (script->state != SCRIPT_OFF) {
            account_say(system, LOG_ERROR, script->path,
                        "switched off after repeated faults, until it changes");
        }
        script->state = SCRIPT_OFF;
    } else if (script->faults_held >= THROTTLE_FAULTS) {
        // Half a second, then twice as long each time.
        const uint32_t doublings = script->faults_held - THROTTLE_FAULTS;
        script->state = SCRIPT_THROTTLED;
        script->wake_tick = system->tick + ((uint64_t)system->config.tick_rate << doublings) / 2;
        script->account.throttle_count += 1;
        system->totals.throttle_count += 1;
        account_say(system, LOG_WARN, script->path, "paused for a while after repeated faults");
    }
}

// Whether a script that does not run may do so again from now on.
bool account_wakes(ScriptSystem *system, Script *script)
{
    if (script->state == SCRIPT_THROTTLED && system->tick >= script->wake_tick) {
        script->state = SCRIPT_RUNNING;
    }
    return script->state == SCRIPT_RUNNING;
}

// Lua's own errors begin with the place where they were raised.
static bool begins_with_place(const char *text, const char *file)
{
    const size_t bytes = strlen(file);
    return bytes > 0 && strncmp(text, file, bytes) == 0 && text[bytes] == ':';
}

// What went wrong, after the script and its line, and then how the script came there.
static void say_fault(ScriptSystem *system, const ScriptFault *fault)
{
    char place[SCRIPT_FILE_BYTES + 16];
    snprintf(place, sizeof place, "%s:%u", fault->file, (unsigned)fault->line);
    const bool has_place = fault->line == 0 || begins_with_place(fault->message, fault->file);
    account_say(system, LOG_ERROR, has_place ? fault->file : place, fault->message);
    const char *frame = fault->traceback;
    for (uint32_t i = 0; i <= TRACE_LINES_MAX && system->config.log != NULL; i++) {
        while (*frame == '\n' || *frame == '\t') {
            frame += 1;
        }
        const char *end = strchr(frame, '\n');
        const size_t bytes = end != NULL ? (size_t)(end - frame) : strlen(frame);
        if (bytes == 0) {
            break;
        }
        log_write(system->config.log, system->tick, LOG_ERROR, "script", "    %.*s",
                  i < TRACE_LINES_MAX ? (int)bytes : 3, i < TRACE_LINES_MAX ? frame : "...");
        frame += bytes;
    }
}

static void keep_fault(ScriptSystem *system, const ScriptFault *fault)
{
    const uint32_t at = (system->fault_first + system->fault_count) % SCRIPT_FAULTS_MAX;
    if (system->fault_count == SCRIPT_FAULTS_MAX) {
        system->fault_first = (system->fault_first + 1) % SCRIPT_FAULTS_MAX;
        system->totals.faults_dropped += 1;
    } else {
        system->fault_count += 1;
    }
    system->faults[at] = *fault;
    say_fault(system, fault);
}

void script_watch_begin(ScriptSystem *system)
{
    system->watch = (ScriptWatch){.number = system->watch.number + 1};
}

const ScriptWatch *script_watch(const ScriptSystem *system)
{
    return &system->watch;
}

// `ends_it`: one such fault is enough.
static void watch_fault(ScriptSystem *system, const Script *script, const ScriptFault *fault,
                        bool ends_it)
{
    ScriptWatch *watch = &system->watch;
    if (watch->number == 0 || script->watch_number != watch->number || watch->has_failed) {
        return;
    }
    watch->fault_count += 1;
    watch->has_failed = ends_it;
    if (watch->text[0] == 0 || watch->has_failed) {
        const bool has_place = begins_with_place(fault->message, fault->file);
        char place[SCRIPT_FILE_BYTES + 16];
        if (fault->line > 0) {
            snprintf(place, sizeof place, "%s:%u: ", fault->file, (unsigned)fault->line);
        } else {
            snprintf(place, sizeof place, "%s: ", fault->file);
        }
        snprintf(watch->text, sizeof watch->text, "%s%s", has_place ? "" : place, fault->message);
    }
}

// A fault of a script as a whole, not of one of its calls.
static void keep_own_fault(ScriptSystem *system, Script *script, FaultKind kind,
                           const char *message)
{
    ScriptFault fault = {.kind = kind, .hook = HOOK_HANDLER, .tick = system->tick};
    snprintf(fault.path, sizeof fault.path, "%s", script->path);
    snprintf(fault.file, sizeof fault.file, "%s", script->file);
    snprintf(fault.message, sizeof fault.message, "%s", message);
    system->totals.fault_count += 1;
    script->account.fault_count += 1;
    keep_fault(system, &fault);
    // One that is stopped runs no more, so a new set with it is not good.
    if (kind == FAULT_MEMORY && system->cause.player_id == 0) {
        watch_fault(system, script, &fault, true);
    }
}

void account_over_share(ScriptSystem *system, Script *script)
{
    ScriptShare *share = &script->share;
    script->account.throttle_count += 1;
    system->totals.throttle_count += 1;
    if (share->over_said != 0 &&
        system->tick < share->over_said + SAY_SECONDS * system->config.tick_rate) {
        return;
    }
    share->over_said = system->tick;
    char message[SCRIPT_MESSAGE_BYTES];
    snprintf(message, sizeof message,
             "used %llu steps (%.2f ms) of a tick that was too short for all calls, and its share "
             "was %lld (%.2f ms): it is throttled, and runs after the others",
             (unsigned long long)share->used_steps, (double)share->used_steps / VM_STEPS_PER_MS,
             (long long)system->share_steps, (double)system->share_steps / VM_STEPS_PER_MS);
    account_budget_fault(system, script, message);
}

void account_budget_fault(ScriptSystem *system, Script *script, const char *message)
{
    keep_own_fault(system, script, FAULT_BUDGET, message);
}

void account_refused_fault(ScriptSystem *system, Script *script, const char *message)
{
    keep_own_fault(system, script, FAULT_ERROR, message);
}

void account_memory_fault(ScriptSystem *system, Script *script, size_t bytes)
{
    char message[SCRIPT_MESSAGE_BYTES];
    snprintf(message, sizeof message,
             "the scripts of this world use more than %zu MiB, and this one holds most, %.1f MiB: "
             "it is stopped until it changes",
             vm_memory(system->vm).soft_bytes >> 20, (double)bytes / (1 << 20));
    keep_own_fault(system, script, FAULT_MEMORY, message);
    script->state = SCRIPT_OFF;
}

void account_fault(ScriptSystem *system, Handle handle, ScriptHook hook, FaultKind kind,
                   uint32_t line, const char *message, const char *traceback)
{
    ScriptFault fault = {.kind = kind, .hook = hook, .tick = system->tick, .line = line};
    snprintf(fault.message, sizeof fault.message, "%s", message);
    snprintf(fault.traceback, sizeof fault.traceback, "%s", traceback);
    // What a script raises is any bytes, and snprintf may cut inside a character; readers of faults
    // may write them as JSON.
    text_repair(fault.message, strlen(fault.message));
    text_repair(fault.traceback, strlen(fault.traceback));
    system->totals.fault_count += 1;
    Instance *instance = instance_at(system, handle);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (instance != NULL) {
        fault.entity = instance->entity;
        instance->account.fault_count += 1;
    }
    if (script != NULL) {
        snprintf(fault.path, sizeof fault.path, "%s", script->path);
        snprintf(fault.file, sizeof fault.file, "%s", script->file);
        script->account.fault_count += 1;
    }
    if (script != NULL && script->state == SCRIPT_OFF) {
        system->totals.faults_dropped += 1; // said often enough; its entry is still unwinding
        return;
    }
    if (script == NULL || system->cause.player_id == 0) {
        keep_fault(system, &fault);
    } else if (blame_fault(system, instance->script, fault.message)) {
        keep_fault(system, &fault);
        return;
    } else {
        system->totals.faults_dropped += 1;
        return;
    }
    if (script != NULL) {
        // A file that does not run to its end, or a script that did not start, is of no use.
        const bool is_start = hook == HOOK_LOAD || hook == HOOK_START || hook == HOOK_RELOAD;
        script->has_not_started = script->has_not_started || is_start;
        watch_fault(system, script, &fault, is_start);
        punish(system, script);
    }
}

uint32_t script_faults(ScriptSystem *system, ScriptFault *out, uint32_t max)
{
    uint32_t given = 0;
    while (given < max && system->fault_count > 0) {
        out[given++] = system->faults[system->fault_first];
        system->fault_first = (system->fault_first + 1) % SCRIPT_FAULTS_MAX;
        system->fault_count -= 1;
    }
    return given;
}

bool script_fault_last(const ScriptSystem *system, ScriptFault *out)
{
    const uint32_t end = system->fault_first + system->fault_count;
    if (system->totals.fault_count > 0) {
        *out = system->faults[(end + SCRIPT_FAULTS_MAX - 1) % SCRIPT_FAULTS_MAX];
    }
    return system->totals.fault_count > 0;
}

// The path goes before the text, unless an error message has it there already.
void account_say(ScriptSystem *system, LogLevel level, const char *path, const char *text)
{
    const bool named = begins_with_place(text, path);
    if (system->config.log != NULL) {
        log_write(system->config.log, system->tick, level, "script", "%s%s%s", named ? "" : path,
                  named ? "" : ": ", text);
    }
}

// What scripts print: at most so many lines a second each, then one line that says so.
void account_log(ScriptSystem *system, LogLevel level, const char *text, size_t bytes)
{
    Instance *instance = instance_at(system, system->current_instance);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (script != NULL) {
        if (system->tick >= script->log_tick + system->config.tick_rate) {
            script->log_tick = system->tick;
            script->log_count = 0;
        }
        script->log_count += 1;
        if (script->log_count > SCRIPT_LOG_PER_SECOND) {
            system->totals.log_dropped += 1;
            if (script->log_count == SCRIPT_LOG_PER_SECOND + 1) {
                account_say(system, LOG_WARN, script->path,
                            "prints more than 20 lines a second; the rest is dropped");
            }
            return;
        }
    }
    if (system->config.log != NULL) {
        log_write(system->config.log, system->tick, level, "script", "%s: %.*s",
                  script != NULL ? script->path : "?", (int)(bytes < 1024 ? bytes : 1024), text);
    }
}

static uint64_t cost_of(const ScriptAccount *account)
{
    return account->step_count + account->work_step_count;
}

// Keeps the dearest accounts, dearest first; equal ones in the order they come.
static void list_account(ScriptAccount *list, uint32_t *count, uint32_t max,
                         const ScriptAccount *account)
{
    uint32_t at = *count;
    while (at > 0 && cost_of(&list[at - 1]) < cost_of(account)) {
        at -= 1;
    }
    if (at == max) {
        return;
    }
    if (*count < max) {
        *count += 1;
    }
    memmove(&list[at + 1], &list[at], (*count - 1 - at) * sizeof *list);
    list[at] = *account;
}

// Paused for its faults, or behind the others because it used more than its share.
static ScriptState state_of(const ScriptSystem *system, const Script *script)
{
    const bool over = script->state == SCRIPT_RUNNING && script->share.over_until > system->tick;
    return over ? SCRIPT_THROTTLED : script->state;
}

RemoteCosts *script_remotes(ScriptSystem *system)
{
    return &system->remotes;
}

void script_stats(const ScriptSystem *system, ScriptStats *out)
{
    *out = system->totals;
    out->memory = vm_memory(system->vm);
    out->script_count = system->scripts.count;
    out->instance_count = system->instances.count;
    out->coroutine_count = system->threads.count;
    out->timer_count = system->sleeper_count;
    for (uint32_t i = pool_next(&system->scripts, 1); i != 0;
         i = pool_next(&system->scripts, i + 1)) {
        const Script *script = pool_at(&system->scripts, i);
        ScriptAccount account = script->account;
        account.state = state_of(system, script);
        account.debt_steps = script->share.credit_steps < 0 ? -script->share.credit_steps : 0;
        account.waiting_count = script->share.ready_count;
        account.memory_bytes = vm_owned_bytes(system->vm, i);
        account.time_p99_ms = account_time_p99_ms(&script->times);
        out->throttled_count += account.state == SCRIPT_THROTTLED;
        out->off_count += account.state == SCRIPT_OFF;
        snprintf(account.path, sizeof account.path, "%s", script->path);
        list_account(out->scripts, &out->scripts_listed, SCRIPT_STATS_ROWS, &account);
        out->pending_loads += script->load == LOAD_PENDING;
    }
    for (uint32_t i = pool_next(&system->instances, 1); i != 0;
         i = pool_next(&system->instances, i + 1)) {
        const Instance *instance = pool_at(&system->instances, i);
        const Script *script = script_at(system, instance->script);
        if (instance->entity == 0 || script == NULL) {
            continue;
        }
        ScriptAccount account = instance->account;
        account.entity = instance->entity;
        account.memory_bytes = vm_owned_bytes(system->vm, instance->script.index);
        account.state = state_of(system, script);
        snprintf(account.path, sizeof account.path, "%s", script->path);
        list_account(out->entities, &out->entities_listed, SCRIPT_STATS_ENTITIES, &account);
    }
}
