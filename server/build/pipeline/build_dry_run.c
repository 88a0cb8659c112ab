// Dry runs of scripts that require others. When the worker compiles a script it is not known yet
// what it requires, so such scripts are tried out again when everything is compiled. The result
// depends on the script and all its modules, and has its own cache entry.
#include "server/build/pipeline/build_stages.h"

#include <stdlib.h>
#include <string.h>

typedef struct Modules {
    const BuildItem *items[COMPILE_MODULES_MAX];
    CompileJob jobs[COMPILE_MODULES_MAX];
    uint32_t count;
} Modules;

static bool has_module(const Modules *modules, const BuildItem *item)
{
    for (uint32_t i = 0; i < modules->count; i++) {
        if (modules->items[i] == item) {
            return true;
        }
    }
    return false;
}

// False: one does not exist, uses things of the place, or there are too many.
static bool add_requires(const Build *build, const BuildItem *item, Modules *modules)
{
    for (uint32_t i = 0; i < item->output.require_count; i++) {
        const BuildItem *module = build_item_named(build, item->output.requires[i]);
        if (module == NULL || !module->is_built || module->output.asks_world) {
            return false;
        }
        if (module == item || has_module(modules, module)) {
            continue;
        }
        if (modules->count == COMPILE_MODULES_MAX) {
            return false;
        }
        modules->items[modules->count++] = module;
    }
    return true;
}

// Adds what they require, too: the list grows while it is walked.
static bool find_modules(const Build *build, const BuildItem *item, Modules *modules)
{
    bool is_whole = add_requires(build, item, modules);
    for (uint32_t i = 0; is_whole && i < modules->count; i++) {
        is_whole = add_requires(build, modules->items[i], modules);
    }
    for (uint32_t i = 0; is_whole && i < modules->count; i++) {
        modules->jobs[i] = build_compile_job(modules->items[i]);
        modules->jobs[i].dry_run = false;
    }
    return is_whole;
}

static CacheKey key_of(const BuildItem *item, const Modules *modules)
{
    CacheKeyMaker maker = cache_key_begin("dry run");
    cache_key_add_text(&maker, item->file);
    cache_key_add_u32(&maker, item->context);
    cache_key_add(&maker, item->output.rune_hash, sizeof item->output.rune_hash);
    for (uint32_t i = 0; i < modules->count; i++) {
        const CompileOutput *output = &modules->items[i]->output;
        cache_key_add(&maker, output->rune_hash, sizeof output->rune_hash);
    }
    return cache_key_end(&maker);
}

// Other diagnostics were reported when it was compiled.
static void tell_dry_run(const DiagnosticList *from, DiagnosticList *to)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (strcmp(from->items[i].code, "dry-run") == 0) {
            diagnostic_add(to, &from->items[i]);
        }
    }
}

static Status try_out(Build *build, const BuildItem *item, const Modules *modules)
{
    const CacheKey key = key_of(item, modules);
    CompileJob job = build_compile_job(item);
    CompileOutput nothing = {0};
    DiagnosticList all = {0};
    BuildContext context = build->context;
    job.modules = modules->jobs;
    job.module_count = modules->count;
    context.diagnostics = &all;
    const Status status = compile_ask(&context, &job, &key, &nothing, NULL);
    tell_dry_run(&all, &build->result->diagnostics);
    diagnostic_list_free(&all);
    return status == STATUS_MALFORMED ? STATUS_OK
                                      : status; // it compiled before, so this is not an error
}

Status build_dry_run(Build *build)
{
    Modules *modules = malloc(sizeof *modules);
    Status status = modules == NULL ? STATUS_LIMIT : STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        modules->count = 0;
        if (item->is_built && item->soul != NULL && item->service != SERVICE_REPLICATED_STORAGE &&
            item->output.require_count > 0 && !item->output.asks_world &&
            find_modules(build, item, modules)) {
            status = build_is_cancelled(build) ? STATUS_DENIED : try_out(build, item, modules);
        }
    }
    free(modules);
    return status;
}
