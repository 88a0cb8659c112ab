// Whether a set of scripts that has replaced another one is good. It is not if a file of it cannot
// be loaded or fails at its top level, if an onStart or onReload fails, or if RELOAD_FAULTS_MAX
// other calls of it fail within RELOAD_TRIAL_MS. Only scripts that started with the set count, and
// no fault that a player has caused: nobody else decides what a creator's world runs. The owner is
// told (COMMAND_RELOAD), and may send the set before it again.
#include "core/world/script/script_host_inside.h"

#include <stdio.h>
#include <string.h>

void script_trial_begin(ScriptHost *host)
{
    const WorldClock *clock = host->config.clock;
    script_watch_begin(host->system);
    host->trial = (ScriptTrial){.is_on = true,
                                .switch_due = true,
                                .version = host->reload_version,
                                .tick = clock->tick + 1,
                                .until_tick = clock->tick + world_ticks(clock, RELOAD_TRIAL_MS)};
}

static void end(ScriptTrial *trial, ReloadResult result)
{
    trial->is_on = false;
    trial->result = result;
    trial->result_due = true;
}

void script_trial_load_failed(ScriptHost *host, const char *path, Status status)
{
    ScriptTrial *trial = &host->trial;
    if (trial->is_on) {
        snprintf(trial->reason, sizeof trial->reason, "%s was not loaded: %s", path,
                 status_text(status));
        end(trial, RELOAD_FAILED);
    }
}

static void judge(ScriptHost *host)
{
    ScriptTrial *trial = &host->trial;
    const ScriptWatch *watch = script_watch(host->system);
    if (watch->has_failed || watch->fault_count >= RELOAD_FAULTS_MAX) {
        snprintf(trial->reason, sizeof trial->reason, "%s", watch->text);
        end(trial, RELOAD_FAILED);
    } else if (host->config.clock->tick >= trial->until_tick) {
        end(trial, RELOAD_GOOD);
    }
}

// False: there is no room for commands now.
static bool report_reload(ScriptHost *host, ReloadResult result, const char *reason)
{
    const Command command = {.type = COMMAND_RELOAD,
                             .reload = result,
                             .version = host->trial.version,
                             .tick = host->trial.tick,
                             .bytes = (const uint8_t *)reason,
                             .byte_count = strlen(reason)};
    return save_command(host->config.saves, &command) == STATUS_OK;
}

void script_trial_tick(ScriptHost *host)
{
    ScriptTrial *trial = &host->trial;
    if (trial->is_on) {
        judge(host);
    }
    if (trial->switch_due) {
        trial->switch_due = !report_reload(host, RELOAD_SWITCHED, "");
    }
    if (trial->result_due && !trial->switch_due) {
        trial->result_due = !report_reload(host, trial->result, trial->reason);
    }
}

void script_trial_hash(const ScriptHost *host, Hash64 *hash)
{
    const ScriptTrial *trial = &host->trial;
    if (trial->is_on || trial->switch_due || trial->result_due) {
        hash_u64(hash, (uint64_t)trial->version << 8 | (uint64_t)trial->is_on << 2 |
                           (uint64_t)trial->switch_due << 1 | trial->result_due);
        hash_u64(hash, trial->until_tick);
    }
}
