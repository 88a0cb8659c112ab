// See build.h: the stages in their order, and what a builder keeps between builds.
#define _GNU_SOURCE
#include "server/build/pipeline/build.h"

#include "core/base/limits.h"
#include "server/build/package/package_rules.h"
#include "server/build/pipeline/build_stages.h"
#include "server/build/place/place_home.h"
#include "server/build/place/place_stamp.h"
#include "server/build/place/place_text.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 4096

struct Builder {
    BuildConfig config; // its strings are copies
    char *cache, *key;
    Worker *worker;
    TypeScript *typescript;
    char place[PATH_BYTES]; // the place whose souls the worker has read
};

static const char *const stage_names[] = {"read",   "scan",  "translate", "typescript", "compile",
                                          "assets", "scene", "write",     "done"};
_Static_assert(sizeof stage_names / sizeof stage_names[0] == BUILD_STAGE_COUNT, "a name for each");

const char *build_stage_name(BuildStage stage)
{
    return stage < BUILD_STAGE_COUNT ? stage_names[stage] : "?";
}

bool build_is_cancelled(const Build *build)
{
    return build->request->cancel != NULL && atomic_load(build->request->cancel);
}

void build_progress(const Build *build, BuildStage stage, uint32_t done, uint32_t total,
                    const char *item)
{
    const BuildProgress progress = {.stage = stage, .done = done, .total = total, .item = item};
    if (build->request->progress != NULL) {
        build->request->progress(build->request->user, &progress);
    }
}

static Status refuse_build(const Build *build, Status status, const char *what, const char *why)
{
    return context_fail(&build->context, status, "%.250s: %.250s", what, why);
}

void build_blame(const Build *build, const char *file)
{
    char why[WORKER_REASON_BYTES];
    snprintf(why, sizeof why, "%s", build->context.reason);
    snprintf(build->context.reason, WORKER_REASON_BYTES, "%.128s: %.370s", file, why);
}

// --- the builder --------------------------------------------------------------------------------

BuildConfig build_config_default(void)
{
    return (BuildConfig){.model = model_config_environment()};
}

Status builder_create(const BuildConfig *config, Builder **out)
{
    Builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) {
        return STATUS_LIMIT;
    }
    builder->config = *config;
    builder->cache = config->cache == NULL ? NULL : strdup(config->cache);
    builder->key = config->key == NULL ? NULL : strdup(config->key);
    if ((config->cache != NULL && builder->cache == NULL) ||
        (config->key != NULL && builder->key == NULL)) {
        builder_destroy(builder);
        return STATUS_LIMIT;
    }
    *out = builder;
    return STATUS_OK;
}

void builder_destroy(Builder *builder)
{
    if (builder == NULL) {
        return;
    }
    worker_destroy(builder->worker);
    typescript_destroy(builder->typescript);
    free(builder->cache);
    free(builder->key);
    free(builder);
}

// A worker that has read one place does not read another: code that took over the process while it
// read the first place would otherwise compile the next creator's scripts.
static Status ready_worker(Build *build)
{
    Builder *builder = build->builder;
    if (builder->worker != NULL && strcmp(builder->place, build->request->place) != 0) {
        worker_destroy(builder->worker);
        typescript_destroy(builder->typescript); // for the same reason as the worker
        builder->worker = NULL;
        builder->typescript = NULL;
    }
    if (builder->worker == NULL) {
        WorkerConfig config = worker_config_default();
        config.allow_weak_jail = builder->config.allow_weak_jail;
        const Status status = worker_create(&config, &builder->worker);
        if (status != STATUS_OK) {
            return refuse_build(build, status, "build worker", status_text(status));
        }
        snprintf(builder->place, sizeof builder->place, "%s", build->request->place);
    }
    worker_watch(builder->worker, build->request->cancel, NULL, NULL);
    build->context.worker = builder->worker;
    return STATUS_OK;
}

Status build_typescript(Build *build, TypeScript **out)
{
    Builder *builder = build->builder;
    if (builder->typescript == NULL) {
        TypeScriptConfig config = typescript_config_default();
        config.allow_weak_jail = builder->config.allow_weak_jail;
        const Status status = typescript_create(&config, &builder->typescript);
        if (status != STATUS_OK) {
            return refuse_build(build, status, "TypeScript", status_text(status));
        }
    }
    *out = builder->typescript;
    return STATUS_OK;
}

// --- folders and the key ------------------------------------------------------------------------

static Status open_key(Build *build)
{
    char folder[PATH_BYTES];
    if (build->builder->key != NULL) {
        snprintf(build->key_path, sizeof build->key_path, "%s", build->builder->key);
    } else {
        const char *why = "";
        const Status status = place_home_data(build->request->place, folder, &why);
        if (status != STATUS_OK) {
            return refuse_build(build, status,
                                place_home_at_fault(build->request->place, ".sandlot/data"), why);
        }
        snprintf(build->key_path, sizeof build->key_path, "%s/ticket.key", folder);
    }
    const Status status = signing_key_open(build->key_path, &build->key);
    return status == STATUS_OK
               ? status
               : refuse_build(build, status, build->key_path, signing_key_advice(status));
}

static Status open_cache(Build *build)
{
    char folder[PATH_BYTES];
    Status status = STATUS_OK;
    if (build->builder->cache != NULL) {
        snprintf(folder, sizeof folder, "%s", build->builder->cache);
    } else {
        const char *why = "";
        status = place_home_folder(build->request->place, "cache", folder, &why);
        if (status != STATUS_OK) {
            return refuse_build(build, status,
                                place_home_at_fault(build->request->place, ".sandlot/cache"), why);
        }
    }
    if (status == STATUS_OK &&
        cache_open(folder, &build->key, &build->context.cache) != STATUS_OK) {
        status = refuse_build(build, STATUS_BLOCKED, folder, "the cache cannot be opened or made");
    }
    return status;
}

// --- the stages ---------------------------------------------------------------------------------

// Checked before anything is created: a folder that is not a place is not changed.
static bool is_place(const PlaceFolder *folder)
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        if (strcmp(folder->files[i].path, "place.json") == 0) {
            return true;
        }
    }
    return false;
}

// A folder's own name. Its path on a server is not for everyone who follows a job.
static const char *last_name(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        name = at[0] == '/' && at[1] != '/' && at[1] != '\0' ? at + 1 : name;
    }
    return name;
}

static Status read_place(Build *build)
{
    build_progress(build, BUILD_READ, 0, 0, last_name(build->request->place));
    char spells[BUILD_PATH_BYTES];
    const int bytes = snprintf(spells, sizeof spells, "%s/.sandlot/spells", build->request->place);
    const char *given = build->request->spells;
    const char *own = bytes > 0 && (size_t)bytes < sizeof spells ? spells : NULL;
    Status status = place_folder_read_with_spells(
        build->request->place, given != NULL ? given : own, &build->folder,
        &build->result->diagnostics, build->context.reason);
    build->is_incomplete = status == STATUS_MALFORMED;
    if (status != STATUS_OK && (!build->is_incomplete || !is_place(&build->folder))) {
        return status;
    }
    if (!is_place(&build->folder)) {
        diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_ERROR, "place.json", 0, 0, "place",
                        "there is none, so this is no place; `sandlot new` makes one");
        return STATUS_MALFORMED;
    }
    status = open_key(build);
    status = status == STATUS_OK ? open_cache(build) : status;
    return status == STATUS_OK ? ready_worker(build) : status;
}

static void fill_item(BuildItem *item, const Soul *soul)
{
    *item = (BuildItem){.soul = soul,
                        .language = soul->language,
                        .service = soul->service,
                        .context = soul->context,
                        .replicate = soul->replicate,
                        .source = soul->file->data,
                        .source_bytes = soul->file->bytes,
                        .is_ready = !check_language_is_made(soul->language)};
    sha256_of(item->source, item->source_bytes, item->code_hash);
    snprintf(item->path, sizeof item->path, "%s", soul->path);
    snprintf(item->file, sizeof item->file, "%s", soul->file->path);
}

// Files in other encodings are reported here, before anything reads them.
static Status check_texts(const Build *build)
{
    const uint32_t found = place_text_check(&build->folder, &build->result->diagnostics);
    return found > 0 ? STATUS_MALFORMED : STATUS_OK;
}

// Applies the run contexts of place.json.
static Status narrow_contexts(Build *build)
{
    const Status status = contexts_ask(&build->context, &build->folder, &build->souls);
    soul_check_counts(&build->souls, &build->result->diagnostics);
    return status;
}

static Status scan(Build *build)
{
    DiagnosticList *diagnostics = &build->result->diagnostics;
    build_progress(build, BUILD_SCAN, 0, 0, "");
    Status status = soul_scan(&build->folder, &build->souls, diagnostics);
    if (status != STATUS_OK) {
        return refuse_build(build, status, build->request->place, "out of memory");
    }
    status = check_texts(build);
    if (status == STATUS_OK && build->is_incomplete) {
        return STATUS_MALFORMED; // the files that cannot be read were reported
    }
    status = status == STATUS_OK ? narrow_contexts(build) : status;
    if (status != STATUS_OK) {
        return status;
    }
    build->items =
        calloc(build->souls.count + 1u, sizeof *build->items); // and TypeScript's library
    if (build->items == NULL) {
        return refuse_build(build, STATUS_LIMIT, build->request->place, "out of memory");
    }
    for (uint32_t i = 0; i < build->souls.count; i++) {
        const Soul *soul = &build->souls.items[i];
        if (strcmp(soul->path, TYPESCRIPT_LIBRARY) == 0) {
            diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, soul->file->path, 0, 0, "name",
                            "this name is kept for TypeScript's own library; choose another");
            continue;
        }
        fill_item(&build->items[build->item_count++], soul);
    }
    return STATUS_OK;
}

static bool copy_lua(const GeneratedLua *from, BuildRune *to)
{
    if (from->lua == NULL) {
        return true;
    }
    to->lua = malloc(from->lua_bytes + 1);
    if (to->lua != NULL) {
        memcpy(to->lua, from->lua, from->lua_bytes);
        to->lua[from->lua_bytes] = '\0';
        to->lua_bytes = from->lua_bytes;
    }
    return to->lua != NULL;
}

// Moves the runes into the result; the items keep the rest.
static Status give_runes(Build *build)
{
    BuildResult *result = build->result;
    result->runes = calloc(build->item_count + 1u, sizeof *result->runes);
    if (result->runes == NULL) {
        return refuse_build(build, STATUS_LIMIT, build->request->place, "out of memory");
    }
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        if (!item->is_built) {
            continue;
        }
        BuildRune *rune = &result->runes[result->rune_count];
        *rune = (BuildRune){.language = item->language,
                            .service = item->service,
                            .context = item->context,
                            .replicate = item->replicate,
                            .was_cached = item->was_cached,
                            .bytes = malloc(item->output.rune_bytes),
                            .count = item->output.rune_bytes};
        if (rune->bytes == NULL) {
            return refuse_build(build, STATUS_LIMIT, item->file, "out of memory");
        }
        result->rune_count += 1;
        memcpy(rune->bytes, item->output.rune, rune->count);
        snprintf(rune->path, sizeof rune->path, "%s", item->path);
        memcpy(rune->hash, item->output.rune_hash, sizeof rune->hash);
        if (item->soul != NULL) {
            memcpy(rune->code_hash, item->code_hash, sizeof rune->code_hash);
        } else {
            sha256_of(item->generated.lua, item->generated.lua_bytes, rune->code_hash);
        }
        if (item->language == SOUL_PLAIN && !copy_lua(&item->generated, rune)) {
            return refuse_build(build, STATUS_LIMIT, item->file, "out of memory");
        }
    }
    return STATUS_OK;
}

// Names that some systems cannot hold work here but cannot be packed: a warning.
static bool check_name(Build *build, const char *path)
{
    char reason[WORKER_REASON_BYTES];
    Status status = package_path_check(path, strlen(path), reason);
    status = status == STATUS_OK ? package_path_fits(path, reason) : status;
    if (status != STATUS_OK) {
        const char *rule = strstr(reason, ": "); // after the name
        diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_WARNING, path, 0, 0, "pack",
                        "`sandlot pack` will refuse it: %s", rule != NULL ? rule + 2 : reason);
    }
    return status == STATUS_OK;
}

// Counts notes and other files that no build reads, because they are packed too.
static void check_size(Build *build)
{
    PlaceSize size = {0};
    const Status status = place_stamp_size(build->request->place, &size);
    if (status == STATUS_LIMIT || size.file_count > PLACE_FILES_MAX) {
        diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_WARNING, "", 0, 0, "pack",
                        "`sandlot pack` will refuse the place: it has more than %d files",
                        PLACE_FILES_MAX);
    } else if (size.bytes > PLACE_FOLDER_BYTES_MAX) {
        diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_WARNING, "", 0, 0, "pack",
                        "`sandlot pack` will refuse the place: it is larger than %u MiB",
                        PLACE_FOLDER_BYTES_MAX >> 20);
    }
}

static Status check_names(Build *build)
{
    const PlaceFolder *folder = &build->folder;
    const BuildResult *result = build->result;
    const char **paths = calloc(folder->file_count + result->asset_count + 1u, sizeof *paths);
    if (paths == NULL) {
        return refuse_build(build, STATUS_LIMIT, build->request->place, "out of memory");
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        paths[count] = folder->files[i].path;
        count += check_name(build, paths[count]);
    }
    for (uint32_t i = 0; i < result->asset_count; i++) {
        paths[count] = result->assets[i].path;
        count += check_name(build, paths[count]);
    }
    char reason[WORKER_REASON_BYTES];
    if (result->diagnostics.error_count == 0 && // errors in scripts would be reported twice
        package_paths_differ(paths, count, reason) == STATUS_MALFORMED) {
        diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_WARNING, "", 0, 0, "pack",
                        "`sandlot pack` will refuse the place: %s", reason);
    }
    free(paths);
    if (result->diagnostics.error_count == 0) {
        check_size(build);
    }
    return STATUS_OK;
}

static Status check_cancel(Build *build, Status status)
{
    return status == STATUS_OK && build_is_cancelled(build) ? STATUS_DENIED : status;
}

static Status run_stages(Build *build)
{
    Status status = check_cancel(build, read_place(build));
    status = status == STATUS_OK ? check_cancel(build, scan(build)) : status;
    status = status == STATUS_OK ? check_cancel(build, build_translate_souls(build)) : status;
    status = status == STATUS_OK ? check_cancel(build, build_translate_typescript(build)) : status;
    status = status == STATUS_OK ? check_cancel(build, build_compile_all(build)) : status;
    status = status == STATUS_OK ? check_cancel(build, build_dry_run(build)) : status;
    if (status == STATUS_OK && build_check_requires(build) != STATUS_OK) {
        status = refuse_build(build, STATUS_LIMIT, build->request->place, "out of memory");
    }
    status = status == STATUS_OK ? give_runes(build) : status;
    if (status == STATUS_OK && build->request->pack) {
        status = check_cancel(build, build_pack(build));
    }
    status = status == STATUS_OK ? check_cancel(build, build_assets(build)) : status;
    if (status == STATUS_OK) {
        build_check_asset_names(build);
    }
    status = status == STATUS_OK ? check_cancel(build, build_scene(build)) : status;
    status = status == STATUS_OK ? check_names(build) : status;
    if (status == STATUS_OK && build->result->diagnostics.error_count > 0) {
        return STATUS_MALFORMED;
    }
    status = status == STATUS_OK ? build_write(build) : status;
    if (status == STATUS_OK && build->request->pack) {
        status = check_cancel(build, build_pack_rows(build));
    }
    status = status == STATUS_OK ? build_write_references(build) : status;
    if (status == STATUS_OK) {
        if (build->result->compiled_count + build->result->asset_checked_count > 0) {
            cache_prune(build->context.cache);
        }
        build_progress(build, BUILD_DONE, 1, 1, "");
    }
    return status;
}

// --- around them --------------------------------------------------------------------------------

static bool is_same(const Diagnostic *a, const Diagnostic *b)
{
    return a->level == b->level && a->line == b->line && a->column == b->column &&
           strcmp(a->file, b->file) == 0 && strcmp(a->code, b->code) == 0 &&
           strcmp(a->message, b->message) == 0;
}

// Two stages may report the same problem: keep one.
static void drop_doubles(DiagnosticList *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (kept > 0 && is_same(&list->items[kept - 1], &list->items[i])) {
            list->error_count -= list->items[i].level == DIAGNOSTIC_ERROR;
            list->warning_count -= list->items[i].level == DIAGNOSTIC_WARNING;
            continue;
        }
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static void free_build(Build *build)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        generated_lua_free(&build->items[i].generated);
        compile_output_free(&build->items[i].output);
    }
    free(build->items);
    soul_list_free(&build->souls);
    scene_ref_changes_free(&build->references);
    free(build->is_named);
    place_folder_free(&build->folder);
    cache_close(build->context.cache);
    signing_key_wipe(&build->key);
    if (build->context.worker != NULL) {
        worker_watch(build->context.worker, NULL, NULL,
                     NULL); // the caller's pointers must not be kept
    }
    if (build->builder->typescript != NULL) {
        typescript_watch(build->builder->typescript, NULL, NULL, NULL);
    }
}

Status builder_build(Builder *builder, const BuildRequest *request, BuildResult *out,
                     char reason[WORKER_REASON_BYTES])
{
    *out = (BuildResult){0};
    reason[0] = '\0';
    const uint64_t start = clock_ns();
    Build build = {
        .builder = builder,
        .request = request,
        .result = out,
        .context = {.force = request->force, .diagnostics = &out->diagnostics, .reason = reason},
        .model = builder->config.model};
    build.model.cancel = request->cancel;
    Status status = run_stages(&build);
    // A cancelled build may fail because one of its processes was ended: report the cancellation.
    if (status != STATUS_OK && status != STATUS_MALFORMED && build_is_cancelled(&build)) {
        status = STATUS_DENIED;
        snprintf(reason, WORKER_REASON_BYTES, "cancelled");
    }
    free_build(&build);
    diagnostic_list_sort(&out->diagnostics);
    drop_doubles(&out->diagnostics);
    const uint32_t errors = out->diagnostics.error_count;
    if (status == STATUS_MALFORMED && errors > 0) {
        // The diagnostics say why, better than the reason of a later stage that failed over the
        // same problem.
        diagnostic_count_text(errors, reason, WORKER_REASON_BYTES);
    }
    if (status == STATUS_OK) {
        reason[0] = '\0'; // of a failure after which the build went on
    }
    out->took_ms = (clock_ns() - start) / NS_PER_MS;
    return status;
}

void build_result_free(BuildResult *result)
{
    for (uint32_t i = 0; i < result->rune_count; i++) {
        free(result->runes[i].bytes);
        free(result->runes[i].packed);
        free(result->runes[i].zstd);
        free(result->runes[i].lua);
    }
    free(result->runes);
    free(result->whole);
    free(result->stripped);
    free(result->frame);
    free(result->assets);
    free(result->thumbnail);
    free(result->asset_list);
    free(result->manifest);
    free(result->client_manifest);
    free(result->client_rows);
    free(result->client_rows_zstd);
    diagnostic_list_free(&result->diagnostics);
    *result = (BuildResult){0};
}
