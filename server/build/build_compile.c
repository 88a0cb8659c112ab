// Lua to runes in the worker, or from the cache; then whether everything that is required is there,
// on the sides where it is, and no module waits for itself.
#define _GNU_SOURCE
#include "core/base/bytes.h"
#include "core/base/nearest.h"
#include "core/script/rune/rune.h"
#include "server/build/build_inside.h"
#include "server/build/lua_refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES_MAX (16u << 20)

// --- the cache ----------------------------------------------------------------------------------

static CacheKey compile_key(const CompileJob *job)
{
    CacheKeyMaker maker = cache_key_begin("compile");
    cache_key_add_text(&maker, job->path);
    cache_key_add_text(&maker, job->file);
    cache_key_add_u32(&maker, job->context);
    cache_key_add_u32(&maker, (job->dry_run ? 1u : 0u) | (job->is_generated ? 2u : 0u));
    cache_key_add(&maker, job->source, job->source_bytes);
    cache_key_add(&maker, job->lines, job->line_count * sizeof *job->lines);
    return cache_key_end(&maker);
}

static void keep(Build *build, const CacheKey *key, const CompileOutput *output,
                 const DiagnosticList *diagnostics)
{
    Buffer entry = buffer_of(ENTRY_BYTES_MAX);
    buffer_put_block(&entry, output->rune, output->rune_bytes);
    buffer_put_u32(&entry, output->require_count);
    for (uint32_t i = 0; i < output->require_count; i++) {
        buffer_put_u32(&entry, output->require_lines[i]);
        buffer_put_block(&entry, output->requires[i], strlen(output->requires[i]));
    }
    buffer_put_u8(&entry, output->asks_world);
    diagnostic_list_write(diagnostics, &entry);
    if (entry.status == STATUS_OK) {
        cache_keep(build->cache, key, entry.data, entry.bytes);
    }
    buffer_free(&entry);
}

static bool read_requires(ByteReader *reader, CompileOutput *out)
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > SOULS_MAX) {
        return false;
    }
    out->requires = calloc(count + 1u, sizeof *out->requires);
    out->require_lines = calloc(count + 1u, sizeof *out->require_lines);
    const bool has_room = out->requires != NULL && out->require_lines != NULL;
    for (uint32_t i = 0; has_room && i < count; i++) {
        out->require_lines[i] = byte_read_u32(reader);
        size_t bytes;
        const uint8_t *text = byte_read_block(reader, &bytes);
        if (text == NULL || bytes >= sizeof out->requires[0]) {
            return false;
        }
        memcpy(out->requires[i], text, bytes);
        out->require_count += 1;
    }
    out->asks_world = byte_read_u8(reader) != 0;
    return has_room;
}

static bool read_entry(const Buffer *entry, CompileOutput *out, DiagnosticList *diagnostics)
{
    ByteReader reader = byte_reader(entry->data, entry->bytes);
    size_t bytes;
    const uint8_t *rune = byte_read_block(&reader, &bytes);
    if (rune == NULL || bytes == 0 || !read_requires(&reader, out)) {
        return false;
    }
    out->rune = malloc(bytes);
    size_t used = 0;
    if (out->rune == NULL || diagnostic_list_read(entry->data + reader.at, entry->bytes - reader.at,
                                                  &used, diagnostics) != STATUS_OK) {
        return false;
    }
    memcpy(out->rune, rune, bytes);
    out->rune_bytes = bytes;
    sha256_of(out->rune, bytes, out->rune_hash);
    return true;
}

static bool find(Build *build, const CacheKey *key, BuildItem *item)
{
    Buffer entry = buffer_of(ENTRY_BYTES_MAX);
    CompileOutput output = {0};
    bool found = false;
    if (!build->request->force && cache_find(build->cache, key, &entry)) {
        found = read_entry(&entry, &output, &build->result->diagnostics);
        if (found) {
            item->output = output;
        } else {
            compile_output_free(&output);
        }
    }
    buffer_free(&entry);
    return found;
}

// --- compiling ----------------------------------------------------------------------------------

CompileJob build_compile_job(const BuildItem *item)
{
    const bool is_made = item->made.lua != NULL;
    return (CompileJob){.path = item->path,
                        .file = item->file,
                        .context = item->context,
                        .source = is_made ? item->made.lua : (const char *)item->source,
                        .source_bytes = is_made ? item->made.lua_bytes : item->source_bytes,
                        .dry_run = item->soul != NULL,
                        .is_generated = is_made,
                        .lines = item->made.lines,
                        .line_count = item->made.line_count};
}

static Status compile_one(Build *build, BuildItem *item)
{
    const CompileJob job = build_compile_job(item);
    const CacheKey key = compile_key(&job);
    if (find(build, &key, item)) {
        build->result->cached_count += 1;
        item->was_cached = true;
        item->is_built = true;
        return STATUS_OK;
    }
    DiagnosticList diagnostics = {0};
    const Status status =
        compile_call(build->worker, &job, &item->output, &diagnostics, build->reason);
    lua_refusal_explain(&diagnostics, item->language == SOUL_TYPESCRIPT);
    diagnostic_list_append(&build->result->diagnostics, &diagnostics);
    if (status == STATUS_OK) {
        keep(build, &key, &item->output, &diagnostics);
        build->result->compiled_count += 1;
        item->is_built = true;
    } else if (status != STATUS_MALFORMED && status != STATUS_DENIED) {
        char why[WORKER_REASON_BYTES];
        snprintf(why, sizeof why, "%s", build->reason);
        snprintf(build->reason, WORKER_REASON_BYTES, "%.128s: %.370s", item->file, why);
    }
    const bool said_why = diagnostics.error_count > 0;
    diagnostic_list_free(&diagnostics);
    return status == STATUS_MALFORMED && said_why ? STATUS_OK : status;
}

// Only who is sent to clients takes it there: a place whose TypeScript stays on the server shows
// nothing of it.
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

static const char *module_meant(const Build *build, const char *path)
{
    Nearest nearest = nearest_begin_path(path, strlen(path));
    for (uint32_t i = 0; i < build->item_count; i++) {
        (void)nearest_consider(&nearest, build->items[i].path, strlen(build->items[i].path));
    }
    return nearest.found;
}

// What to do about a module that is not on a side: its service says so, or place.json.
static const char *where_to(const BuildItem *module)
{
    return module->context == soul_service_context(module->service)
               ? "move what both need to ReplicatedStorage"
               : "contexts in place.json keeps it there";
}

static void check_require(Build *build, const BuildItem *item, uint32_t index)
{
    DiagnosticList *list = &build->result->diagnostics;
    const char *path = item->output.requires[index];
    const uint32_t line = item->output.require_lines[index];
    const BuildItem *module = build_item_named(build, path);
    const char *meant = module == NULL ? module_meant(build, path) : NULL;
    if (meant != NULL) {
        diagnostic_addf(list, DIAGNOSTIC_ERROR, item->file, line, 0, "require",
                        "requires \"%s\", and there is no such script; did you mean \"%s\"?", path,
                        meant);
    } else if (module == NULL) {
        diagnostic_addf(list, DIAGNOSTIC_ERROR, item->file, line, 0, "require",
                        "requires \"%s\", and there is no such script; write its service and its "
                        "name, as in \"ReplicatedStorage/Tools\"",
                        path);
    } else if (module->context == CONTEXT_SERVER && item->context != CONTEXT_SERVER) {
        diagnostic_addf(list, DIAGNOSTIC_ERROR, item->file, line, 0, "require",
                        "runs on the client and requires \"%s\", which stays on the server; %s",
                        path, where_to(module));
    } else if (module->context == CONTEXT_CLIENT && item->context != CONTEXT_CLIENT) {
        diagnostic_addf(list, DIAGNOSTIC_ERROR, item->file, line, 0, "require",
                        "runs on the server and requires \"%s\", which is on the client alone; %s",
                        path, where_to(module));
    }
}

// A path through what is required, deepest last. Each item is walked once, so that each way round
// is found once, wherever it was begun.
typedef struct RequireWalk {
    Build *build;
    uint32_t *stack;  // items
    uint32_t *next;   // of each item: which of its requires comes next
    uint32_t *height; // of each item: where it is in the stack, from 1; 0: it is not
    bool *was_seen;
    uint32_t depth;
} RequireWalk;

// In the words of `require` itself.
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

// For want of memory nothing is found out, which is no finding.
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

void build_check_requires(Build *build)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        for (uint32_t j = 0; item->is_built && j < item->output.require_count; j++) {
            check_require(build, item, j);
        }
        if (item->output.require_count > MANIFEST_REQUIRES_MAX) {
            diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_ERROR, item->file, 0, 0,
                            "require", "requires %u modules, at most %d may be; join some",
                            item->output.require_count, MANIFEST_REQUIRES_MAX);
        }
    }
    check_cycles(build);
}
