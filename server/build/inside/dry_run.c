// See dry_run.h. The runes were compiled a moment ago in this process, so no manifest needs to name
// them.
#include "server/build/inside/dry_run.h"

#include "core/script/check/check.h"
#include "core/script/trial/sample_world.h"

#include <lua.h>
#include <stdio.h>
#include <string.h>

#define HEAP_BYTES  (256u << 20)
#define FAULTS_MAX  8
#define SCRIPTS_MAX 4
#define TICKS       2 // the first one queues the load

// Each mistake is reported once, by the check that knows more about it.
static bool has_line(const DiagnosticList *list, uint32_t line)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].line == line) {
            return true;
        }
    }
    return false;
}

// A path that is only known at run time is not among the modules.
static bool is_missing_module(const char *message)
{
    return strstr(message, "require: there is no module") != NULL;
}

static void tell_fault(const DryRun *run, const ScriptFault *fault, DiagnosticList *list)
{
    uint32_t line = fault->line;
    const char *message = check_split_message(fault->file, fault->message, &line);
    const bool is_certain = fault->kind == FAULT_BUDGET || fault->kind == FAULT_MEMORY;
    if (fault->hook == HOOK_LOAD &&
        (is_certain ||
         (!run->asks_place && !is_missing_module(message) && !has_line(list, line)))) {
        diagnostic_addf(list, DIAGNOSTIC_WARNING, run->file, line, 0, "dry-run",
                        "its top level fails in an empty world: %s", message);
    }
}

static void say_nothing(void *user, const LogEvent *event)
{
    (void)user;
    (void)event;
}

static Status load(ScriptSystem *scripts, const DryRun *run)
{
    Status status = script_load_rune(scripts, run->path, run->rune, run->rune_bytes);
    for (uint32_t i = 0; status == STATUS_OK && i < run->module_count; i++) {
        const DryRunModule *module = &run->modules[i];
        status = script_load_rune(scripts, module->path, module->rune, module->rune_bytes);
    }
    return status;
}

void worker_dry_run(const DryRun *run, DiagnosticList *diagnostics)
{
    if (strncmp(run->path, "ReplicatedStorage/", 18) == 0) {
        return;
    }
    Heap heap = heap_make(HEAP_BYTES);
    LogSink quiet = {.write = say_nothing};
    SampleWorldConfig config = sample_world_config_default();
    const ScriptSide side = run->context == CONTEXT_CLIENT ? SCRIPT_CLIENT : SCRIPT_SERVER;
    config.server = side == SCRIPT_SERVER;
    config.client = side == SCRIPT_CLIENT;
    config.script.log = &quiet;
    // Clearing memory that is never used takes time.
    config.script.script_max = SCRIPTS_MAX + run->module_count;
    config.script.instance_max = SCRIPTS_MAX;
    SampleWorld *world = NULL;
    if (sample_world_create(&heap, &config, &world) != STATUS_OK) {
        return; // nothing was found out, so there is nothing to report
    }
    ScriptSystem *scripts = sample_world_scripts(world, side);
    const InstanceDesc desc = {.script_id = run->path, .enabled = true};
    uint32_t instance = 0;
    if (load(scripts, run) == STATUS_OK && script_bind(scripts, &desc, &instance) == STATUS_OK) {
        sample_world_step(world, TICKS);
        ScriptFault faults[FAULTS_MAX];
        const uint32_t count = script_faults(scripts, faults, FAULTS_MAX);
        for (uint32_t i = 0; i < count; i++) {
            tell_fault(run, &faults[i], diagnostics);
        }
    }
    sample_world_destroy(&heap, world);
}
