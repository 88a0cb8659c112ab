// See soul.h. Names are checked in core/script/check/check_name.c, as in a page. A file's name says
// everything but one thing: place.json may take a side away from a script, which is read where all
// of a creator's bytes are, in the worker (ask_contexts.h).
#define _GNU_SOURCE
#include "server/build/place/soul.h"

#include "core/wire/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT_ENDING ".soul.lua"

const char *soul_service_name(SoulService service)
{
    return script_service_names[service];
}

const char *soul_context_name(RunContext context)
{
    return run_context_names[context];
}

const char *soul_language_ending(SoulLanguage language)
{
    return check_language_endings[language];
}

RunContext soul_service_context(SoulService service)
{
    return check_service_context(service);
}

bool soul_restrict_context(Soul *soul, RunContext context)
{
    if (!check_narrow(&soul->context, context)) {
        return false;
    }
    soul->replicate = context != CONTEXT_SERVER;
    return true;
}

// --- names --------------------------------------------------------------------------------------

static const char *without_folder(const char *path)
{
    return path + script_path_soul_bytes(path, strlen(path));
}

static const PlaceFile *file_named(const PlaceFolder *folder, const char *path, size_t bytes)
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const char *name = folder->files[i].path;
        if (strlen(name) == bytes && memcmp(name, path, bytes) == 0) {
            return &folder->files[i];
        }
    }
    return NULL;
}

// Lua generated from a plain soul is not a soul itself; without its source nothing would use it.
static void check_kept(const PlaceFolder *folder, const PlaceFile *file,
                       DiagnosticList *diagnostics)
{
    if (file_named(folder, file->path, strlen(file->path) - strlen(".lua")) == NULL) {
        diagnostic_addf(diagnostics, DIAGNOSTIC_WARNING, file->path, 0, 0, "orphan",
                        "this was generated from a .soul that does not exist; delete it, or name "
                        "it without .soul to keep it as a script");
    }
}

static bool scan_file(const PlaceFile *file, Soul *soul, DiagnosticList *diagnostics)
{
    const CheckSink sink = diagnostic_list_sink(diagnostics);
    CheckModule name;
    if (!check_name_read(file->path, &sink, &name)) {
        return false;
    }
    *soul = (Soul){.file = file,
                   .language = name.language,
                   .service = name.service,
                   .context = name.context,
                   .replicate = name.context != CONTEXT_SERVER};
    snprintf(soul->path, sizeof soul->path, "%s", name.path);
    return true;
}

// Endings that people use for scripts here or elsewhere, and endings that a system has hidden.
void soul_check_skipped(const char *path, DiagnosticList *diagnostics)
{
    static const char *const likes[] = {".lua", ".ts",      ".soul",   ".luau",    ".js",
                                        ".mjs", ".cjs",     ".jsx",    ".mts",     ".cts",
                                        ".tsx", ".lua.txt", ".ts.txt", ".soul.txt"};
    const size_t bytes = strlen(path);
    const char *plain = without_folder(path);
    for (size_t i = 0; i < sizeof likes / sizeof likes[0]; i++) {
        const size_t want = strlen(likes[i]);
        if (bytes > want && strcasecmp(path + bytes - want, likes[i]) == 0 &&
            !place_path_ends(path, ".d.ts") &&
            script_path_service(plain, strlen(plain)) != SERVICE_COUNT) {
            diagnostic_addf(
                diagnostics, DIAGNOSTIC_WARNING, path, 0, 0, "ending",
                "is not read: scripts end with .lua, .luau, .ts or .soul, in small letters");
            return;
        }
    }
}

// --- the list -----------------------------------------------------------------------------------

static int by_path(const void *a, const void *b)
{
    const Soul *one = a, *two = b;
    const int order = strcmp(one->path, two->path);
    return order != 0 ? order : strcmp(one->file->path, two->file->path);
}

// Of several sources for one name the first is kept, so that its errors are still found.
static void drop_doubles(SoulList *list, DiagnosticList *diagnostics)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (kept > 0 && strcmp(list->items[kept - 1].path, list->items[i].path) == 0) {
            diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, list->items[i].file->path, 0, 0,
                            "duplicate", "%s is also a source of %s; keep one of them",
                            list->items[kept - 1].file->path, list->items[i].path);
            continue;
        }
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static int by_folded_path(const void *a, const void *b)
{
    const Soul *const *one = a, *const *two = b;
    const int order = strcasecmp((*one)->path, (*two)->path);
    return order != 0 ? order : strcmp((*one)->path, (*two)->path);
}

// Two names that are the same file on other machines cannot be packed.
static Status check_case(const SoulList *list, DiagnosticList *diagnostics)
{
    const Soul **sorted = calloc(list->count + 1, sizeof *sorted);
    if (sorted == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        sorted[i] = &list->items[i];
    }
    qsort(sorted, list->count, sizeof *sorted, by_folded_path);
    for (uint32_t i = 1; i < list->count; i++) {
        if (strcasecmp(sorted[i - 1]->path, sorted[i]->path) == 0) {
            diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, sorted[i]->file->path, 0, 0, "case",
                            "its name differs from %s in case alone, which is one file on many "
                            "machines; rename one of them",
                            sorted[i - 1]->file->path);
        }
    }
    free(sorted);
    return STATUS_OK;
}

void soul_check_counts(const SoulList *list, DiagnosticList *diagnostics)
{
    uint32_t replicated = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        replicated += list->items[i].replicate;
    }
    if (replicated > MANIFEST_SCRIPTS_MAX) {
        diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, "", 0, 0, "limit",
                        "%u scripts are sent to clients, at most %d may be; join some, or move "
                        "them to ServerScriptService",
                        replicated, MANIFEST_SCRIPTS_MAX);
    }
}

static Status collect(const PlaceFolder *folder, SoulList *list, DiagnosticList *diagnostics)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        Soul soul;
        if (place_path_ends(file->path, KEPT_ENDING)) {
            check_kept(folder, file, diagnostics);
        } else if (scan_file(file, &soul, diagnostics)) {
            if (list->count < SOULS_MAX) {
                list->items[list->count++] = soul;
            } else {
                left_out += 1;
            }
        }
    }
    if (left_out > 0) {
        diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, "", 0, 0, "limit",
                        "the place has %u scripts, at most %d may be; join some",
                        SOULS_MAX + left_out, SOULS_MAX);
    }
    qsort(list->items, list->count, sizeof *list->items, by_path);
    drop_doubles(list, diagnostics);
    return check_case(list, diagnostics);
}

Status soul_scan(const PlaceFolder *folder, SoulList *out, DiagnosticList *diagnostics)
{
    SoulList list = {.items = calloc(SOULS_MAX, sizeof *list.items)};
    if (list.items == NULL) {
        return STATUS_LIMIT;
    }
    Status status = collect(folder, &list, diagnostics);
    if (status != STATUS_OK) {
        soul_list_free(&list);
        return status;
    }
    *out = list;
    return STATUS_OK;
}

void soul_list_free(SoulList *list)
{
    free(list->items);
    *list = (SoulList){0};
}
