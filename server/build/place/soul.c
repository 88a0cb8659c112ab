// See soul.h. The name of a file tells everything but the run context, which place.json may
// restrict; that is read in the worker, like all of a creator's files (ask_contexts.h).
#define _GNU_SOURCE
#include "server/build/place/soul.h"

#include "core/base/nearest.h"
#include "core/base/utf8.h"
#include "core/wire/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SEGMENT_BYTES_MAX 64
#define NAME_BYTES_MAX    120 // with .rune at its end it is still a valid path of a place folder
#define KEPT_ENDING       ".soul.lua"
#define MEANT_LETTERS_MIN 6 // "Server", "Starter"

static const RunContext service_contexts[SERVICE_COUNT] = {
    [SERVICE_SERVER_SCRIPT] = CONTEXT_SERVER,  [SERVICE_REPLICATED_STORAGE] = CONTEXT_BOTH,
    [SERVICE_WORKSPACE] = CONTEXT_BOTH,        [SERVICE_STARTER_GUI] = CONTEXT_CLIENT,
    [SERVICE_STARTER_PLAYER] = CONTEXT_CLIENT, [SERVICE_REPLICATED_FIRST] = CONTEXT_CLIENT,
};
static const char *const endings[] = {".lua", ".ts", ".soul"};

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
    return endings[language];
}

RunContext soul_service_context(SoulService service)
{
    return service_contexts[service];
}

bool soul_restrict_context(Soul *soul, RunContext context)
{
    if (context != soul->context && soul->context != CONTEXT_BOTH) {
        return false;
    }
    soul->context = context;
    soul->replicate = context != CONTEXT_SERVER;
    return true;
}

// --- names --------------------------------------------------------------------------------------

static bool language_of(const char *path, SoulLanguage *out)
{
    for (uint32_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (place_path_ends(path, endings[i]) && !place_path_ends(path, ".d.ts")) {
            *out = (SoulLanguage)i;
            return true;
        }
    }
    return false;
}

static const char *without_folder(const char *path)
{
    return path + script_path_soul_bytes(path, strlen(path));
}

static size_t common_letters(const char *a, const char *b)
{
    size_t count = 0;
    while (a[count] != '\0' && tolower((uint8_t)a[count]) == tolower((uint8_t)b[count])) {
        count += 1;
    }
    return count;
}

// The service that a folder name was probably meant to be, or NULL. "ServerScripts" and
// "StarterPlayerScripts", which other platforms use, begin like one of ours.
static const char *service_meant(const char *path)
{
    const size_t bytes = strcspn(path, "/");
    Nearest nearest = nearest_begin(path, bytes);
    const char *meant = NULL;
    size_t most = MEANT_LETTERS_MIN - 1;
    for (uint32_t i = 0; i < SERVICE_COUNT && path[bytes] == '/'; i++) {
        const char *name = script_service_names[i];
        (void)nearest_consider(&nearest, name, strlen(name));
        const size_t common = common_letters(path, name);
        meant = common > most ? name : meant;
        most = common > most ? common : most;
    }
    return nearest.found != NULL ? nearest.found : meant;
}

static bool is_letter(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-' || byte >= 0x80;
}

// Why a plain path cannot be a script's name; NULL: it can. Names are shown in messages, are file
// names and parts of URLs: letters (of any alphabet), digits, '_', '-', and inside also '.' and '
// '.
static const char *name_problem(const char *path)
{
    if (!utf8_is_valid(path, strlen(path))) {
        return "the name is not UTF-8";
    }
    size_t segment = 0;
    for (const char *at = path;; at++) {
        const uint8_t byte = (uint8_t)*at;
        if (byte == '\0' || byte == '/') {
            if (segment == 0 || segment > SEGMENT_BYTES_MAX) {
                return "each part of a script's name has 1 to 64 bytes";
            }
            if (!is_letter((uint8_t)at[-1])) {
                return "a part of a script's name ends with a letter or digit";
            }
            segment = 0;
        } else if (is_letter(byte) || (segment > 0 && (byte == '.' || byte == ' '))) {
            segment += 1;
        } else {
            return "a script's name is made of letters, digits, '_', '-', '.' and spaces";
        }
        if (byte == '\0') {
            return utf8_has_control(path, strlen(path))
                       ? "a script's name has no control characters"
                       : NULL;
        }
    }
}

// A name with an ending inside it would be confused with another script, or with an artifact.
static bool has_inner_ending(const char *path)
{
    static const char *const reserved[] = {".lua", ".ts", ".soul", ".rune", ".json"};
    for (uint32_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        for (const char *at = strcasestr(path, reserved[i]); at != NULL;
             at = strcasestr(at + 1, reserved[i])) {
            const char after = at[strlen(reserved[i])];
            if (after == '\0' || after == '/') {
                return true;
            }
        }
    }
    return false;
}

static void error_at(DiagnosticList *diagnostics, const char *file, const char *code,
                     const char *message)
{
    diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, file, 0, 0, code, "%s", message);
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
    SoulLanguage language;
    if (!language_of(file->path, &language)) {
        return false;
    }
    const char *plain = without_folder(file->path);
    const SoulService service = script_path_service(plain, strlen(plain));
    if (service == SERVICE_COUNT) {
        const char *meant = service_meant(plain);
        if (meant != NULL) {
            diagnostic_addf(
                diagnostics, DIAGNOSTIC_ERROR, file->path, 0, 0, "service",
                "this script is in no service; did you mean %s? Put it into " SCRIPT_SERVICES_TEXT,
                meant);
        } else {
            error_at(diagnostics, file->path, "service",
                     "this script is in no service; put it into " SCRIPT_SERVICES_TEXT);
        }
        return false;
    }
    *soul = (Soul){.file = file,
                   .language = language,
                   .service = service,
                   .context = service_contexts[service]};
    const size_t bytes = strlen(plain) - strlen(endings[language]);
    if (bytes > NAME_BYTES_MAX) {
        error_at(diagnostics, file->path, "name", "a script's name has at most 120 bytes");
        return false;
    }
    memcpy(soul->path, plain, bytes);
    const char *problem = name_problem(soul->path);
    if (problem == NULL && has_inner_ending(soul->path)) {
        problem = "a part of a script's name does not end with .lua, .ts, .soul, .rune or .json";
    }
    if (problem != NULL) {
        error_at(diagnostics, file->path, "name", problem);
        return false;
    }
    soul->replicate = soul->context != CONTEXT_SERVER;
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
            diagnostic_addf(diagnostics, DIAGNOSTIC_WARNING, path, 0, 0, "ending",
                            "is not read: scripts end with .lua, .ts or .soul, in small letters");
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
