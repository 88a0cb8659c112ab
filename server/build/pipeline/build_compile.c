// Compiles Lua to runes in the worker, or takes them from the cache. Then checks that every
// required module exists, on the sides where it is needed, and that no modules require each other
// in a circle.
#define _GNU_SOURCE
#include "core/script/check/check_require.h"
#include "server/build/pipeline/build_stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CompileJob build_compile_job(const BuildItem *item)
{
    const bool is_generated = item->generated.lua != NULL;
    return (CompileJob){.path = item->path,
                        .file = item->file,
                        .context = item->context,
                        .source = is_generated ? item->generated.lua : (const char *)item->source,
                        .source_bytes =
                            is_generated ? item->generated.lua_bytes : item->source_bytes,
                        .dry_run = item->soul != NULL,
                        .is_generated = is_generated,
                        .lines = item->generated.lines,
                        .line_count = item->generated.line_count};
}

static Status compile_one(Build *build, BuildItem *item)
{
    const CompileJob job = build_compile_job(item);
    DiagnosticList found = {0};
    BuildContext context = build->context;
    context.diagnostics = &found;
    const Status status = compile_ask(&context, &job, NULL, &item->output, &item->was_cached);
    diagnostic_list_append(&build->result->diagnostics, &found);
    if (status == STATUS_OK) {
        item->is_built = true;
        build->result->cached_count += item->was_cached;
        build->result->compiled_count += !item->was_cached;
    } else if (status != STATUS_MALFORMED && status != STATUS_DENIED) {
        build_blame(build, item->file);
    }
    const bool said_why = found.error_count > 0;
    diagnostic_list_free(&found);
    return status == STATUS_MALFORMED && said_why ? STATUS_OK : status;
}

// The library goes to clients only if a replicated script requires it: TypeScript that stays on the
// server is not visible to players.
static void place_library(Build *build, BuildItem *library)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        for (uint32_t j = 0; item->replicate && j < item->output.require_count; j++) {
            if (strcmp(item->output.requires[j], TYPESCRIPT_LIBRARY) == 0) {
                library->context = CONTEXT_BOTH;
                library->replicate = true;
            }
        }
    }
}

Status build_compile_all(Build *build)
{
    BuildItem *library = NULL;
    uint32_t done = 0;
    Status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < build->item_count; i++) {
        BuildItem *item = &build->items[i];
        if (item->soul == NULL) {
            library = item;
        } else if (item->is_ready) {
            build_progress(build, BUILD_COMPILE, done++, build->item_count, item->file);
            status = build_is_cancelled(build) ? STATUS_DENIED : compile_one(build, item);
        }
    }
    if (status == STATUS_OK && library != NULL) {
        place_library(build, library);
        status = compile_one(build, library);
    }
    return status;
}

// --- what is required ---------------------------------------------------------------------------

const BuildItem *build_item_named(const Build *build, const char *path)
{
    uint32_t low = 0, high = build->item_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(build->items[middle].path, path);
        if (order == 0) {
            return &build->items[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

// A path through what is required, deepest last. Each item is walked once, so that each way round
// is found once, wherever it was begun.
typedef struct RequireWalk {
    Build *build;
    uint32_t *stack;  // items
    uint32_t *next;   // of each item: which of its requires comes next
    uint32_t *height; // of each item: its position in the stack, from 1; 0: not in it
    bool *was_seen;
    uint32_t depth;
} RequireWalk;

// Uses the words of `require` itself.
static void tell_cycle(const RequireWalk *walk, uint32_t from)
{
    const BuildItem *items = walk->build->items, *first = &items[walk->stack[from]];
    char chain[512];
    size_t used = 0;
    for (uint32_t i = from; i < walk->depth && used < sizeof chain; i++) {
        used += (size_t)snprintf(chain + used, sizeof chain - used, "%s -> ",
                                 items[walk->stack[i]].path);
    }
    const uint32_t line = first->output.require_lines[walk->next[walk->stack[from]] - 1];
    diagnostic_addf(&walk->build->result->diagnostics, DIAGNOSTIC_WARNING, first->file, line, 0,
                    "require",
                    "modules require each other: %s%s; it fails, unless one of them requires the "
                    "next in a function that is called later",
                    used < sizeof chain ? chain : "… -> ", first->path);
}

static void enter_module(RequireWalk *walk, uint32_t index)
{
    if (walk->height[index] > 0) {
        tell_cycle(walk, walk->height[index] - 1);
    } else if (!walk->was_seen[index]) {
        walk->was_seen[index] = true;
        walk->stack[walk->depth++] = index;
        walk->height[index] = walk->depth;
    }
}

static void walk_requires(RequireWalk *walk, uint32_t begin)
{
    const BuildItem *items = walk->build->items;
    enter_module(walk, begin);
    while (walk->depth > 0) {
        const uint32_t index = walk->stack[walk->depth - 1];
        const CompileOutput *output = &items[index].output;
        if (walk->next[index] == output->require_count) {
            walk->height[index] = 0;
            walk->depth -= 1;
            continue;
        }
        const BuildItem *module =
            build_item_named(walk->build, output->requires[walk->next[index]++]);
        if (module != NULL) {
            enter_module(walk, (uint32_t)(module - items));
        }
    }
}

// Without memory for the walk no cycle is reported; that is not an error.
static void check_cycles(Build *build)
{
    const uint32_t count = build->item_count;
    uint32_t *numbers = calloc(3 * (size_t)count + 1, sizeof *numbers);
    bool *was_seen = calloc((size_t)count + 1, sizeof *was_seen);
    if (numbers != NULL && was_seen != NULL) {
        RequireWalk walk = {.build = build,
                            .stack = numbers,
                            .next = numbers + count,
                            .height = numbers + 2 * (size_t)count,
                            .was_seen = was_seen};
        for (uint32_t i = 0; i < count; i++) {
            walk_requires(&walk, i);
        }
    }
    free(numbers);
    free(was_seen);
}

static void check_item(const Build *build, const BuildItem *item, const CheckModule *modules)
{
    const CheckSink sink = diagnostic_list_sink(&build->result->diagnostics);
    const CompileOutput *output = &item->output;
    const CheckRequires requires = {.file = item->file,
                                    .context = item->context,
                                    .paths = (const char(*)[SCRIPT_PATH_BYTES])output->requires,
                                    .lines = output->require_lines,
                                    .count = output->require_count};
    check_requires(&requires, modules, build->item_count, &sink);
}

Status build_check_requires(Build *build)
{
    CheckModule *modules = calloc(build->item_count + 1u, sizeof *modules);
    if (modules == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        modules[i] = (CheckModule){.service = item->service, .context = item->context};
        snprintf(modules[i].path, sizeof modules[i].path, "%s", item->path);
    }
    for (uint32_t i = 0; i < build->item_count; i++) {
        if (build->items[i].is_built) {
            check_item(build, &build->items[i], modules);
        }
    }
    free(modules);
    check_cycles(build);
    return STATUS_OK;
}
